//! An update of a person's checkout that was cut off in its middle, taken back, so that it can be done again.
//!
//! git writes files first and the index last, beside the old one; a machine that dies in between leaves `index.lock`, an old
//! index, and files of which some are new, cut short or gone. Promises: nothing is touched unless that lock is one that the
//! update left, the index is as it was before the update, and every file that differs is one that the update was writing and
//! holds nothing but (the beginning of) what it was to write.

use crate::error::RepoError;
use crate::locks::{Begun, take_away_index_lock};
use crate::materialise::put;
use crate::objects::{Entry, Mode};
use crate::open::Repo;
use crate::path::TreePath;
use crate::program::{Caller, Git, fields};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// How a file stands to an update that may have been writing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// As before.
    Before,
    /// As the update leaves it, cut short, or gone.
    Amid,
    /// Otherwise: the person's.
    Otherwise,
}

impl Repo {
    /// Takes back an update of this checkout `from` one commit `to` another that a killed run left half done. Tells whether
    /// there was one; where anything differs that the update did not write, it is left as it is.
    ///
    /// # Errors
    /// A file cannot be put back; a command that failed.
    pub fn take_back_update(
        &self,
        path: &Path,
        (from, to): (&str, &str),
        begun: &Begun<'_>,
        caller: Caller<'_>,
    ) -> Result<bool, RepoError> {
        let trees = self.work_trees()?;
        let same = |top: &Path| fs::canonicalize(top).ok() == fs::canonicalize(path).ok();
        let Some((_, git_dir)) = trees.iter().find(|(top, _)| same(top)) else { return Ok(false) };
        if !take_away_index_lock(&git_dir.join("index.lock"), begun)? {
            return Ok(false);
        }
        let (from, to) = (self.tree_of(from)?, self.tree_of(to)?);
        let staged = ["diff-index", "--cached", "--name-only", "-z", "--no-renames", &from, "--"];
        if !Git::new(caller, path).output(&staged)?.is_empty() {
            return Ok(false);
        }
        let names = ["diff-tree", "-r", "--name-only", "-z", "--no-renames", &from, &to];
        let touched = Git::new(caller, path).output(&names)?;
        let (old, new) = (self.by_path(&from)?, self.by_path(&to)?);
        let mut amid = Vec::new();
        for name in fields(&touched) {
            let name = TreePath::new(name.to_vec());
            match self.stands(&name.below(path), old.get(&name), new.get(&name))? {
                Stands::Before => {}
                Stands::Amid => amid.push(name),
                Stands::Otherwise => return Ok(false),
            }
        }
        for name in amid {
            let at = name.below(path);
            match old.get(&name) {
                Some(entry) => put(self, path, entry)?,
                None => match fs::remove_file(&at) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(RepoError::disk("remove", &at)(error));
                    }
                    _ => {}
                },
            }
        }
        Ok(true)
    }

    fn by_path(&self, tree: &str) -> Result<BTreeMap<TreePath, Entry>, RepoError> {
        Ok(self.entries(tree)?.into_iter().map(|entry| (entry.path.clone(), entry)).collect())
    }

    fn stands(&self, at: &Path, old: Option<&Entry>, new: Option<&Entry>) -> Result<Stands, RepoError> {
        let plain = |entry: &&Entry| matches!(entry.mode, Mode::File | Mode::Executable);
        if old.is_some_and(|entry| !plain(&entry)) || new.is_some_and(|entry| !plain(&entry)) {
            return Ok(Stands::Otherwise);
        }
        let there = match fs::symlink_metadata(at) {
            Ok(facts) if facts.is_file() => fs::read(at).map_err(RepoError::disk("read", at))?,
            Ok(_) => return Ok(Stands::Otherwise),
            Err(_) if old.is_none() => return Ok(Stands::Before),
            Err(_) => return Ok(Stands::Amid),
        };
        if let Some(old) = old
            && self.blob(&old.id)? == there
        {
            return Ok(Stands::Before);
        }
        Ok(match new {
            Some(new) if self.blob(&new.id)?.starts_with(&there) => Stands::Amid,
            _ => Stands::Otherwise,
        })
    }
}
