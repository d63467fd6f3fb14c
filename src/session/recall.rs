//! What a recorded session was, for a person who comes back to it.

use super::Session;
use crate::message::{Channel, Message, Role};
use crate::query::text_channel::{Finish, parse};
use serde_json::Value;

/// The call whose summary is an answer.
const DONE: &str = "done";

/// What there is to remember.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recall {
    /// When it began, in milliseconds since the UNIX epoch.
    pub began: u64,
    /// When something happened in it last.
    pub last: u64,
    /// Prompts of the conversation as it stands.
    pub prompts: usize,
    /// The first one ever.
    pub first: String,
    /// The last one.
    pub asked: String,
    /// What the model said to it, without calls; empty where it said nothing.
    pub answered: String,
}

impl Session {
    /// Nothing for a new session, and for one without prompts.
    pub fn recall(&self) -> Option<Recall> {
        let (began, last) = self.times?;
        let prompts = self.earlier();
        let asked = prompts.last()?;
        let after = self.messages.get(asked.before..).unwrap_or_default();
        let said = after.iter().rev().filter(|message| message.role == Role::Assistant);
        Some(Recall {
            began,
            last,
            prompts: prompts.len(),
            first: self.facts.said().next().unwrap_or(&asked.text).to_owned(),
            asked: asked.text.clone(),
            answered: said.map(|message| self.words(message)).find(|words| !words.is_empty()).unwrap_or_default(),
        })
    }

    /// What a message of the model says to a person.
    fn words(&self, message: &Message) -> String {
        let text = message.plain_text();
        let summary = |arguments: &serde_json::Map<String, Value>| {
            arguments.get("summary").and_then(Value::as_str).unwrap_or_default().trim().to_owned()
        };
        let (visible, done) = match self.parts.model.channel() {
            Channel::Native => {
                let done = message.calls().find(|call| call.name == DONE).map(|call| summary(&call.arguments));
                (text.trim().to_owned(), done)
            }
            Channel::Text => {
                let parsed = parse(&text, Finish::Whole, &self.parts.specs);
                let done = parsed.calls.iter().find(|call| call.name == DONE).map(|call| summary(&call.arguments));
                (parsed.visible, done)
            }
        };
        [visible, done.unwrap_or_default()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}
