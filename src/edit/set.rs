//! Several files written together: all of them or none, even where the program or the machine dies in the middle.
//!
//! Every new text is written and flushed beside its file, then the journal says that the set will be made, then each takes
//! its file's place. Died before that word, the set never was; after it, [`finish`] makes the rest at the next use. Each
//! file is treated as [`super::write::replace`] treats one. A file that somebody changed since is never overwritten.

use super::journal::{Entry, Journal};
use super::write::{self, WriteError, Written};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Names that are tried for a text beside its file.
const MAX_NAMES: usize = 100;

/// One file of a set: what was read, and what it shall be.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// The file, links resolved; no two of a set are the same.
    pub path: &'a Path,
    /// Its bytes as they were read.
    pub old: &'a [u8],
    /// Its new bytes.
    pub new: &'a [u8],
}

/// A moment at which a set can break off. Tests stop there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Begin,
    Beside,
    Whole,
    Place,
    Forget,
}

/// Why a set broke off.
enum Broken {
    /// It failed; what was done is taken back.
    Failed(WriteError),
    /// The process is gone: nothing more is done.
    #[cfg(test)]
    Dead,
}

impl From<WriteError> for Broken {
    fn from(error: WriteError) -> Self {
        Self::Failed(error)
    }
}

type At<'a> = &'a mut dyn FnMut(Moment) -> Result<(), Broken>;

