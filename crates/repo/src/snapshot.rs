//! A plain folder read back into a tree. The folder's content is hostile: no link is followed, nothing that would block is
//! opened, sizes, counts and depth are bounded, no filter and no `.gitattributes` of it is obeyed. What a tree cannot hold,
//! or should not, is reported as a [`Problem`] unless the base tree holds the very same.

use crate::error::RepoError;
use crate::objects::{Change, Entry, Mode};
use crate::open::Repo;
use crate::path::TreePath;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// How a folder is read.
#[derive(Debug, Clone)]
pub struct SnapshotRules<'a> {
    /// The tree from which the folder was made: its ignore files hold, what it holds is never ignored, and what is the
    /// same in it is no problem.
    pub base_tree: &'a str,
    /// Paths from the top, as `target`, that are not looked at.
    pub skip: &'a [&'a str],
    /// Bytes of one file.
    pub max_file: u64,
    /// Number of files.
    pub max_files: usize,
    /// Bytes of all files that differ from the base.
    pub max_bytes: u64,
}

impl<'a> SnapshotRules<'a> {
    /// 10 MB a file, 100,000 files, 100 MB that differ; nothing skipped.
    pub fn of(base_tree: &'a str) -> Self {
        Self { base_tree, skip: &[], max_file: 10 << 20, max_files: 100_000, max_bytes: 100 << 20 }
    }
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree, without what could not be stored.
    pub tree: String,
    /// What is wrong with the folder, sorted by path.
    pub problems: Vec<Problem>,
    /// How many files and folders were left out because the base's ignore files name them.
    pub ignored: usize,
    /// The first of them.
    pub ignored_first: Vec<TreePath>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where.
    pub path: TreePath,
    /// What.
    pub kind: ProblemKind,
}

/// What can be wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// A symbolic link; it is in the tree.
    Symlink,
    /// A device, pipe or socket; left out.
    Special,
    /// Its name is no UTF-8; it is in the tree.
    NotUtf8,
    /// Differs from another path by capital letters alone; it is in the tree.
    CaseTwin,
    /// Over the bound of one file; left out.
    TooLarge,
    /// Cannot be read; left out.
    Unreadable,
    /// A `.git`; left out.
    NestedGit,
    /// Has a second name, perhaps elsewhere; it is in the tree.
    HardLink,
    /// Folders nested too deep; left out.
    TooDeep,
    /// Number or bytes over the bound; this and what follows is left out.
    TooMuch,
}

/// Ignored paths that are named.
const MOST_NAMED: usize = 3;
/// Folders in folders.
const MAX_DEPTH: usize = 100;

impl Repo {
    /// Reads `dir` into a tree, and its files into this repository's objects.
    ///
    /// # Errors
    /// `dir` is no folder, no such base tree, or the object database refuses. What is wrong inside `dir` is no error.
    pub fn snapshot(&self, dir: &Path, rules: &SnapshotRules<'_>) -> Result<Snapshot, RepoError> {
        let meta = fs::symlink_metadata(dir).map_err(RepoError::disk("read", dir))?;
        if !meta.is_dir() {
            return Err(RepoError::disk("read", dir)(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        let base = self.entries(rules.base_tree)?;
        let mut reader = Reader {
            repo: self,
            dir,
            rules,
            ignores: self.ignore_files(&base)?,
            base: base.into_iter().map(|e| (e.path.clone(), e)).collect(),
            changes: Vec::new(),
            problems: Vec::new(),
            ignored: 0,
            ignored_first: Vec::new(),
            bytes: 0,
        };
        reader.read_all()?;
        reader.find_case_twins();
        let empty = self.empty_tree()?;
        let tree = self.tree_with(&empty, &reader.changes)?;
        reader.problems.sort();
        let Reader { problems, ignored, ignored_first, .. } = reader;
        Ok(Snapshot { tree, problems, ignored, ignored_first })
    }

    /// The ignore files of a tree, each with its folder.
    fn ignore_files(&self, entries: &[Entry]) -> Result<Vec<(TreePath, Gitignore)>, RepoError> {
        let mut found = Vec::new();
        for entry in entries {
            let bytes = entry.path.as_bytes();
            let folder = match bytes.strip_suffix(b".gitignore") {
                Some(b"") => TreePath::new(Vec::new()),
                Some(folder) if folder.ends_with(b"/") => TreePath::new(folder.strip_suffix(b"/").unwrap_or(folder)),
                _ => continue,
            };
            if !matches!(entry.mode, Mode::File | Mode::Executable) {
                continue;
            }
            let mut builder = GitignoreBuilder::new("");
            for line in String::from_utf8_lossy(&self.blob(&entry.id)?).lines() {
                // A line that is no pattern names nothing, as for git.
                let _ = builder.add_line(None, line);
            }
            if let Ok(ignore) = builder.build() {
                found.push((folder, ignore));
            }
        }
        // The deepest folder decides first.
        found.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.as_bytes().len()));
        Ok(found)
    }
}

struct Reader<'a> {
    repo: &'a Repo,
    dir: &'a Path,
    rules: &'a SnapshotRules<'a>,
    ignores: Vec<(TreePath, Gitignore)>,
    base: BTreeMap<TreePath, Entry>,
    changes: Vec<Change>,
    problems: Vec<Problem>,
    ignored: usize,
    ignored_first: Vec<TreePath>,
    bytes: u64,
}

