//! The whole output of a command in files, once it is more than the model is shown.
//!
//! The files lie in a temporary folder that only the person can enter and that goes with the session; one whose process
//! died is removed by a later one. Bounded: of a long output the beginning and the end are kept, and that is said.

use crate::edit::pin::Pin;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Bytes of the beginning that are kept.
const HEAD: u64 = 32 << 20;
/// Bytes of one of the two files that hold the end: at least so many of the end are kept, twice as many at most.
const TAIL: u64 = 16 << 20;
/// How the names of the folders begin.
const PREFIX: &str = "selfsmith-outputs-";
/// In a folder, and locked as long as its process lives.
const LOCK: &str = "lock";

/// Where the files lie.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    folder: Mutex<Folder>,
    files: AtomicU64,
}

#[derive(Debug, Default)]
enum Folder {
    #[default]
    Unmade,
    Made {
        folder: TempDir,
        _lock: File,
    },
    /// It cannot be made, or the session is over.
    None,
}

/// One command's output.
#[derive(Debug)]
pub(super) struct Whole {
    bounds: Bounds,
    first: Vec<u8>,
    head: Option<(PathBuf, File)>,
    /// The end of a long one: the file that is being written, and its bytes.
    tail: Option<(PathBuf, File, u64)>,
    /// The end before that, once it is full: its bytes.
    before: Option<u64>,
    written: u64,
    total: u64,
    lost: bool,
}

#[derive(Debug)]
struct Bounds {
    /// Bytes until it is worth a file.
    limit: usize,
    head: u64,
    tail: u64,
}

impl Outputs {
    /// The session is over: the folder goes, though commands may still be ending.
    pub(super) fn close(&self) {
        // What cannot be removed now is swept by a later start.
        drop(std::mem::replace(&mut *self.folder.lock().unwrap_or_else(PoisonError::into_inner), Folder::None));
    }

    fn create(&self) -> Option<(PathBuf, File)> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Folder::Unmade = *folder {
            *folder = made().unwrap_or(Folder::None);
        }
        let Folder::Made { folder, .. } = &*folder else { return None };
        let number = self.files.fetch_add(1, Ordering::Relaxed) + 1;
        let path = folder.path().join(format!("output-{number}.txt"));
        Some((path.clone(), new_file(&path)?))
    }
}

fn made() -> Option<Folder> {
    let temporary = fs::canonicalize(tempfile::env::temp_dir()).ok()?;
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(temporary).ok()?;
    // It has its name only once it is locked, so that nobody takes the folder for one that was left behind.
    let unnamed = folder.path().join("unlocked");
    let lock = new_file(&unnamed)?;
    lock.try_lock().ok()?;
    fs::rename(&unnamed, folder.path().join(LOCK)).ok()?;
    Some(Folder::Made { folder, _lock: lock })
}

/// Commands may write beside the folder, and could put a link in its place.
fn new_file(path: &Path) -> Option<File> {
    let pin = Pin::of(path).ok()?;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(pin.path()).ok()
}

/// Remove what processes that died left behind in the folder for temporary files.
pub fn sweep() {
    sweep_in(&tempfile::env::temp_dir());
}

