//! Asking the model: one request, one [`Reply`], whatever the provider and the channel.
//!
//! The trait [`Model`] is what `turn` sees. Behind it: `client` (requests over HTTP through async-openai's `byot`
//! form; tries and waits), `http` (the one HTTP client, and the guard below the library that reads every answer first),
//! `failure` and `retry` (what went wrong, whether to try again), `chunk` and `assemble` (deltas into a reply),
//! `text_channel` and `native_channel` (calls), `think` (thinking kept apart), `show` (what a person sees while it
//! streams), `spell` (the conversation as JSON), `tape` (record and replay), `usage` (tokens and cost), `quirks` (the one
//! table of what providers do differently), `adapt` (what is learnt of a server by its refusals) and `channels` (what is
//! remembered of models).

mod adapt;
mod assemble;
pub mod channels;
mod chunk;
pub mod client;
pub mod endpoint;
mod failure;
pub mod file_blocks;
pub mod http;
mod images;
mod lift;
mod native_channel;
pub mod offline;
pub mod quirks;
pub mod reply;
pub mod retry;
pub mod settings;
mod show;
pub mod spell;
pub mod tape;
pub mod text_channel;
pub mod think;
pub mod usage;

use crate::event::Usage;
use crate::message::{Channel, Message, ToolCall};
use futures::future::BoxFuture;
use serde_json::Value;

/// What a tool looks like to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Canonical name.
    pub name: &'static str,
    /// Other names a model may use.
    pub aliases: &'static [&'static str],
    /// What it does, when to use it, what it answers: the rendered text of `prompts/tools/<name>.md`.
    pub description: String,
    /// JSON schema of the arguments: an object with `properties` and `required`.
    pub schema: Value,
    /// On the text channel, the argument that is the block's body; the others are attributes or child tags.
    pub body: Option<&'static str>,
}

/// One request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The conversation so far, system message first.
    pub messages: &'a [Message],
    /// The tools on offer.
    pub tools: &'a [ToolSpec],
    /// Another model of the same provider that is to answer this one.
    pub model: Option<&'a str>,
    /// Tokens that may still be spent: an answer is no longer than that, and is not asked for again beyond it.
    pub tokens_left: Option<u64>,
}

/// How much a model can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Tokens in all, the answer's included.
    pub window: u64,
    /// Tokens that an answer should find free.
    pub room: u64,
    /// Whether somebody said so; else the window is assumed.
    pub is_known: bool,
}

/// A piece of a reply while it streams.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// Visible text; tool blocks and thinking are already held back.
    Text(String),
    /// Thinking.
    Thinking(String),
    /// Another try is coming.
    Retrying {
        /// Which try, from 2.
        attempt: u32,
        /// Milliseconds until then.
        wait_ms: u64,
        /// Why.
        why: String,
    },
    /// What was streamed so far is void.
    Superseded {
        /// Why.
        why: String,
    },
    /// Something a person should know (a silently cut context, a drifting cassette).
    Notice(String),
}

/// Whether a reply can be believed to be whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// A proper end.
    Complete,
    /// Cut off, by the limit on tokens or by the network; its last call is never run.
    Truncated {
        /// Why.
        why: String,
    },
}

/// A call that was not admitted: it never runs, and the model is told why.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The call's id on the native channel, so that it gets its result.
    pub id: Option<String>,
    /// The name the model wrote.
    pub name: String,
    /// A word of the list in tests/cases/README.md, such as `unclosed` or `bad_arguments`.
    pub class: &'static str,
    /// What was wrong and how to write it right, for the model.
    pub why: String,
}

/// One whole reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// What goes into the history: thinking, text as received without it, and on the native channel all calls: refused
    /// ones too, because their refusals go back as results under the same ids.
    pub message: Message,
    /// Prose with tool blocks and thinking taken out, runs of three or more line ends folded to two.
    pub visible: String,
    /// Admitted calls in order of appearance.
    pub calls: Vec<ToolCall>,
    /// Calls that were not admitted.
    pub refusals: Vec<Refusal>,
    /// Whether it is whole.
    pub state: State,
    /// Finish reason as the provider said it; empty where it said none.
    pub finish: String,
    /// Tokens, measured or estimated.
    pub usage: Usage,
    /// Cost in US dollars where the price table knows the model.
    pub cost_usd: Option<f64>,
}

/// A model that can be asked. Asking is cancelled by dropping the future.
pub trait Model: Send + Sync {
    /// The model's name.
    fn name(&self) -> &str;
    /// The channel that its calls and results take.
    fn channel(&self) -> Channel;
    /// How much it can take.
    fn capacity(&self) -> Capacity;
    /// What so many tokens cost in US dollars, where the price is known.
    fn cost(&self, _usage: &Usage) -> Option<f64> {
        None
    }
    /// Tokens that a request would send: estimated, and corrected by what the server measured of earlier ones.
    fn tokens(&self, request: &Request<'_>) -> u64;
    /// Ask once; retries, growth of the token limit and recording happen inside.
    fn ask<'a>(
        &'a self,
        request: Request<'a>,
        on: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<Reply, QueryError>>;
}

/// Why the model could not be asked; the session ends with it. Each message completes "could not …".
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The provider refuses for good.
    #[error("{what}")]
    Refused {
        /// The provider's own words, with status and address.
        what: String,
        /// What to do next.
        hint: String,
        /// HTTP status, or the number the provider gave in its place.
        code: Option<u16>,
    },
    /// The conversation does not fit the model's window.
    #[error("{what}")]
    TooLong {
        /// The provider's own words, with status and address.
        what: String,
        /// What to do next.
        hint: String,
        /// HTTP status, or the number the provider gave in its place.
        code: Option<u16>,
    },
    /// It could not be reached or kept failing.
    #[error("{what}")]
    Unavailable {
        /// What happened, with address and number of tries.
        what: String,
        /// What to do next.
        hint: String,
        /// HTTP status, or the number the provider gave in its place.
        code: Option<u16>,
    },
    /// A cassette ran out, is broken, or differs under `--strict`.
    #[error("{what}")]
    Cassette {
        /// File, turn and difference.
        what: String,
        /// What to do next.
        hint: String,
    },
}

impl QueryError {
    /// What the person can do next.
    pub fn hint(&self) -> &str {
        match self {
            Self::Refused { hint, .. }
            | Self::TooLong { hint, .. }
            | Self::Unavailable { hint, .. }
            | Self::Cassette { hint, .. } => hint,
        }
    }
}
