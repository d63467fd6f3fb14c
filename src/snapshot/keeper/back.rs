//! An undo carried out, and the way back from it.

use super::{Inner, Keeper};
use crate::snapshot::plan::{Doubtful, Step, plan};
use crate::snapshot::record::{Author, Record, redoable};
use crate::snapshot::restore::{self, Done};
use crate::snapshot::terms::{Report, SnapshotError};
use crate::snapshot::tree::Change;
use nix::errno::Errno;
use std::collections::HashSet;

impl Keeper {
    /// Takes the last undo back that was not taken back yet.
    ///
    /// # Errors
    /// As [`Self::undo`].
    pub fn redo(&self) -> Result<Report, SnapshotError> {
        let inner = &*self.0;
        let mut state = self.lock();
        let (_alone, records) = inner.settled(&mut state)?;
        let Some((turns, changes)) = redoable(&records) else { return Ok(Report::default()) };
        let (steps, mut left) = plan([(Author::Turn, changes)], Doubtful::Undo);
        let done = inner.carry_out(&steps)?;
        inner.records.append(&Record::Redone { at: inner.millis() }).map_err(|cause| inner.io("write", cause))?;
        left.extend(done.left);
        left.sort_by(|a, b| a.0.cmp(&b.0));
        let turns = turns.iter().map(|(label, _)| label.clone()).collect();
        Ok(Report { turns, restored: done.restored, left })
    }
}

impl Inner {
    /// Carries out the steps of an undo; what one that was killed left beside goes first.
    pub(super) fn carry_out(&self, steps: &[Step]) -> Result<Done, SnapshotError> {
        let opened = |errno: Errno| SnapshotError::Io {
            doing: "open",
            path: self.root.display().to_string(),
            cause: errno.into(),
        };
        let killed: Vec<Step> = self.records.undoing().into_iter().map(Step::from).collect();
        restore::sweep(&self.root, &killed, &self.store).map_err(opened)?;
        let wanted: Vec<Change> = steps.iter().map(change).collect();
        self.records.begin_undoing(&wanted).map_err(|cause| self.io("write", cause))?;
        let done = restore::restore(&self.root, steps, &self.store).map_err(opened)?;
        self.records.end_undoing();
        Ok(done)
    }
}

/// What steps changed, as far as they could be done.
pub(super) fn changes(steps: &[Step], done: &Done) -> Vec<Change> {
    let restored: HashSet<_> = done.restored.iter().map(|(path, _)| path).collect();
    steps.iter().filter(|step| restored.contains(&step.path)).map(change).collect()
}

fn change(step: &Step) -> Change {
    Change { path: step.path.clone(), before: step.expected.clone(), after: step.target.clone() }
}
