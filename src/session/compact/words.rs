//! The older part of a conversation in words: for the model that sums it up, and in place of a summary where there is none.

use crate::message::{Message, Outcome, Part, Role};
use crate::session::facts::clip;
use serde_json::Value;

/// Headings that a summary must have.
const HEADINGS: [&str; 4] = ["## Goal", "## Done", "## Decisions", "## Next"];

/// How much of each part is written out, in characters.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Of words.
    pub words: usize,
    /// Of a result or an argument.
    pub results: usize,
}

/// From generous to scant: the first that fits is used.
pub const SCALES: [Scale; 3] =
    [Scale { words: 12_000, results: 3000 }, Scale { words: 4000, results: 600 }, Scale { words: 1500, results: 120 }];

/// All of it, for a reader.
pub fn transcript(messages: &[Message], scale: Scale) -> String {
    let mut out = String::new();
    for message in messages {
        for part in &message.parts {
            let (head, text) = match part {
                Part::Text { text } => (speaker(message.role).to_owned(), clip(text, scale.words)),
                Part::Call(call) => {
                    let arguments = Value::Object(call.arguments.clone()).to_string();
                    (format!("call of {}", call.name), clip(&arguments, scale.results))
                }
                Part::Result(result) => {
                    (format!("result of {} ({})", result.name, word(result.outcome)), clip(&result.text, scale.results))
                }
                Part::Image { .. } => (speaker(message.role).to_owned(), "(a picture)".to_owned()),
                Part::Thinking { .. } => continue,
            };
            out.push_str(&format!("[{head}]\n{}\n\n", text.trim_end()));
        }
    }
    out
}

/// What happened, a line for each thing, the newest kept where it is too much. An earlier summary stays on the whole.
pub fn digest(messages: &[Message], is_summary: impl Fn(&str) -> bool, chars: usize) -> String {
    let mut earlier = String::new();
    let mut lines = Vec::new();
    for message in messages {
        for part in &message.parts {
            match part {
                Part::Text { text } if is_summary(text) => earlier = clip(text, chars / 2),
                Part::Text { text } => lines.push(format!("- {}: {}", speaker(message.role), line(text, 240))),
                Part::Result(result) => {
                    let text = line(&result.text, 100);
                    lines.push(format!("- {} ({}): {text}", result.name, word(result.outcome)));
                }
                Part::Call(_) | Part::Image { .. } | Part::Thinking { .. } => {}
            }
        }
    }
    let mut left = chars.saturating_sub(earlier.chars().count());
    let whole = lines.len();
    let mut kept: Vec<String> = Vec::new();
    for line in lines.into_iter().rev() {
        let Some(rest) = left.checked_sub(line.chars().count() + 1) else { break };
        left = rest;
        kept.push(line);
    }
    if kept.len() < whole {
        kept.push(format!("- ({} older steps left out)", whole - kept.len()));
    }
    kept.reverse();
    let steps = kept.join("\n");
    if earlier.is_empty() { steps } else { format!("{earlier}\n\nSince then:\n{steps}") }
}

/// Headings that a summary lacks, or that have nothing below them.
pub fn lacks(summary: &str) -> Vec<&'static str> {
    let lacks = |heading: &&str| {
        let below = summary.split_once(*heading).map(|(_, rest)| rest.split("\n## ").next().unwrap_or_default());
        below.is_none_or(|below| below.trim().is_empty())
    };
    HEADINGS.into_iter().filter(lacks).collect()
}

fn line(text: &str, chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    match words.char_indices().nth(chars).and_then(|(at, _)| words.get(..at)) {
        Some(head) => format!("{head}…"),
        None => words,
    }
}

const fn speaker(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "person",
        Role::Assistant => "assistant",
    }
}

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Failed => "failed",
        Outcome::Refused => "not run",
        Outcome::Interrupted => "interrupted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_without_a_heading_or_with_an_empty_one_is_found() {
        let whole = "## Goal\na\n## Done\nb\n## Decisions\nnone\n## Next\nc\n";
        assert_eq!(lacks(whole), Vec::<&str>::new());
        assert_eq!(lacks(&whole.replace("none\n", "")), ["## Decisions"]);
        assert_eq!(lacks("words"), HEADINGS);
    }

    #[test]
    fn a_digest_keeps_the_newest_and_an_earlier_summary() {
        let messages: Vec<Message> = std::iter::once("SUMMARY old".to_owned())
            .chain((0..100).map(|n| format!("step {n}")))
            .map(|text| Message::text(Role::User, text))
            .collect();
        let text = digest(&messages, |text| text.starts_with("SUMMARY"), 400);
        assert!(text.chars().count() < 480, "{text}");
        assert!(text.starts_with("SUMMARY old") && text.ends_with("step 99") && text.contains("older steps left out"));
        assert!(!text.contains("step 5:") && !text.contains("step 10\n"), "{text}");
    }
}
