//! Locks on refs that a killed process left. Promises: a lock is taken away only where it is known to be ours and in nobody's
//! hands; any other stays, and whoever needs it gone is told its path.
//!
//! git's lock is a file `<ref>.lock` that must not exist before. While we hold one it carries our mark, and the file itself is
//! locked for as long as our process lives: a marked file that can be locked is a dead process's. Only in the moments before
//! the mark is written, and after the new id was written over it, does it look like anybody's; then what the caller knows of
//! its own unfinished move decides ([`Begun`]).

use crate::error::RepoError;
use crate::open::Repo;
use nix::unistd::geteuid;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

/// Begins the mark.
const MARK: &str = "selfsmith ";
/// Bytes of a mark: as many as an id and its line end, so that libgit2 writes the id over all of it.
const MARK_BYTES: usize = 41;
/// How long a lock must stay as it is before it counts as left.
const STILL: Duration = Duration::from_secs(1);
/// How long after its beginning a move has taken its lock at the latest.
const SOON: Duration = Duration::from_secs(10);
/// What is read of a lock.
const MOST: u64 = 4096;

/// What a caller knows of a move that it began and has not seen end.
pub struct Begun<'a> {
    /// When, as the disk's clock says.
    pub at: SystemTime,
    /// Whether this id is one that the move was to write.
    pub wrote: &'a dyn Fn(&str) -> bool,
}

/// A lock that we hold. It stays marked until this is dropped.
pub(crate) struct Marked {
    _held: Option<File>,
}

impl Repo {
    /// Where git keeps the lock of a ref that all work trees share.
    pub fn lock_of(&self, name: &str) -> PathBuf {
        self.inner.commondir().join(format!("{name}.lock"))
    }

    /// Every lock on a ref, on the packed refs and on this work tree's HEAD and index, sorted: somebody is at work, or a
    /// killed process left it.
    pub fn locks(&self) -> Vec<PathBuf> {
        let common = self.inner.commondir();
        let single = [common.join("packed-refs.lock"), common.join("config.lock")];
        let own = ["HEAD.lock", "index.lock"].map(|name| self.inner.path().join(name));
        let mut found: Vec<PathBuf> = single.into_iter().chain(own).filter(|path| path.exists()).collect();
        let mut pending = vec![common.join("refs")];
        while let Some(folder) = pending.pop() {
            for child in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = child.path();
                match child.file_type() {
                    Ok(kind) if kind.is_dir() => pending.push(path),
                    Ok(_) if path.extension().is_some_and(|ending| ending == "lock") => found.push(path),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }

    /// Takes away the lock that a killed run left on a ref, if it is known to be ours: it carries our mark, or it holds what
    /// the move was to write, or it is empty, was made when the move began and no process has it open. Another's stays.
    /// Tells whether one was taken away.
    ///
    /// # Errors
    /// It is ours and cannot be removed.
    pub fn take_away_lock(&self, name: &str, begun: &Begun<'_>) -> Result<bool, RepoError> {
        let path = self.lock_of(name);
        if take_away_marked(&path)? {
            return Ok(true);
        }
        take_away_begun(&path, begun, |content| match content.strip_suffix('\n') {
            Some(id) if id.len() == 40 => Looks::as_written((begun.wrote)(id)),
            _ if content.is_empty() => Looks::Fresh,
            _ => Looks::Foreign,
        })
    }

    /// The same for the lock on the packed refs, which removing a ref takes. git itself writes nothing into that file.
    ///
    /// # Errors
    /// As there.
    pub fn take_away_packed_lock(&self, begun: &Begun<'_>) -> Result<bool, RepoError> {
        let path = self.inner.commondir().join("packed-refs.lock");
        take_away_begun(&path, begun, |content| {
            let listed = content.starts_with("# pack-refs with:");
            if listed { Looks::Fresh } else { Looks::Foreign }
        })
    }

    /// Marks the lock that was just taken. Where that cannot be done the lock holds all the same.
    pub(crate) fn mark(&self, name: &str) -> Marked {
        let path = self.lock_of(name);
        let open = OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC).open(path);
        let held = open.ok().filter(|file| file.try_lock().is_ok());
        let Some(mut file) = held else { return Marked { _held: None } };
        let text = format!("{:<width$}\n", format!("{MARK}{}", std::process::id()), width = MARK_BYTES - 1);
        // One write: a mark is whole or not there.
        let _ = file.write(text.as_bytes());
        Marked { _held: Some(file) }
    }
}

/// How a lock looks to one who knows what was begun.
enum Looks {
    /// As the move left it, after it wrote.
    Written,
    /// As the move left it, if it is of that time.
    Fresh,
    /// Otherwise.
    Foreign,
}

impl Looks {
    fn as_written(is: bool) -> Self {
        if is { Self::Written } else { Self::Foreign }
    }
}

/// Take away a lock that carries our mark and that no living process holds.
pub(crate) fn take_away_marked(path: &Path) -> Result<bool, RepoError> {
    let Some((file, content)) = free_and_ours(path) else { return Ok(false) };
    let marked = content.len() == MARK_BYTES && content.starts_with(MARK);
    if marked { remove(path, &file) } else { Ok(false) }
}

/// The lock beside an index that an update was writing: empty, or the beginning of an index.
pub(crate) fn take_away_index_lock(path: &Path, begun: &Begun<'_>) -> Result<bool, RepoError> {
    take_away_begun(path, begun, |content| {
        let an_index = content.is_empty() || content.starts_with("DIRC");
        if an_index { Looks::Fresh } else { Looks::Foreign }
    })
}

fn take_away_begun(path: &Path, begun: &Begun<'_>, looks: impl Fn(&str) -> Looks) -> Result<bool, RepoError> {
    let Some((file, content)) = free_and_ours(path) else { return Ok(false) };
    let made = file.metadata().and_then(|facts| facts.modified()).ok();
    let in_time = made.is_some_and(|made| begun.at <= made && made <= begun.at + SOON);
    let known = match looks(&content) {
        Looks::Written => opened_by_somebody(&file) != Some(true),
        // Anybody's git begins so; where open files cannot be listed, nobody knows.
        Looks::Fresh => in_time && opened_by_somebody(&file) == Some(false),
        Looks::Foreign => false,
    };
    if !known {
        return Ok(false);
    }
    thread::sleep(STILL);
    let same = free_and_ours(path).is_none_or(|(_, later)| later == content);
    let still = same && file.metadata().and_then(|facts| facts.modified()).ok() == made;
    if still { remove(path, &file) } else { Ok(false) }
}

/// A regular file of our user that no process of ours has locked, and what it holds.
fn free_and_ours(path: &Path) -> Option<(File, String)> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let facts = file.metadata().ok()?;
    let ours = facts.is_file() && facts.uid() == geteuid().as_raw();
    if !ours || file.try_lock().is_err() {
        return None;
    }
    let mut content = Vec::new();
    (&file).take(MOST).read_to_end(&mut content).ok()?;
    // An index is no text; what counts are its first letters, and whether it stays the same.
    Some((file, String::from_utf8_lossy(&content).into_owned()))
}

