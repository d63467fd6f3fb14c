//! Undo: one more operation that moves a target back, by compare-and-swap. Undoing an undo brings it forth again.
//!
//! Only where nothing has been built on it since; otherwise it is a revert. What is undone stays reachable.

use crate::cycle::{CycleError, Landable, Work, decision_plan, free_to_move, landing_effects, record, recover};
use crate::judgement::candidate::{CommitId, Proposal, TreeId};
use crate::judgement::verdict::Verdict;
use crate::review::decide::carried;
use crate::review::{Decided, Deciding, ReviewError};
use crate::store::journal::{Effect, Entry, Landing, Move, Opened};
use crate::store::lineage;
use crate::store::ops::{self, Operation};
use crate::store::record::{End, Kind, Record};
use selfsmith_repo::Repo;

/// Beginning of the title of an undo.
const UNDO: &str = "Undo ";
/// … and of the undo of one.
const BRING_BACK: &str = "Bring back ";

/// Undo this operation, by its id; the newest where none is named.
pub fn undo(deciding: &Deciding<'_>, id: Option<&str>) -> Result<Decided, ReviewError> {
    let durable = deciding.hands.durable()?;
    let hands = deciding.hands.with(&durable);
    recover(hands)?;
    let operation = meant(ops::list(hands.state).map_err(CycleError::from)?, id)?;
    let moved = operation.moves.first().ok_or_else(|| unfit(&operation, "it moved nothing"))?;
    let (Some(from), Some(to)) = (&moved.from, &moved.to) else {
        return Err(unfit(&operation, "it made or removed a branch"));
    };
    let stands = hands.repo.read_ref(&moved.name)?;
    if stands.as_ref() != Some(&to.0) {
        return Err(unfit(&operation, &format!("{} has moved since", moved.name)));
    }
    free_to_move(hands.repo, &moved.name)?;
    let mut work = Work::begin(hands, opened(deciding, &operation, moved, to))?;
    let at = (hands.clock)();
    let said = verdict_on(hands.repo, &operation.id)?;
    let record = Record {
        landed: Some(from.clone()),
        ..record(&work.known.opened, at, None, Proposal::default(), (said, End::Landed))
    };
    // Where nothing else leads to what is undone, this does.
    let kept = Move { name: format!("refs/selfsmith/undone/{}", deciding.id), from: None, to: Some(to.clone()) };
    let back = Landable { target: moved.name.clone(), from: to.clone(), to: from.clone() };
    let mut effects = vec![Effect::Own(kept)];
    effects.extend(landing_effects(hands, &back)?.into_iter().filter(|effect| !matches!(effect, Effect::Note)));
    let evidence = TreeId(hands.repo.empty_tree()?);
    work.enter(Entry::Planned(decision_plan(record, evidence, effects)))?;
    carried(work)
}

fn opened(deciding: &Deciding<'_>, operation: &Operation, moved: &Move, base: &CommitId) -> Opened {
    Opened {
        id: deciding.id.clone(),
        kind: Kind::Undo,
        goal: title(operation),
        proposer: "undo".to_owned(),
        model: None,
        base: base.clone(),
        target: moved.name.clone(),
        branch: String::new(),
        at: (deciding.hands.clock)(),
        landing: Landing::Auto,
        rules: String::new(),
        about: Some(operation.id.clone()),
        authority: Some(deciding.authority.clone()),
        judge: deciding.hands.judge.to_owned(),
    }
}

/// What undoing it is called: an undo of an undo brings back what that one took.
fn title(operation: &Operation) -> String {
    let said = operation.what.strip_prefix(&format!("{}: ", operation.kind.word())).unwrap_or(&operation.what);
    let undone = Some(said).filter(|_| operation.kind == Kind::Undo);
    match (undone.and_then(|said| said.strip_prefix(UNDO)), undone.and_then(|said| said.strip_prefix(BRING_BACK))) {
        (Some(what), _) => format!("{BRING_BACK}{what}"),
        (_, Some(what)) => format!("{UNDO}{what}"),
        (None, None) => format!("{UNDO}\"{said}\""),
    }
}

/// The operation that is meant.
fn meant(operations: Vec<Operation>, id: Option<&str>) -> Result<Operation, ReviewError> {
    let Some(id) = id else {
        return operations.into_iter().next_back().ok_or_else(|| ReviewError::Unfit {
            what: "undo: no operation has been done here".to_owned(),
            hint: "`selfsmith ops` lists them".to_owned(),
        });
    };
    operations.into_iter().find(|operation| operation.id == id).ok_or_else(|| ReviewError::Unfit {
        what: format!("find the operation {id}: there is none"),
        hint: "`selfsmith ops` lists them".to_owned(),
    })
}

/// The verdict in the record of an operation.
fn verdict_on(repo: &Repo, id: &str) -> Result<Verdict, ReviewError> {
    let links = lineage::list(repo)?;
    let found = links.into_iter().find(|link| link.record.id == id).map(|link| link.record.verdict);
    let unseen = || Verdict::Inconclusive { gate: None, why: "the operation has no record".to_owned() };
    Ok(found.unwrap_or_else(unseen))
}

fn unfit(operation: &Operation, why: &str) -> ReviewError {
    ReviewError::Unfit {
        what: format!("undo {} ({}): {why}", operation.id, operation.what),
        hint: "`selfsmith review revert` takes a landed change back by a new commit".to_owned(),
    }
}
