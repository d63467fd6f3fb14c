//! A tree written into a plain folder. Promises: a file is written only if its content, mode or kind differs from the tree's,
//! and then always anew (fresh times, so that cargo sees it; a hard link is never written through); what is gone is removed;
//! no link is followed, nothing outside of the folder is touched. Plain bytes: no filter, no line-end conversion.

use crate::error::RepoError;
use crate::objects::{Entry, Mode};
use crate::open::{Repo, oid};
use crate::path::TreePath;
use git2::ObjectType;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

/// What was done to a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Materialised {
    /// Files written, sorted.
    pub written: Vec<TreePath>,
    /// Files and folders removed, sorted; what lay in a removed folder is not listed.
    pub removed: Vec<TreePath>,
    /// Files that were right already.
    pub unchanged: usize,
    /// Submodules, which are left out.
    pub left_out: Vec<TreePath>,
}

impl Repo {
    /// Makes `dir` hold this tree. `keep` names paths from the top (as `target`) below which nothing is removed that the
    /// tree does not know.
    ///
    /// # Errors
    /// No such tree, an unsafe path in it, or the disk refuses; the folder may then be half written, and the next call
    /// goes on from there.
    pub fn materialise(&self, tree: &str, dir: &Path, keep: &[&str]) -> Result<Materialised, RepoError> {
        let mut done = Materialised::default();
        let mut wanted = BTreeMap::new();
        let mut folders = HashSet::new();
        for entry in self.entries(tree)? {
            if let Some(why) = entry.path.unsafe_because() {
                return Err(RepoError::UnsafePath { path: entry.path, why });
            }
            if entry.mode == Mode::Submodule {
                done.left_out.push(entry.path);
                continue;
            }
            folders.extend(folders_above(&entry.path));
            wanted.insert(entry.path.clone(), entry);
        }
        make_real_folder(dir)?;
        let plan = Plan { dir, keep, wanted: &wanted, folders: &folders };
        plan.remove_what_is_gone(&TreePath::new(Vec::new()), &mut done)?;
        let mut seen = HashSet::new();
        for entry in wanted.values() {
            for folder in folders_above(&entry.path) {
                if !seen.contains(&folder) {
                    make_real_folder(&folder.below(dir))?;
                    seen.insert(folder);
                }
            }
            if self.is_there(dir, entry)? {
                done.unchanged += 1;
            } else {
                self.write_anew(dir, entry)?;
                done.written.push(entry.path.clone());
            }
        }
        done.removed.sort();
        Ok(done)
    }

    /// Whether exactly this entry lies there, and alone (no second hard link).
    fn is_there(&self, dir: &Path, entry: &Entry) -> Result<bool, RepoError> {
        let path = entry.path.below(dir);
        let Some(meta) = look(&path)? else { return Ok(false) };
        if entry.mode == Mode::Symlink {
            let target = if meta.is_symlink() { fs::read_link(&path).ok() } else { None };
            return Ok(match target {
                Some(target) => target.as_os_str().as_bytes() == self.blob(&entry.id)?,
                None => false,
            });
        }
        let bits = if entry.mode == Mode::Executable { 0o700 } else { 0o600 };
        let right = meta.is_file() && meta.nlink() == 1 && meta.mode() & 0o7700 == bits;
        if !right || meta.len() != self.blob_size(&entry.id)? {
            return Ok(false);
        }
        let Ok(bytes) = fs::read(&path) else { return Ok(false) };
        let found = git2::Oid::hash_object(ObjectType::Blob, &bytes).map_err(RepoError::git("hash a file"))?;
        Ok(found == oid(&entry.id)?)
    }

    fn write_anew(&self, dir: &Path, entry: &Entry) -> Result<(), RepoError> {
        let path = entry.path.below(dir);
        if look(&path)?.is_some() {
            remove(&path)?;
        }
        let bytes = self.blob(&entry.id)?;
        let written = match entry.mode {
            Mode::Symlink => symlink(OsStr::from_bytes(&bytes), &path),
            Mode::Executable => write_new(&path, &bytes, 0o777),
            Mode::File | Mode::Submodule => write_new(&path, &bytes, 0o666),
        };
        written.map_err(RepoError::disk("write", &path))
    }
}