/// A folder still to be read.
struct Pending {
    path: TreePath,
    depth: usize,
    ignored: bool,
}

impl Reader<'_> {
    fn read_all(&mut self) -> Result<(), RepoError> {
        let mut pending = vec![Pending { path: TreePath::new(Vec::new()), depth: 0, ignored: false }];
        while let Some(folder) = pending.pop() {
            let Ok(children) = fs::read_dir(folder.path.below(self.dir)) else {
                self.problem(&folder.path, ProblemKind::Unreadable);
                continue;
            };
            for child in children {
                let Ok(child) = child else {
                    self.problem(&folder.path, ProblemKind::Unreadable);
                    break;
                };
                let path = folder.path.join(child.file_name().as_bytes());
                if self.rules.skip.iter().any(|skip| path.as_bytes() == skip.trim_matches('/').as_bytes()) {
                    continue;
                }
                if child.file_name().as_bytes().eq_ignore_ascii_case(b".git") {
                    self.problem(&path, ProblemKind::NestedGit);
                    continue;
                }
                let Ok(kind) = child.file_type() else {
                    self.problem(&path, ProblemKind::Unreadable);
                    continue;
                };
                let ignored = folder.ignored || self.is_ignored(&path, kind.is_dir());
                if kind.is_dir() {
                    if ignored && !self.base_has_below(&path) {
                        self.leave_out(path);
                    } else if folder.depth >= MAX_DEPTH {
                        self.problem(&path, ProblemKind::TooDeep);
                    } else {
                        pending.push(Pending { path, depth: folder.depth + 1, ignored });
                    }
                } else if ignored && !self.base.contains_key(&path) {
                    self.leave_out(path);
                } else if self.changes.len() >= self.rules.max_files || self.bytes > self.rules.max_bytes {
                    self.problem(&path, ProblemKind::TooMuch);
                    return Ok(());
                } else {
                    self.read_one(path, kind)?;
                }
            }
        }
        Ok(())
    }

    fn read_one(&mut self, path: TreePath, kind: fs::FileType) -> Result<(), RepoError> {
        let on_disk = path.below(self.dir);
        let (mode, bytes, linked) = if kind.is_symlink() {
            let Ok(target) = fs::read_link(&on_disk) else {
                self.problem(&path, ProblemKind::Unreadable);
                return Ok(());
            };
            (Mode::Symlink, target.as_os_str().as_bytes().to_vec(), false)
        } else if kind.is_file() {
            match read_bounded(&on_disk, self.rules.max_file) {
                Ok(Found { mode, bytes, linked }) => (mode, bytes, linked),
                Err(problem) => {
                    self.problem(&path, problem);
                    return Ok(());
                }
            }
        } else {
            self.problem(&path, ProblemKind::Special);
            return Ok(());
        };
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, &bytes).map_err(RepoError::git("hash a file"))?;
        let id = id.to_string();
        let same = self.base.get(&path).is_some_and(|base| base.mode == mode && base.id == id);
        if !same {
            self.repo.write_blob(&bytes)?;
            self.bytes += bytes.len() as u64;
            let wrong = [
                (mode == Mode::Symlink, ProblemKind::Symlink),
                (path.as_str().is_none(), ProblemKind::NotUtf8),
                (linked, ProblemKind::HardLink),
            ];
            for (_, kind) in wrong.into_iter().filter(|(is, _)| *is) {
                self.problem(&path, kind);
            }
        }
        self.changes.push(Change { path, entry: Some((mode, id)) });
        Ok(())
    }

    fn leave_out(&mut self, path: TreePath) {
        self.ignored += 1;
        if self.ignored_first.len() < MOST_NAMED {
            self.ignored_first.push(path);
        }
    }

    fn problem(&mut self, path: &TreePath, kind: ProblemKind) {
        self.problems.push(Problem { path: path.clone(), kind });
    }

    fn is_ignored(&self, path: &TreePath, is_dir: bool) -> bool {
        for (folder, ignore) in self.ignores.iter().filter(|(folder, _)| within(path, folder).is_some()) {
            let Some(rest) = within(path, folder) else { continue };
            match ignore.matched(rest.as_path(), is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }

    fn base_has_below(&self, folder: &TreePath) -> bool {
        let start = folder.join(b"");
        self.base.range(start..).next().is_some_and(|(path, _)| path.is_within(folder.as_bytes()))
    }

    /// Two paths, folders included, that a disk which does not tell capitals would take for one.
    fn find_case_twins(&mut self) {
        let mut by_fold: BTreeMap<String, TreePath> = BTreeMap::new();
        let mut twins = HashSet::new();
        for change in &self.changes {
            let mut path = TreePath::new(Vec::new());
            for part in change.path.parts() {
                path = path.join(part);
                let fold = String::from_utf8_lossy(path.as_bytes()).to_lowercase();
                let fold = if path.as_str().is_some() { fold } else { format!("{path}") };
                let other = by_fold.entry(fold).or_insert_with(|| path.clone());
                if *other != path {
                    twins.insert(path.clone());
                    twins.insert(other.clone());
                }
            }
        }
        for path in twins {
            let in_base = self.base.contains_key(&path) || self.base_has_below(&path);
            if !in_base {
                self.problem(&path, ProblemKind::CaseTwin);
            }
        }
    }
}

/// `path` as seen from `folder`; none if it does not lie in it.
fn within(path: &TreePath, folder: &TreePath) -> Option<TreePath> {
    if folder.as_bytes().is_empty() {
        return Some(path.clone());
    }
    let rest = path.as_bytes().strip_prefix(folder.as_bytes())?.strip_prefix(b"/")?;
    Some(TreePath::new(rest))
}

/// A file that was read.
pub(crate) struct Found {
    pub(crate) mode: Mode,
    pub(crate) bytes: Vec<u8>,
    /// Whether it has a second name.
    pub(crate) linked: bool,
}

/// Reads a regular file of at most `max` bytes. It may have become a link or a pipe since it was listed: neither is
/// followed or waited for.
pub(crate) fn read_bounded(path: &Path, max: u64) -> Result<Found, ProblemKind> {
    let unreadable = |_| ProblemKind::Unreadable;
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path)
        .map_err(unreadable)?;
    let meta = file.metadata().map_err(unreadable)?;
    if !meta.is_file() {
        return Err(ProblemKind::Special);
    }
    if meta.len() > max {
        return Err(ProblemKind::TooLarge);
    }
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > max {
        return Err(ProblemKind::TooLarge);
    }
    let mode = if meta.mode() & 0o100 != 0 { Mode::Executable } else { Mode::File };
    Ok(Found { mode, bytes, linked: meta.nlink() > 1 })
}
