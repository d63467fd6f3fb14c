//! The text channel: calls written as tags in the model's text.
//!
//! [`parse`] takes a whole reply apart into calls, refusals, visible prose and thinking; [`Holder`] tells while a reply
//! streams which part of it is safe to show. Both walk the text with the same [`scan::Scanner`], so they agree.
//! Promises: linear work on any input, no panic, the same result however the text was cut into pieces; a call inside
//! thinking, code, quotation marks, an example or another call's body never runs; what was refused is not looked at
//! again. Knows nothing of providers and of what tools do. Callers drop what is found here when a reply also has native
//! calls.

mod admit;
mod block;
mod children;
mod close;
mod dialect;
mod examples;
mod fences;
mod form;
mod frame;
mod heredoc;
mod holder;
mod quoting;
mod scan;
mod tag;
mod thoughts;
mod unclosed;

pub use admit::typed_arguments;
pub use form::{arguments, form};
pub use frame::{fence_marks, out_of_fence};
pub use holder::{Holder, Shown};

use crate::query::{Refusal, ToolSpec, think};
use close::Known;
use scan::{Scanner, Step};
use serde_json::{Map, Value};

/// Whether the reply came to its own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model stopped by itself.
    Whole,
    /// It was cut off, by the limit on tokens or by the network: an unfinished call is refused.
    Cut,
}

/// A call found in text: canonical name, arguments by the tool's own names. Its id is given by the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct TextCall {
    /// The tool's canonical name.
    pub name: String,
    /// Arguments that fit the tool's schema.
    pub arguments: Map<String, Value>,
}

/// A call, or why it is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// It runs.
    Call(TextCall),
    /// It does not.
    Refused(Refusal),
}

/// A reply taken apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// Admitted calls in order of appearance.
    pub calls: Vec<TextCall>,
    /// Calls that were not admitted, in order of appearance.
    pub refusals: Vec<Refusal>,
    /// Prose without calls and thinking, runs of three or more line ends folded to two, trimmed at both ends.
    pub visible: String,
    /// Thinking without its tags.
    pub thinking: String,
    /// The text as received without thinking and its tags, calls included byte for byte: what goes into the history.
    pub said: String,
    /// Whether a call had no end.
    pub unclosed: bool,
    /// Whether thinking had no end; then the reply is no final answer.
    pub thinking_unclosed: bool,
}

/// Take a whole reply apart. Without tools only thinking is told from prose.
pub fn parse(text: &str, finish: Finish, tools: &[ToolSpec]) -> Parsed {
    let mut parsed = Parsed::default();
    // Where in `calls`, `refusals`, `visible` and `said` the stretch since the last thinking began.
    let mut since = (0, 0, 0, 0);
    let mut scanner = Scanner::new(text.len());
    loop {
        let from = scanner.at;
        let step = scanner.step(text, Known::Whole, finish, tools);
        if !is_thinking(&step, text, from) {
            parsed.said.push_str(tag::cut(text, from..scanner.at));
        }
        match step {
            Step::Text(range) => parsed.visible.push_str(tag::cut(text, range)),
            Step::Thought(range) => parsed.thinking.push_str(tag::cut(text, range)),
            Step::Skip => {}
            Step::ThoughtEnd => {
                since = (parsed.calls.len(), parsed.refusals.len(), parsed.visible.len(), parsed.said.len());
            }
            Step::Recant => {
                parsed.calls.truncate(since.0);
                parsed.refusals.truncate(since.1);
                parsed.said.truncate(since.3);
                let drafts = parsed.visible.split_off(since.2);
                parsed.thinking.push_str(&drafts);
                parsed.unclosed = false;
            }
            Step::Calls { found, unclosed } => {
                parsed.unclosed |= unclosed;
                for one in found {
                    match one {
                        Found::Call(call) => parsed.calls.push(call),
                        Found::Refused(refusal) => parsed.refusals.push(refusal),
                    }
                }
            }
            Step::More | Step::End => break,
        }
    }
    parsed.thinking_unclosed = scanner.is_thinking();
    parsed.visible = folded(&parsed.visible);
    parsed.thinking = parsed.thinking.trim().to_owned();
    parsed.said = parsed.said.trim().to_owned();
    if parsed.calls.is_empty() && parsed.refusals.is_empty() {
        parsed.refusals = dialect::whole_reply(&parsed.visible, tools);
    }
    parsed
}

/// Whether a step from `from` on was over thinking or one of its tags.
fn is_thinking(step: &Step, text: &str, from: usize) -> bool {
    match step {
        Step::Thought(_) | Step::ThoughtEnd | Step::Recant => true,
        Step::Skip => think::tag_at(text, from).is_some(),
        Step::Text(_) | Step::Calls { .. } | Step::More | Step::End => false,
    }
}

/// The tool of this name or alias.
fn tool_named<'a>(tools: &'a [ToolSpec], name: &str) -> Option<&'a ToolSpec> {
    let plain = name.to_ascii_lowercase().replace('-', "_");
    tools.iter().find(|spec| spec.name == plain || spec.aliases.contains(&plain.as_str()))
}

/// Runs of three or more line ends become two; blanks at both ends go.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut ends = 0;
    for c in text.trim().chars() {
        ends = match c {
            '\n' => ends + 1,
            '\r' => ends,
            _ => 0,
        };
        if ends <= 2 {
            folded.push(c);
        }
    }
    folded
}

#[cfg(test)]
mod tests;
