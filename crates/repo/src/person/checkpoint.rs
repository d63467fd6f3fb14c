//! Checkpoints: the state of the files, remembered and brought back. Promises: index, branches and stash stay as they are;
//! bytes come back as they were, past filters and line-end rules; nothing is removed or overwritten by a restore that was not
//! saved just before; dependency folders and embedded repositories are left out.
//!
//! A checkpoint is a tree under `refs/selfsmith/checkpoints/`: no commit, so no history shows it.

use super::{Class, PersonError, WorkTree, error};
use crate::commits::{Identity, When};
use crate::materialise;
use crate::objects::{Change, Entry, Mode};
use crate::open::Repo;
use crate::path::TreePath;
use crate::program::fields;
use crate::snapshot::{ProblemKind, read_bounded};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// A state of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The ref that keeps it; what names it.
    pub name: String,
    /// Files that are not in it, and why: they stay out of a restore too.
    pub left_out: Vec<(TreePath, ProblemKind)>,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Files written, sorted.
    pub written: Vec<TreePath>,
    /// Files removed, sorted.
    pub removed: Vec<TreePath>,
    /// Files that would have had to change and were left alone, because what lies there could not be saved.
    pub kept: Vec<TreePath>,
    /// The state before the restore: the way back.
    pub before: Checkpoint,
}

const REFS: &str = "refs/selfsmith/checkpoints/";
/// How many checkpoints are kept; the oldest go first.
const MOST: usize = 200;
/// Bytes of one file.
const MAX_FILE: u64 = 20 << 20;
/// Folders whose files are made by tools and can be made again. Only what git does not know in them is left out.
const MADE_BY_TOOLS: &[&str] = &[
    "node_modules/",
    "target/",
    ".venv/",
    "venv/",
    "__pycache__/",
    ".tox/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".gradle/",
    "bower_components/",
    ".next/",
    ".nuxt/",
    ".cache/",
    ".terraform/",
    "DerivedData/",
    "Pods/",
];

/// Files as they lie on disk.
struct State {
    files: BTreeMap<TreePath, (Mode, String)>,
    left_out: Vec<(TreePath, ProblemKind)>,
}

