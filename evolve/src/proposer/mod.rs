//! Who proposes a change. A proposer is one file here and one line in the table of names.
//!
//! A proposer edits a plain directory, the candidate's, in the room. What it says is untrusted text.

pub mod agent;
pub mod command;
pub mod fix;
pub mod replay;
pub mod room;
pub mod table;
pub mod tune;

use crate::judgement::candidate::Proposal;
use crate::judgement::progress::Report;
use std::path::Path;

/// What a proposer is asked.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// Id of the cycle.
    pub cycle: &'a str,
    /// What is to be brought about.
    pub goal: &'a str,
    /// The directory to edit: the base's files without `.git`, `evals/` and `evolve/tests/`; at a repair, the files as the
    /// proposer left them.
    pub dir: &'a Path,
    /// A target folder for cargo with the base's dependencies built, to use as it likes; none where there is none.
    pub target: Option<&'a Path>,
    /// 0 at first; n for the n-th repair.
    pub attempt: u32,
    /// At a repair: which gate failed, and the diagnostics, bounded.
    pub diagnostics: Option<&'a str>,
}

/// One proposer.
pub trait Proposer {
    /// Its name as typed after `--proposer`, without what follows the colon.
    fn name(&self) -> &str;
    /// The model behind it, for the trailers; none for proposers without one.
    fn model(&self) -> Option<String> {
        None
    }
    /// Edit `task.dir`.
    fn propose(&mut self, task: Task<'_>, report: Report<'_>) -> Result<Proposal, ProposerError>;
}

/// Why there is no proposal. The cycle ends inconclusive.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct ProposerError {
    /// What happened, naming program, file or address.
    pub what: String,
    /// What to do next.
    pub hint: String,
}
