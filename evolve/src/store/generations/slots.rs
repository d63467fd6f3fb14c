//! `current` and `previous`: which generation is started, and which one was before it.
//!
//! Promises: `previous` is set before `current` moves, each by renaming a link, so that whatever dies in between leaves a
//! `current` that leads to a whole generation; a denied tree is never moved to.

use super::marks::{Branch, Denied};
use super::{Generation, Store, StoreError, is_tree};
use crate::store::faults::{self, Faults, Half};
use crate::store::log::sync_folder;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;

/// Name of the link to the generation that is started.
const CURRENT: &str = "current";
/// Name of the link to the one before.
const PREVIOUS: &str = "previous";

/// What is to become of a generation that is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaving {
    /// Its tree.
    pub tree: String,
    /// Why.
    pub denied: Denied,
}

impl Store {
    /// The tree that `current` points to; none if nothing was installed.
    ///
    /// # Errors
    /// It is no link to a generation.
    pub fn current_tree(&self) -> Result<Option<String>, StoreError> {
        self.link(CURRENT)
    }

    /// The tree that `previous` points to, where there is one.
    ///
    /// # Errors
    /// It is no link to a generation.
    pub fn previous_tree(&self) -> Result<Option<String>, StoreError> {
        self.link(PREVIOUS)
    }

    /// Whether one of the links leads to it.
    pub(super) fn leads_to(&self, tree: &str) -> bool {
        [CURRENT, PREVIOUS].iter().any(|name| self.link(name).ok().flatten().as_deref() == Some(tree))
    }

    /// Let `current` point to a generation that no probe has booted, if it points nowhere yet: what a person built and runs
    /// already.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn first(&self, generation: &Generation, faults: &dyn Faults) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        if self.link(CURRENT)?.is_some() { Ok(()) } else { self.point(CURRENT, &generation.tree, faults) }
    }

    /// What has landed is started from now on. Gives whether anything moved.
    ///
    /// # Errors
    /// The disk refuses, or the generation is damaged.
    pub fn advance(&self, tree: &str, faults: &dyn Faults) -> Result<bool, StoreError> {
        let _lock = self.lock()?;
        let now = self.link(CURRENT).ok().flatten();
        if now.as_deref() == Some(tree) || !self.is_good(tree) {
            return Ok(false);
        }
        self.generation(tree).verify()?;
        // What was started before may have left marks of its starts; they say nothing of this one.
        let _ = fs::remove_dir_all(self.starts_of(tree));
        if let Some(now) = now.filter(|now| self.marks(now).denied.is_none()) {
            self.point(PREVIOUS, &now, faults)?;
        }
        self.point(CURRENT, tree, faults)?;
        Ok(true)
    }

    /// Leave a generation: its tree is denied, and the newest one that can be started is `current` from now on: `previous`,
    /// or another good one. Gives it; none where there is no other, and then `current` stays.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn fall_back(&self, leaving: &Leaving, faults: &dyn Faults) -> Result<Option<Generation>, StoreError> {
        let _lock = self.lock()?;
        let current = self.link(CURRENT).ok().flatten();
        if let Some(other) = current.filter(|tree| *tree != leaving.tree && self.marks(tree).denied.is_none()) {
            // Another process was faster.
            return Ok(Some(self.generation(&other)));
        }
        let Some(other) = self.other_than(&leaving.tree) else { return Ok(None) };
        // A broken link names no tree.
        if is_tree(&leaving.tree) {
            self.denied(&leaving.tree, leaving.denied.clone(), faults)?;
        }
        self.point(CURRENT, &other.tree, faults)?;
        if is_tree(&leaving.tree) {
            let _ = fs::remove_dir_all(self.starts_of(&leaving.tree));
        }
        Ok(Some(other))
    }

    /// Note that a revert of a denied tree was proposed.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn reverted(&self, tree: &str, denied: Denied, faults: &dyn Faults) -> Result<(), StoreError> {
        self.deny(tree, Denied { branch: Branch::Proposed, ..denied }, faults)
    }

    /// Whole and not denied: `previous` first, then the newest good one.
    fn other_than(&self, tree: &str) -> Option<Generation> {
        let previous = self.link(PREVIOUS).ok().flatten().map(|tree| self.generation(&tree));
        let mut others = self.installed();
        others.sort_by_key(|generation| std::cmp::Reverse(generation.installed_at()));
        others.retain(|generation| self.is_good(&generation.tree));
        let fit = |generation: &Generation| {
            generation.tree != tree && self.marks(&generation.tree).denied.is_none() && generation.verify().is_ok()
        };
        previous.into_iter().chain(others).find(fit)
    }

    fn link(&self, name: &str) -> Result<Option<String>, StoreError> {
        let link = self.root().join(name);
        match fs::read_link(&link) {
            Ok(target) => match target.to_str().filter(|name| is_tree(name)) {
                Some(tree) => Ok(Some(tree.to_owned())),
                None => Err(StoreError::Damaged { path: link, why: "it does not point to a generation".to_owned() }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::file("read the link", &link, source)),
        }
    }

    fn point(&self, name: &str, tree: &str, faults: &dyn Faults) -> Result<(), StoreError> {
        let link = self.root().join(name);
        let beside = self.root().join(format!(".{name}"));
        faults::step(faults, &format!("link {name}"), Half::Nothing, || {
            match fs::remove_file(&beside) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            symlink(tree, &beside)?;
            fs::rename(&beside, &link)?;
            sync_folder(self.root())
        })
        .map_err(|source| StoreError::file("move the link", &link, source))
    }
}
