//! Carrying out a plan, effect by effect. Each can be done again without harm, so a restart simply goes on.

use super::{CycleError, Work, checkouts, free_to_move, plan};
use crate::cycle::sanitize;
use crate::judgement::candidate::CommitId;
use crate::judgement::progress::Progress;
use crate::store::evidence;
use crate::store::faults::{self, Half};
use crate::store::journal::{Effect, Entry, Move, OutOfOrder, Outcome, Plan};
use crate::store::lineage;
use crate::store::lock;
use crate::store::ops::{self, Operation};
use crate::store::record::{End, Kind};
use crate::texts::{EN, fill};
use selfsmith_repo::RepoError;
use std::time::Duration;

/// How long another landing is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

impl Work<'_> {
    /// Do what is planned and not done yet, to the end.
    pub fn carry_out(&mut self) -> Result<(), CycleError> {
        let _lock = lock::wait(&self.hands.state.landing_lock(), PATIENCE)?;
        loop {
            let plan = self.known.plan.clone().ok_or_else(|| self.unplanned())?;
            if self.known.moved {
                self.enter(Entry::Planned(plan::stale_plan(&plan)))?;
                continue;
            }
            let at = self.known.done;
            let Some(effect) = plan.effects.get(at) else { break };
            self.enter(Entry::Doing { effect: at })?;
            let outcome = self.perform(effect, &plan)?;
            self.enter(Entry::Done { effect: at, outcome })?;
        }
        self.enter(Entry::Ended)?;
        self.tell();
        // What it held is in git, or in `refused`; what cannot be removed now is in nobody's way.
        let _ = std::fs::remove_dir_all(self.folder().candidate());
        Ok(())
    }

    fn perform(&self, effect: &Effect, plan: &Plan) -> Result<Outcome, CycleError> {
        let (hands, record) = (self.hands, &plan.record);
        match effect {
            Effect::Own(moved) => {
                if self.move_ref(moved, &plan.record.id, record.at)? == Outcome::Moved {
                    let text = format!("{} was moved by somebody else, it was left alone", moved.name);
                    (hands.report)(Progress::Notice { text });
                }
            }
            Effect::LineageObject => {
                let head = hands.repo.read_ref(lineage::LINEAGE_REF)?;
                faults::step(hands.faults, "lineage object", Half::Nothing, || {
                    lineage::object(hands.repo, record, &plan.evidence, head.as_deref()).map_err(CycleError::from)
                })?;
            }
            Effect::Target(moved) => {
                // Where it stands there already, an earlier process moved it; what is done now only says so.
                let there = hands.repo.read_ref(&moved.name)? == moved.to.as_ref().map(|to| to.0.clone());
                if let Some(error) = free_to_move(hands.repo, &moved.name).err().filter(|_| !there) {
                    (hands.report)(Progress::Notice { text: format!("it was kept and not landed: could not {error}") });
                    return Ok(Outcome::Moved);
                }
                return self.move_ref(moved, &plan.record.id, record.at);
            }
            Effect::Checkouts { moved, checkouts } => {
                for seen in checkouts {
                    let said = faults::step(hands.faults, "checkout", Half::Checkout(&seen.path), || {
                        Ok::<_, CycleError>(checkouts::update(hands, seen, moved))
                    })?;
                    if let Some(text) = said {
                        (hands.report)(Progress::Notice { text });
                    }
                }
            }
            Effect::Op => ops::enter(hands.state, &operation(plan), hands.faults)?,
            Effect::Lineage => {
                lineage::append(hands.repo, record, &plan.evidence, hands.faults)?;
            }
            Effect::Note => {
                if let Some(landed) = &record.landed {
                    let text = evidence::note(hands.repo, record, &plan.evidence)?;
                    let who = (&lineage::judge(), lineage::at(record.at));
                    let lock = hands.repo.lock_of(lineage::NOTES_REF);
                    faults::step(hands.faults, "note", Half::Ref(&lock, None), || {
                        hands.repo.note_write(lineage::NOTES_REF, &landed.0, &text, who)
                    })?;
                }
            }
        }
        Ok(Outcome::Done)
    }

    /// Move a ref by compare-and-swap. One that stands there already, or further on from there, is done.
    fn move_ref(&self, moved: &Move, id: &str, at: i64) -> Result<Outcome, CycleError> {
        let repo = self.hands.repo;
        let text = |id: &Option<CommitId>| id.as_ref().map(|id| id.0.clone());
        let (from, to) = (text(&moved.from), text(&moved.to));
        if repo.read_ref(&moved.name)? == to {
            return Ok(Outcome::Done);
        }
        let why = format!("selfsmith: {id}");
        let lock = repo.lock_of(&moved.name);
        let swapped = faults::step(self.hands.faults, step_of(moved), Half::Ref(&lock, to.as_deref()), || {
            repo.cas_ref(&moved.name, from.as_deref(), to.as_deref(), &why, (&lineage::judge(), lineage::at(at)))
        });
        match swapped {
            Ok(()) => Ok(Outcome::Done),
            Err(RepoError::Moved { found: Some(found), .. }) => {
                // A process that died here may have moved it forward, and somebody may have gone on from there.
                let forward = match (&from, &to) {
                    (Some(from), Some(to)) => !repo.is_ancestor(to, from)?,
                    (None, Some(_)) => true,
                    (_, None) => false,
                };
                let built_upon = match &to {
                    Some(to) if forward => repo.is_ancestor(to, &found)?,
                    _ => false,
                };
                Ok(if built_upon { Outcome::Done } else { Outcome::Moved })
            }
            Err(RepoError::Moved { found: None, .. }) => Ok(Outcome::Moved),
            Err(e) => Err(e.into()),
        }
    }

    fn tell(&self) {
        let Some(plan) = &self.known.plan else { return };
        let record = &plan.record;
        match (&record.landed, &record.candidate) {
            (Some(commit), _) if record.kind == Kind::Undo => {
                (self.hands.report)(Progress::TakenBack { commit: commit.clone(), target: record.target.clone() });
            }
            (Some(commit), _) => {
                self.tell_wishes();
                let (cycle, target) = (record.id.clone(), record.target.clone());
                (self.hands.report)(Progress::Landed { cycle, commit: commit.clone(), target });
            }
            (None, Some(candidate)) if record.end != End::Landed => {
                (self.hands.report)(Progress::Kept { reference: plan::candidate_ref(&candidate.id) });
            }
            (None, _) => {}
        }
    }

    /// What the repository asks of commits, and this one did not do.
    fn tell_wishes(&self) {
        let hooks = self.hands.repo.hooks();
        let hooks = (!hooks.is_empty()).then(|| fill(EN.hooks_not_run, &[("hooks", &hooks.join(", "))]));
        let signing = self.hands.repo.asks_for_signing().then(|| EN.not_signed.to_owned());
        for text in hooks.into_iter().chain(signing) {
            (self.hands.report)(Progress::Notice { text });
        }
    }

    fn unplanned(&self) -> CycleError {
        CycleError::Journal {
            path: self.folder().journal(),
            source: OutOfOrder { number: 0, what: "an end without a plan".to_owned() },
        }
    }
}

/// What moving this ref is called among the steps that a test can make fail.
fn step_of(moved: &Move) -> &'static str {
    match (moved.name.starts_with("refs/selfsmith/"), &moved.to) {
        (true, _) => "kept ref",
        (false, None) => "branch removed",
        (false, Some(_)) => "target ref",
    }
}

/// What the operation log says of a plan.
fn operation(plan: &Plan) -> Operation {
    let record = &plan.record;
    let moves = plan.effects.iter().filter_map(|effect| match effect {
        Effect::Target(moved) => Some(moved.clone()),
        _ => None,
    });
    let goal = sanitize::line(&record.goal, 100);
    Operation {
        id: record.id.clone(),
        kind: record.kind,
        at: record.at,
        // The title of an undo begins with its kind.
        what: if record.kind == Kind::Undo { goal } else { format!("{}: {goal}", record.kind.word()) },
        moves: moves.collect(),
        authority: record.authority.clone(),
        undoes: record.about.clone().filter(|_| record.kind == Kind::Undo),
    }
}
