//! A candidate made anew from one that was judged before: on the base that the target has moved to, or without some of its
//! hunks. It is weighed like any other, from bounds on; what was proven of the old one proves nothing of it.

use super::{CycleEnd, CycleError, Setup, Work, attempt, cycle_end, plan, recover};
use crate::judgement::candidate::{Proposal, TreeId};
use crate::judgement::progress::Progress;
use crate::judgement::weigh::Weigh;
use crate::store::journal::{Entry, Opened};
use crate::store::lock;
use crate::store::record::Kind;

/// What it is made from.
#[derive(Debug, Clone)]
pub struct Remade {
    /// Why: [`Kind::Rebase`] or [`Kind::Selection`].
    pub kind: Kind,
    /// Id of the candidate that it takes the place of.
    pub about: String,
    /// Who proposed that one.
    pub proposer: String,
    /// The model behind it.
    pub model: Option<String>,
    /// What was said of it.
    pub said: Proposal,
    /// The base of the setup with its changes, without the judge's own line.
    pub tree: TreeId,
}

/// Weigh it, and land it or keep it, as the setup says.
pub fn remake(setup: Setup<'_>, remade: Remade, weigh: &mut dyn Weigh) -> Result<CycleEnd, CycleError> {
    let _lock = lock::take(&setup.hands.state.cycle_lock())?;
    let durable = setup.hands.durable()?;
    let setup = Setup { hands: setup.hands.with(&durable), ..setup };
    recover::tell(setup.hands)?;
    let mut work = Work::begin(setup.hands, opened(&setup, &remade))?;
    (setup.hands.report)(Progress::CycleStarted {
        cycle: setup.id.clone(),
        goal: setup.goal.clone(),
        base: setup.base.commit.clone(),
        target: setup.base.target.clone(),
        folder: work.folder().candidate().display().to_string(),
    });
    let stopped = attempt::of_tree(&setup, &mut work, (&remade.tree, remade.said), weigh)?;
    let interrupted = setup.cancel.is_cancelled() && stopped.is_some();
    let plan = plan::cycle_plan(&work, stopped)?;
    work.enter(Entry::Planned(plan))?;
    work.carry_out()?;
    Ok(cycle_end(&work.known, interrupted))
}

fn opened(setup: &Setup<'_>, remade: &Remade) -> Opened {
    Opened {
        id: setup.id.clone(),
        kind: remade.kind,
        goal: setup.goal.clone(),
        proposer: remade.proposer.clone(),
        model: remade.model.clone(),
        base: setup.base.commit.clone(),
        target: setup.base.target.clone(),
        // Nobody works on it meanwhile: it needs no branch that would say so.
        branch: String::new(),
        at: (setup.hands.clock)(),
        landing: setup.landing,
        rules: setup.base.rules_text(),
        about: Some(remade.about.clone()),
        authority: setup.authority.clone(),
        judge: setup.hands.judge.to_owned(),
    }
}
