//! One cycle: preflight → branch → propose → compose → gates → verdict → wait | land | keep → record.
//!
//! Promises: each arrow is in the journal before and after; only a landing moves the target, by compare-and-swap from the
//! commit it was judged on; nothing of the person's is touched but a clean checkout of the target; what does not land is kept.
//! It does not know how candidates are made or weighed ([`Proposer`], [`Weigh`]), nor who reads its progress.

pub mod compose;
pub mod sanitize;

mod attempt;
mod branch;
mod carry;
mod checkouts;
mod locks;
mod plan;
mod preflight;
mod recover;
mod remade;
mod said;
mod work;

use crate::judgement::candidate::CommitId;
use crate::judgement::defence::Defences;
use crate::judgement::gate::{GateName, GateOutcome};
use crate::judgement::progress::Progress;
use crate::judgement::verdict::{self, Verdict};
use crate::judgement::weigh::Weigh;
use crate::proposer::Proposer;
use crate::rules::RulesError;
use crate::store::authority::Authority;
use crate::store::faults::Failed;
use crate::store::journal::{Entry, Known, Landing, Opened, OutOfOrder};
use crate::store::lineage::LineageError;
use crate::store::lock::{self, LockError};
use crate::store::log::LogError;
use crate::store::record::{End, Kind};
use selfsmith_repo::RepoError;
use selfsmith_sandbox::Cancel;
use std::io;
use std::path::PathBuf;

pub(crate) use preflight::free_to_move;
pub use preflight::{Base, look};
pub use recover::{Recovered, recover, settle};
pub use remade::{Remade, remake};
pub use work::{Hands, Work};

pub(crate) use attempt::weighed_tree;
pub(crate) use plan::{Landable, candidate_ref, cycle_plan, decision_plan, landing_effects, record};

/// What a cycle sets out with.
pub struct Setup<'a> {
    /// Repository, state folder, clock, and who is told.
    pub hands: Hands<'a>,
    /// The commit it works on, from [`look`].
    pub base: Base,
    /// Its id, from [`crate::store::state::cycle_id`].
    pub id: String,
    /// What is to be brought about.
    pub goal: String,
    /// May it land by itself?
    pub landing: Landing,
    /// On whose word, where it may land by itself.
    pub authority: Option<Authority>,
    /// How often diagnostics go back to the proposer.
    pub max_repairs: u32,
    /// Which defences are up.
    pub defences: Defences,
    /// Ends the cycle between two arrows.
    pub cancel: Cancel,
}

/// How a cycle ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CycleEnd {
    /// Its id.
    pub cycle: String,
    /// Full name of the branch that it is for.
    pub target: String,
    /// The verdict on its last candidate.
    pub verdict: Verdict,
    /// What became of it.
    pub end: End,
    /// The gate that spoke, where one did.
    pub gate: Option<GateName>,
    /// Its sentence; empty for an acceptance.
    pub why: String,
    /// Id of the last candidate.
    pub candidate: Option<String>,
    /// The commit that landed.
    pub landed: Option<CommitId>,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// What a person should know besides: what proved nothing.
    pub notices: Vec<String>,
}

/// Why the judge could not go on. What was begun is finished by the next command.
#[derive(Debug, thiserror::Error)]
pub enum CycleError {
    /// git refused.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// The lineage cannot be used.
    #[error(transparent)]
    Lineage(#[from] LineageError),
    /// The journal or the operation log cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The journal says what no run can have written.
    #[error("{}: {source}", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// Where.
        source: OutOfOrder,
    },
    /// Another judge is at work.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The base's rules cannot be used.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The target cannot be worked on.
    #[error("{what}")]
    Target {
        /// Why, completing "could not".
        what: String,
        /// What to do next.
        hint: String,
    },
    /// The state folder refused.
    #[error("{doing} {}: {source}", path.display())]
    Disk {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl From<Failed> for CycleError {
    fn from(failed: Failed) -> Self {
        Self::Repo(failed.into())
    }
}

impl CycleError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Repo(e) => e.hint().to_owned(),
            Self::Lineage(e) => e.hint().to_owned(),
            Self::Log(e) => e.hint().to_owned(),
            Self::Journal { .. } => "nothing was changed; move the journal aside to go on without it".to_owned(),
            Self::Lock(e) => e.hint().to_owned(),
            Self::Rules(e) => e.hint(),
            Self::Target { hint, .. } => hint.clone(),
            Self::Disk { .. } => "check that the folder exists, has room and may be written".to_owned(),
        }
    }
}

