//! What is going on: a cycle, or a person's decision, as a list of entries that a restart can go on from.
//!
//! Pure. Each arrow of a cycle is entered before it begins and after it has ended; [`Known::fold`] says from the entries what
//! is known, and refuses entries that no run can have written. Everything that is needed to go on stands in them, times
//! included, so that what is done again comes out the same. The durable file is [`crate::store::log`]'s.

use crate::judgement::candidate::{Candidate, CommitId, Proposal, TreeId};
use crate::judgement::gate::{GateName, GateReport};
use crate::judgement::weigh::Baseline;
use crate::store::authority::Authority;
use crate::store::record::{End, Kind, Record};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use under_way::UnderWay;

/// One entry.
#[expect(clippy::large_enum_variant, reason = "a journal has some dozen entries, and one plan among them")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum Entry {
    /// What was set out for.
    Opened(Opened),
    /// An arrow begins.
    Started {
        /// Which.
        arrow: Arrow,
    },
    /// The base is known.
    Baselined {
        /// What is known of it.
        baseline: Baseline,
    },
    /// The branch stands at the base.
    Branched,
    /// The proposer is done.
    Proposed {
        /// What it says.
        proposal: Proposal,
    },
    /// The trial tree is composed, or refused before it could be.
    Composed {
        /// What is judged; none if it must not enter the repository.
        candidate: Option<Candidate>,
        /// The bounds gate's report.
        bounds: GateReport,
    },
    /// The gates have reported.
    Weighed {
        /// All reports, bounds first.
        reports: Vec<GateReport>,
        /// Gates that had to run.
        required: Vec<GateName>,
    },
    /// What is to be done now, step by step.
    Planned(Plan),
    /// An effect of the plan begins.
    Doing {
        /// Its place in the plan.
        effect: usize,
    },
    /// An effect of the plan has ended.
    Done {
        /// Its place in the plan.
        effect: usize,
        /// How.
        outcome: Outcome,
    },
    /// All is done.
    Ended,
}

/// What was set out for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Its id.
    pub id: String,
    /// A cycle, or which decision.
    pub kind: Kind,
    /// What is to be brought about.
    pub goal: String,
    /// Who proposes.
    pub proposer: String,
    /// The model behind it.
    pub model: Option<String>,
    /// The commit that it works on.
    pub base: CommitId,
    /// Full name of the target.
    pub target: String,
    /// Full name of the cycle's own branch; empty for decisions.
    pub branch: String,
    /// When, in seconds since the epoch.
    pub at: i64,
    /// May it land by itself?
    pub landing: Landing,
    /// The rules of the base, as YAML.
    pub rules: String,
    /// For decisions: what it is about.
    pub about: Option<String>,
    /// Which sign of a person was seen.
    pub authority: Option<Authority>,
    /// The judge's own sources.
    pub judge: String,
}

/// May an accepted candidate land by itself?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landing {
    /// A person approves first.
    Review,
    /// A person approves first, unless only knobs are turned within their ranges.
    Knobs,
    /// Yes, outside of review zones.
    Auto,
    /// A person approved just this set of blobs before it was made anew.
    Approved {
        /// The gate that asked, where one did: what it asks again is answered.
        question: Option<GateName>,
    },
}

/// The arrows of a cycle that take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrow {
    /// Learn the base.
    Baseline,
    /// Make the branch.
    Branch,
    /// Have the proposer edit.
    Propose,
    /// Compose the trial tree.
    Compose,
    /// Run the gates.
    Weigh,
}

