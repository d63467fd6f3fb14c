//! A person's checkouts of a branch, main work tree and linked ones, and bringing a clean one up to date after the branch has
//! moved. Promises: what is not clean is not touched, and nothing that git does not know is overwritten, ignored files
//! included. It runs no hook.

use crate::branches::names;
use crate::error::RepoError;
use crate::open::Repo;
use crate::path::TreePath;
use crate::program::{Caller, Git, fields};
use git2::Repository;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A work tree that stands on a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Its top folder.
    pub path: PathBuf,
    /// What the person has in it.
    pub work: Work,
}

/// What a person has in a work tree beyond its last commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// Paths whose index entry differs from the commit.
    pub staged: usize,
    /// Paths whose file differs from the index.
    pub changed: usize,
    /// Files that git does not know and does not ignore.
    pub untracked: usize,
    /// What is under way: `merge`, `rebase`, `cherry-pick`, `revert`, `bisect`, `am`.
    pub operation: Option<&'static str>,
}

/// How a checkout that was left alone stands to a move of its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatchUp {
    /// Index and files are as the new commit has them, wherever it differs from the old one.
    Done,
    /// What differs between the commits can be brought in and keeps the person's work.
    Applies,
    /// It cannot; what git said.
    Refused(String),
}

impl Work {
    /// Whether the tracked files are as committed and nothing is under way. Untracked files may be there.
    pub fn is_clean(&self) -> bool {
        self.staged == 0 && self.changed == 0 && self.operation.is_none()
    }
}

impl Repo {
    /// Every work tree that stands on this branch (a full name), or is amid a rebase of it.
    ///
    /// `at` is the commit or tree with which files and index are compared: once a landing has moved the branch, the commit
    /// it was moved from.
    ///
    /// # Errors
    /// A work tree cannot be looked at.
    pub fn checkouts_of(&self, branch: &str, at: &str, caller: Caller<'_>) -> Result<Vec<Checkout>, RepoError> {
        let mut found = Vec::new();
        for (path, git_dir) in self.work_trees()? {
            if !self.stands_on(&git_dir, branch) {
                continue;
            }
            let work = work_in(&path, &git_dir, at, caller)?;
            found.push(Checkout { path, work });
        }
        Ok(found)
    }

    /// Brings a checkout, whose branch has moved `from` one commit `to` another, to the new one. Once more is no error.
    ///
    /// # Errors
    /// [`RepoError::CheckoutKept`] if it is not as `from` left it, or if a file that git does not know is in the way; then
    /// nothing was touched. A command that failed.
    pub fn update_checkout(&self, path: &Path, from: &str, to: &str, caller: Caller<'_>) -> Result<(), RepoError> {
        let kept = |why: String| RepoError::CheckoutKept { path: path.to_owned(), why };
        let (from_tree, to_tree) = (self.tree_of(from)?, self.tree_of(to)?);
        let trees = self.work_trees()?;
        let Some((_, git_dir)) = trees.iter().find(|(top, _)| same_folder(top, path)) else {
            return Err(kept("it is no work tree of this repository".into()));
        };
        if git_dir.join("index.lock").exists() {
            return Err(kept("another git process holds its index.lock".into()));
        }
        if work_in(path, git_dir, &to_tree, caller)?.is_clean() {
            return Ok(()); // done before, by a run that was killed afterwards
        }
        let work = work_in(path, git_dir, &from_tree, caller)?;
        if !work.is_clean() {
            return Err(kept(described(&work)));
        }
        if let Some(in_the_way) = self.unknown_in_the_way(path, &from_tree, &to_tree)? {
            return Err(kept(format!("the new commit has {in_the_way}, and a file of yours is there already")));
        }
        // Files that only look touched would stop what follows. Its exit code tells no more than was looked at above.
        let refresh = Git::new(caller, path).variable("GIT_OPTIONAL_LOCKS", "1");
        refresh.finish(&["update-index", "-q", "--refresh"])?;
        let done = Git::new(caller, path).finish(&["read-tree", "-m", "-u", &from_tree, &to_tree])?;
        if done.ok() { Ok(()) } else { Err(kept(done.said())) }
    }

