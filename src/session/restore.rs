//! A conversation out of its record: pure, so that any prefix of a record can be tried.

use super::facts::Facts;
use super::log::{Entry, Recorded};
use crate::message::{Channel, Message, Outcome, Part, Role, ToolCall, ToolResult};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a record says.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    /// The session's id.
    pub id: String,
    /// How calls travelled when it was recorded.
    pub channel: Channel,
    /// The conversation.
    pub messages: Vec<Message>,
    /// What it must not lose.
    pub facts: Facts,
    /// Messages that are no longer part of it.
    pub gone: usize,
    /// When it began and when something happened last, in milliseconds since the UNIX epoch.
    pub times: Option<(u64, u64)>,
    /// Calls whose results were lost with the program.
    pub lost: Vec<ToolCall>,
    /// Bytes of a torn last line.
    pub torn: usize,
}

/// Put a conversation together. `id` is what the file is called, for a record that was cut off in its first line.
///
/// # Errors
/// The number of an entry, from 1, that cannot follow those before it, and why: a provider would refuse the conversation.
pub fn restore(recorded: Recorded, id: &str) -> Result<Restored, (usize, String)> {
    let mut restored = Restored {
        id: id.to_owned(),
        channel: Channel::Text,
        messages: Vec::new(),
        facts: Facts::default(),
        gone: 0,
        times: None,
        lost: Vec::new(),
        torn: recorded.torn,
    };
    let mut made: BTreeSet<String> = BTreeSet::new();
    for (n, entry) in recorded.entries.into_iter().enumerate() {
        let at = at(&entry);
        restored.times = Some((restored.times.map_or(at, |(began, _)| began), at));
        match entry {
            Entry::Started { session, channel, .. } => {
                restored.id = session;
                restored.channel = channel;
            }
            Entry::Message { message, calls, .. } => {
                restored.fits(&message, &made).map_err(|why| (n + 1, why))?;
                made.extend(message.calls().map(|call| call.id.clone()));
                restored.add(message, calls);
            }
            Entry::Cleared { .. } => {
                restored.gone += restored.messages.len().saturating_sub(1);
                restored.messages.truncate(1);
                restored.lost.clear();
                restored.facts = Facts::default();
                made.clear();
            }
            Entry::WentBack { kept, .. } => {
                restored.messages.truncate(kept);
                restored.lost.clear();
                restored.facts.back(restored.gone + kept);
            }
            Entry::Compacted { messages, .. } => {
                if let Some(call) = restored.lost.first() {
                    let why = format!("the call {} of `{}` has no result", call.id, call.name);
                    return Err((n + 1, why));
                }
                let before = restored.messages.len();
                restored.messages.truncate(1);
                restored.messages.extend(messages);
                restored.gone += before.saturating_sub(restored.messages.len());
            }
            Entry::Ended { .. } => {}
        }
    }
    Ok(restored)
}

fn at(entry: &Entry) -> u64 {
    match entry {
        Entry::Started { at, .. }
        | Entry::Message { at, .. }
        | Entry::Cleared { at }
        | Entry::Compacted { at, .. }
        | Entry::WentBack { at, .. }
        | Entry::Ended { at, .. } => *at,
    }
}

/// The result that a lost call gets instead.
pub fn lost_result(call: &ToolCall, text: &str) -> ToolResult {
    ToolResult {
        id: call.id.clone(),
        name: call.name.clone(),
        outcome: Outcome::Interrupted,
        text: text.to_owned(),
        detail: Value::Null,
    }
}

impl Restored {
    /// Whether a message can follow: every call is answered by the next message, once, and made once.
    fn fits(&self, message: &Message, made: &BTreeSet<String>) -> Result<(), String> {
        if message.role == Role::System {
            return Ok(());
        }
        if self.messages.is_empty() {
            return Err("the conversation begins without its system message".to_owned());
        }
        let answered =
            |id: &str| message.parts.iter().filter(|part| matches!(part, Part::Result(r) if r.id == id)).count();
        if let Some(call) = self.lost.iter().find(|call| answered(&call.id) != 1) {
            return Err(format!("the call {} of `{}` is not answered once", call.id, call.name));
        }
        let own = |id: &str| self.lost.iter().any(|call| call.id == id);
        for part in &message.parts {
            if let Part::Result(result) = part
                && made.contains(&result.id)
                && !own(&result.id)
            {
                return Err(format!("the call {} of `{}` was answered before", result.id, result.name));
            }
        }
        match message.calls().find(|call| made.contains(&call.id)) {
            Some(call) => Err(format!("the call {} of `{}` was made before", call.id, call.name)),
            None => Ok(()),
        }
    }

    fn add(&mut self, message: Message, calls: Vec<ToolCall>) {
        if message.role == Role::System && !self.messages.is_empty() {
            // A later system message takes the place of the first.
            if let Some(first) = self.messages.first_mut() {
                *first = message;
            }
            return;
        }
        for part in &message.parts {
            if let Part::Result(result) = part {
                self.lost.retain(|call| call.id != result.id);
            }
        }
        self.facts.take(self.gone + self.messages.len(), &message);
        self.lost.extend(message.calls().cloned().chain(calls));
        self.messages.push(message);
    }
}
