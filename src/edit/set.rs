//! Several files written together: all of them or none, even where the program or the machine dies in the middle.
//!
//! Every new text is written and flushed beside its file, and so is the old one, then the journal says that the set will be
//! made, then each takes its file's place. Died before all have, the set is taken back by [`settle`] at the next use: who
//! found the work cut off may have begun to take it back by hand, so it is never carried on. Each file is treated as
//! [`super::write::replace`] treats one. A file that somebody changed since is never overwritten.

use super::journal::{Begun, Entry, Journal, kept_of};
use super::pin::{self, Pin};
use super::write::{self, WriteError, Written};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
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

/// What was done about a set that a process which died left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// Files that have their old texts again.
    pub back: Vec<PathBuf>,
    /// Files that others changed since, which stay as they are, each with the file that holds its text from before.
    pub left: Vec<(PathBuf, PathBuf)>,
}

/// Take back what a process that died had begun and not made whole.
///
/// # Errors
/// The journal cannot be read, or the disk says no; the journal stays for the next time.
pub fn settle(folder: &Path) -> Result<Settled, WriteError> {
    if !Journal::lies_in(folder) {
        return Ok(Settled::default());
    }
    settled(&Journal::open(folder).map_err(|source| disk("open", folder, source))?, folder)
}

/// Files of a set that a process which died had begun and not made whole, as far as they hold the new text; nothing is
/// done about them.
///
/// # Errors
/// The journal cannot be read.
pub fn cut_off(folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    if !Journal::lies_in(folder) {
        return Ok(Vec::new());
    }
    let journal = Journal::open(folder).map_err(|source| disk("open", folder, source))?;
    let begun = journal.read().map_err(|source| disk("read the journal in", folder, source))?;
    let half = begun.iter().filter(|set| set.whole.is_some() && !is_made(set)).flat_map(|set| &set.files);
    let has_new = |entry: &&Entry| now(Path::new(&entry.path)) == Some(entry.new) && entry.new != entry.old;
    Ok(half.filter(has_new).map(|entry| PathBuf::from(&entry.path)).collect())
}

fn settled(journal: &Journal, folder: &Path) -> Result<Settled, WriteError> {
    let begun = journal.read().map_err(|source| disk("read the journal in", folder, source))?;
    let mut all = Settled::default();
    for set in &begun {
        match &set.whole {
            Some(through) if !is_made(set) => {
                let one = taken_back(&set.files, through)?;
                all.back.extend(one.back);
                all.left.extend(one.left);
            }
            Some(_) | None => forget(&set.files),
        }
        flush(set.files.iter().map(|entry| Path::new(&entry.path)));
    }
    if !begun.is_empty() || Journal::lies_in(folder) {
        journal.remove().map_err(|source| disk("remove the journal in", folder, source))?;
    }
    Ok(all)
}

/// Whether every file got its new text.
fn is_made(set: &Begun) -> bool {
    set.made || set.files.iter().all(|entry| now(Path::new(&entry.path)) == Some(entry.new))
}

/// Every file that is as the set left it gets its old text; what is neither old nor new stays.
fn taken_back(entries: &[Entry], through: &[usize]) -> Result<Settled, WriteError> {
    let mut settled = Settled::default();
    for (n, entry) in entries.iter().enumerate() {
        let (path, beside, kept) = (Path::new(&entry.path), Path::new(&entry.beside), entry.kept());
        let (is, through) = (now(path), through.contains(&n));
        let old = read(&kept).ok().filter(|bytes| digest(bytes) == entry.old);
        // A text that was not put in its place yet: others changed the file before the set came to it.
        let untouched = !through && fs::symlink_metadata(beside).is_ok();
        match old {
            Some(old) if is == Some(entry.new) && is != Some(entry.old) => {
                let back = if through { write::in_place(path, &old) } else { rename(&kept, path) };
                back.map_err(|source| disk("write", path, source))?;
                settled.back.push(path.to_owned());
            }
            Some(_) if is != Some(entry.old) && !untouched => {
                settled.left.push((path.to_owned(), kept));
                remove(beside);
                continue;
            }
            Some(_) | None => {}
        }
        remove(beside);
        remove(&kept);
    }
    Ok(settled)
}

/// Removes what lies beside the files.
fn forget(entries: &[Entry]) {
    for entry in entries {
        remove(Path::new(&entry.beside));
        remove(&entry.kept());
    }
}