/// Writes one file of a tree below `dir`: its folders are made, a link among them makes room, and whatever lies at its place
/// is replaced at once. A file that may be executed, or not, as before keeps its permissions.
pub(crate) fn put(repo: &Repo, dir: &Path, entry: &Entry) -> Result<(), RepoError> {
    for folder in folders_above(&entry.path) {
        make_real_folder(&folder.below(dir))?;
    }
    let path = entry.path.below(dir);
    let doing = || RepoError::disk("write", &path);
    let beside = path.parent().unwrap_or(dir);
    let bytes = repo.blob(&entry.id)?;
    let temporary = tempfile::Builder::new().prefix(".selfsmith-").tempdir_in(beside).map_err(doing())?;
    let new = temporary.path().join("new");
    match entry.mode {
        Mode::Symlink => symlink(OsStr::from_bytes(&bytes), &new).map_err(doing())?,
        Mode::Executable | Mode::File | Mode::Submodule => {
            let executable = entry.mode == Mode::Executable;
            write_new(&new, &bytes, if executable { 0o777 } else { 0o666 }).map_err(doing())?;
            let before = look(&path)?.filter(|meta| meta.is_file() && (meta.mode() & 0o100 != 0) == executable);
            if let Some(before) = before {
                fs::set_permissions(&new, before.permissions()).map_err(doing())?;
            }
        }
    }
    fs::rename(&new, &path).map_err(doing())
}

/// What a folder is compared with.
struct Plan<'a> {
    dir: &'a Path,
    keep: &'a [&'a str],
    wanted: &'a BTreeMap<TreePath, Entry>,
    folders: &'a HashSet<TreePath>,
}

impl Plan<'_> {
    fn remove_what_is_gone(&self, at: &TreePath, done: &mut Materialised) -> Result<(), RepoError> {
        let here = at.below(self.dir);
        let list = || RepoError::disk("list", &here);
        let children = match fs::read_dir(&here) {
            Err(e) if e.kind() == ErrorKind::PermissionDenied => {
                fs::set_permissions(&here, Permissions::from_mode(0o755)).map_err(list())?;
                fs::read_dir(&here)
            }
            other => other,
        };
        for child in children.map_err(list())? {
            let child = child.map_err(list())?;
            let path = at.join(child.file_name().as_bytes());
            if self.keep.iter().any(|kept| path.as_bytes() == kept.trim_matches('/').as_bytes()) {
                continue;
            }
            let is_dir = child.file_type().map_err(RepoError::disk("look at", &child.path()))?.is_dir();
            if is_dir && (self.folders.contains(&path) || self.holds_a_kept_path(&path)) {
                self.remove_what_is_gone(&path, done)?;
            } else if is_dir || !self.wanted.contains_key(&path) {
                remove(&child.path())?;
                done.removed.push(path);
            }
        }
        Ok(())
    }

    fn holds_a_kept_path(&self, folder: &TreePath) -> bool {
        self.keep.iter().any(|kept| TreePath::from(kept.trim_matches('/')).is_within(folder.as_bytes()))
    }
}

/// The folders in which a path lies, from the top.
fn folders_above(path: &TreePath) -> Vec<TreePath> {
    let bytes = path.as_bytes();
    let cuts = bytes.iter().enumerate().filter(|(_, b)| **b == b'/');
    cuts.filter_map(|(at, _)| bytes.get(..at).map(TreePath::new)).collect()
}

/// Metadata of the thing itself, not of what a link leads to; none where there is nothing.
fn look(path: &Path) -> Result<Option<fs::Metadata>, RepoError> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(RepoError::disk("look at", path)(e)),
    }
}

/// A folder that is no link to one; whatever else lies there makes room.
fn make_real_folder(path: &Path) -> Result<(), RepoError> {
    match look(path)? {
        Some(meta) if meta.is_dir() => return Ok(()),
        Some(_) => remove(path)?,
        None => {}
    }
    DirBuilder::new().recursive(true).create(path).map_err(RepoError::disk("create", path))
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?.write_all(bytes)
}

/// Removes a file, a link or a whole folder, without following links, even if a folder forbids it to its owner.
fn remove(path: &Path) -> Result<(), RepoError> {
    let doing = || RepoError::disk("remove", path);
    if !fs::symlink_metadata(path).map_err(doing())?.is_dir() {
        return fs::remove_file(path).map_err(doing());
    }
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() == ErrorKind::PermissionDenied => {
            open_up(path).map_err(doing())?;
            fs::remove_dir_all(path).map_err(doing())
        }
        other => other.map_err(doing()),
    }
}

fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for child in fs::read_dir(folder)? {
        let child = child?;
        if child.file_type()?.is_dir() {
            open_up(&child.path())?;
        }
    }
    Ok(())
}