/// Put every new text in the place of the old. The journal is kept in `folder`; without one, a set survives errors but
/// no death.
///
/// # Errors
/// No file was changed, but for [`WriteError::Partly`].
pub fn replace(changes: &[Change<'_>], folder: Option<&Path>) -> Result<Vec<Written>, WriteError> {
    if let [one] = changes {
        return Ok(vec![write::replace(one.path, one.old, one.new)?]);
    }
    let temporary;
    let folder = match folder {
        Some(folder) => folder,
        None => {
            temporary = tempfile::tempdir().map_err(|source| disk("make a folder for", Path::new("edits"), source))?;
            temporary.path()
        }
    };
    match replaced(changes, folder, &mut |_| Ok(())) {
        Ok(written) => Ok(written),
        Err(Broken::Failed(error)) => Err(error),
        #[cfg(test)]
        Err(Broken::Dead) => unreachable!("nothing dies here"),
    }
}

/// Finish what a process that died left behind, or take it back: the files that were changed by others since and so are
/// left as they are, each with the file that holds the text meant for it.
///
/// # Errors
/// The journal cannot be read, or the disk says no; the journal stays for the next time.
pub fn finish(folder: &Path) -> Result<Vec<(PathBuf, PathBuf)>, WriteError> {
    if !Journal::lies_in(folder) {
        return Ok(Vec::new());
    }
    finished(&Journal::open(folder).map_err(|source| disk("open", folder, source))?, folder)
}

fn finished(journal: &Journal, folder: &Path) -> Result<Vec<(PathBuf, PathBuf)>, WriteError> {
    let begun = journal.read().map_err(|source| disk("read the journal in", folder, source))?;
    let last = begun.iter().rposition(|set| set.whole.is_some());
    let mut left = Vec::new();
    for (n, set) in begun.iter().enumerate() {
        let through = set.whole.as_ref().filter(|_| Some(n) == last);
        for (m, entry) in set.files.iter().enumerate() {
            let (path, beside) = (Path::new(&entry.path), Path::new(&entry.beside));
            let Some(through) = through else {
                remove(beside);
                continue;
            };
            let now = fs::read(path).map(|bytes| digest(&bytes)).ok();
            let there = fs::read(beside).ok().filter(|bytes| digest(bytes) == entry.new);
            match there {
                Some(bytes) if now == Some(entry.old) => {
                    placed(path, beside, &bytes, through.contains(&m)).map_err(|source| disk("write", path, source))?;
                }
                Some(_) if now != Some(entry.new) => left.push((path.to_owned(), beside.to_owned())),
                _ => remove(beside),
            }
        }
        flush(set.files.iter().map(|entry| Path::new(&entry.path)));
    }
    if !begun.is_empty() || Journal::lies_in(folder) {
        journal.remove().map_err(|source| disk("remove the journal in", folder, source))?;
    }
    Ok(left)
}

fn replaced(changes: &[Change<'_>], folder: &Path, at: At<'_>) -> Result<Vec<Written>, Broken> {
    let journal = Journal::open(folder).map_err(|source| disk("open", folder, source))?;
    // What another process left is finished before it is built on.
    finished(&journal, folder)?;
    let mut written = Vec::new();
    for change in changes {
        written.push(write::apart(&write::writable(change.path)?));
        write::still(change.path, change.old)?;
    }
    let entries = entries(changes)?;
    let mut placed = 0;
    let made = make(&journal, folder, changes, &entries, &mut placed, at);
    let Err(Broken::Failed(error)) = made else { return made.map(|()| written) };
    let back: Vec<Change<'_>> = changes
        .iter()
        .take(placed)
        .map(|change| Change { path: change.path, old: change.new, new: change.old })
        .collect();
    if back.is_empty() {
        // A journal that cannot be removed names texts that are gone: whoever finds it has nothing to do.
        let _ = journal.remove();
    } else if taken_back(&journal, folder, &back).is_err() {
        // The journal stays, and leads either way at the next use.
        return Err(partly(error).into());
    }
    entries.iter().for_each(|entry| remove(Path::new(&entry.beside)));
    Err(error.into())
}

/// The way back is a set too, so that a death on it leads back as well.
fn taken_back(journal: &Journal, folder: &Path, back: &[Change<'_>]) -> Result<(), Broken> {
    let entries = entries(back)?;
    make(journal, folder, back, &entries, &mut 0, &mut |_| Ok(()))
}

/// One set from its beginning to its end; `placed` tells how many files were changed before it broke off.
fn make(
    journal: &Journal,
    folder: &Path,
    changes: &[Change<'_>],
    entries: &[Entry],
    placed: &mut usize,
    at: At<'_>,
) -> Result<(), Broken> {
    let through = prepare(journal, folder, changes, entries, at)?;
    for (n, (change, entry)) in changes.iter().zip(entries).enumerate() {
        at(Moment::Place)?;
        write::still(change.path, change.old)?;
        let is_through = through.contains(&n);
        self::placed(change.path, Path::new(&entry.beside), change.new, is_through).map_err(|source| {
            if is_through {
                let _ = write::in_place(change.path, change.old);
            }
            disk("write", change.path, source)
        })?;
        *placed += 1;
    }
    flush(changes.iter().map(|change| change.path));
    at(Moment::Forget)?;
    // All files stand. A journal that cannot be removed finds them so, and the next set says what is wrong.
    let _ = journal.remove();
    Ok(())
}

fn prepare(
    journal: &Journal,
    folder: &Path,
    changes: &[Change<'_>],
    entries: &[Entry],
    at: At<'_>,
) -> Result<Vec<usize>, Broken> {
    at(Moment::Begin)?;
    journal.begin(entries).map_err(|source| disk("write the journal in", folder, source))?;
    let mut through = Vec::new();
    for (n, (change, entry)) in changes.iter().zip(entries).enumerate() {
        at(Moment::Beside)?;
        if !beside(change, Path::new(&entry.beside)).map_err(|source| disk("write beside", change.path, source))? {
            through.push(n);
        }
    }
    for change in changes {
        write::still(change.path, change.old)?;
    }
    at(Moment::Whole)?;
    journal.whole(through.clone()).map_err(|source| disk("write the journal in", folder, source))?;
    Ok(through)
}

/// Names that nothing has yet.
fn entries(changes: &[Change<'_>]) -> Result<Vec<Entry>, WriteError> {
    let mut taken = BTreeSet::new();
    let mut entries = Vec::new();
    for change in changes {
        let folder = change.path.parent().unwrap_or(Path::new("."));
        let name = |n: usize| folder.join(format!(".selfsmith-{}-{n}.tmp", std::process::id()));
        let free = |path: &PathBuf| !taken.contains(path) && fs::symlink_metadata(path).is_err();
        let beside = (0..MAX_NAMES + changes.len()).map(name).find(free);
        let full = || disk("make a file beside", change.path, io::ErrorKind::AlreadyExists.into());
        let beside = beside.ok_or_else(full)?;
        taken.insert(beside.clone());
        entries.push(Entry {
            path: change.path.into(),
            beside: beside.into(),
            old: digest(change.old),
            new: digest(change.new),
        });
    }
    Ok(entries)
}

/// Write the text that a file will have; whether it can take the file's place with the file's mode and owner.
fn beside(change: &Change<'_>, path: &Path) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(change.path)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(path)?;
    file.write_all(change.new)?;
    file.set_permissions(metadata.permissions())?;
    let own = write::same_owner(&file, &metadata);
    file.sync_all()?;
    Ok(own)
}

fn placed(path: &Path, beside: &Path, new: &[u8], through: bool) -> io::Result<()> {
    if !through {
        return fs::rename(beside, path);
    }
    write::in_place(path, new)?;
    remove(beside);
    Ok(())
}

/// What is not there any more, or cannot be removed, changes no file of the person's.
fn remove(beside: &Path) {
    let _ = fs::remove_file(beside);
}

/// The files stand already; a folder that cannot be flushed takes nothing of that back.
fn flush<'a>(paths: impl Iterator<Item = &'a Path>) {
    let folders: BTreeSet<&Path> = paths.filter_map(Path::parent).collect();
    for folder in folders {
        let _ = write::sync_folder(folder);
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn disk(action: &'static str, path: &Path, source: io::Error) -> WriteError {
    WriteError::Disk { action, path: path.to_owned(), source }
}

fn partly(error: WriteError) -> WriteError {
    match error {
        WriteError::Disk { path, source, .. } => WriteError::Partly { path, source },
        WriteError::Changed { path } => WriteError::Partly { path, source: io::Error::other("it changed meanwhile") },
        other => other,
    }
}

#[cfg(test)]
mod tests;
