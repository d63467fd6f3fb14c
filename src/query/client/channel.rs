//! Which channel calls take with this model: forced by a setting, remembered, or found out while working.
//!
//! Where nothing is known the native channel is tried. A server that refuses tools, or lets them fall under the table, and
//! a model that writes its calls as text, lead to the text channel: from the next request on the conversation begins with
//! the prompt that says how calls are written. That costs one cold cache, once for each model.

use super::Client;
use crate::message::{Channel, Message, Role};
use crate::query::assemble::Raw;
use crate::query::channels::{Known, Memory};
use crate::query::chunk::ServerUsage;
use crate::query::failure::{Failure, Kind};
use crate::query::http::Transport;
use crate::query::reply::{self, Read};
use crate::query::settings::ChannelChoice;
use crate::query::show::On;
use crate::query::{Delta, Model, QueryError, Request, ToolSpec};
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;

/// Days after which it is tried again whether a model takes tools by now.
const NO_LASTS_DAYS: u64 = 30;
/// What a server does not take, in words that say so.
const NOT_TAKEN: [&str; 16] = [
    "not support",
    "n't support",
    "unsupported",
    "no endpoints found",
    "requires --jinja",
    "enable-auto-tool-choice",
    "unknown field",
    "unknown parameter",
    "unrecognized",
    "unexpected",
    "not permitted",
    "extra inputs",
    "not allowed",
    "not implemented",
    "not available",
    "no tool",
];

/// What is agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreed {
    /// This channel.
    On(Channel),
    /// Nothing yet: the native one is tried.
    Trying,
}

/// With which prompt conversations begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// The one they were given.
    AsGiven,
    /// The text channel's, which the server's or the model's ways led to.
    AsText,
}

impl Agreed {
    /// Before anything is remembered. A cassette holds its own answers: without a word it is read as text.
    pub(super) const fn new(choice: ChannelChoice, replays: bool) -> Self {
        match (choice, replays) {
            (ChannelChoice::Text, _) | (ChannelChoice::Auto, true) => Self::On(Channel::Text),
            (ChannelChoice::Native, _) => Self::On(Channel::Native),
            (ChannelChoice::Auto, false) => Self::Trying,
        }
    }

    pub(super) const fn channel(self) -> Channel {
        match self {
            Self::On(channel) => channel,
            Self::Trying => Channel::Native,
        }
    }
}

impl Client {
    /// The same with what is remembered of models.
    #[must_use]
    pub fn remembering(mut self, memory: Memory) -> Self {
        if self.settings.channel == ChannelChoice::Auto && matches!(self.transport, Transport::Network(_)) {
            let now = self.seconds();
            let base = self.endpoint().base().to_owned();
            let known = memory.get(&base, &self.name);
            let fresh = |known: &Known| known.channel == Channel::Native || now < known.at + NO_LASTS_DAYS * 86_400;
            if let Some(known) = known.filter(fresh) {
                self.learnt().agreed = Agreed::On(known.channel);
            }
            self.memory = memory;
        }
        self
    }

    /// The same with the prompt that says how calls are written as text, should it come to that.
    #[must_use]
    pub fn or_as_text(mut self, prompt: String) -> Self {
        self.text_prompt = Some(prompt);
        self
    }

    /// The same for a cassette whose first request offers tools: what was tried then is tried again.
    #[must_use]
    pub fn as_recorded(self) -> Self {
        self.learnt().agreed = Agreed::Trying;
        self
    }

    /// Ask the model for one call of a tool, whatever is remembered, and remember what came of it.
    ///
    /// # Errors
    /// It cannot be asked.
    pub async fn probe(&self, on: On<'_>) -> Result<Known, QueryError> {
        self.learnt().agreed = Agreed::Trying;
        let tools = [ToolSpec {
            name: "ping",
            aliases: &[],
            description: "Answers pong.".to_owned(),
            schema: json!({ "type": "object", "properties": {}, "required": [] }),
            body: None,
        }];
        let messages = [Message::text(Role::User, "Call the tool `ping` now. Say nothing else.")];
        self.ask(Request { messages: &messages, tools: &tools, model: None, tokens_left: None }, on).await?;
        if self.learnt().agreed == Agreed::Trying {
            self.settle(Channel::Text, "it did not call the tool that it was asked to call", on);
        }
        let channel = self.channel();
        let why = self.memory.get(self.endpoint().base(), &self.name).map(|known| known.why).unwrap_or_default();
        Ok(Known { channel, why, at: self.seconds() })
    }

