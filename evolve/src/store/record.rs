//! What is remembered of a cycle, or of a person's decision, for ever: values for the journal and the lineage.

use crate::judgement::candidate::{Candidate, CommitId, Proposal};
use crate::judgement::verdict::Verdict;
use crate::store::authority::Authority;
use serde::{Deserialize, Serialize};

/// The version of [`Record`] that is written.
pub const RECORD_VERSION: u32 = 1;

/// One link of the lineage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this format.
    pub version: u32,
    /// Id of the cycle or decision; no two records share one.
    pub id: String,
    /// What happened.
    pub kind: Kind,
    /// When, in seconds since the epoch.
    pub at: i64,
    /// What was to be brought about.
    pub goal: String,
    /// Who proposed.
    pub proposer: String,
    /// The model behind it.
    pub model: Option<String>,
    /// The commit that it was judged on.
    pub base: CommitId,
    /// Full name of the branch that it is for.
    pub target: String,
    /// What was judged; none where nothing could be composed.
    pub candidate: Option<Candidate>,
    /// What the proposer said of it.
    pub proposal: Proposal,
    /// The verdict.
    pub verdict: Verdict,
    /// What became of it.
    pub end: End,
    /// The commit that landed, or that an undo went back to.
    pub landed: Option<CommitId>,
    /// For decisions: the candidate, commit or operation that it is about.
    pub about: Option<String>,
    /// Which sign of a person was seen, where one is needed.
    pub authority: Option<Authority>,
    /// The judge's own sources, as a tree id; empty where it was not built to know.
    pub judge: String,
    /// Ids of the candidates that are kept no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<String>,
}

/// What a record tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A cycle.
    Cycle,
    /// A person approved a waiting candidate.
    Approval,
    /// A person refused a waiting candidate.
    Rejection,
    /// A landed commit was taken back by a commit that passed the gates.
    Revert,
    /// An operation was undone.
    Undo,
    /// A candidate whose target had moved was made anew on where it is now.
    Rebase,
    /// A candidate was made anew without what a person left out.
    Selection,
    /// Kept candidates were forgotten.
    Forgetting,
}

impl Kind {
    /// The word used in logs and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cycle => "cycle",
            Self::Approval => "approval",
            Self::Rejection => "rejection",
            Self::Revert => "revert",
            Self::Undo => "undo",
            Self::Rebase => "rebase",
            Self::Selection => "selection",
            Self::Forgetting => "gc",
        }
    }

    /// Whether a candidate is weighed, or a person only decides.
    pub const fn is_weighed(self) -> bool {
        matches!(self, Self::Cycle | Self::Revert) || self.is_remade()
    }

    /// Whether a candidate was made from another one.
    pub const fn is_remade(self) -> bool {
        matches!(self, Self::Rebase | Self::Selection)
    }
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The target moved.
    Landed,
    /// A person decides.
    Waiting,
    /// It never lands.
    Refused,
    /// The target had moved meanwhile, so it was kept and not landed.
    Stale,
    /// It could not be checked.
    Inconclusive,
}

impl End {
    /// The word used in logs and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Landed => "landed",
            Self::Waiting => "waiting",
            Self::Refused => "refused",
            Self::Stale => "stale",
            Self::Inconclusive => "inconclusive",
        }
    }
}
