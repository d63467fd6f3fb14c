//! Looks at a whole workspace and keeps every content that is not kept yet.
//!
//! A file whose stamp is the one of the last look is not read again; a folder without changes costs its listing. Several
//! threads share the folders. Promises that links are never followed, that what is left out stands in the tree with its
//! reason, and that nothing outside of the workspace's file system is looked at.

use super::entry::{Digest, Entry, Outside, Rel, Stamp};
use super::store::Store;
use super::tree::{Folder, Node, Tree};
use globset::{Glob, GlobSet, GlobSetBuilder};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A change this soon before a look may not show in the times of the file: clocks of file systems tick slowly.
const SLACK: Duration = Duration::from_millis(30);
/// Threads at most.
const THREADS: usize = 4;
/// Ends of the names of files that an undo writes aside.
pub(super) const ASIDE: &str = ".selfsmith-undo";
/// Folders that tools make anew, by name.
const GENERATED: [&[u8]; 10] = [
    b"node_modules",
    b"bower_components",
    b"__pycache__",
    b".tox",
    b".nox",
    b".gradle",
    b".terraform",
    b".next",
    b".nuxt",
    b".parcel-cache",
];
/// What a tool puts into its cache folder (<https://bford.info/cachedir/>).
const CACHE_TAG: (&str, &[u8]) = ("CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");
/// What a Python environment has at its top.
const PYTHON_TAG: &str = "pyvenv.cfg";

/// What is looked at, and how much of it.
#[derive(Debug)]
pub struct Rules {
    /// Bytes of one file.
    pub max_file: u64,
    /// Bytes of all files.
    pub max_total: u64,
    /// Files and folders.
    pub max_entries: u64,
    /// Paths that are left out.
    pub excluded: GlobSet,
    /// The folder of snapshots itself.
    pub own: PathBuf,
}

/// Why a workspace could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// There is more in it than a snapshot may hold.
    #[error("it has more than {0} files and folders")]
    TooMany(u64),
    /// A disk says no.
    #[error("{0}: {1}")]
    Io(String, #[source] io::Error),
}

/// Patterns as the settings have them; those that are none are left out.
pub fn patterns(texts: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        let text = text.trim_end_matches('/');
        for text in [text.to_owned(), format!("{text}/**")] {
            if let Ok(glob) = Glob::new(&text) {
                set.add(glob);
            }
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// Looks at everything. `last` is the last look, or an empty tree.
///
/// # Errors
/// The root cannot be read, there are too many files, or contents cannot be kept.
pub fn scan(
    root: &Path,
    last: &Tree,
    rules: &Rules,
    store: &Store,
    now: fn() -> SystemTime,
) -> Result<Tree, ScanError> {
    let disk = fs::metadata(root).map_err(|error| ScanError::Io(root.display().to_string(), error))?.dev();
    let walk = Walk {
        root,
        last,
        rules,
        store,
        now,
        disk,
        work: Mutex::new(Work {
            open: vec![Rel::default()],
            busy: 0,
            done: HashMap::with_capacity(last.folders.len()),
        }),
        wake: Condvar::new(),
        entries: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    // A small workspace is done before a second thread has started.
    let small = !last.folders.is_empty() && last.folders.len() < 40;
    let threads = if small { 1 } else { std::thread::available_parallelism().map_or(1, usize::from).min(THREADS) };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| walk.run());
        }
        walk.run();
    });
    match lock(&walk.failure).take() {
        Some(failure) => Err(failure),
        None => Ok(Tree { folders: std::mem::take(&mut lock(&walk.work).done) }),
    }
}

/// What stands at one path, its content kept; none for nothing.
///
/// # Errors
/// The content cannot be kept.
pub fn look(root: &Path, path: &Rel, rules: &Rules, store: &Store) -> io::Result<Option<Entry>> {
    let at = path.at(root);
    let Ok(metadata) = fs::symlink_metadata(&at) else { return Ok(None) };
    let stamp = Stamp::of(&metadata);
    if metadata.is_file() {
        let size = metadata.len();
        return Ok(Some(if size > rules.max_file {
            outside(Outside::TooLarge, stamp)
        } else {
            read(&at, stamp, store)?.1
        }));
    }
    Ok(Some(plain(&at, &metadata, stamp)))
}

struct Walk<'a> {
    root: &'a Path,
    last: &'a Tree,
    rules: &'a Rules,
    store: &'a Store,
    now: fn() -> SystemTime,
    disk: u64,
    work: Mutex<Work>,
    wake: Condvar,
    entries: AtomicU64,
    bytes: AtomicU64,
    stop: AtomicBool,
    failure: Mutex<Option<ScanError>>,
}

