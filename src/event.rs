//! Everything that can be observed of a session: one stream, several consumers (REPL, JSON lines, transcript, tests).
//!
//! Events stand below both sides that use them. The JSON form is part of docs/contract.md: fields are only ever added,
//! and a line that a reader does not know is skipped.

use crate::ending::Ending;
use crate::message::{ToolCall, ToolResult};
use serde::{Deserialize, Serialize};

/// Version of the JSON lines.
pub const EVENT_VERSION: u32 = 1;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Counts from 1 within a session, without gaps.
    pub seq: u64,
    /// Milliseconds since the UNIX epoch, from the clock that was passed in.
    pub at: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Tokens of one reply or of a whole session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent.
    pub prompt: u64,
    /// Tokens received, thinking included.
    pub completion: u64,
    /// Of the sent ones, those that the provider's cache held.
    #[serde(default)]
    pub cached: u64,
    /// False where the server gave no figures and these are our own estimate.
    pub measured: bool,
}

impl Usage {
    /// Count another reply in; the sum is measured only if every part is. Servers say anything, so it stops at the largest
    /// number there is.
    pub fn add(&mut self, other: &Self) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
        self.cached = self.cached.saturating_add(other.cached);
        self.measured &= other.measured;
    }
}

/// Why a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compacting {
    /// It comes near the model's window.
    NearWindow,
    /// The server said that it does not fit.
    Overflow,
    /// The person wants it.
    Asked,
}

/// By what means a conversation was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// A summary by a model.
    Summary,
    /// A list of what happened, by the program.
    Digest,
    /// It was not: too little could be gained, or the person interrupted.
    None,
}

/// The kinds of event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    /// First of a session.
    SessionStarted {
        /// Version of these lines.
        version: u32,
        /// The session's id, a file name.
        session: String,
        /// The model's name.
        model: String,
        /// Root of the workspace.
        root: String,
    },
    /// A prompt was accepted.
    PromptTaken {
        /// The words.
        text: String,
    },
    /// A query goes out.
    TurnStarted {
        /// Counts from 1 within a prompt.
        turn: u32,
    },
    /// A piece of visible answer.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// A piece of thinking.
    ThinkingDelta {
        /// The piece.
        text: String,
    },
    /// A query is tried again.
    Retrying {
        /// Which try comes next, from 2.
        attempt: u32,
        /// Milliseconds until then.
        wait_ms: u64,
        /// Why.
        why: String,
    },
    /// What was streamed of the last reply is void: it is asked for again, with more room.
    Superseded {
        /// Why.
        why: String,
    },
    /// A reply is in.
    Replied {
        /// The whole visible text.
        text: String,
        /// The provider's finish reason, as it said it.
        finish: String,
        /// Tokens of this reply.
        usage: Usage,
        /// Its cost in US dollars, where the price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
    },
    /// A call is about to run.
    CallStarted {
        /// The call.
        call: ToolCall,
    },
    /// A call has its result.
    CallEnded {
        /// The result.
        result: ToolResult,
    },
    /// The older part of the conversation is about to give way to a summary.
    CompactionStarted {
        /// Why.
        why: Compacting,
        /// Tokens that the next request would send.
        tokens: u64,
        /// Tokens at which a conversation is compacted.
        most: u64,
    },
    /// It did, or could not.
    CompactionEnded {
        /// How.
        means: Means,
        /// Tokens of the next request before.
        before: u64,
        /// And after.
        after: u64,
        /// Messages that stayed as they were.
        kept: usize,
    },
    /// Something happened to a helper.
    Task {
        /// Id of the call that it works for.
        call: String,
        /// What, numbered for itself.
        event: Box<Event>,
    },
    /// Something a person should know; the work goes on.
    Notice {
        /// What.
        text: String,
    },
    /// Something went wrong that ends the work.
    Problem {
        /// What, with what to do next.
        text: String,
    },
    /// Last event of a prompt.
    Ended {
        /// Why.
        ending: Ending,
        /// Its exit code.
        exit_code: u8,
        /// The model's summary, or its final answer.
        summary: String,
        /// Files created, changed or removed by tools, and by commands where snapshots are kept; relative to the root, sorted.
        files: Vec<String>,
        /// Shell commands run.
        commands: u32,
        /// Turns used.
        turns: u32,
        /// Tokens of the whole prompt.
        usage: Usage,
        /// Its cost in US dollars, where prices are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_absurd_figures_stops_at_the_largest_number() {
        let mut sum = Usage { prompt: u64::MAX, completion: 1 << 63, cached: u64::MAX, measured: true };
        sum.add(&Usage { prompt: u64::MAX, completion: 1 << 63, cached: 1, measured: true });
        assert_eq!(sum, Usage { prompt: u64::MAX, completion: u64::MAX, cached: u64::MAX, measured: true });
    }
}
