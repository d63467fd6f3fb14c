//! Locks on refs that a killed run left: where its journal says that a ref was being moved, recovery takes its own away; and
//! a checkout of which only some files had been written by then.
//!
//! Which lock is ours [`selfsmith_repo`] decides; here is said what the run was to write.

use super::{CycleError, Work, checkouts};
use crate::store::journal::{Effect, UnderWay};
use crate::store::lineage::{self, LINEAGE_REF, NOTES_REF};
use selfsmith_repo::Begun;
use selfsmith_sandbox::Cancel;

impl Work<'_> {
    /// Take away what lies in the way of going on, if this run left it.
    pub(super) fn take_away_locks(&self) -> Result<(), CycleError> {
        let Some(at) = self.left_at else { return Ok(()) };
        let repo = self.hands.repo;
        let one_of = |name: &str, ids: &[&str]| -> Result<bool, CycleError> {
            Ok(repo.take_away_lock(name, &Begun { at, wrote: &|id| ids.contains(&id) })?)
        };
        // What is written there depends on where the ref stood; only the judge signs so.
        let by_judge = |id: &str| repo.read_commit(id).is_ok_and(|commit| commit.author == lineage::judge());
        match self.known.under_way() {
            None => {}
            Some(UnderWay::Branch) => {
                let opened = &self.known.opened;
                one_of(&opened.branch, &[&opened.base.0])?;
            }
            Some(UnderWay::Effect(Effect::Own(moved) | Effect::Target(moved))) => {
                let to: Vec<&str> = moved.to.iter().map(|id| id.0.as_str()).collect();
                one_of(&moved.name, &to)?;
                if moved.to.is_none() {
                    repo.take_away_packed_lock(&Begun { at, wrote: &|_| false })?;
                }
            }
            Some(UnderWay::Effect(Effect::Lineage)) => {
                repo.take_away_lock(LINEAGE_REF, &Begun { at, wrote: &by_judge })?;
            }
            Some(UnderWay::Effect(Effect::Note)) => {
                repo.take_away_lock(NOTES_REF, &Begun { at, wrote: &by_judge })?;
            }
            Some(UnderWay::Effect(Effect::Checkouts { moved, checkouts })) => {
                let (Some(from), Some(to)) = (&moved.from, &moved.to) else { return Ok(()) };
                let cancel = Cancel::default();
                for seen in checkouts.iter().filter(|seen| seen.left_alone.is_none()) {
                    let begun = Begun { at, wrote: &|_| false };
                    let caller = checkouts::caller(self.hands, &cancel);
                    repo.take_back_update(&seen.path, (&from.0, &to.0), &begun, caller)?;
                }
            }
            Some(UnderWay::Effect(Effect::LineageObject | Effect::Op)) => {}
        }
        Ok(())
    }
}
