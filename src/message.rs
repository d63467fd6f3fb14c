//! The conversation as data: messages, their parts, tool calls and their results.
//!
//! The list of messages is the trajectory. It only grows at its end between compactions, so that a provider's prompt
//! cache stays warm. Nothing here knows how a provider spells a message: that is `query`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Standing instructions: the layered prompt, always first.
    System,
    /// The person, and on the text channel also the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A message of one text part.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![Part::Text { text: text.into() }] }
    }

    /// All text parts joined; thinking, calls and results are left out.
    pub fn plain_text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The calls in this message, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// Words. On the text channel an assistant's text still holds its tool blocks, byte for byte as received, so that
    /// the next request repeats what the model really said.
    Text {
        /// The words.
        text: String,
    },
    /// The model's thinking, kept apart from its answer; sent back only to providers that need it.
    Thinking {
        /// The thoughts.
        text: String,
    },
    /// An image for a model that takes them.
    Image {
        /// MIME type, such as `image/png`.
        mime: String,
        /// The bytes in base64.
        base64: String,
    },
    /// A call of a tool.
    Call(ToolCall),
    /// The result of a call; every stored call has exactly one.
    Result(ToolResult),
}

/// How a call travelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// A tag in the model's text.
    Text,
    /// A provider's `tool_calls`.
    Native,
}

/// A call that passed admission: known tool, complete, arguments an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the session; the provider's own id on the native channel where it was usable.
    pub id: String,
    /// The tool's canonical name.
    pub name: String,
    /// Arguments by name.
    pub arguments: Map<String, Value>,
    /// How it came, and so how its result goes back.
    pub channel: Channel,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The tool did what was asked.
    Done,
    /// The tool could not; the text says why and what to do next.
    Failed,
    /// It was not run: not admitted, denied by a person or a rule, or after a `done`.
    Refused,
    /// The turn was interrupted before or while it ran.
    Interrupted,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Id of the call.
    pub id: String,
    /// Canonical name of the tool, or the name the model wrote where there is no such tool.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Bounded text for the model.
    pub text: String,
    /// Structured facts for people and events (a diff, an exit code, a path); never sent to the model.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}
