//! Taking back files: an agent's changes, or one untracked file. Promises that only the named files are touched, and none
//! that lies outside, in `.git` or behind a symbolic link; ignore files of the person play no part.

use super::guard::Guard;
use super::paths::nul_list;
use super::{Class, PersonError, WorkTree, error};
use crate::commits::When;
use crate::path::TreePath;
use crate::program::fields;
use std::collections::BTreeSet;
use std::fs;

impl WorkTree<'_> {
    /// Puts these files back to the last commit, in work tree and index: changed ones get their content, removed ones come
    /// back, new ones are removed. What lay there is kept aside first; gives the ref under which it is found.
    ///
    /// # Errors
    /// A path outside, a folder, a merge under way. Nothing was touched then.
    pub fn undo_agent_changes(&self, files: &[&[u8]], now: When) -> Result<Option<String>, PersonError> {
        self.nothing_under_way("undo the changes")?;
        let paths = files.iter().map(|file| self.lexical(file)).collect::<Result<BTreeSet<_>, _>>()?;
        let committed = self.committed()?;
        let (back, gone): (Vec<&TreePath>, Vec<&TreePath>) = paths.iter().partition(|path| committed.contains(*path));
        for path in &paths {
            // A link that is itself among the files makes room for what lay below it.
            let through_named = gone.iter().any(|other| *other != path && path.is_within(other.as_bytes()));
            if !through_named {
                self.no_link_above(path)?;
            }
            if fs::symlink_metadata(path.below(&self.top)).is_ok_and(|meta| meta.is_dir()) {
                let message = format!("undo the changes to {path}: a folder lies there");
                return Err(PersonError::new(Class::IsDirectory, message));
            }
        }
        let guard = Guard::new(self)?;
        let kept = self.keep_aside(paths.iter(), now)?;
        let mut indexed = Vec::new();
        for path in &gone {
            if self.indexed(path)?.contains(path) {
                indexed.push(*path);
            }
        }
        if !indexed.is_empty() {
            let args = ["rm", "--cached", "--quiet", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"];
            self.step(&guard, "undo the changes", &args, nul_list(indexed))?;
        }
        for path in gone {
            self.remove_file(path)?;
        }
        if back.is_empty() {
            return Ok(kept);
        }
        let args =
            ["restore", "--source=HEAD", "--staged", "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul"];
        self.step(&guard, "undo the changes", &args, nul_list(back))?;
        Ok(kept)
    }

    /// Removes one file that git does not know. Its name is taken byte for byte.
    ///
    /// # Errors
    /// No such file, a folder, a file that git knows, a path outside.
    pub fn discard_untracked(&self, file: &[u8]) -> Result<(), PersonError> {
        let path = self.place(file)?;
        let doing = format!("discard {path}");
        let meta = fs::symlink_metadata(path.below(&self.top));
        let Ok(meta) = meta else {
            return Err(PersonError::new(Class::NoSuchFile, format!("{doing}: there is no such file")));
        };
        if meta.is_dir() {
            return Err(PersonError::new(Class::IsDirectory, format!("{doing}: it is a folder")));
        }
        if self.indexed(&path)?.contains(&path) || self.committed()?.contains(&path) {
            return Err(PersonError::new(Class::BadPath, format!("{doing}: git knows this file, it is not untracked")));
        }
        self.remove_file(&path)
    }

    /// Every path of the last commit.
    fn committed(&self) -> Result<BTreeSet<TreePath>, PersonError> {
        if self.head()?.is_none() {
            return Ok(BTreeSet::new());
        }
        let output = self.git().output(&["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"])?;
        Ok(fields(&output).map(TreePath::new).collect())
    }

    pub(super) fn step(&self, guard: &Guard, doing: &str, args: &[&str], stdin: Vec<u8>) -> Result<(), PersonError> {
        let done = self.git().stdin(stdin).finish(args)?;
        if done.ok() {
            return Ok(());
        }
        guard.restore(&done);
        Err(error::of_command(doing, &done))
    }

    /// Removes a file or a link, if it is there.
    fn remove_file(&self, path: &TreePath) -> Result<(), PersonError> {
        match fs::remove_file(path.below(&self.top)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(PersonError::new(Class::Failed, format!("remove {path}: {e}")))
            }
            _ => Ok(()),
        }
    }
}