/// Remove it, if the path still leads to the file that is locked by us.
fn remove(path: &Path, file: &File) -> Result<bool, RepoError> {
    let disk = || RepoError::disk("remove the lock that a killed run left,", path);
    let (now, then) = (fs::symlink_metadata(path), file.metadata().map_err(disk())?);
    match now {
        Ok(now) if (now.dev(), now.ino()) == (then.dev(), then.ino()) => {
            fs::remove_file(path).map_err(disk())?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Whether a process has the file open, besides us through this handle; none where the system does not tell.
fn opened_by_somebody(file: &File) -> Option<bool> {
    let facts = file.metadata().ok()?;
    let (ours, own) = (std::process::id().to_string(), file.as_raw_fd().to_string());
    fs::read_dir("/proc/self/fd").ok()?;
    let numbered = |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    for process in fs::read_dir("/proc").ok()?.flatten().filter(|entry| numbered(&entry.file_name())) {
        // Another user's process cannot be looked at; the file is of our user.
        for open in fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten() {
            if process.file_name() == *ours && open.file_name() == *own {
                continue;
            }
            let same = |there: fs::Metadata| (there.dev(), there.ino()) == (facts.dev(), facts.ino());
            if fs::metadata(open.path()).is_ok_and(same) {
                return Some(true);
            }
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commits::{Identity, When};

    const MAIN: &str = "refs/heads/main";
    const NOW: When = When { seconds: 1_700_000_000, offset_minutes: 0 };

    fn me() -> Identity {
        Identity { name: "Somebody".into(), email: "somebody@example.invalid".into() }
    }

    #[test]
    fn a_lock_of_ours_is_marked_and_one_that_a_dead_process_marked_is_in_nobody_s_way() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::write(dir.path().join("file"), "one").expect("file");
        let (repo, first) = Repo::found(dir.path(), &me(), "First", NOW).expect("founded");
        let path = repo.lock_of(MAIN);
        let new = crate::NewCommit {
            tree: &repo.tree_of(&first).expect("tree"),
            parents: &[&first],
            author: &me(),
            message: "Next",
            when: NOW,
        };
        let next = repo.commit(new).expect("commit");

        // As a process that holds it, and as one that was killed then.
        fs::write(&path, "").expect("lock");
        let marked = repo.mark(MAIN);
        let left = fs::read_to_string(&path).expect("marked");
        assert!(left.starts_with(MARK) && left.len() == MARK_BYTES, "{left:?}");
        assert!(!take_away_marked(&path).expect("looks"), "its holder lives");
        let held = repo.cas_ref(MAIN, Some(&first), Some(&next), "x", (&me(), NOW));
        assert!(matches!(held, Err(RepoError::Locked { path: Some(named), .. }) if named == path));
        drop(marked);
        repo.cas_ref(MAIN, Some(&first), Some(&next), "x", (&me(), NOW)).expect("its holder is dead");
        // Nothing of the mark is left in the ref.
        assert_eq!(fs::read_to_string(dir.path().join(".git").join(MAIN)).expect("ref"), format!("{next}\n"));
        assert_eq!(repo.locks(), Vec::<PathBuf>::new());
        repo.cas_ref(MAIN, Some(&next), None, "x", (&me(), NOW)).expect("removes");
        assert_eq!(repo.read_ref(MAIN).expect("reads"), None);
    }

    #[test]
    fn moving_a_ref_marks_its_lock() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let (repo, _) = Repo::found(dir.path(), &me(), "First", NOW).expect("founded");
        let mut transaction = repo.inner.transaction().expect("begins");
        let marked = repo.lock(&mut transaction, MAIN).expect("locks");
        assert!(fs::read_to_string(repo.lock_of(MAIN)).expect("lock").starts_with(MARK));
        drop((transaction, marked));
        assert_eq!(repo.locks(), Vec::<PathBuf>::new());
    }
}