impl WorkTree<'_> {
    /// Remembers the state of the files, untracked ones included, ignored ones not.
    ///
    /// # Errors
    /// A repository that cannot be read, or a disk that is full.
    pub fn checkpoint(&self, now: When) -> Result<Checkpoint, PersonError> {
        let repo = Repo::open(&self.top)?;
        let state = self.state(&repo, &BTreeSet::new())?;
        self.keep(&repo, state, now)
    }

    /// Brings the files back to a checkpoint, and says how to get back from there.
    ///
    /// # Errors
    /// No such checkpoint, or the disk refuses.
    pub fn restore_checkpoint(&self, name: &str, now: When) -> Result<Restored, PersonError> {
        let repo = Repo::open(&self.top)?;
        let unknown = || PersonError::new(Class::NotFound, format!("restore {name:?}: there is no such checkpoint"));
        let tree = match name.starts_with(REFS) {
            true => repo.read_ref(name).map_err(|_| unknown())?.ok_or_else(unknown)?,
            false => return Err(unknown()),
        };
        let wanted: BTreeMap<TreePath, Entry> = repo.entries(&tree)?.into_iter().map(|e| (e.path.clone(), e)).collect();
        let state = self.state(&repo, &wanted.keys().cloned().collect())?;
        let (files, unsaved) = (state.files.clone(), state.left_out.clone());
        let before = self.keep(&repo, state, now)?;
        let done = Restored { written: Vec::new(), removed: Vec::new(), kept: Vec::new(), before };
        let mut restore = Restore { tree: self, repo: &repo, files, unsaved, done };
        // Ignore files first: what was ignored at the checkpoint is not part of it and stays, whatever they say now.
        let (ignores, others): (Vec<_>, Vec<_>) = wanted.into_values().partition(|entry| is_ignore_file(&entry.path));
        let named: BTreeSet<&TreePath> = ignores.iter().chain(&others).map(|entry| &entry.path).collect();
        let gone = |path: &&TreePath| !named.contains(*path);
        let new_ignores: Vec<TreePath> =
            restore.files.keys().filter(gone).filter(|path| is_ignore_file(path)).cloned().collect();
        let new_files: Vec<TreePath> =
            restore.files.keys().filter(gone).filter(|path| !is_ignore_file(path)).cloned().collect();
        restore.remove(new_ignores)?;
        restore.write(&ignores)?;
        let visible = self.listed()?;
        restore.remove(new_files.into_iter().filter(|path| visible.contains(path)).collect())?;
        restore.write(&others)?;
        restore.done.written.sort();
        restore.done.removed.sort();
        Ok(restore.done)
    }

    /// Every path that git knows, or could know: neither ignored nor made by tools.
    fn listed(&self) -> Result<BTreeSet<TreePath>, PersonError> {
        let mut args: Vec<String> = ["ls-files", "-z", "--others", "--exclude-standard"].map(str::to_owned).to_vec();
        args.extend(MADE_BY_TOOLS.iter().map(|folder| format!("--exclude={folder}")));
        let known = self.git().output(&["ls-files", "-z", "--cached"])?;
        let unknown = self.git().output(&args)?;
        Ok(fields(&known).chain(fields(&unknown)).map(TreePath::new).collect())
    }

    /// Reads the files that git knows or could know, and those of `also` that are there.
    fn state(&self, repo: &Repo, also: &BTreeSet<TreePath>) -> Result<State, PersonError> {
        let mut paths = self.listed()?;
        paths.extend(also.iter().cloned());
        let mut state = State { files: BTreeMap::new(), left_out: Vec::new() };
        for path in paths {
            if path.as_bytes().ends_with(b"/") || path.unsafe_because().is_some() || self.no_link_above(&path).is_err()
            {
                continue; // an embedded repository; or it lies behind a link, which is itself a file of this state
            }
            let on_disk = path.below(&self.top);
            let Ok(meta) = fs::symlink_metadata(&on_disk) else { continue };
            let read = if meta.is_symlink() {
                fs::read_link(&on_disk)
                    .map(|target| (Mode::Symlink, target.as_os_str().as_bytes().to_vec()))
                    .map_err(|_| ProblemKind::Unreadable)
            } else if meta.is_file() {
                read_bounded(&on_disk, MAX_FILE).map(|found| (found.mode, found.bytes))
            } else if meta.is_dir() {
                continue; // a submodule, or a folder where a file was
            } else {
                Err(ProblemKind::Special)
            };
            match read {
                Ok((mode, bytes)) => {
                    let id = repo.write_blob(&bytes)?;
                    state.files.insert(path, (mode, id));
                }
                Err(problem) => state.left_out.push((path, problem)),
            }
        }
        Ok(state)
    }

    fn keep(&self, repo: &Repo, state: State, now: When) -> Result<Checkpoint, PersonError> {
        let changes: Vec<Change> =
            state.files.into_iter().map(|(path, entry)| Change { path, entry: Some(entry) }).collect();
        let tree = repo.tree_with(&repo.empty_tree()?, &changes)?;
        let who = Identity { name: "Selfsmith".into(), email: "selfsmith@localhost".into() };
        let short = tree.get(..12).unwrap_or(&tree);
        let name = format!("{REFS}{:012}-{short}", now.seconds);
        let present = repo.read_ref(&name)?;
        if present.as_ref() != Some(&tree) {
            repo.cas_ref(&name, present.as_deref(), Some(&tree), "selfsmith: checkpoint", (&who, now))?;
        }
        let all = repo.refs(REFS)?;
        for old in all.iter().take(all.len().saturating_sub(MOST)) {
            // Another session may be removing it too.
            let _ = repo.cas_ref(&old.name, Some(&old.id), None, "selfsmith: old checkpoint", (&who, now));
        }
        Ok(Checkpoint { name, left_out: state.left_out })
    }

    /// Folders that a removed file leaves empty would stand in the way of a file of that name.
    fn remove_empty_folders_above(&self, path: &TreePath) {
        let on_disk = path.below(&self.top);
        for folder in on_disk.ancestors().skip(1).take_while(|dir| *dir != self.top) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

/// A restore under way.
struct Restore<'a> {
    tree: &'a WorkTree<'a>,
    repo: &'a Repo,
    /// What lies on disk and is saved.
    files: BTreeMap<TreePath, (Mode, String)>,
    /// What lies on disk and could not be saved.
    unsaved: Vec<(TreePath, ProblemKind)>,
    done: Restored,
}

impl Restore<'_> {
    fn remove(&mut self, paths: Vec<TreePath>) -> Result<(), PersonError> {
        for path in paths {
            fs::remove_file(path.below(&self.tree.top)).map_err(|e| error::of_disk(&format!("remove {path}"), &e))?;
            self.tree.remove_empty_folders_above(&path);
            self.done.removed.push(path);
        }
        Ok(())
    }

    fn write(&mut self, entries: &[Entry]) -> Result<(), PersonError> {
        for entry in entries {
            let path = &entry.path;
            if self.files.get(path).is_some_and(|(mode, id)| *mode == entry.mode && *id == entry.id) {
                continue;
            }
            let in_the_way = |(other, _): &(TreePath, ProblemKind)| path.is_within(other.as_bytes());
            let folder = fs::symlink_metadata(path.below(&self.tree.top)).is_ok_and(|meta| meta.is_dir());
            if self.unsaved.iter().any(in_the_way) || folder {
                self.done.kept.push(path.clone());
                continue;
            }
            materialise::put(self.repo, &self.tree.top, entry)?;
            self.done.written.push(path.clone());
        }
        Ok(())
    }
}

fn is_ignore_file(path: &TreePath) -> bool {
    path.parts().last() == Some(b".gitignore")
}
