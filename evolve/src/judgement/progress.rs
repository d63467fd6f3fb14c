//! What a cycle tells while it goes on: values for the terminal and for `--json` lines (docs/contract.md).

use crate::judgement::candidate::{CommitId, TreeId};
use crate::judgement::gate::{GateName, GateReport};
use crate::judgement::verdict::Verdict;
use serde::Serialize;

/// One thing that happened in a cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Progress {
    /// A cycle began.
    CycleStarted {
        /// Its id.
        cycle: String,
        /// What it is to bring about.
        goal: String,
        /// The commit it works on.
        base: CommitId,
        /// The branch the result goes to.
        target: String,
        /// Where its files lie meanwhile.
        folder: String,
    },
    /// Something takes a while.
    Working {
        /// What, as a short phrase.
        what: String,
    },
    /// A line that the proposer's program printed, bounded, without keys.
    Said {
        /// The line.
        text: String,
    },
    /// A candidate was composed.
    Composed {
        /// Its id.
        candidate: String,
        /// Its tree.
        tree: TreeId,
        /// Files that differ.
        files: u32,
        /// Lines added and removed.
        lines: u32,
    },
    /// A gate begins.
    GateStarted {
        /// Which.
        gate: GateName,
    },
    /// A gate has its report.
    GateEnded {
        /// The report.
        report: GateReport,
    },
    /// Diagnostics go back to the proposer.
    Repairing {
        /// Which repair, from 1.
        attempt: u32,
        /// The gate that failed.
        gate: GateName,
    },
    /// A candidate has its verdict.
    Judged {
        /// Candidate.
        candidate: String,
        /// Verdict.
        #[serde(flatten)]
        verdict: Verdict,
    },
    /// The target moved to this commit.
    Landed {
        /// The cycle or decision; another than the running one where a landing that was left half-done is finished.
        cycle: String,
        /// The commit.
        commit: CommitId,
        /// The branch.
        target: String,
    },
    /// An operation was undone: the target is back at this commit.
    TakenBack {
        /// The commit.
        commit: CommitId,
        /// The branch.
        target: String,
    },
    /// It did not land; it is kept under this ref.
    Kept {
        /// The ref.
        reference: String,
    },
    /// Something a person should know.
    Notice {
        /// What.
        text: String,
    },
}

/// Where progress goes. Called from the thread that runs the cycle.
pub type Report<'a> = &'a dyn Fn(Progress);