/// Run one cycle to its end. What an earlier process left unfinished is finished first.
pub fn run(setup: Setup<'_>, proposer: &mut dyn Proposer, weigh: &mut dyn Weigh) -> Result<CycleEnd, CycleError> {
    if let Some(what) = said::key_in(&setup.goal) {
        return Err(CycleError::Target {
            what: format!("begin: the goal holds {what}"),
            hint: "take it out; goals are written into commits, the changelog and the record".to_owned(),
        });
    }
    let _lock = lock::take(&setup.hands.state.cycle_lock())?;
    let durable = setup.hands.durable()?;
    let setup = Setup { hands: setup.hands.with(&durable), ..setup };
    recover::tell(setup.hands)?;
    let folder = setup.hands.state.cycle(&setup.id);
    let mut work = Work::begin(setup.hands, opened(&setup, proposer)?)?;
    (setup.hands.report)(Progress::CycleStarted {
        cycle: setup.id.clone(),
        goal: setup.goal.clone(),
        base: setup.base.commit.clone(),
        target: setup.base.target.clone(),
        folder: folder.candidate().display().to_string(),
    });
    let stopped = attempt::attempts(&setup, &mut work, proposer, weigh)?;
    let interrupted = setup.cancel.is_cancelled() && stopped.is_some();
    let plan = plan::cycle_plan(&work, stopped)?;
    work.enter(Entry::Planned(plan))?;
    work.carry_out()?;
    Ok(cycle_end(&work.known, interrupted))
}

fn opened(setup: &Setup<'_>, proposer: &dyn Proposer) -> Result<Opened, CycleError> {
    Ok(Opened {
        id: setup.id.clone(),
        kind: Kind::Cycle,
        goal: setup.goal.clone(),
        proposer: proposer.name().to_owned(),
        model: proposer.model(),
        base: setup.base.commit.clone(),
        target: setup.base.target.clone(),
        branch: branch::name(setup.hands.repo, &setup.id)?,
        at: (setup.hands.clock)(),
        landing: setup.landing,
        rules: setup.base.rules_text(),
        about: None,
        authority: setup.authority.clone(),
        judge: setup.hands.judge.to_owned(),
    })
}

/// What the journal says of a cycle that has ended.
fn cycle_end(known: &Known, interrupted: bool) -> CycleEnd {
    let record = known.plan.as_ref().map(|plan| &plan.record);
    let verdict = record.map_or_else(
        || Verdict::Inconclusive { gate: None, why: "nothing was planned".to_owned() },
        |record| record.verdict.clone(),
    );
    let end = record.map_or(End::Inconclusive, |record| record.end);
    let (gate, mut why) = verdict.said();
    if end == End::Stale {
        why = format!("{} moved while the candidate was judged, so it was kept and not landed", known.opened.target);
    }
    CycleEnd {
        cycle: known.opened.id.clone(),
        target: known.opened.target.clone(),
        end,
        gate,
        why,
        candidate: known.judged().and_then(|attempt| attempt.candidate.as_ref()).map(|c| c.id.clone()),
        landed: record.and_then(|record| record.landed.clone()),
        verdict,
        interrupted,
        notices: attempt::notices(known),
    }
}

/// The verdict on an attempt that was weighed to its end.
fn verdict_of(known: &Known) -> Option<Verdict> {
    let (reports, required) = known.last()?.weighed.as_ref()?;
    Some(verdict::derive(reports, required))
}

/// The report of the gate that refuses, where its diagnostics are worth giving back.
fn repairable(known: &Known) -> Option<(GateName, String)> {
    let (reports, _) = known.last()?.weighed.as_ref()?;
    reports.iter().find_map(|report| match &report.result {
        GateOutcome::Fail { why, repairable: true } => Some((report.gate, format!("{why}\n\n{}", report.log))),
        _ => None,
    })
}