/// What is to be done once it is known what becomes of a candidate. Each effect may be done again without harm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The record to be written.
    pub record: Record,
    /// Tree of the evidence.
    pub evidence: TreeId,
    /// In this order.
    pub effects: Vec<Effect>,
}

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum Effect {
    /// Move a ref of the judge's own.
    Own(Move),
    /// Write the lineage's next object; no ref leads to it yet.
    LineageObject,
    /// Move the target. If somebody moved it meanwhile, all that follows is void.
    Target(Move),
    /// Bring clean checkouts of the target to where it is now.
    Checkouts {
        /// The move of the target.
        moved: Move,
        /// The checkouts.
        checkouts: Vec<CheckoutSeen>,
    },
    /// Enter the operation log.
    Op,
    /// Append to the lineage.
    Lineage,
    /// Write the note on the commit that landed.
    Note,
}

/// A checkout of the target as it was before the target moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutSeen {
    /// Its top folder.
    pub path: PathBuf,
    /// Why it is left alone; none if it is clean.
    pub left_alone: Option<String>,
}

/// A ref's move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Full name.
    pub name: String,
    /// From where; none if it must not exist.
    pub from: Option<CommitId>,
    /// To where; none if it is removed.
    pub to: Option<CommitId>,
}

/// How an effect ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is so.
    Done,
    /// Somebody else had moved the ref; it was left alone.
    Moved,
}

/// One attempt of a cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attempt {
    /// What the proposer said.
    pub proposal: Option<Proposal>,
    /// What was composed.
    pub candidate: Option<Candidate>,
    /// The bounds gate's report.
    pub bounds: Option<GateReport>,
    /// All reports, and the gates that had to run; none if it was not weighed to the end.
    pub weighed: Option<(Vec<GateReport>, Vec<GateName>)>,
}

/// What the entries tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// What was set out for.
    pub opened: Opened,
    /// What is known of the base.
    pub baseline: Option<Baseline>,
    /// Whether the branch may exist.
    pub branched: bool,
    /// Attempts, the last one perhaps unfinished.
    pub attempts: Vec<Attempt>,
    /// The plan that holds.
    pub plan: Option<Plan>,
    /// Effects of the plan that are done.
    pub done: usize,
    /// Whether the target was found moved, so that the plan is void.
    pub moved: bool,
    /// Whether all is done.
    pub ended: bool,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Started(Arrow),
    Composed,
    Planned,
    Doing(usize),
}

/// Entries that no run can have written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("understand the journal: entry {number} ({what}) cannot stand there")]
pub struct OutOfOrder {
    /// Which, from 1.
    pub number: usize,
    /// Its kind.
    pub what: String,
}

impl Known {
    /// What is known from these entries; none if there are none.
    pub fn fold(entries: &[Entry]) -> Result<Option<Self>, OutOfOrder> {
        let mut known: Option<Self> = None;
        for (at, entry) in entries.iter().enumerate() {
            let wrong = || OutOfOrder { number: at + 1, what: entry.word().to_owned() };
            match (&mut known, entry) {
                (None, Entry::Opened(opened)) => known = Some(Self::open(opened.clone())),
                (Some(known), entry) => known.apply(entry).ok_or_else(wrong)?,
                (None, _) => return Err(wrong()),
            }
        }
        Ok(known)
    }

    /// What is known when it has only been opened.
    pub fn open(opened: Opened) -> Self {
        Self {
            opened,
            baseline: None,
            branched: false,
            attempts: Vec::new(),
            plan: None,
            done: 0,
            moved: false,
            ended: false,
            phase: Phase::Idle,
        }
    }

