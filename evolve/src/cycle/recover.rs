//! After a death: what was left unfinished is finished. What was weighed is carried out, what was not is inconclusive.
//!
//! What is in the hands of a living process is left to it: it holds the lock on its journal.

use super::attempt::INTERRUPTED;
use super::plan::{self, record};
use super::{CycleError, Hands, Work};
use crate::judgement::candidate::Proposal;
use crate::judgement::verdict::Verdict;
use crate::store::journal::Entry;
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
}

/// Finish everything that was left. Doing it twice changes nothing.
pub fn recover(hands: Hands<'_>) -> Result<Vec<Recovered>, CycleError> {
    let root = hands.state.root();
    let durable = hands.durable()?;
    let hands = hands.with(&durable);
    let mut recovered = Vec::new();
    for id in hands.state.cycles().map_err(super::work::disk("list", root))? {
        let Some(mut work) = Work::resume(hands, &id)? else { continue };
        if work.known.plan.is_none() {
            let plan = plan_for(&work)?;
            work.enter(Entry::Planned(plan))?;
        }
        work.carry_out()?;
        let end = work.known.end().unwrap_or(End::Inconclusive);
        recovered.push(Recovered { id, kind: work.known.opened.kind, end });
    }
    Ok(recovered)
}

fn plan_for(work: &Work<'_>) -> Result<crate::store::journal::Plan, CycleError> {
    let stopped = INTERRUPTED.to_owned();
    match work.known.opened.kind {
        Kind::Cycle | Kind::Revert => {
            let weighed = work.known.last().is_some_and(|attempt| attempt.weighed.is_some());
            plan::cycle_plan(work, (!weighed).then_some(stopped))
        }
        // A decision that was not planned has done nothing, and is the person's to make again.
        Kind::Approval | Kind::Rejection | Kind::Undo => {
            let hands = work.hands;
            let unmade = (Verdict::Inconclusive { gate: None, why: stopped }, End::Inconclusive);
            let record = record(&work.known.opened, (hands.clock)(), None, Proposal::default(), unmade);
            let evidence = crate::judgement::candidate::TreeId(hands.repo.empty_tree()?);
            Ok(plan::decision_plan(record, evidence, Vec::new()))
        }
    }
}
