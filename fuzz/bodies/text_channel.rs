//! A reply on the text channel, whole and in pieces; the first byte says how large the pieces are. Asserted:
//!
//! - what is called is a tool, with the arguments that it needs;
//! - what a person is shown does not depend on how the reply was cut, and is the prose that the whole reply has;
//! - the text of a file is passed on as it was written and nothing in it runs, whatever it holds.

use selfsmith_agent::query::ToolSpec;
use selfsmith_agent::query::text_channel::{Finish, Holder, Parsed, Shown, parse};
use selfsmith_agent::tool::{self, Surroundings};
use serde_json::Value;
use std::sync::LazyLock;

static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    let spec = |tool: &dyn tool::Tool| ToolSpec {
        name: tool.name(),
        aliases: tool.aliases(),
        description: String::new(),
        schema: tool.schema(),
        body: tool.body(),
    };
    tool::table(&Surroundings::default()).iter().map(|tool| spec(tool.as_ref())).collect()
});

pub fn run(data: &[u8]) {
    let Some((size, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let size = usize::from(*size).max(1);
    for finish in [Finish::Whole, Finish::Cut] {
        let parsed = parse(&text, finish, &TOOLS);
        calls_fit_their_tools(&parsed);
        shown_is_what_was_said(&text, size, finish, &parsed);
    }
    a_file_is_passed_on(&text, size);
}

fn calls_fit_their_tools(parsed: &Parsed) {
    for call in &parsed.calls {
        let tool = TOOLS.iter().find(|tool| tool.name == call.name);
        let tool = tool.unwrap_or_else(|| panic!("{} is no tool", call.name));
        let needed = tool.schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in needed.filter_map(Value::as_str) {
            assert!(call.arguments.contains_key(name), "{} lacks {name}", call.name);
        }
    }
}

fn shown_is_what_was_said(text: &str, size: usize, finish: Finish, parsed: &Parsed) {
    let at_once = shown(&[text.to_owned()], finish);
    assert_eq!(shown(&pieces(text, size), finish), at_once);
    // What was taken back is prose up to another place for a person than for the history.
    if let (text, false) = at_once {
        assert_eq!(bare(&text), bare(&parsed.visible));
    }
}

/// The text as the file of a `create`, unless it speaks of that tag itself: where such a block ends is a matter of judgement.
fn a_file_is_passed_on(text: &str, size: usize) {
    if text.to_lowercase().contains("create") {
        return;
    }
    let reply = format!("<create path=\"a.txt\">\n{text}\n</create>");
    let parsed = parse(&reply, Finish::Whole, &TOOLS);
    let [call] = parsed.calls.as_slice() else { panic!("one call, not {:?}, {:?}", parsed.calls, parsed.refusals) };
    assert!(call.name == "create" && parsed.refusals.is_empty() && parsed.visible.is_empty(), "{parsed:?}");
    assert_eq!(call.arguments["content"], format!("{text}\n").as_str());
    assert_eq!(shown(&pieces(&reply, size), Finish::Whole), (String::new(), false));
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// What stands before a person in the end, and whether anything was taken back.
fn shown(pieces: &[String], finish: Finish) -> (String, bool) {
    let mut holder = Holder::new(TOOLS.clone());
    let mut all: Vec<Shown> = pieces.iter().flat_map(|piece| holder.push(piece)).collect();
    all.extend(holder.finish(finish));
    all.into_iter().fold((String::new(), false), |(all, recanted), one| match one {
        Shown::Text(text) => (all + &text, recanted),
        Shown::Thinking(_) => (all, recanted),
        Shown::Recant => (String::new(), true),
    })
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
