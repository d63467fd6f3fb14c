//! After a death: what was left unfinished is finished. What was weighed is carried out, what was not is inconclusive.
//!
//! What is in the hands of a living process is left to it: it holds the lock on its journal.

use super::attempt::INTERRUPTED;
use super::plan::{self, record};
use super::{CycleError, Hands, Work};
use crate::judgement::candidate::Proposal;
use crate::judgement::progress::Progress;
use crate::judgement::verdict::Verdict;
use crate::store::journal::{Entry, Landing};
use crate::store::lock;
use crate::store::record::{End, Kind};

/// Something that was finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// Its id.
    pub id: String,
    /// What it was.
    pub kind: Kind,
    /// What became of it.
    pub end: End,
    /// Whether it might land by itself: as it was begun, whatever is said now.
    pub landing: Landing,
}

/// Before the base of the next cycle is fixed: finish everything that was left, and say so. Else the next cycle would work
/// on a commit that the target leaves while this is finished.
pub fn settle(hands: Hands<'_>) -> Result<(), CycleError> {
    let _lock = lock::take(&hands.state.cycle_lock())?;
    tell(hands)
}

/// Finish, and say so. The caller holds the lock.
pub(super) fn tell(hands: Hands<'_>) -> Result<(), CycleError> {
    for recovered in recover(hands)? {
        (hands.report)(Progress::Notice { text: recovered.said() });
    }
    Ok(())
}

impl Recovered {
    fn said(&self) -> String {
        let end = format!("what was begun in {} is now {}", self.id, self.end.word());
        match (self.kind, self.landing) {
            (Kind::Cycle, Landing::Auto) => {
                format!("{end}; it was begun with `landing: auto`, which still held for it")
            }
            (Kind::Cycle, Landing::Review | Landing::Knobs) => {
                format!("{end}; it was begun with `landing: review`, which still held for it")
            }
            _ => end,
        }
    }
}

/// Finish everything that was left. Doing it twice changes nothing.
pub fn recover(hands: Hands<'_>) -> Result<Vec<Recovered>, CycleError> {
    let root = hands.state.root();
    let durable = hands.durable()?;
    let hands = hands.with(&durable);
    let mut recovered = Vec::new();
    for id in hands.state.cycles().map_err(super::work::disk("list", root))? {
        let Some(mut work) = Work::resume(hands, &id)? else { continue };
        work.take_away_locks()?;
        if work.known.plan.is_none() {
            let plan = plan_for(&work)?;
            work.enter(Entry::Planned(plan))?;
        }
        work.carry_out()?;
        let end = work.known.end().unwrap_or(End::Inconclusive);
        let opened = &work.known.opened;
        recovered.push(Recovered { id, kind: opened.kind, end, landing: opened.landing });
    }
    Ok(recovered)
}

fn plan_for(work: &Work<'_>) -> Result<crate::store::journal::Plan, CycleError> {
    let stopped = INTERRUPTED.to_owned();
    match work.known.opened.kind {
        kind if kind.is_weighed() => {
            let weighed = work.known.last().is_some_and(|attempt| attempt.weighed.is_some());
            plan::cycle_plan(work, (!weighed).then_some(stopped))
        }
        // A decision that was not planned has done nothing, and is the person's to make again.
        _ => {
            let hands = work.hands;
            let unmade = (Verdict::Inconclusive { gate: None, why: stopped }, End::Inconclusive);
            let record = record(&work.known.opened, (hands.clock)(), None, Proposal::default(), unmade);
            let evidence = crate::judgement::candidate::TreeId(hands.repo.empty_tree()?);
            Ok(plan::decision_plan(record, evidence, Vec::new()))
        }
    }
}
