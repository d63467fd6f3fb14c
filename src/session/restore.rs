//! A conversation out of its record: pure, so that any prefix of a record can be tried.

use super::log::{Entry, Recorded};
use crate::message::{Channel, Message, Outcome, Part, Role, ToolCall, ToolResult};
use serde_json::Value;

/// What a record says.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    /// The session's id.
    pub id: String,
    /// How calls travelled when it was recorded.
    pub channel: Channel,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Calls whose results were lost with the program.
    pub lost: Vec<ToolCall>,
    /// Bytes of a torn last line.
    pub torn: usize,
}

/// Put a conversation together. `id` is what the file is called, for a record that was cut off in its first line.
pub fn restore(recorded: Recorded, id: &str) -> Restored {
    let mut restored = Restored {
        id: id.to_owned(),
        channel: Channel::Text,
        messages: Vec::new(),
        lost: Vec::new(),
        torn: recorded.torn,
    };
    for entry in recorded.entries {
        match entry {
            Entry::Started { session, channel, .. } => {
                restored.id = session;
                restored.channel = channel;
            }
            Entry::Message { message, calls, .. } => restored.add(message, calls),
            Entry::Cleared { .. } => {
                restored.messages.truncate(1);
                restored.lost.clear();
            }
            Entry::WentBack { kept, .. } => {
                restored.messages.truncate(kept);
                restored.lost.clear();
            }
            Entry::Ended { .. } => {}
        }
    }
    restored
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
        self.lost.extend(message.calls().cloned().chain(calls));
        self.messages.push(message);
    }
}