fn sweep_in(temporary: &Path) {
    let own = nix::unistd::geteuid().as_raw();
    for entry in fs::read_dir(temporary).into_iter().flatten().filter_map(Result::ok) {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == own);
        if !is_ours {
            continue;
        }
        let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
        let lock = OpenOptions::new().read(true).custom_flags(flags).open(entry.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            // What cannot be removed stays for the next start; links in it are not followed.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Whole {
    /// Nothing yet; `limit` bytes are shown anyway.
    pub(super) fn new(limit: usize) -> Self {
        Self::with(Bounds { limit, head: HEAD, tail: TAIL })
    }

    fn with(bounds: Bounds) -> Self {
        let (first, head, tail, before) = (Vec::new(), None, None, None);
        Self { bounds, first, head, tail, before, written: 0, total: 0, lost: false }
    }

    /// More output.
    pub(super) fn push(&mut self, bytes: &[u8], outputs: &Outputs) {
        self.total += bytes.len() as u64;
        if self.lost {
            return;
        }
        if self.head.is_none() {
            self.first.extend(bytes);
            if self.first.len() <= self.bounds.limit {
                return;
            }
            self.head = outputs.create();
            let first = std::mem::take(&mut self.first);
            self.lost = self.write(&first).is_none();
        } else {
            self.lost = self.write(bytes).is_none();
        }
    }

    /// A line that names the files, where there are any.
    pub(super) fn told(&self) -> Option<String> {
        let (path, _) = self.head.as_ref()?;
        let (path, total) = (path.display(), self.total);
        let first = format!("[the first {} of {total} bytes of output: {path}", self.written);
        Some(match &self.tail {
            None if self.lost => format!("{first}]\n"),
            None => format!("[the whole output, {total} bytes: {path}]\n"),
            Some(_) if self.lost => format!("{first}; the end could not be kept]\n"),
            Some((tail, _, bytes)) => {
                let before = self.before.map(|_| format!("{} and ", before(tail).display())).unwrap_or_default();
                let last = self.before.unwrap_or_default() + bytes;
                format!("{first}; the last {last}: {before}{}]\n", tail.display())
            }
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Option<()> {
        let (path, head) = self.head.as_mut()?;
        let room = usize::try_from(self.bounds.head - self.written).unwrap_or(usize::MAX).min(bytes.len());
        let (bytes, mut rest) = bytes.split_at_checked(room)?;
        head.write_all(bytes).ok()?;
        self.written += bytes.len() as u64;
        while !rest.is_empty() {
            let path = path.with_extension("end.txt");
            let (path, mut file, mut written) = match self.tail.take() {
                Some((path, _, written)) if written >= self.bounds.tail => {
                    let pin = Pin::of(&path).ok()?;
                    fs::rename(pin.path(), before(&pin.path())).ok()?;
                    self.before = Some(written);
                    (path.clone(), new_file(&path)?, 0)
                }
                Some(tail) => tail,
                None => (path.clone(), new_file(&path)?, 0),
            };
            let room = usize::try_from(self.bounds.tail - written).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = rest.split_at_checked(room)?;
            file.write_all(now).ok()?;
            written += now.len() as u64;
            self.tail = Some((path, file, written));
            rest = later;
        }
        Some(())
    }
}

/// The file with what came before the end.
fn before(tail: &Path) -> PathBuf {
    tail.with_extension("before.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_output_has_no_file_and_a_long_one_is_whole_in_it() {
        let outputs = Outputs::default();
        let mut whole = Whole::new(5);
        whole.push(b"12345", &outputs);
        assert_eq!(whole.told(), None);
        whole.push(b"67", &outputs);
        whole.push(b"8", &outputs);
        let (path, _) = whole.head.as_ref().expect("a file");
        assert_eq!(std::fs::read(path).expect("it reads"), b"12345678");
        assert!(whole.told().is_some_and(|told| told.contains("8 bytes")));
        let folder = path.parent().expect("a folder").to_owned();
        drop(outputs);
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_in_the_folders_place_leads_nothing_elsewhere() {
        let (outputs, elsewhere) = (Outputs::default(), tempfile::tempdir().expect("a folder"));
        let long = || {
            let mut whole = Whole::new(1);
            whole.push(b"long", &outputs);
            whole.head.map(|(path, _)| path)
        };
        let folder = long().expect("a file").parent().expect("a folder").to_owned();
        let moved = folder.with_extension("moved");
        fs::rename(&folder, &moved).expect("it is ours");
        std::os::unix::fs::symlink(elsewhere.path(), &folder).expect("it is ours");
        assert_eq!(long(), None);
        assert_eq!(elsewhere.path().read_dir().expect("it is ours").count(), 0);
        drop(outputs);
        fs::remove_dir_all(moved).expect("it is ours");
    }

    #[test]
    fn of_a_very_long_output_the_beginning_and_the_end_are_kept() {
        let outputs = Outputs::default();
        let mut whole = Whole::with(Bounds { limit: 2, head: 10, tail: 5 });
        (0..50).for_each(|n: u8| whole.push(&[n], &outputs));
        whole.push(&[50, 51, 52], &outputs);
        let folder = whole.head.as_ref().expect("a file").0.parent().expect("a folder").to_owned();
        let read = |name: &str| fs::read(folder.join(name)).expect("it reads");
        assert_eq!(read("output-1.txt"), (0..10).collect::<Vec<u8>>());
        let end = [read("output-1.end.before.txt"), read("output-1.end.txt")].concat();
        assert_eq!(end, (45..53).collect::<Vec<u8>>());
        let told = whole.told().expect("files");
        assert!(told.contains("first 10 of 53 bytes") && told.contains("last 8: "), "{told}");
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 4);
        // A command that still runs does not keep it, nor make another.
        outputs.close();
        whole.push(&[53], &outputs);
        assert!(!folder.exists() && outputs.create().is_none());
    }

    #[test]
    fn what_a_process_left_that_died_is_swept_and_nothing_else() {
        let temporary = tempfile::tempdir().expect("a folder");
        let make = |name: &str, lock: bool| {
            let folder = temporary.path().join(name);
            fs::create_dir(&folder).expect("a folder");
            fs::write(folder.join("output-1.txt"), "x").expect("a file");
            lock.then(|| File::create(folder.join(LOCK)).expect("a lock"))
        };
        let held = make("selfsmith-outputs-alive", true).expect("a lock");
        held.try_lock().expect("locked");
        drop(make("selfsmith-outputs-dead", true));
        make("selfsmith-outputs-beginning", false);
        drop(make("others", true));
        sweep_in(temporary.path());
        let mut left: Vec<_> =
            fs::read_dir(temporary.path()).expect("a folder").map(|entry| entry.expect("one").file_name()).collect();
        left.sort();
        assert_eq!(left, ["others", "selfsmith-outputs-alive", "selfsmith-outputs-beginning"]);
    }
}
