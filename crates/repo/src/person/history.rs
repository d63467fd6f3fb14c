//! Undoing commits: by a new one, or by taking the last one back. Promises that no commit that others may have is rewritten,
//! and that no uncommitted change is lost: where one is in the way it refuses.

use super::guard::{Attempt, Guard};
use super::status::Moves;
use super::{Class, PersonError, WorkTree, error};
use crate::checkout::operation_in;
use crate::path::TreePath;
use crate::program::fields;
use std::collections::BTreeSet;
use std::time::Duration;

impl WorkTree<'_> {
    /// Undoes a commit by a new one, with the person's hooks and signing. Gives the new commit's id.
    ///
    /// # Errors
    /// As for a commit; and no such commit, a merge commit, a conflict, uncommitted changes in the way. The work tree is then
    /// as it was.
    pub fn revert_commit(&self, rev: &str, timeout: Duration) -> Result<String, PersonError> {
        let commit = self.resolve(rev)?;
        self.may_commit()?;
        if self.parents(&commit)?.len() > 1 {
            let message = format!("revert {rev}: it is a merge, and which side to take back is yours to say");
            return Err(PersonError::new(Class::Merge, message));
        }
        let staged = self.git().finish(&["diff-index", "--cached", "--quiet", "HEAD", "--"])?;
        if !staged.ok() {
            let message = format!("revert {rev}: there are staged changes, which would be committed with it");
            return Err(PersonError::new(Class::Dirty, message));
        }
        let guard = Guard::new(self)?;
        let doing = format!("revert {rev}");
        self.revert_in_index(&guard, &doing, &commit)?;
        // A commit of its own, because `git revert` by itself runs no hook before the commit.
        let args = ["commit", "--quiet", "--no-edit", "--cleanup=whitespace"].map(str::to_owned).to_vec();
        let attempt = Attempt { doing: &doing, args, stdin: Vec::new(), filters: Vec::new(), timeout };
        let result = self.attempt(attempt);
        match result {
            Ok(Ok(())) => self.resolve("HEAD"),
            Ok(Err((error, done))) => {
                guard.unlock(&done);
                self.abort_revert()?;
                Err(error)
            }
            Err(error) => {
                self.abort_revert()?;
                Err(error)
            }
        }
    }

    /// Files and index without what the commit changed; not committed yet.
    fn revert_in_index(&self, guard: &Guard, doing: &str, commit: &str) -> Result<(), PersonError> {
        let done = self.git().finish(&["revert", "--no-edit", "--no-commit", commit])?;
        if done.ok() {
            return Ok(());
        }
        let error = error::of_command(doing, &done);
        guard.unlock(&done);
        let conflicts = !self.git().output(&["ls-files", "--unmerged", "-z"])?.is_empty();
        self.abort_revert()?;
        if conflicts { Err(PersonError::new(Class::Conflict, error.to_string())) } else { Err(error) }
    }

    /// Puts back what a revert changed in files and index, and leaves alone what else was changed.
    fn abort_revert(&self) -> Result<(), PersonError> {
        if operation_in(&self.git_dir) == Some("revert") {
            self.git().output(&["revert", "--abort"])?;
        }
        Ok(())
    }

    /// Takes the last commit back: the branch stands on its parent, the files stay as they are, and what the commit held is
    /// staged. Gives the id of the commit that was taken back, under which it can still be found.
    ///
    /// # Errors
    /// HEAD on no branch, a merge under way, no parent (in a shallow clone: none here), a commit that a remote has, or
    /// changes on top of it to the same files, which could then not be told apart from it.
    pub fn undo_last_commit(&self) -> Result<String, PersonError> {
        let doing = "take the last commit back";
        self.nothing_under_way(doing)?;
        self.on_a_branch(doing)?;
        let refuse = |class, why: String| Err(PersonError::new(class, format!("{doing}: {why}")));
        let Some(head) = self.head()? else { return refuse(Class::NoParent, "there is no commit yet".into()) };
        let Some(parent) = self.parents(&head)?.into_iter().next() else {
            let shallow = self.common_dir().join("shallow").exists();
            let why = if shallow { "the history of this shallow clone ends with it" } else { "it is the first one" };
            return refuse(Class::NoParent, why.into());
        };
        let remotes =
            self.git().output(&["for-each-ref", "--contains", &head, "--format=%(refname)", "refs/remotes"])?;
        if let Some(remote) = String::from_utf8_lossy(&remotes).lines().next() {
            return refuse(Class::Published, format!("it is on {remote} already"));
        }
        let touched = self.git().output(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", &parent, &head])?;
        let touched: BTreeSet<TreePath> = fields(&touched).map(TreePath::new).collect();
        if let Some(change) = self.changes(Moves::AsTwo)?.iter().find(|change| touched.contains(&change.path)) {
            return refuse(Class::Dirty, format!("{} has further changes that are not committed", change.path));
        }
        self.git().output(&["update-ref", "-m", "undo: take the last commit back", "HEAD", &parent, &head])?;
        Ok(head)
    }

    fn parents(&self, commit: &str) -> Result<Vec<String>, PersonError> {
        let line = self.git().output(&["rev-list", "--parents", "--max-count=1", commit])?;
        Ok(String::from_utf8_lossy(&line).split_whitespace().skip(1).map(str::to_owned).collect())
    }
}
