//! A reply on the text channel: whole, and in pieces. The first byte says how large the pieces are.

use selfsmith_agent::query::ToolSpec;
use selfsmith_agent::query::text_channel::{Finish, Holder, Shown, parse};
use selfsmith_agent::tool::{self, Surroundings};
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
    for finish in [Finish::Whole, Finish::Cut] {
        let parsed = parse(&text, finish, &TOOLS);
        for call in &parsed.calls {
            assert!(TOOLS.iter().any(|tool| tool.name == call.name), "{} is no tool", call.name);
        }
        let chars: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = chars.chunks(usize::from(*size).max(1)).map(|piece| piece.iter().collect()).collect();
        assert_eq!(shown(&pieces, finish), shown(&[text.to_string()], finish));
    }
}

fn shown(pieces: &[String], finish: Finish) -> String {
    let mut holder = Holder::new(TOOLS.clone());
    let mut all: Vec<Shown> = pieces.iter().flat_map(|piece| holder.push(piece)).collect();
    all.extend(holder.finish(finish));
    all.into_iter().fold(String::new(), |all, one| match one {
        Shown::Text(text) => all + &text,
        Shown::Thinking(_) => all,
        Shown::Recant => String::new(),
    })
}
