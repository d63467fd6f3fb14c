//! `/context`: what the next request would carry, by kind.

use super::{Bench, Command, Flow};
use crate::activity::thousands;
use selfsmith_agent::message::{Message, Part, Role};
use selfsmith_agent::texts::fill;

/// The command.
pub const COMMAND: Command = Command { name: "context", about: |texts| texts.about_context, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    let texts = bench.texts;
    let messages = bench.session.messages();
    let of = |wanted: &dyn Fn(&Message, &Part) -> bool| {
        let parts = messages.iter().flat_map(|message| message.parts.iter().map(move |part| (message, part)));
        parts.filter(|(message, part)| wanted(message, part)).map(|(_, part)| tokens(part)).sum::<u64>()
    };
    let is_result = |part: &Part| matches!(part, Part::Result(_));
    let rows = [
        (texts.context_system, of(&|message, _| message.role == Role::System)),
        (texts.context_person, of(&|message, part| message.role == Role::User && !is_result(part))),
        (texts.context_model, of(&|message, _| message.role == Role::Assistant)),
        (texts.context_results, of(&|_, part| is_result(part))),
    ];
    let total: u64 = rows.iter().map(|(_, tokens)| tokens).sum();
    for (name, tokens) in rows {
        (bench.say)(&format!("  {name:<20} ~{}", thousands(tokens)));
    }
    let count = messages.len().to_string();
    (bench.say)(&fill(texts.context_total, &[("tokens", &thousands(total)), ("messages", &count)]));
    Flow::Stay
}

/// An estimate: a token for four bytes of ASCII, one for each other character.
fn tokens(part: &Part) -> u64 {
    let text = match part {
        Part::Text { text } | Part::Thinking { text } => text.clone(),
        Part::Result(result) => result.text.clone(),
        Part::Call(call) => serde_json::Value::Object(call.arguments.clone()).to_string(),
        Part::Image { .. } => return 1000,
    };
    let ascii = text.chars().filter(char::is_ascii).count() as u64;
    ascii.div_ceil(4) + text.chars().filter(|c| !c.is_ascii()).count() as u64
}