    /// What would come of bringing a checkout along, whose branch moved `from` one commit `to` another. Writes nothing of the
    /// person's. Paths in `without` are thought of as out of the way.
    ///
    /// # Errors
    /// It is no work tree of this repository; a command that failed.
    pub fn catch_up(
        &self,
        path: &Path,
        (from, to): (&str, &str),
        without: &[String],
        caller: Caller<'_>,
    ) -> Result<CatchUp, RepoError> {
        let (from, to) = (self.tree_of(from)?, self.tree_of(to)?);
        let trees = self.work_trees()?;
        let Some((_, git_dir)) = trees.iter().find(|(top, _)| same_folder(top, path)) else {
            let why = "it is no work tree of this repository".to_owned();
            return Err(RepoError::CheckoutKept { path: path.to_owned(), why });
        };
        let names = ["diff-tree", "-r", "--name-only", "-z", "--no-renames", &from, &to];
        let touched = Git::new(caller, path).output(&names)?;
        let touched: HashSet<&[u8]> = fields(&touched).collect();
        let differing = differing(path, &to, caller)?;
        if !differing.iter().any(|name| touched.contains(name.as_slice())) {
            return Ok(CatchUp::Done);
        }
        let within = |name: &[u8]| without.iter().any(|out| TreePath::new(name.to_vec()).is_within(out.as_bytes()));
        let left: Vec<&OsStr> =
            touched.iter().filter(|name| !within(name)).map(|name| OsStr::from_bytes(name)).collect();
        if left.is_empty() {
            return Ok(CatchUp::Applies);
        }
        let words = ["diff-tree", "-p", "--binary", "--full-index", &from, &to, "--"].map(OsStr::new);
        let patch: Vec<&OsStr> = words.into_iter().chain(if without.is_empty() { Vec::new() } else { left }).collect();
        let patch = Git::new(caller, path).output(&patch)?;
        // Times are looked at in a copy of the index: the person's stays as it is, byte for byte.
        let copy = tempfile::tempdir().map_err(RepoError::disk("make a temporary folder for", path))?;
        let index = copy.path().join("index");
        fs::copy(git_dir.join("index"), &index).map_err(RepoError::disk("copy the index of", path))?;
        let git = || Git::new(caller, path).variable("GIT_INDEX_FILE", &index);
        git().finish(&["update-index", "-q", "--refresh"])?;
        let tried = git().stdin(patch).finish(&["apply", "--check", "--index", "--whitespace=nowarn"])?;
        Ok(if tried.ok() { CatchUp::Applies } else { CatchUp::Refused(tried.said()) })
    }

    /// Top folder and git folder of each work tree that is there.
    pub(crate) fn work_trees(&self) -> Result<Vec<(PathBuf, PathBuf)>, RepoError> {
        let doing = || RepoError::git("list the work trees");
        let main = Repository::open(self.inner.commondir()).map_err(doing())?;
        let mut found = Vec::new();
        // Where the git folder lies elsewhere than in its work tree, only the way in tells the work tree.
        let top = if self.inner.is_worktree() {
            main.workdir().filter(|top| holds(top, &main))
        } else {
            self.inner.workdir()
        };
        if let Some(top) = top {
            found.push((top.to_owned(), main.path().to_owned()));
        }
        for name in main.worktrees().map_err(doing())?.iter_bytes() {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            let Ok(linked) = main.find_worktree(name).and_then(|w| Repository::open_from_worktree(&w)) else {
                continue;
            };
            if let Some(top) = linked.workdir().filter(|top| top.is_dir()) {
                found.push((top.to_owned(), linked.path().to_owned()));
            }
        }
        Ok(found)
    }

    /// Whether HEAD, or a rebase that is under way, belongs to this branch, be it by a name that leads to it.
    fn stands_on(&self, git_dir: &Path, branch: &str) -> bool {
        let says = |file: &str| names(&git_dir.join(file)).iter().any(|name| self.leads_to(name, branch));
        ["HEAD", "rebase-merge/head-name", "rebase-apply/head-name"].into_iter().any(says)
    }

