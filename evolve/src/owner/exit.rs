//! Exit codes of `selfsmith`'s own commands: a contract (docs/contract.md), each with a test.

use crate::judgement::verdict::Verdict;

/// How a command of the judge ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It was done; for `evolve`: accepted, and landed or waiting for an approval that policy asks for.
    Done,
    /// Something broke that is nobody's wish.
    Failed,
    /// The command line is wrong.
    Usage,
    /// Settings or rules are wrong.
    Settings,
    /// The candidate was rejected.
    Reject,
    /// A person decides.
    NeedsHuman,
    /// It could not be checked.
    Inconclusive,
    /// The base moved meanwhile.
    Stale,
    /// What was asked for is not built yet.
    NotBuilt,
    /// A person or a signal stopped it.
    Interrupted,
}

impl Exit {
    /// Every one, in the order of the table in docs/contract.md.
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Settings,
        Self::Reject,
        Self::NeedsHuman,
        Self::Inconclusive,
        Self::Stale,
        Self::NotBuilt,
        Self::Interrupted,
    ];

    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Settings => 3,
            Self::Reject => 10,
            Self::NeedsHuman => 11,
            Self::Inconclusive => 12,
            Self::Stale => 13,
            Self::NotBuilt => 14,
            Self::Interrupted => 130,
        }
    }

    /// The one for a verdict.
    pub const fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Accept => Self::Done,
            Verdict::Reject { .. } => Self::Reject,
            Verdict::NeedsHuman { .. } => Self::NeedsHuman,
            Verdict::Inconclusive { .. } => Self::Inconclusive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_endings_share_a_code() {
        for (index, one) in Exit::ALL.iter().enumerate() {
            for other in Exit::ALL.iter().skip(index + 1) {
                assert_ne!(one.code(), other.code(), "{one:?} and {other:?}");
            }
        }
    }
}
