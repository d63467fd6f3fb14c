//! `gc`: the one way to forget. What was refused, went stale or was replaced, and is old, is kept no more; what waits or landed
//! is never forgotten. The records stay: what was decided, and from which reports, can be read for ever.

use super::{Deciding, Item, ReviewError, Status, items};
use crate::cycle::{self, CycleError, Work, decision_plan, record};
use crate::judgement::candidate::{CommitId, Proposal, TreeId};
use crate::judgement::verdict::Verdict;
use crate::store::journal::{Effect, Entry, Landing, Move, Opened};
use crate::store::lineage::{self, LINEAGE_REF};
use crate::store::record::{End, Kind, Record};
use selfsmith_repo::Repo;
use serde::Serialize;

/// Where candidates are kept.
const KEPT: &str = "refs/selfsmith/candidates/";

/// What was, or would be, forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Id of the operation; empty where nothing was done.
    pub id: String,
    /// The candidates.
    pub candidates: Vec<Item>,
    /// Refs that lead to them, earlier attempts among them.
    pub refs: Vec<String>,
}

/// What can be forgotten of what was judged before this time.
pub fn forgettable(repo: &Repo, before: i64) -> Result<Forgotten, ReviewError> {
    let old = |item: &Item| {
        let over = match item.status {
            Status::Refused | Status::Rejected | Status::Stale | Status::Inconclusive | Status::Superseded => true,
            Status::Waiting | Status::Landed | Status::Reverted | Status::Undone | Status::Forgotten => false,
        };
        over && item.at < before
    };
    let candidates: Vec<Item> = items(&lineage::list(repo)?).into_iter().filter(old).collect();
    let of_one = |name: &str| {
        let cycle = name.strip_prefix(KEPT).and_then(|name| name.rsplit_once('-')).map(|(cycle, _)| cycle);
        cycle.is_some_and(|cycle| candidates.iter().any(|item| item.cycle == cycle))
    };
    let refs = repo.refs(KEPT)?.into_iter().map(|kept| kept.name).filter(|name| of_one(name)).collect();
    Ok(Forgotten { id: String::new(), candidates, refs })
}

/// Forget it. What git kept of it goes with git's own `gc`.
pub fn forget(deciding: &Deciding<'_>, before: i64) -> Result<Forgotten, ReviewError> {
    let durable = deciding.hands.durable()?;
    let hands = deciding.hands.with(&durable);
    cycle::recover(hands)?;
    let mut forgotten = forgettable(hands.repo, before)?;
    let head = hands.repo.read_ref(LINEAGE_REF)?;
    let (Some(head), false) = (head, forgotten.candidates.is_empty()) else { return Ok(forgotten) };
    let count = crate::texts::count(forgotten.candidates.len() as u64, "candidate");
    let mut work = Work::begin(hands, opened(deciding, &format!("Forget {count}"), CommitId(head)))?;
    let mut effects = Vec::new();
    for name in &forgotten.refs {
        let from = hands.repo.read_ref(name)?.map(CommitId);
        effects.push(Effect::Own(Move { name: name.clone(), from, to: None }));
    }
    effects.extend([Effect::Op, Effect::Lineage]);
    let unjudged = Verdict::Inconclusive { gate: None, why: "nothing is judged here".to_owned() };
    let said = Proposal::default();
    let record = Record {
        forgotten: forgotten.candidates.iter().map(|item| item.id.clone()).collect(),
        ..record(&work.known.opened, (hands.clock)(), None, said, (unjudged, End::Refused))
    };
    let evidence = TreeId(hands.repo.empty_tree()?);
    work.enter(Entry::Planned(decision_plan(record, evidence, effects)))?;
    work.carry_out()?;
    // What was kept outside of the repository.
    for item in &forgotten.candidates {
        let folder = hands.state.cycle(&item.cycle).refused();
        match std::fs::remove_dir_all(&folder) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(CycleError::Disk { doing: "remove", path: folder, source }.into());
            }
            _ => {}
        }
    }
    forgotten.id.clone_from(&deciding.id);
    Ok(forgotten)
}

fn opened(deciding: &Deciding<'_>, goal: &str, base: CommitId) -> Opened {
    Opened {
        id: deciding.id.clone(),
        kind: Kind::Forgetting,
        goal: goal.to_owned(),
        proposer: "gc".to_owned(),
        model: None,
        base,
        target: LINEAGE_REF.to_owned(),
        branch: String::new(),
        at: (deciding.hands.clock)(),
        landing: Landing::Review,
        rules: String::new(),
        about: None,
        authority: Some(deciding.authority.clone()),
        judge: deciding.hands.judge.to_owned(),
    }
}
