//! Whether everything that some commits lead to can be read, bytes that no question needs included. Promises that each object is
//! read once, and that its content is the one that its id names: libgit2 hashes what it reads.

use crate::error::RepoError;
use crate::open::{Repo, oid};
use git2::{ObjectType, Oid};
use std::collections::HashSet;

/// git's number of a submodule's entry: its commit lies elsewhere.
const SUBMODULE: i32 = 0o160_000;

impl Repo {
    /// Objects that these commits and their ancestors lead to and that cannot be read, with why; read afresh from the disk.
    ///
    /// # Errors
    /// An id that is none.
    pub fn unreadable(&self, tips: &[String]) -> Result<Vec<(String, String)>, RepoError> {
        let afresh = self.reopen()?;
        let mut pending = tips.iter().map(|tip| oid(tip)).collect::<Result<Vec<Oid>, _>>()?;
        let mut seen: HashSet<Oid> = pending.iter().copied().collect();
        let mut faults = Vec::new();
        while let Some(id) = pending.pop() {
            match afresh.leads_on(id) {
                Ok(next) => pending.extend(next.into_iter().filter(|id| seen.insert(*id))),
                Err(error) => faults.push((id.to_string(), error.message().to_owned())),
            }
        }
        Ok(faults)
    }

    /// What an object leads to.
    fn leads_on(&self, id: Oid) -> Result<Vec<Oid>, git2::Error> {
        let kind = self.inner.odb()?.read(id)?.kind();
        Ok(match kind {
            ObjectType::Commit => {
                let commit = self.inner.find_commit(id)?;
                std::iter::once(commit.tree_id()).chain(commit.parent_ids()).collect()
            }
            ObjectType::Tree => {
                let tree = self.inner.find_tree(id)?;
                tree.iter().filter(|entry| entry.filemode_raw() != SUBMODULE).map(|entry| entry.id()).collect()
            }
            _ => Vec::new(),
        })
    }
}
