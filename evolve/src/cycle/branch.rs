//! The cycle's own branch: a ref that only the judge writes. It says that a cycle is at work, and goes at its end.

use super::{CycleError, Setup, Work};
use crate::store::faults::{self, Half};
use crate::store::journal::{Arrow, Entry};
use crate::store::lineage;
use selfsmith_repo::{Repo, RepoError};

/// Full name of the branch of a cycle: below `evolve/`, or elsewhere where a branch named `evolve` stands in the way.
pub(super) fn name(repo: &Repo, cycle: &str) -> Result<String, CycleError> {
    for folder in ["evolve", "selfsmith-evolve"] {
        if repo.read_ref(&format!("refs/heads/{folder}"))?.is_none() {
            return Ok(format!("refs/heads/{folder}/{cycle}"));
        }
    }
    Err(CycleError::Target {
        what: "make a branch: branches named evolve and selfsmith-evolve stand in the way".to_owned(),
        hint: "rename one of them".to_owned(),
    })
}

/// Make it, at the base.
pub(super) fn make(setup: &Setup<'_>, work: &mut Work<'_>) -> Result<(), CycleError> {
    // One that is there before is not ours, and must not be taken for ours at the end.
    let name = work.known.opened.branch.clone();
    if setup.hands.repo.read_ref(&name)?.is_some() {
        return Err(exists(&name));
    }
    work.enter(Entry::Started { arrow: Arrow::Branch })?;
    let opened = &work.known.opened;
    let why = format!("selfsmith: {} begins", opened.id);
    let who = (&lineage::judge(), lineage::at(opened.at));
    let lock = setup.hands.repo.lock_of(&opened.branch);
    let made = faults::step(setup.hands.faults, "branch made", Half::Ref(&lock, Some(&opened.base.0)), || {
        setup.hands.repo.cas_ref(&opened.branch, None, Some(&opened.base.0), &why, who)
    });
    match made {
        Ok(()) => {}
        // Ids are made from the time; one that exists is not ours to move.
        Err(RepoError::Moved { name, .. }) => {
            return Err(exists(&name));
        }
        Err(e) => return Err(e.into()),
    }
    work.enter(Entry::Branched)
}

fn exists(name: &str) -> CycleError {
    CycleError::Target {
        what: format!("make the branch {name}: it exists already"),
        hint: "start again; ids are made from the time".to_owned(),
    }
}
