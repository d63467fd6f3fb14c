//! The inverse of a commit, and merges of trees, in memory: nothing but objects is written. A conflict is a value.

use crate::error::RepoError;
use crate::open::{Repo, oid};
use crate::path::TreePath;
use git2::{Index, MergeOptions};

/// What came of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// A whole tree.
    Tree(String),
    /// Paths on which both sides disagree, sorted.
    Conflicts(Vec<TreePath>),
}

impl Repo {
    /// The tree of `head` without what `commit` changed.
    ///
    /// # Errors
    /// No such commit, or a merge commit: which of its sides to take back is not for us to guess.
    pub fn revert_tree(&self, commit: &str, head: &str) -> Result<Merged, RepoError> {
        let (what, onto) = (self.find_commit(commit)?, self.find_commit(head)?);
        if what.parent_count() > 1 {
            return Err(RepoError::NotFound {
                what: format!("the one inverse of {commit}"),
                why: "it is a merge commit".into(),
            });
        }
        let index = self
            .inner
            .revert_commit(&what, &onto, 0, Some(&MergeOptions::new()))
            .map_err(RepoError::git(format!("revert {commit} on {head}")))?;
        self.merged(index)
    }

    /// What `theirs` changed since `base`, applied to `ours`; all three are trees.
    ///
    /// # Errors
    /// No such tree.
    pub fn merge_trees(&self, base: &str, ours: &str, theirs: &str) -> Result<Merged, RepoError> {
        let (base, ours, theirs) =
            (self.find_tree(oid(base)?)?, self.find_tree(oid(ours)?)?, self.find_tree(oid(theirs)?)?);
        let index = self
            .inner
            .merge_trees(&base, &ours, &theirs, Some(&MergeOptions::new()))
            .map_err(RepoError::git("merge trees"))?;
        self.merged(index)
    }

    fn merged(&self, mut index: Index) -> Result<Merged, RepoError> {
        let doing = || RepoError::git("read a merge");
        if !index.has_conflicts() {
            return Ok(Merged::Tree(index.write_tree_to(&self.inner).map_err(doing())?.to_string()));
        }
        let mut paths = Vec::new();
        for conflict in index.conflicts().map_err(doing())? {
            let conflict = conflict.map_err(doing())?;
            let sides = [conflict.our, conflict.their, conflict.ancestor];
            paths.extend(sides.into_iter().flatten().next().map(|entry| TreePath::new(entry.path)));
        }
        paths.sort();
        paths.dedup();
        Ok(Merged::Conflicts(paths))
    }
}
