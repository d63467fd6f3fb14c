//! Pieces into one raw reply: a small state machine that never forgets how it ended.

use crate::query::chunk::{CallDelta, Piece, ServerUsage};
use crate::query::failure::Failure;
use crate::query::native_channel::{Assembly, RawCall};
use selfsmith_cassette::{Reply, SpokenCall, SpokenReply, TapeUsage};

/// What a reply was, before channels and admission.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Raw {
    /// The text, thinking in tags and tool blocks included.
    pub text: String,
    /// Thinking that came in a field of its own.
    pub thinking: String,
    /// Native calls.
    pub calls: Vec<RawCall>,
    /// The finish reason; `None` where the server gave none.
    pub finish: Option<String>,
    /// Tokens as the server counted them.
    pub usage: Option<ServerUsage>,
    /// Why it ended without a finish reason.
    pub cut: Option<String>,
}

impl Raw {
    /// Whether the limit on tokens cut it.
    pub fn is_at_limit(&self) -> bool {
        let words = ["length", "max_tokens", "max_output_tokens", "model_length"];
        self.finish.as_deref().is_some_and(|finish| words.iter().any(|word| finish.eq_ignore_ascii_case(word)))
    }

    /// For a recording.
    pub fn to_tape(&self) -> Reply {
        let calls = self.calls.iter().map(|call| SpokenCall {
            id: (!call.id.is_empty()).then(|| call.id.clone()),
            name: call.name.clone(),
            arguments: call.arguments.clone().into(),
        });
        Reply::Spoken(SpokenReply {
            text: self.text.clone(),
            thinking: self.thinking.clone(),
            calls: calls.collect(),
            finish: Some(self.finish.clone().unwrap_or_default()),
            usage: self.usage.map(|usage| TapeUsage {
                prompt_tokens: usage.prompt,
                completion_tokens: usage.completion,
                cached_tokens: usage.cached,
            }),
        })
    }
}

/// A reply while it comes.
#[derive(Debug, Default)]
pub struct Assembler {
    raw: Raw,
    calls: Assembly,
}

/// What a piece changed.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// Visible text (or a tool block) came.
    Text(String),
    /// Thinking came.
    Thinking(String),
    /// Something else.
    Quiet,
    /// The server reports an error in the place of an answer.
    Failed(Failure),
}

impl Assembler {
    /// Take a piece.
    pub fn push(&mut self, piece: Piece) -> Step {
        match piece {
            Piece::Text(text) => {
                self.raw.text.push_str(&text);
                return Step::Text(text);
            }
            Piece::Thinking(text) => {
                self.raw.thinking.push_str(&text);
                return Step::Thinking(text);
            }
            Piece::Call(delta) => self.call(delta),
            Piece::Finish(reason) => self.raw.finish = Some(reason),
            // Servers that count in every chunk count upwards: the last figures hold.
            Piece::Usage(usage) => self.raw.usage = Some(usage),
            Piece::Error(failure) => return Step::Failed(failure),
        }
        Step::Quiet
    }

    fn call(&mut self, delta: CallDelta) {
        self.calls.push(delta);
    }

    /// Whether anything of an answer came.
    pub fn has_begun(&self) -> bool {
        !self.raw.text.is_empty() || !self.raw.thinking.is_empty() || !self.calls.is_empty()
    }

    /// Whether the finish reason came.
    pub const fn has_finished(&self) -> bool {
        self.raw.finish.is_some()
    }

    /// The reply; `cut` says why it ended, where no finish reason came.
    pub fn finish(mut self, cut: Option<String>) -> Raw {
        self.raw.calls = self.calls.finish();
        if self.raw.finish.is_none() {
            self.raw.cut = cut;
        }
        self.raw
    }
}
