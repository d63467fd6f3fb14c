//! The hands of a cycle or decision: what it works with, and its journal, which is entered before and after everything.

use super::CycleError;
use crate::judgement::progress::Report;
use crate::store::faults::{self, Faults, Half};
use crate::store::journal::{Entry, Known, Opened, OutOfOrder};
use crate::store::log::Log;
use crate::store::state::{CycleFolder, StateFolder};
use selfsmith_repo::{Repo, RepoError};
use std::ffi::OsString;
use std::time::{Duration, SystemTime};

/// What everything that lands works with.
#[derive(Clone, Copy)]
pub struct Hands<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// Its state folder.
    pub state: &'a StateFolder,
    /// Seconds since the epoch.
    pub clock: &'a dyn Fn() -> i64,
    /// A clock that only measures how long something takes.
    pub stopwatch: &'a dyn Fn() -> Duration,
    /// Where tests let it die.
    pub faults: &'a dyn Faults,
    /// Who is told.
    pub report: Report<'a>,
    /// The judge's own sources, as a tree id.
    pub judge: &'a str,
    /// The person's environment, for the git program.
    pub environment: &'a [(OsString, OsString)],
}

impl<'a> Hands<'a> {
    /// The repository once more, with objects and refs on the disk before the journal says that they are there.
    pub(crate) fn durable(self) -> Result<Repo, RepoError> {
        self.repo.reopen()?.durable()
    }

    /// The same hands on another handle of the repository.
    pub(crate) fn with<'b>(self, repo: &'b Repo) -> Hands<'b>
    where
        'a: 'b,
    {
        Hands { repo, ..self }
    }
}

/// Something under way, with its journal.
pub struct Work<'a> {
    /// What it works with.
    pub hands: Hands<'a>,
    /// What its journal tells.
    pub known: Known,
    /// When an earlier process made the last entry; none if this one began it.
    pub(super) left_at: Option<SystemTime>,
    folder: CycleFolder,
    journal: Log,
}

impl<'a> Work<'a> {
    /// Open a journal for something new.
    pub fn begin(hands: Hands<'a>, opened: Opened) -> Result<Self, CycleError> {
        let folder = hands.state.cycle(&opened.id);
        faults::step(hands.faults, "cycle's folder", Half::Nothing, || folder.make())
            .map_err(disk("make", folder.root()))?;
        let (mut journal, before) = faults::step(hands.faults, "journal made", Half::Nothing, || {
            Log::open::<Entry>(&folder.journal()).map_err(CycleError::from)
        })?;
        if !before.is_empty() {
            return Err(CycleError::Target {
                what: format!("begin {}: there is something of that id already", opened.id),
                hint: "start again; ids are made from the time".to_owned(),
            });
        }
        journal.append(&Entry::Opened(opened.clone()), "opened", hands.faults)?;
        Ok(Self { hands, known: Known::open(opened), left_at: None, folder, journal })
    }

    /// Go on with something that was left; none if it has ended, never began, or is in other hands.
    pub(super) fn resume(hands: Hands<'a>, id: &str) -> Result<Option<Self>, CycleError> {
        let folder = hands.state.cycle(id);
        if !folder.journal().exists() {
            return Ok(None);
        }
        // Opening it may repair it, which is written as well.
        let left_at = std::fs::metadata(folder.journal()).and_then(|facts| facts.modified()).ok();
        let (journal, entries) = match Log::open::<Entry>(&folder.journal()) {
            Err(crate::store::log::LogError::Busy { .. }) => return Ok(None),
            other => other?,
        };
        let known = Known::fold(&entries)
            .map_err(|source| CycleError::Journal { path: folder.journal(), source })?
            .filter(|known| !known.ended);
        Ok(known.map(|known| Self { hands, known, left_at, folder, journal }))
    }

    /// Its folder.
    pub fn folder(&self) -> &CycleFolder {
        &self.folder
    }

    /// Enter one thing; it is on the disk when this returns.
    pub fn enter(&mut self, entry: Entry) -> Result<(), CycleError> {
        let wrong = || CycleError::Journal {
            path: self.folder.journal(),
            source: OutOfOrder { number: 0, what: entry.word().to_owned() },
        };
        let mut known = self.known.clone();
        known.apply(&entry).ok_or_else(wrong)?;
        self.journal.append(&entry, entry.word(), self.hands.faults)?;
        self.known = known;
        Ok(())
    }
}

pub(super) fn disk(doing: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> CycleError {
    let path = path.to_owned();
    move |source| CycleError::Disk { doing, path, source }
}
