//! How a session ends, and the exit code that says so.
//!
//! The numbers are a contract (docs/contract.md): each has a test that makes the program end with it.

use serde::{Deserialize, Serialize};

/// Why a run of the agent came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// `done`, or a final answer.
    Done,
    /// Something broke that is nobody's wish: a file of ours, a disk, a bug.
    Failed,
    /// The command line is wrong.
    Usage,
    /// A setting or prompt is wrong.
    Config,
    /// The model refuses for good: key, quota, unknown model, prompt that cannot fit.
    ModelRefused,
    /// The model could not be reached, or kept failing.
    ModelUnavailable,
    /// Tools were used or asked for, and the model stopped without saying that it is done.
    Unfinished,
    /// The turns ran out.
    MaxTurns,
    /// The reply was cut off even at the largest permitted size.
    Truncated,
    /// A replayed cassette differs from what was asked, under `--strict`, or ran out.
    CassetteDrift,
    /// What was asked for is not built yet.
    NotBuilt,
    /// The same calls with the same results, again and again.
    Looping,
    /// The tokens that a run may take ran out.
    MaxTokens,
    /// The money that a run may take ran out.
    MaxCost,
    /// The time that a run may take ran out.
    MaxTime,
    /// A person or a signal stopped it.
    Interrupted,
}

impl Ending {
    /// Every ending, in the order of the table in docs/contract.md.
    pub const ALL: [Self; 16] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Config,
        Self::ModelRefused,
        Self::ModelUnavailable,
        Self::Unfinished,
        Self::MaxTurns,
        Self::Truncated,
        Self::CassetteDrift,
        Self::NotBuilt,
        Self::Looping,
        Self::MaxTokens,
        Self::MaxCost,
        Self::MaxTime,
        Self::Interrupted,
    ];

    /// Whether a limit of the run ended it: more prompts come to the same until it is raised.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::MaxTokens | Self::MaxCost | Self::MaxTime)
    }

    /// The exit code of `selfsmith-agent`.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Config => 3,
            Self::ModelRefused => 4,
            Self::ModelUnavailable => 5,
            Self::Unfinished => 6,
            Self::MaxTurns => 7,
            Self::Truncated => 8,
            Self::CassetteDrift => 9,
            Self::NotBuilt => 10,
            Self::Looping => 11,
            Self::MaxTokens => 12,
            Self::MaxCost => 13,
            Self::MaxTime => 14,
            Self::Interrupted => 130,
        }
    }
}
