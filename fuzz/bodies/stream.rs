//! An event stream with native deltas; the first byte says how large the pieces are. Asserted:
//!
//! - the reply does not depend on how the bytes were cut, and what is called is a tool;
//! - calls that were taken apart into deltas, in any of the ways in which servers do it, come together again as they were. For
//!   this the first byte has its highest bit set, and the others say what the calls are and how they are taken apart.

use selfsmith_agent::message::Channel;
use selfsmith_agent::query::ToolSpec;
use selfsmith_agent::query::offline::read;
use serde_json::{Value, json};
use std::sync::LazyLock;

static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    vec![ToolSpec {
        name: "view",
        aliases: &["read_file"],
        description: String::new(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
        body: None,
    }]
});

pub fn run(data: &[u8]) {
    let Some((size, rest)) = data.split_first() else { return };
    let pieces = usize::from(size & 0x7f).max(1);
    if *size < 0x80 {
        any_stream(rest, pieces);
    } else {
        calls_come_together(rest, pieces);
    }
}

fn any_stream(stream: &[u8], size: usize) {
    for channel in [Channel::Native, Channel::Text] {
        let whole = read(std::iter::once(stream), channel, &TOOLS);
        let cut = read(stream.chunks(size), channel, &TOOLS);
        assert_eq!(whole, cut);
        assert!(whole.iter().flat_map(|reply| &reply.calls).all(|call| call.name == "view"));
    }
}

fn calls_come_together(instructions: &[u8], size: usize) {
    let mut instructions = instructions.iter().copied();
    let mut next = || instructions.next().unwrap_or_default();
    let labels = match next() % 4 {
        0 => Labels::Index,
        1 => Labels::IndexAndId,
        2 => Labels::IdAtFirst,
        _ => Labels::None,
    };
    let end = if next() % 2 == 0 { "\n\n" } else { "\r\n\r\n" };
    let count = 1 + next() % 4;
    // Two calls that are the same to the letter are one that was sent twice, where nothing tells them apart.
    let paths: Vec<String> = (0..count)
        .map(|n| format!("{n}{}", (0..next() % 24).map(|_| char::from(next())).collect::<String>()))
        .collect();
    let mut left: Vec<String> = paths.iter().map(|path| json!({ "path": path }).to_string()).collect();
    let mut begun = vec![false; left.len()];
    let mut stream = format!(": hello{end}data: {}{end}", chunk(json!({ "role": "assistant", "content": "" }), None));
    loop {
        // A call begins after the one before it; only an index lets their parts come in turns.
        let may = |n: &usize| {
            n.checked_sub(1).is_none_or(|before| begun[before] && (labels.tell_apart() || left[before].is_empty()))
        };
        let open: Vec<usize> = (0..left.len()).filter(|n| !left[*n].is_empty()).filter(may).collect();
        let Some(n) = open.get(usize::from(next()) % open.len().max(1)).copied() else { break };
        let mut at = usize::from(next() % 16).clamp(1, left[n].len());
        while !left[n].is_char_boundary(at) {
            at += 1;
        }
        let rest = left[n].split_off(at);
        let part = std::mem::replace(&mut left[n], rest);
        let first = !std::mem::replace(&mut begun[n], true);
        let delta = json!({ "tool_calls": [labels.delta(n, first, &part)] });
        stream.push_str(&format!("data: {}{end}", chunk(delta, None)));
    }
    stream.push_str(&format!("data: {}{end}data: [DONE]{end}", chunk(json!({}), Some("tool_calls"))));
    let reply = read(stream.as_bytes().chunks(size), Channel::Native, &TOOLS).expect("no error was sent");
    let got: Vec<&str> = reply.calls.iter().filter_map(|call| call.arguments.get("path")?.as_str()).collect();
    assert_eq!(got, paths, "{labels:?}: {stream}");
}

/// What a server writes beside the parts of a call.
#[derive(Debug, Clone, Copy)]
enum Labels {
    /// The index always, the id at first: as OpenAI does.
    Index,
    /// Both always.
    IndexAndId,
    /// No index, an id at first.
    IdAtFirst,
    /// Only the name, at first.
    None,
}

impl Labels {
    fn tell_apart(self) -> bool {
        matches!(self, Self::Index | Self::IndexAndId)
    }

    fn delta(self, n: usize, first: bool, part: &str) -> Value {
        let mut delta = json!({ "function": { "arguments": part } });
        if first {
            delta["function"]["name"] = json!("view");
            delta["type"] = json!("function");
        }
        if self.tell_apart() {
            delta["index"] = json!(n);
        }
        let has_id = match self {
            Self::Index | Self::IdAtFirst => first,
            Self::IndexAndId => true,
            Self::None => false,
        };
        if has_id {
            delta["id"] = json!(format!("call_{n}"));
        }
        delta
    }
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
}