fn replaced(changes: &[Change<'_>], folder: &Path, at: At<'_>) -> Result<Vec<Written>, Broken> {
    let journal = Journal::open(folder).map_err(|source| disk("open", folder, source))?;
    // What another process left is settled before it is built on.
    settled(&journal, folder)?;
    let mut written = Vec::new();
    for change in changes {
        written.push(write::apart(&write::writable(change.path)?));
        write::still(change.path, change.old)?;
    }
    let entries = entries(changes)?;
    let mut through = Vec::new();
    let made = make(&journal, folder, changes, &entries, &mut through, at);
    let Err(Broken::Failed(error)) = made else { return made.map(|()| written) };
    // A death on the way back leaves the journal, which leads back as well.
    match taken_back(&entries, &through) {
        Ok(settled) if settled.left.is_empty() => {
            flush(changes.iter().map(|change| change.path));
            // A journal that cannot be removed names texts that are gone: whoever finds it has nothing to do.
            let _ = journal.remove();
            Err(error.into())
        }
        Ok(_) => {
            let _ = journal.remove();
            Err(partly(error).into())
        }
        Err(_) => Err(partly(error).into()),
    }
}

/// One set from its beginning to its end; `through` gets the files that are written through.
fn make(
    journal: &Journal,
    folder: &Path,
    changes: &[Change<'_>],
    entries: &[Entry],
    through: &mut Vec<usize>,
    at: At<'_>,
) -> Result<(), Broken> {
    prepare(journal, folder, changes, entries, through, at)?;
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
    }
    flush(changes.iter().map(|change| change.path));
    at(Moment::Forget)?;
    // All files stand. A journal that cannot be written or removed finds them so, and the next set says what is wrong.
    let _ = journal.made();
    forget(entries);
    let _ = journal.remove();
    Ok(())
}

fn prepare(
    journal: &Journal,
    folder: &Path,
    changes: &[Change<'_>],
    entries: &[Entry],
    through: &mut Vec<usize>,
    at: At<'_>,
) -> Result<(), Broken> {
    at(Moment::Begin)?;
    journal.begin(entries).map_err(|source| disk("write the journal in", folder, source))?;
    for (n, (change, entry)) in changes.iter().zip(entries).enumerate() {
        at(Moment::Beside)?;
        let is_own = beside(change, Path::new(&entry.beside));
        let is_own = is_own.map_err(|source| disk("write beside", change.path, source))?;
        if !is_own {
            through.push(n);
        }
        keep(change, &entry.kept(), is_own).map_err(|source| disk("keep beside", change.path, source))?;
    }
    for change in changes {
        write::still(change.path, change.old)?;
    }
    at(Moment::Whole)?;
    journal.whole(through.clone()).map_err(|source| disk("write the journal in", folder, source))?;
    Ok(())
}

/// The old text under a second name: the file itself where it will be replaced whole, else a copy.
fn keep(change: &Change<'_>, kept: &Path, is_own: bool) -> io::Result<()> {
    // Not every file system has hard links, and not every file may be linked.
    if is_own && fs::hard_link(Pin::of(change.path)?.path(), Pin::of(kept)?.path()).is_ok() {
        return Ok(());
    }
    beside(&Change { new: change.old, ..*change }, kept).map(|_| ())
}

/// Names that nothing has yet.
fn entries(changes: &[Change<'_>]) -> Result<Vec<Entry>, WriteError> {
    let mut taken = BTreeSet::new();
    let mut entries = Vec::new();
    for change in changes {
        let folder = change.path.parent().unwrap_or(Path::new("."));
        let name = |n: usize| folder.join(format!(".selfsmith-{}-{n}.tmp", std::process::id()));
        let free = |path: &PathBuf| {
            let is_free = |path: &Path| fs::symlink_metadata(path).is_err();
            !taken.contains(path) && is_free(path) && is_free(&kept_of(path.as_os_str()))
        };
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
    let (whole, pin) = (Pin::of(change.path)?, Pin::of(path)?);
    let metadata = fs::symlink_metadata(whole.path())?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(pin.path())?;
    file.write_all(change.new)?;
    file.set_permissions(metadata.permissions())?;
    let own = write::same_owner(&file, &metadata) && write::same_attributes(&file, &whole.path());
    file.sync_all()?;
    Ok(own)
}

fn placed(path: &Path, beside: &Path, new: &[u8], through: bool) -> io::Result<()> {
    if !through {
        return rename(beside, path);
    }
    write::in_place(path, new)?;
    remove(beside);
    Ok(())
}

/// What is not there any more, or cannot be removed, changes no file of the person's.
fn remove(beside: &Path) {
    let _ = Pin::of(beside).and_then(|pin| fs::remove_file(pin.path()));
}

/// Links that stand in a path by now are not followed.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (Pin::of(from)?, Pin::of(to)?);
    fs::rename(from.path(), to.path())
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pin::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The files stand already; a folder that cannot be flushed takes nothing of that back.
fn flush<'a>(paths: impl Iterator<Item = &'a Path>) {
    let folders: BTreeSet<&Path> = paths.filter_map(Path::parent).collect();
    for folder in folders {
        let _ = write::sync_folder(folder);
    }
}

fn now(path: &Path) -> Option<[u8; 32]> {
    read(path).ok().map(|bytes| digest(&bytes))
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
