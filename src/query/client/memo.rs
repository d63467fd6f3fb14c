//! What a conversation was spelled as, kept, so that a request costs what is new in it and not all that was said.
//!
//! A conversation only grows between compactions, and its spelling with it (B7). Whatever does not begin with what was
//! spelled last is spelled from its beginning.

use crate::message::Message;
use crate::query::ToolSpec;
use crate::query::quirks::Echo;
use crate::query::spell::{Speller, countable, tools};
use crate::query::usage::estimate;
use serde_json::Value;
use std::sync::Arc;

/// Tokens that a message costs beside its words.
const FRAME: f64 = 4.0;

/// A conversation as it is sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Said {
    pub messages: Arc<Vec<Value>>,
    /// Of the messages, by our own estimate, uncorrected.
    pub tokens: f64,
}

/// The last conversation and the last tools.
#[derive(Debug, Default)]
pub(super) struct Memo {
    messages: Vec<Message>,
    speller: Speller,
    said: Said,
    tools: Option<(Vec<ToolSpec>, f64)>,
}

impl Memo {
    /// The conversation as it is sent.
    pub(super) fn follow(&mut self, messages: &[Message], echo: Echo) -> Said {
        if !messages.starts_with(&self.messages) {
            *self = Self { tools: self.tools.take(), ..Self::default() };
        }
        let fresh = messages.get(self.messages.len()..).unwrap_or_default();
        let spelled = Arc::make_mut(&mut self.said.messages);
        let known = spelled.len();
        for message in fresh {
            self.speller.push(message, echo, spelled);
            self.messages.push(message.clone());
        }
        for value in spelled.iter().skip(known) {
            self.said.tokens += estimate(&countable(value)) + FRAME;
        }
        self.said.clone()
    }

    /// Tokens of the tools on the native channel.
    pub(super) fn tools(&mut self, specs: &[ToolSpec]) -> f64 {
        if let Some((_, tokens)) = self.tools.as_ref().filter(|(known, _)| known == specs) {
            return *tokens;
        }
        let tokens = tools(specs).iter().map(|tool| estimate(&tool.to_string())).sum();
        self.tools = Some((specs.to_vec(), tokens));
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;
    use crate::query::spell;

    #[test]
    fn what_is_kept_is_what_would_be_spelled_anew() {
        let said = |words: &str| Message::text(Role::User, words);
        let long = [said("one"), said("two 2"), said("three")];
        let other = [said("one"), said("else")];
        let mut memo = Memo::default();
        for messages in [&long[..1], &long[..], &long[..], &other[..], &long[..2], &[][..]] {
            let held = memo.follow(messages, Echo::Never);
            let anew = Memo::default().follow(messages, Echo::Never);
            assert_eq!(*held.messages, spell::messages(messages, Echo::Never));
            assert_eq!(held, anew);
        }
    }

    #[test]
    fn other_tools_are_counted_anew() {
        let tool = |words: &str| ToolSpec {
            name: "t",
            aliases: &[],
            description: words.to_owned(),
            schema: serde_json::json!({}),
            body: None,
        };
        let mut memo = Memo::default();
        let few = memo.tools(&[tool("a")]);
        assert!(memo.tools(&[tool("a"), tool("b c d")]) > few);
        assert!((memo.tools(&[tool("a")]) - few).abs() < 1e-9);
    }
}