struct Work {
    open: Vec<Rel>,
    busy: usize,
    done: HashMap<Rel, Arc<Folder>>,
}

impl Walk<'_> {
    fn run(&self) {
        let mut work = lock(&self.work);
        loop {
            if self.stop.load(Ordering::Relaxed) || (work.open.is_empty() && work.busy == 0) {
                self.wake.notify_all();
                return;
            }
            let Some(path) = work.open.pop() else {
                work = self.wake.wait(work).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            work.busy += 1;
            drop(work);
            let found = self.folder(&path);
            work = lock(&self.work);
            work.busy -= 1;
            match found {
                Ok((folder, below)) => {
                    work.done.insert(path, folder);
                    work.open.extend(below);
                    self.wake.notify_all();
                }
                Err(error) => {
                    lock(&self.failure).get_or_insert(error);
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// A folder, and those below it that are to be looked at.
    fn folder(&self, path: &Rel) -> Result<(Arc<Folder>, Vec<Rel>), ScanError> {
        let last = self.last.folders.get(path);
        // What was left out stays so: files that were never seen before must not look new.
        if let Some(folder) = last.filter(|folder| folder.outside.is_some()) {
            return Ok((Arc::clone(folder), Vec::new()));
        }
        let at = path.at(self.root);
        let entries = match fs::read_dir(&at) {
            Ok(entries) => entries,
            Err(error) if path.bytes().is_empty() => return Err(ScanError::Io(at.display().to_string(), error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Arc::default(), Vec::new())),
            // What was known of it still holds, as far as anybody can tell.
            Err(_) => {
                let left_out = || Arc::new(Folder { outside: Some(Outside::Unreadable), nodes: Vec::new() });
                return Ok((last.cloned().unwrap_or_else(left_out), self.below(path)));
            }
        };
        let mut found: Vec<(std::ffi::OsString, fs::Metadata)> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| Some((entry.file_name(), entry.metadata().ok()?)))
            .collect();
        found.retain(|(name, _)| !name.as_bytes().ends_with(ASIDE.as_bytes()));
        let seen = found.len() as u64;
        if self.entries.fetch_add(seen, Ordering::Relaxed) + seen > self.rules.max_entries {
            return Err(ScanError::TooMany(self.rules.max_entries));
        }
        if last.is_none() && !path.bytes().is_empty() && is_generated(&at, &found) {
            return Ok((Arc::new(Folder { outside: Some(Outside::Generated), nodes: Vec::new() }), Vec::new()));
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut nodes = Vec::with_capacity(found.len());
        let mut below = Vec::new();
        for (name, metadata) in found {
            let node = self.node(path, last.and_then(|last| last.node(&name)), name, &metadata)?;
            if matches!(node.entry, Entry::Folder { .. }) {
                below.push(path.join(&node.name));
            }
            nodes.push(node);
        }
        let folder = Folder { outside: None, nodes };
        // Shared with the last tree, so that nobody compares it again.
        let folder = last.filter(|last| ***last == folder).map_or_else(|| Arc::new(folder), Arc::clone);
        Ok((folder, below))
    }

    /// The folders below one that can no longer be read.
    fn below(&self, path: &Rel) -> Vec<Rel> {
        let folders = self.last.folders.get(path).into_iter().flat_map(|folder| &folder.nodes);
        folders.filter(|node| matches!(node.entry, Entry::Folder { .. })).map(|node| path.join(&node.name)).collect()
    }

    fn node(
        &self,
        folder: &Rel,
        last: Option<&Node>,
        name: std::ffi::OsString,
        metadata: &fs::Metadata,
    ) -> Result<Node, ScanError> {
        let stamp = Stamp::of(metadata);
        if metadata.is_dir() {
            let entry = match self.left_out(folder, &name, metadata, last) {
                Some(why) => outside(why, Stamp { mode: stamp.mode, ..Stamp::default() }),
                None => Entry::Folder { mode: stamp.permissions() },
            };
            // Its times say nothing of interest.
            return Ok(Node { name, stamp: Stamp { mode: stamp.mode, ..Stamp::default() }, settled: true, entry });
        }
        if let Some(last) = last.filter(|last| last.settled && last.stamp == stamp) {
            if let Entry::File { size, .. } = last.entry {
                self.bytes.fetch_add(size, Ordering::Relaxed);
            }
            return Ok(last.clone());
        }
        let settled = self.settled(&stamp);
        let path = folder.join(&name);
        let at = path.at(self.root);
        if !metadata.is_file() {
            return Ok(Node { entry: plain(&at, metadata, stamp), name, stamp, settled });
        }
        let known = matches!(last.map(|last| &last.entry), Some(Entry::File { .. }));
        let entry = match self.too_much(&path, metadata.len(), known) {
            Some(why) => outside(why, stamp),
            None => {
                let (stamp, entry) =
                    read(&at, stamp, self.store).map_err(|error| ScanError::Io(path.to_string(), error))?;
                return Ok(Node { settled: settled && self.settled(&stamp), name, stamp, entry });
            }
        };
        Ok(Node { name, stamp, settled, entry })
    }

    fn left_out(&self, folder: &Rel, name: &OsStr, metadata: &fs::Metadata, last: Option<&Node>) -> Option<Outside> {
        let bytes = name.as_bytes();
        if bytes == b".git" || bytes == b".hg" || bytes == b".svn" || bytes == b".jj" {
            return Some(Outside::Git);
        }
        if metadata.dev() != self.disk {
            return Some(Outside::OtherDisk);
        }
        if let Some(Entry::Folder { .. }) = last.map(|last| &last.entry) {
            return None;
        }
        let path = folder.join(name);
        if self.rules.excluded.is_match(path.path()) || self.rules.own == path.at(self.root) {
            return Some(Outside::Excluded);
        }
        GENERATED.contains(&bytes).then_some(Outside::Generated)
    }

    /// Why a file's content is not kept. One that was kept before goes on to be, so that the line between both is stable.
    fn too_much(&self, path: &Rel, size: u64, known: bool) -> Option<Outside> {
        if size > self.rules.max_file {
            return Some(Outside::TooLarge);
        }
        if self.rules.excluded.is_match(path.path()) {
            return Some(Outside::Excluded);
        }
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        if !known && before + size > self.rules.max_total {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            return Some(Outside::OverTotal);
        }
        None
    }

    fn settled(&self, stamp: &Stamp) -> bool {
        let Ok(now) = (self.now)().duration_since(UNIX_EPOCH) else { return false };
        let (seconds, nanoseconds) = stamp.ctime.max(stamp.mtime);
        let changed = u64::try_from(seconds).ok().zip(u32::try_from(nanoseconds).ok());
        changed.is_some_and(|(seconds, nanoseconds)| Duration::new(seconds, nanoseconds) + SLACK < now)
    }
}

/// Reads a file and keeps its content. The stamp is the one of what was read.
fn read(at: &Path, stamp: Stamp, store: &Store) -> io::Result<(Stamp, Entry)> {
    let unreadable = || (stamp, outside(Outside::Unreadable, stamp));
    // A file may have become a pipe or a link since it was listed.
    let flags = (nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK).bits();
    let Ok(mut file) = OpenOptions::new().read(true).custom_flags(flags).open(at) else { return Ok(unreadable()) };
    let (Ok(bytes), Ok(metadata)) = (whole(&mut file), file.metadata()) else { return Ok(unreadable()) };
    if !metadata.is_file() {
        return Ok(unreadable());
    }
    let stamp = Stamp::of(&metadata);
    let digest: Digest = store.keep(&bytes)?;
    Ok((stamp, Entry::File { mode: stamp.permissions(), size: bytes.len() as u64, digest }))
}

fn whole(file: &mut File) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Anything but a file.
fn plain(at: &Path, metadata: &fs::Metadata, stamp: Stamp) -> Entry {
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return match fs::read_link(at) {
            Ok(target) => Entry::Link { target: Rel::new(target.as_os_str().as_bytes().to_vec()) },
            Err(_) => outside(Outside::Unreadable, stamp),
        };
    }
    if kind.is_dir() {
        return Entry::Folder { mode: stamp.permissions() };
    }
    let special = kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device();
    outside(if special { Outside::NoFile } else { Outside::Unreadable }, stamp)
}

fn outside(why: Outside, stamp: Stamp) -> Entry {
    Entry::Outside { why, stamp }
}

fn is_generated(at: &Path, found: &[(std::ffi::OsString, fs::Metadata)]) -> bool {
    let has = |wanted: &str| found.iter().any(|(name, metadata)| name == wanted && metadata.is_file());
    if has(PYTHON_TAG) {
        return true;
    }
    let mut start = vec![0; CACHE_TAG.1.len()];
    has(CACHE_TAG.0)
        && File::open(at.join(CACHE_TAG.0)).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == CACHE_TAG.1
}

/// A panic in another thread leaves whole values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