    /// Agree on a channel, remember it, and tell where it is not the one that was tried.
    pub(super) fn settle(&self, channel: Channel, why: &str, on: On<'_>) {
        {
            let mut learnt = self.learnt();
            if learnt.agreed == Agreed::On(channel) {
                return;
            }
            learnt.agreed = Agreed::On(channel);
            if channel == Channel::Text && self.text_prompt.is_some() {
                learnt.begins = Begins::AsText;
            }
        }
        let known = Known { channel, why: why.to_owned(), at: self.seconds() };
        // What cannot be remembered is found out again.
        let _ = self.memory.keep(self.endpoint().base(), &self.name, known);
        if channel == Channel::Text {
            on(Delta::Notice(format!(
                "{} gets no tools through the interface ({why}): its calls are text from now on, which is remembered \
                 (`selfsmith-agent probe` asks again; model.channel forces either)",
                self.name
            )));
        }
    }

    /// Whether a server refuses the tools of this request, and it can go on without them.
    pub(super) fn refuses_tools(&self, failure: &Failure, request: &Request<'_>) -> bool {
        if self.settings.channel != ChannelChoice::Auto
            || self.channel() != Channel::Native
            || request.tools.is_empty()
            || request.messages.iter().flat_map(Message::calls).any(|call| call.channel == Channel::Native)
            || !matches!(failure.kind, Kind::BadRequest | Kind::NotFound | Kind::Server)
        {
            return false;
        }
        let words = failure.what.to_lowercase();
        let named = words.contains("tool") || words.contains("function call");
        named && NOT_TAKEN.iter().any(|word| words.contains(word))
    }

    /// The messages as the agreed channel begins them.
    pub(super) fn begun(&self, messages: &[Value]) -> Vec<Value> {
        let mut messages = messages.to_vec();
        let as_text = self.learnt().begins == Begins::AsText;
        if let (true, Some(prompt), Some(first)) = (as_text, &self.text_prompt, messages.first_mut())
            && first["role"] == "system"
        {
            first["content"] = prompt.clone().into();
        }
        messages
    }

    /// Read a reply by the agreed channel, or agree on the one that the reply shows.
    pub(super) fn read(&self, raw: &Raw, request: &Request<'_>, on: On<'_>) -> Read {
        let reading = |channel| reply::Reading { channel, echo: self.preset.echo, tools: request.tools };
        let agreed = self.learnt().agreed;
        if agreed == Agreed::Trying && raw.calls.is_empty() && !request.tools.is_empty() {
            let read = reply::read(raw, reading(Channel::Text), request.messages);
            let written = !read.calls.is_empty() || read.refusals.iter().any(|refusal| refusal.class != "no_call");
            if written {
                self.settle(Channel::Text, "it wrote a call as text", on);
                return read;
            }
        } else if agreed == Agreed::Trying && !raw.calls.is_empty() {
            self.settle(Channel::Native, "it called a tool", on);
        }
        reply::read(raw, reading(agreed.channel()), request.messages)
    }

    /// Whether the server counted the conversation but not the tools, though they are the larger part: then it dropped
    /// them. The estimates are `messages` and `tools`.
    pub(super) fn dropped_tools(&self, raw: &Raw, messages: f64, tools: f64) -> bool {
        let trying = self.learnt().agreed == Agreed::Trying && raw.calls.is_empty();
        trying && raw.usage.is_some_and(|usage| only_messages(usage, messages, tools))
    }

    fn seconds(&self) -> u64 {
        (self.surroundings.now)().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// The estimates may be off by a fifth; tools that are the larger part show through that.
fn only_messages(usage: ServerUsage, messages: f64, tools: f64) -> bool {
    let counted = usage.prompt as f64;
    tools > 500.0 && tools >= messages && counted > 0.6 * messages && counted < 1.1f64.mul_add(messages, 0.2 * tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_tools_show_in_what_the_server_counted() {
        let counted = |prompt| ServerUsage { prompt, completion: 1, cached: 0 };
        assert!(only_messages(counted(2000), 2000.0, 2500.0));
        for whole in [4500, 3600, 5400, 300] {
            assert!(!only_messages(counted(whole), 2000.0, 2500.0), "{whole}");
        }
        assert!(!only_messages(counted(10_000), 10_000.0, 2500.0));
    }
}
