//! What stands in the way of moving a branch, as git sees it. Promises: a branch that a work tree is in the middle of
//! rebasing or bisecting is named, with the work tree; a name that leads to a branch is followed to it.

use crate::error::RepoError;
use crate::open::Repo;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How many symbolic refs are followed, as in git.
const MOST_LINKS: usize = 5;

/// What a work tree is in the middle of with a branch that is not to move meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InUse {
    /// The work tree.
    pub path: PathBuf,
    /// `rebase` or `bisect`: also git's command that ends it.
    pub operation: &'static str,
}

impl Repo {
    /// Why the index of this work tree cannot be read, with what mends it; none if it can.
    pub fn index_fault(&self) -> Option<(String, &'static str)> {
        let error = self.inner.index().err()?;
        let why = error.message().to_owned();
        let mends = if why.contains("'link'") {
            "update-index --no-split-index"
        } else if why.contains("'sdir'") {
            "sparse-checkout disable"
        } else {
            "read-tree --reset HEAD"
        };
        Some((why, mends))
    }

    /// An object of this commit (itself, its tree, or what lies in it) for which git shows another (`git replace`).
    ///
    /// # Errors
    /// The commit or the refs cannot be read.
    pub fn replaced_in(&self, commit: &str) -> Result<Option<String>, RepoError> {
        let prefix = "refs/replace/";
        let refs = self.refs(prefix)?;
        let replaced: HashSet<&str> = refs.iter().filter_map(|found| found.name.strip_prefix(prefix)).collect();
        let used = self.inner.config().and_then(|config| config.get_bool("core.useReplaceRefs")).unwrap_or(true);
        if replaced.is_empty() || !used {
            return Ok(None);
        }
        let root = self.tree_of(commit)?;
        let mut pending = vec![root.clone()];
        let mut objects = vec![commit.to_owned(), root];
        let mut seen = HashSet::new();
        while let Some(tree) = pending.pop() {
            for entry in self.top_entries(&tree)? {
                if entry.raw_mode == 0o040_000 && seen.insert(entry.id.clone()) {
                    pending.push(entry.id.clone());
                }
                objects.push(entry.id);
            }
        }
        Ok(objects.into_iter().find(|id| replaced.contains(id.as_str())))
    }

    /// Where git refuses to move a branch (a full name): a work tree is rebasing it or bisecting from it.
    ///
    /// # Errors
    /// The work trees cannot be listed.
    pub fn in_use(&self, branch: &str) -> Result<Option<InUse>, RepoError> {
        for (path, git_dir) in self.work_trees()? {
            let says = |file: &str| names(&git_dir.join(file)).iter().any(|name| self.leads_to(name, branch));
            let rebased = ["rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs"];
            if rebased.into_iter().any(says) {
                return Ok(Some(InUse { path, operation: "rebase" }));
            }
            let begun = names(&git_dir.join("BISECT_START"));
            if begun.iter().any(|name| self.leads_to(&format!("refs/heads/{name}"), branch)) {
                return Ok(Some(InUse { path, operation: "bisect" }));
            }
        }
        Ok(None)
    }

    /// The ref that a name leads to through symbolic refs; itself where it is none.
    pub fn final_name(&self, name: &str) -> String {
        let mut name = name.to_owned();
        for _ in 0..MOST_LINKS {
            let next = self.inner.find_reference(&name).ok();
            match next.as_ref().and_then(|found| found.symbolic_target().ok().flatten()) {
                Some(next) => name = next.to_owned(),
                None => break,
            }
        }
        name
    }

    /// Whether a name is this branch, or leads to it.
    pub(crate) fn leads_to(&self, name: &str, branch: &str) -> bool {
        name == branch || (name.starts_with("refs/") && self.final_name(name) == branch)
    }
}

/// The lines of one of git's own small files, without `ref: `.
pub(crate) fn names(file: &Path) -> Vec<String> {
    let text = String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned();
    text.lines().map(|line| line.strip_prefix("ref: ").unwrap_or(line).trim().to_owned()).collect()
}
