//! What was proven, and what became of it: for a person who answers for the code.
//!
//! Read from the lineage alone, so that a fresh clone with the judge's refs shows the same. Deciding is in [`decide`], checking
//! in [`verify`]. It prints nothing; texts of proposers in it are untrusted and are escaped by whoever shows them.

pub mod at;
pub mod bisect;
pub mod decide;
pub mod failures;
pub mod forget;
pub mod hunks;
pub mod remake;
pub mod risk;
pub mod undo;
pub mod verify;
mod witnesses;

use crate::cycle::candidate_ref;
use crate::judgement::candidate::{CommitId, TreeId};
use crate::judgement::verdict::Verdict;
use crate::store::evidence::{self, Evidence};
use crate::store::lineage::{self, Link};
use crate::store::record::{End, Kind, Record};
use selfsmith_repo::{FileDiff, Renames, Repo};
use serde::Serialize;
use std::collections::BTreeMap;

pub use decide::{Decided, Deciding, ReviewError, approve, propose_revert, reject, revert};
pub use verify::{Fault, verify};

/// One candidate in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Id of the candidate, or of the cycle where there is none.
    pub id: String,
    /// The cycle or revert that it came from.
    pub cycle: String,
    /// When it was judged, in seconds since the epoch.
    pub at: i64,
    /// What was to be brought about.
    pub goal: String,
    /// The verdict on it.
    pub verdict: Verdict,
    /// What became of it.
    pub status: Status,
    /// Full name of the branch it is for.
    pub target: String,
    /// The commit that landed, also when it was taken back since.
    pub landed: Option<CommitId>,
    /// The one who proposed.
    pub proposer: String,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Waits for a person.
    Waiting,
    /// On the target.
    Landed,
    /// Refused by the gates.
    Refused,
    /// Refused by a person.
    Rejected,
    /// The target had moved.
    Stale,
    /// Could not be checked.
    Inconclusive,
    /// Landed, and taken back by a commit.
    Reverted,
    /// Landed, and the target was moved back.
    Undone,
    /// Another one was made from it, and stands in its place.
    Superseded,
    /// Kept no more.
    Forgotten,
}

impl Status {
    /// The word used in lists and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Landed => "landed",
            Self::Refused => "refused",
            Self::Rejected => "rejected",
            Self::Stale => "stale",
            Self::Inconclusive => "inconclusive",
            Self::Reverted => "reverted",
            Self::Undone => "undone",
            Self::Superseded => "superseded",
            Self::Forgotten => "forgotten",
        }
    }

    const fn of(end: End) -> Self {
        match end {
            End::Landed => Self::Landed,
            End::Waiting => Self::Waiting,
            End::Refused => Self::Refused,
            End::Stale => Self::Stale,
            End::Inconclusive => Self::Inconclusive,
        }
    }
}

/// One candidate in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// As in the list.
    pub item: Item,
    /// The record of its cycle.
    pub record: Record,
    /// Records of what was decided about it since, oldest first.
    pub decisions: Vec<Record>,
    /// What the gates said of each attempt.
    pub evidence: Evidence,
    /// Tree of the evidence.
    pub evidence_tree: TreeId,
    /// The commit that holds it; none where it was kept outside of the repository.
    pub commit: Option<CommitId>,
    /// That commit's message.
    pub message: String,
    /// What differs from its base.
    pub diff: Vec<FileDiff>,
}

/// All candidates, newest first.
pub fn list(repo: &Repo) -> Result<Vec<Item>, ReviewError> {
    Ok(items(&lineage::list(repo)?))
}

/// One candidate, by its id, its cycle's id, its landed commit, or a beginning of one of them that is unique.
pub fn show(repo: &Repo, id: &str) -> Result<Shown, ReviewError> {
    let links = lineage::list(repo)?;
    let item = find(items(&links), id)?;
    let missing = || ReviewError::Unknown { id: id.to_owned() };
    let link = links.iter().find(|link| link.record.id == item.cycle).ok_or_else(missing)?;
    let about = [Some(item.id.clone()), item.landed.as_ref().map(|c| c.0.clone()), Some(item.cycle.clone())];
    let decisions = links.iter().rev().filter(|l| l.record.about.is_some() && about.contains(&l.record.about));
    let commit = repo.read_ref(&candidate_ref(&item.id)).ok().flatten();
    let (message, diff) = match &commit {
        Some(commit) => {
            let base = repo.tree_of(&link.record.base.0)?;
            let commit = repo.read_commit(commit)?;
            (commit.message, repo.diff(&base, &commit.tree, Renames::Found)?)
        }
        None => (String::new(), Vec::new()),
    };
    Ok(Shown {
        record: link.record.clone(),
        decisions: decisions.map(|l| l.record.clone()).collect(),
        evidence: evidence::read(repo, &link.evidence)?,
        evidence_tree: link.evidence.clone(),
        commit: commit.map(CommitId),
        message,
        diff,
        item,
    })
}