    /// Take in one more entry; none if it cannot stand here.
    pub fn apply(&mut self, entry: &Entry) -> Option<()> {
        let unplanned = self.plan.is_none();
        match (self.phase, entry) {
            (Phase::Idle | Phase::Composed, Entry::Started { arrow }) if unplanned => self.start(*arrow)?,
            (Phase::Started(Arrow::Baseline), Entry::Baselined { baseline }) => {
                self.baseline = Some(baseline.clone());
                self.phase = Phase::Idle;
            }
            (Phase::Started(Arrow::Branch), Entry::Branched) => self.phase = Phase::Idle,
            (Phase::Started(Arrow::Propose), Entry::Proposed { proposal }) => {
                self.attempts.last_mut()?.proposal = Some(proposal.clone());
                self.phase = Phase::Idle;
            }
            (Phase::Started(Arrow::Compose), Entry::Composed { candidate, bounds }) => {
                let attempt = self.attempts.last_mut()?;
                attempt.candidate.clone_from(candidate);
                attempt.bounds = Some(bounds.clone());
                self.phase = Phase::Composed;
            }
            (Phase::Started(Arrow::Weigh) | Phase::Composed, Entry::Weighed { reports, required }) => {
                self.attempts.last_mut()?.weighed = Some((reports.clone(), required.clone()));
                self.phase = Phase::Idle;
            }
            // A run that ends early plans at once, wherever it stands; a plan gives way only if the target moved.
            (_, Entry::Planned(plan)) if self.may_plan(plan) => {
                self.plan = Some(plan.clone());
                self.done = 0;
                self.moved = false;
                self.phase = Phase::Planned;
            }
            (Phase::Planned, Entry::Doing { effect }) if *effect == self.done && !self.moved => {
                self.phase = Phase::Doing(*effect);
            }
            // What was begun when the process died is begun again.
            (Phase::Doing(before), Entry::Doing { effect }) if before == *effect => {}
            (Phase::Doing(before), Entry::Done { effect, outcome }) if before == *effect => {
                self.done = effect + 1;
                let is_target = matches!(self.plan.as_ref()?.effects.get(*effect)?, Effect::Target(_));
                self.moved = is_target && *outcome == Outcome::Moved;
                self.phase = Phase::Planned;
            }
            (Phase::Planned, Entry::Ended) if !self.moved && self.done == self.plan.as_ref()?.effects.len() => {
                self.ended = true;
                self.phase = Phase::Idle;
            }
            _ => return None,
        }
        Some(())
    }

    /// The attempt that speaks for the cycle.
    pub fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// The attempt that a record is about: the last one that came as far as bounds, else the last.
    pub fn judged(&self) -> Option<&Attempt> {
        self.attempts.iter().rev().find(|attempt| attempt.bounds.is_some()).or(self.last())
    }

    /// What became of it, where that is planned.
    pub fn end(&self) -> Option<End> {
        self.plan.as_ref().map(|plan| plan.record.end)
    }

    /// A plan holds unless the target moved, and what was judged before it may land has been weighed.
    fn may_plan(&self, plan: &Plan) -> bool {
        let judged = self.opened.kind.is_weighed();
        let weighed = self.last().is_some_and(|attempt| attempt.weighed.is_some());
        let goes_on = matches!(plan.record.end, End::Landed | End::Waiting);
        (self.plan.is_none() || self.moved) && (weighed || !judged || !goes_on)
    }

    fn start(&mut self, arrow: Arrow) -> Option<()> {
        let last = self.attempts.last();
        let may = match arrow {
            Arrow::Baseline => self.baseline.is_none() && last.is_none(),
            Arrow::Branch => !self.branched && last.is_none(),
            Arrow::Propose => last.is_none_or(|a| a.weighed.is_some()),
            // A revert has no proposer: its attempt begins when it is composed.
            Arrow::Compose => match last {
                Some(attempt) => attempt.proposal.is_some() && attempt.bounds.is_none(),
                None => self.opened.kind == Kind::Revert,
            },
            Arrow::Weigh => self.phase == Phase::Composed,
        };
        if !may || (self.phase == Phase::Composed && arrow != Arrow::Weigh) {
            return None;
        }
        match arrow {
            Arrow::Branch => self.branched = true,
            Arrow::Propose => self.attempts.push(Attempt::default()),
            Arrow::Compose if last.is_none() => self.attempts.push(Attempt::default()),
            Arrow::Baseline | Arrow::Compose | Arrow::Weigh => {}
        }
        self.phase = Phase::Started(arrow);
        Some(())
    }
}

mod under_way;

#[cfg(test)]
mod tests;