    /// A path that the new tree adds where the disk has something that the old tree does not know.
    fn unknown_in_the_way(&self, top: &Path, from: &str, to: &str) -> Result<Option<TreePath>, RepoError> {
        let known: HashSet<TreePath> = self.entries(from)?.into_iter().map(|e| e.path).collect();
        for entry in self.entries(to)? {
            if known.contains(&entry.path) {
                continue;
            }
            let mut at = TreePath::new(Vec::new());
            for part in entry.path.parts() {
                at = at.join(part);
                let Ok(meta) = fs::symlink_metadata(at.below(top)) else { break };
                if known.contains(&at) {
                    break; // a known file that makes room for a folder
                }
                let is_whole = at == entry.path;
                if (!meta.is_dir() && !is_whole) || (is_whole && !meta.is_dir()) {
                    return Ok(Some(entry.path.clone()));
                }
                if is_whole && holds_unknown(&at.below(top), &at, &known) {
                    return Ok(Some(entry.path.clone()));
                }
            }
        }
        Ok(None)
    }
}

/// Whether a folder is the work tree of this repository, and not only what its git folder lies in.
fn holds(top: &Path, main: &Repository) -> bool {
    Repository::open(top).is_ok_and(|there| there.path() == main.path())
}

/// Whether a folder holds a file that git does not know.
fn holds_unknown(dir: &Path, at: &TreePath, known: &HashSet<TreePath>) -> bool {
    let Ok(children) = fs::read_dir(dir) else { return true };
    children.into_iter().any(|child| {
        let Ok(child) = child else { return true };
        let path = at.join(child.file_name().as_bytes());
        match child.file_type() {
            Ok(kind) if kind.is_dir() => holds_unknown(&child.path(), &path, known),
            _ => !known.contains(&path),
        }
    })
}

/// What is under way in a work tree.
pub(crate) fn operation_in(git_dir: &Path) -> Option<&'static str> {
    let marks = [
        ("MERGE_HEAD", "merge"),
        ("rebase-merge", "rebase"),
        ("rebase-apply/applying", "am"),
        ("rebase-apply", "rebase"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("sequencer", "cherry-pick"),
        ("BISECT_LOG", "bisect"),
    ];
    marks.into_iter().find(|(file, _)| git_dir.join(file).exists()).map(|(_, name)| name)
}

fn work_in(path: &Path, git_dir: &Path, at: &str, caller: Caller<'_>) -> Result<Work, RepoError> {
    // Submodules are not looked into: an update does not touch them.
    let submodules = "--ignore-submodules=dirty";
    let staged = ["diff-index", "--cached", "--name-only", "-z", "--no-renames", submodules, at, "--"];
    let staged = Git::new(caller, path).output(&staged)?;
    // Not `git diff`: that one writes its notes of times into the index.
    let status = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", submodules];
    let status = Git::new(caller, path).output(&status)?;
    let mut work = Work { staged: fields(&staged).count(), operation: operation_in(git_dir), ..Work::default() };
    for field in fields(&status) {
        match field {
            [b'?', ..] => work.untracked += 1,
            // The second letter compares the file with the index; the first, with HEAD, is not asked for here.
            [b'1', b' ', _, b'.', ..] => {}
            _ => work.changed += 1,
        }
    }
    Ok(work)
}

/// Paths whose index entry differs from a tree, or whose file differs from the index.
fn differing(path: &Path, at: &str, caller: Caller<'_>) -> Result<HashSet<Vec<u8>>, RepoError> {
    let submodules = "--ignore-submodules=dirty";
    let staged = ["diff-index", "--cached", "--name-only", "-z", "--no-renames", submodules, at, "--"];
    let staged = Git::new(caller, path).output(&staged)?;
    let status = ["status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", submodules];
    let status = Git::new(caller, path).output(&status)?;
    let mut names: HashSet<Vec<u8>> = fields(&staged).map(<[u8]>::to_vec).collect();
    for field in fields(&status) {
        // `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`: git-status(1), porcelain format 2.
        let before_path = match field {
            [b'1', b' ', _, b'.', ..] => continue,
            [b'1', ..] => 8,
            [b'u', ..] => 10,
            _ => continue,
        };
        names.extend(field.splitn(before_path + 1, |byte| *byte == b' ').nth(before_path).map(<[u8]>::to_vec));
    }
    Ok(names)
}

fn described(work: &Work) -> String {
    match work.operation {
        Some(operation) => format!("a {operation} is under way"),
        None => format!("files staged: {}, changed: {}", work.staged, work.changed),
    }
}

fn same_folder(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