/// What the chain tells of each candidate.
fn items(links: &[Link]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let records: BTreeMap<&str, &Record> = links.iter().map(|l| (l.record.id.as_str(), &l.record)).collect();
    for link in links.iter().rev() {
        let record = &link.record;
        match record.kind {
            Kind::Cycle | Kind::Revert | Kind::Rebase | Kind::Selection => {
                items.push(item(record));
                if record.kind == Kind::Revert && record.end == End::Landed {
                    took_back(&mut items, record, Status::Reverted);
                }
                if record.kind.is_remade() && matches!(record.end, End::Landed | End::Waiting) {
                    superseded(&mut items, record);
                }
            }
            Kind::Approval | Kind::Rejection => {
                let about = record.about.as_deref();
                if let Some(item) = items.iter_mut().find(|item| Some(item.id.as_str()) == about) {
                    item.status = match record.kind {
                        Kind::Rejection => Status::Rejected,
                        _ => Status::of(record.end),
                    };
                    item.landed = record.landed.clone().or(item.landed.take());
                }
            }
            Kind::Undo if record.end == End::Landed => undone(&mut items, record, &records),
            Kind::Undo => {}
            Kind::Forgetting => {
                for item in items.iter_mut().filter(|item| record.forgotten.contains(&item.id)) {
                    item.status = Status::Forgotten;
                }
            }
        }
    }
    items.reverse();
    items
}

fn item(record: &Record) -> Item {
    Item {
        id: record.candidate.as_ref().map_or_else(|| record.id.clone(), |c| c.id.clone()),
        cycle: record.id.clone(),
        at: record.at,
        goal: record.goal.clone(),
        verdict: record.verdict.clone(),
        status: Status::of(record.end),
        target: record.target.clone(),
        landed: record.landed.clone(),
        proposer: record.proposer.clone(),
    }
}

/// The candidate that another one was made from has done its service.
fn superseded(items: &mut [Item], remade: &Record) {
    let about = |item: &&mut Item| Some(&item.id) == remade.about.as_ref();
    if let Some(item) = items.iter_mut().find(about) {
        item.status = Status::Superseded;
    }
}

/// The commit that a revert is about gets this status.
fn took_back(items: &mut [Item], revert: &Record, status: Status) {
    let landed = |item: &&mut Item| item.landed.as_ref().map(|c| &c.0) == revert.about.as_ref();
    if let Some(item) = items.iter_mut().find(landed) {
        item.status = status;
    }
}

/// An undo takes a landing back; an undo of an undo brings it again; an undo of a revert brings back what it reverted.
fn undone(items: &mut [Item], undo: &Record, records: &BTreeMap<&str, &Record>) {
    let mut on_target = false;
    let mut about = undo.about.as_deref().and_then(|id| records.get(id));
    // A chain of undos is as long as a person made it, and each stands on an older one.
    while let Some(record) = about.filter(|record| record.kind == Kind::Undo) {
        on_target = !on_target;
        about = record.about.as_deref().and_then(|id| records.get(id));
    }
    let Some(record) = about else { return };
    let status = if on_target { Status::Landed } else { Status::Undone };
    let candidate = record.candidate.as_ref().map(|c| c.id.as_str());
    if let Some(item) = items.iter_mut().find(|item| Some(item.id.as_str()) == candidate) {
        item.status = status;
    }
    if record.kind == Kind::Revert {
        took_back(items, record, if on_target { Status::Reverted } else { Status::Landed });
    }
}

/// The one that is meant.
fn find(items: Vec<Item>, id: &str) -> Result<Item, ReviewError> {
    let names =
        |item: &Item| [Some(item.id.clone()), Some(item.cycle.clone()), item.landed.as_ref().map(|c| c.0.clone())];
    if let Some(exact) = items.iter().find(|item| names(item).iter().flatten().any(|name| name == id)) {
        return Ok(exact.clone());
    }
    let mut begun: Vec<Item> = items
        .into_iter()
        .filter(|item| !id.is_empty() && names(item).iter().flatten().any(|name| name.starts_with(id)))
        .collect();
    match (begun.pop(), begun.is_empty()) {
        (Some(item), true) => Ok(item),
        (Some(_), false) => Err(ReviewError::Ambiguous { id: id.to_owned() }),
        (None, _) => Err(ReviewError::Unknown { id: id.to_owned() }),
    }
}
