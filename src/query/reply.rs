//! From a raw reply to one that the loop can act on: channel, admission, history, state.

use crate::message::{Channel, Message, Part, Role, ToolCall};
use crate::query::assemble::Raw;
use crate::query::native_channel::{Ending, admit};
use crate::query::quirks::Echo;
use crate::query::text_channel::{Finish, Parsed, parse};
use crate::query::{Refusal, State, ToolSpec};
use std::collections::BTreeSet;

/// Why a reply whose thinking never ended is no whole one.
pub const THINKING_UNCLOSED: &str = "its thinking never ended";

/// What a reply comes to, tokens apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// For the history. On the native channel it also holds refused calls, whose refusals go back under their ids.
    pub message: Message,
    /// For the person.
    pub visible: String,
    /// Admitted calls.
    pub calls: Vec<ToolCall>,
    /// Calls that were not admitted.
    pub refusals: Vec<Refusal>,
    /// Whether it is whole.
    pub state: State,
}

/// How the reply's end bears on calls written as text.
pub fn finish_of(raw: &Raw) -> Finish {
    if raw.finish.is_none() || raw.is_at_limit() { Finish::Cut } else { Finish::Whole }
}

/// How replies are read: what stays the same for a whole session.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The channel of calls.
    pub channel: Channel,
    /// How thinking goes back, and so how it is kept.
    pub echo: Echo,
    /// The tools on offer.
    pub tools: &'a [ToolSpec],
}

/// Read a raw reply. `history` is the conversation it answers; ids made here are unique in it.
pub fn read(raw: &Raw, reading: Reading<'_>, history: &[Message]) -> Read {
    let prefix = format!("call_{}", history.len());
    let mut read = if raw.calls.is_empty() {
        match reading.channel {
            Channel::Text => text_calls(raw, reading, &prefix),
            Channel::Native => no_native_calls(raw, reading),
        }
    } else {
        native_calls(raw, reading, history, &prefix)
    };
    let announced = matches!(raw.finish.as_deref(), Some("tool_calls" | "function_call"));
    if announced && read.calls.is_empty() && read.refusals.is_empty() {
        let why = "the reply ends with a tool call announced, but there is none in it; make the call, or answer";
        read.refusals.push(Refusal { id: None, name: String::new(), class: "no_call", why: why.into() });
    }
    read
}

fn native_calls(raw: &Raw, reading: Reading<'_>, history: &[Message], prefix: &str) -> Read {
    let taken: BTreeSet<&str> = history.iter().flat_map(Message::calls).map(|call| call.id.as_str()).collect();
    let ending = match (&raw.finish, raw.is_at_limit()) {
        (None, _) => Ending::None,
        (Some(_), true) => Ending::AtLimit,
        (Some(_), false) => Ending::Proper,
    };
    let admitted = admit(raw.calls.clone(), reading.tools, ending, &taken, prefix);
    // With native calls present nothing in the text is a call.
    let parsed = parse(&raw.text, finish_of(raw), &[]);
    let mut read = plain(raw, parsed, reading.echo);
    read.message.parts.extend(admitted.history.into_iter().map(Part::Call));
    read.calls = admitted.calls;
    read.refusals = admitted.refusals;
    read
}

fn text_calls(raw: &Raw, reading: Reading<'_>, prefix: &str) -> Read {
    let mut parsed = parse(&raw.text, finish_of(raw), reading.tools);
    let found = std::mem::take(&mut parsed.calls);
    let refusals = std::mem::take(&mut parsed.refusals);
    let mut read = plain(raw, parsed, reading.echo);
    let calls = found.into_iter().enumerate().map(|(position, call)| ToolCall {
        id: format!("{prefix}_{position}"),
        name: call.name,
        arguments: call.arguments,
        channel: Channel::Text,
    });
    read.calls = calls.collect();
    read.refusals = refusals;
    read
}

/// On the native channel a call written as text is no call, but it is no final answer either: the model is told.
fn no_native_calls(raw: &Raw, reading: Reading<'_>) -> Read {
    let mut parsed = parse(&raw.text, finish_of(raw), reading.tools);
    let written: Vec<String> = std::mem::take(&mut parsed.calls).into_iter().map(|call| call.name).collect();
    parsed.refusals.clear();
    let mut read = plain(raw, parsed, reading.echo);
    read.refusals = written
        .into_iter()
        .map(|name| {
            let why = format!("`{name}` was written as text, so it was not run; call it through the tool interface");
            Refusal { id: None, name, class: "foreign_tool_syntax", why }
        })
        .collect();
    read
}

/// Everything but calls.
fn plain(raw: &Raw, parsed: Parsed, echo: Echo) -> Read {
    let parts = kept(&raw.text, &raw.thinking, &parsed, echo);
    let state = if raw.is_at_limit() {
        State::Truncated { why: format!("the limit on tokens was reached ({})", raw.finish.as_deref().unwrap_or("")) }
    } else if raw.finish.is_none() {
        State::Truncated { why: raw.cut.clone().unwrap_or_else(|| "it ended without a finish reason".into()) }
    } else if parsed.thinking_unclosed {
        State::Truncated { why: THINKING_UNCLOSED.into() }
    } else {
        State::Complete
    };
    let message = Message { role: Role::Assistant, parts };
    Read { message, visible: parsed.visible, calls: Vec::new(), refusals: Vec::new(), state }
}

/// The parts of an assistant's message that came as this text, with this thinking in a field of its own.
pub fn parts(text: &str, thinking: &str, echo: Echo) -> Vec<Part> {
    kept(text, thinking, &parse(text, Finish::Whole, &[]), echo)
}

/// Thinking is kept apart from what was said, but for a provider that wants it back where it stood: then the text stays as
/// it came. Half a tag is never kept.
fn kept(text: &str, thinking: &str, parsed: &Parsed, echo: Echo) -> Vec<Part> {
    let as_it_came = echo == Echo::Inline && !parsed.thinking.is_empty() && !parsed.thinking_unclosed;
    let (thinking, said) = if as_it_came {
        (thinking.trim().to_owned(), text.trim().to_owned())
    } else {
        (joined(thinking, &parsed.thinking), parsed.said.clone())
    };
    let thinking = (!thinking.is_empty()).then_some(Part::Thinking { text: thinking });
    let said = (!said.is_empty()).then_some(Part::Text { text: said });
    thinking.into_iter().chain(said).collect()
}

/// Thinking from both places, once.
fn joined(field: &str, tags: &str) -> String {
    let (field, tags) = (field.trim(), tags.trim());
    match (field.is_empty(), tags.is_empty()) {
        (true, _) => tags.to_owned(),
        (_, true) => field.to_owned(),
        _ if field == tags => field.to_owned(),
        _ => format!("{field}\n{tags}"),
    }
}
