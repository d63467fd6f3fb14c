//! Carries out the steps of an undo in the workspace.
//!
//! Promises: a path that is not as the step expects is left alone, checked once more in the very moment of the change (the
//! old content is swapped out whole, looked at, and swapped back where it is another); no link is followed; no path is half
//! written; a kill in the middle loses nothing, and the same undo finishes the rest.

use super::entry::{Entry, Rel};
use super::plan::{Step, Why};
use super::scan::ASIDE;
use super::spot::{FOLDER, Spot, disk, exchange, kind, rename_to_nothing, write};
use super::store::Store;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, SFlag, fchmod, fstat, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// What its owner may do with a folder in which something is to change.
const OWNER: u32 = 0o700;
/// Bytes of a file's own name in the name of the file that is written aside.
const NAME: usize = 100;

/// What was done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Did {
    /// It was gone, and is back.
    BroughtBack,
    /// Its old content, target or mode is back.
    Restored,
    /// It was new, and is gone.
    Removed,
}

/// What came of the steps, both sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// Paths that are as they were.
    pub restored: Vec<(Rel, Did)>,
    /// Paths that were left as they are.
    pub left: Vec<(Rel, Why)>,
}

/// Carries the steps out; they are sorted by path.
///
/// # Errors
/// The workspace cannot be opened.
pub fn restore(root: &Path, steps: &[Step], store: &Store) -> Result<Done, Errno> {
    let opened = nix::fcntl::open(root, FOLDER, Mode::empty())?;
    let mut hand = Hand { path: root.to_owned(), root: opened, store, left: BTreeMap::new(), number: 0 };
    hand.each(steps.iter(), Hand::open_up);
    let closed = hand.open_closed(steps);
    hand.sweep(steps);
    // What stands in the way goes first, from the inside out; folders come back from the outside in; their modes at last,
    // so that a folder that is not to be written can be filled.
    hand.each(steps.iter().rev().filter(|step| goes_first(step)), Hand::remove);
    hand.each(steps.iter().filter(|step| is_folder(&step.target)), Hand::make_folder);
    hand.put_back(steps);
    hand.each(steps.iter().rev().filter(|step| is_folder(&step.target)), Hand::set_mode);
    hand.close_again(closed);
    let done = |step: &Step| match (&step.expected, &step.target) {
        (_, None) => Did::Removed,
        (None, Some(_)) => Did::BroughtBack,
        (Some(_), Some(_)) => Did::Restored,
    };
    let restored = steps.iter().filter(|step| !hand.left.contains_key(&step.path));
    let restored = restored.map(|step| (step.path.clone(), done(step))).collect();
    Ok(Done { restored, left: hand.left.into_iter().collect() })
}

/// Removes what an undo of these steps that was killed left beside.
///
/// # Errors
/// The workspace cannot be opened.
pub fn sweep(root: &Path, steps: &[Step], store: &Store) -> Result<(), Errno> {
    let opened = nix::fcntl::open(root, FOLDER, Mode::empty())?;
    Hand { path: root.to_owned(), root: opened, store, left: BTreeMap::new(), number: 0 }.sweep(steps);
    Ok(())
}

/// Whether something has to be removed: for good, or before something of another kind can stand there.
fn goes_first(step: &Step) -> bool {
    match (&step.expected, &step.target) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(now), Some(then)) => now.is_folder() != then.is_folder(),
    }
}

fn is_folder(entry: &Option<Entry>) -> bool {
    entry.as_ref().is_some_and(Entry::is_folder)
}

struct Hand<'a> {
    path: PathBuf,
    root: OwnedFd,
    store: &'a Store,
    left: BTreeMap<Rel, Why>,
    number: u64,
}

/// A step whose new content lies beside its place.
struct Ready<'a> {
    step: &'a Step,
    aside: OsString,
}

impl Hand<'_> {
    fn each<'s>(&mut self, steps: impl Iterator<Item = &'s Step>, act: impl Fn(&mut Self, &Step) -> Result<(), Why>) {
        for step in steps {
            if self.left.contains_key(&step.path) {
                continue;
            }
            if let Err(why) = act(self, step) {
                self.left.insert(step.path.clone(), why);
            }
        }
    }

    fn remove(&mut self, step: &Step) -> Result<(), Why> {
        let Ok(spot) = self.spot(&step.path) else { return Ok(()) };
        if spot.is(&step.target) || spot.is(&None) {
            return Ok(());
        }
        if is_folder(&step.expected) {
            let removed = unlinkat(&spot.folder, spot.name.as_os_str(), UnlinkatFlags::RemoveDir);
            return match removed {
                Ok(()) | Err(Errno::ENOENT) => Ok(()),
                Err(Errno::ENOTEMPTY | Errno::EEXIST) => Err(Why::NotEmpty),
                Err(Errno::ENOTDIR) => Err(Why::Changed),
                Err(error) => Err(disk(error)),
            };
        }
        if !spot.is(&step.expected) {
            return Err(Why::Changed);
        }
        let aside = self.aside(&spot.name);
        rename_to_nothing(&spot.folder, &spot.name, &aside).map_err(disk)?;
        if spot.named(&aside).is(&step.expected) {
            return unlinkat(&spot.folder, aside.as_os_str(), UnlinkatFlags::NoRemoveDir).map_err(disk);
        }
        // Somebody was quicker: it stays theirs. Where the name was taken meanwhile, theirs lies beside it.
        rename_to_nothing(&spot.folder, &aside, &spot.name).map_err(disk)?;
        Err(Why::Changed)
    }

    fn make_folder(&mut self, step: &Step) -> Result<(), Why> {
        let spot = self.spot(&step.path).map_err(gone)?;
        if spot.stat().is_some_and(|stat| kind(&stat) == SFlag::S_IFDIR) {
            return Ok(());
        }
        // Where something else stood before, it has just been removed.
        if !spot.is(&None) {
            return Err(Why::Changed);
        }
        mkdirat(&spot.folder, spot.name.as_os_str(), Mode::S_IRWXU).map_err(disk)
    }

    /// A folder whose mode changed can be filled again before anything is put into it.
    fn open_up(&mut self, step: &Step) -> Result<(), Why> {
        let (Some(Entry::Folder { .. }), Some(Entry::Folder { mode })) = (&step.expected, &step.target) else {
            return Ok(());
        };
        let spot = self.spot(&step.path).map_err(gone)?;
        // The last is what an undo leaves behind that was killed.
        let half = Some(Entry::Folder { mode: mode | 0o700 });
        if ![&step.target, &step.expected, &half].into_iter().any(|entry| spot.is(entry)) {
            return Err(Why::Changed);
        }
        spot.set_mode(mode | 0o700)
    }

    fn set_mode(&mut self, step: &Step) -> Result<(), Why> {
        let Some(Entry::Folder { mode }) = step.target else { return Ok(()) };
        self.spot(&step.path).map_err(gone)?.set_mode(mode)
    }

    /// Folders that their owner may not write in, and in which something is to be done: they are opened for their owner. The
    /// answer has their paths and modes, the outer ones first; none whose mode a step sets.
    fn open_closed(&self, steps: &[Step]) -> Vec<(Rel, u32)> {
        let above = |step: &Step| std::iter::successors(step.path.split(), |(folder, _)| folder.split());
        let folders: BTreeSet<Rel> = steps.iter().flat_map(above).map(|(folder, _)| folder).collect();
        let mut closed = Vec::new();
        for folder in folders {
            let Some(mode) = self.folder_mode(&folder).filter(|mode| mode & OWNER != OWNER) else { continue };
            if self.set_folder_mode(&folder, mode | OWNER).is_ok() {
                closed.push((folder, mode));
            }
        }
        let set = |folder: &Rel| steps.iter().any(|step| step.path == *folder && is_folder(&step.target));
        closed.retain(|(folder, _)| !set(folder));
        closed
    }

    /// The inner ones first: an outer one may be in the way. One that is gone, as it should be, is none any more.
    fn close_again(&self, closed: Vec<(Rel, u32)>) {
        for (folder, mode) in closed.into_iter().rev() {
            if self.folder_mode(&folder) == Some(mode | OWNER) {
                // It was changed a moment ago, so it can be changed back; where it cannot, it is open to its owner alone.
                let _ = self.set_folder_mode(&folder, mode);
            }
        }
    }

    fn folder_mode(&self, folder: &Rel) -> Option<u32> {
        let stat = match folder.split() {
            Some(_) => self.spot(folder).ok()?.stat()?,
            None => fstat(&self.root).ok()?,
        };
        (kind(&stat) == SFlag::S_IFDIR).then_some(stat.st_mode & 0o7777)
    }

    fn set_folder_mode(&self, folder: &Rel, mode: u32) -> Result<(), Why> {
        match folder.split() {
            Some(_) => self.spot(folder).map_err(gone)?.set_mode(mode),
            None => fchmod(&self.root, Mode::from_bits_truncate(mode)).map_err(disk),
        }
    }

    /// New contents are all written aside and are on the disk before the first of them takes its place.
    fn put_back(&mut self, steps: &[Step]) {
        let mut ready = Vec::new();
        for step in steps.iter().filter(|step| step.target.is_some() && !is_folder(&step.target)) {
            if self.left.contains_key(&step.path) {
                continue;
            }
            match self.prepare(step) {
                Ok(Some(aside)) => ready.push(Ready { step, aside }),
                Ok(None) => {}
                Err(why) => {
                    self.left.insert(step.path.clone(), why);
                }
            }
        }
        if !ready.is_empty() {
            sync(&self.root);
        }
        for Ready { step, aside } in ready {
            if let Err(why) = self.swap(step, &aside) {
                self.left.insert(step.path.clone(), why);
            }
        }
    }

    /// The name under which the new content lies; none where it is in its place already.
    fn prepare(&mut self, step: &Step) -> Result<Option<OsString>, Why> {
        let spot = self.spot(&step.path).map_err(gone)?;
        if spot.is(&step.target) {
            return Ok(None);
        }
        let cleared = goes_first(step) && spot.is(&None);
        if !cleared && !spot.is(&step.expected) {
            return Err(Why::Changed);
        }
        let aside = self.aside(&spot.name);
        let made = match &step.target {
            Some(Entry::Link { target }) => symlinkat(target.path(), &spot.folder, aside.as_os_str()).map_err(disk),
            Some(Entry::File { mode, digest, .. }) => {
                let bytes = self.store.get(*digest).ok_or(Why::Lost)?;
                write(&spot.folder, &aside, &bytes, *mode).map(|()| spot.hand_on(&aside))
            }
            Some(Entry::Outside { why, .. }) => Err(Why::NotKept(*why)),
            Some(Entry::Folder { .. }) | None => return Ok(None),
        };
        if let Err(why) = made {
            let _ = unlinkat(&spot.folder, aside.as_os_str(), UnlinkatFlags::NoRemoveDir);
            return Err(why);
        }
        Ok(Some(aside))
    }

    fn swap(&mut self, step: &Step, aside: &OsStr) -> Result<(), Why> {
        let spot = self.spot(&step.path).map_err(gone)?;
        let drop_aside = || match unlinkat(&spot.folder, aside, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(disk(error)),
        };
        if step.expected.is_none() || goes_first(step) {
            return rename_to_nothing(&spot.folder, aside, &spot.name).map_err(|error| {
                let _ = drop_aside();
                if error == Errno::EEXIST { Why::Changed } else { disk(error) }
            });
        }
        if let Err(error) = exchange(&spot, aside, &step.expected) {
            let _ = drop_aside();
            return Err(error);
        }
        drop_aside()
    }

    /// Removes what an undo that was killed left beside: only what is kept anyway.
    fn sweep(&self, steps: &[Step]) {
        let folders: BTreeSet<Rel> = steps.iter().filter_map(|step| Some(step.path.split()?.0)).collect();
        let links: BTreeSet<&Rel> =
            steps.iter().flat_map(|step| [&step.expected, &step.target]).filter_map(link).collect();
        for folder in folders {
            let entries = std::fs::read_dir(folder.at(&self.path)).into_iter().flatten().filter_map(Result::ok);
            for name in entries.map(|entry| entry.file_name()) {
                if !name.as_bytes().ends_with(ASIDE.as_bytes()) {
                    continue;
                }
                let Ok(spot) = self.spot(&folder.join(&name)) else { continue };
                let kept = match spot.entry() {
                    Some(Entry::File { digest, .. }) => {
                        self.store.get(digest).is_some() || self.is_torn(steps, &folder, &name)
                    }
                    Some(Entry::Link { target }) => links.contains(&target),
                    _ => false,
                };
                if kept {
                    let _ = unlinkat(&spot.folder, spot.name.as_os_str(), UnlinkatFlags::NoRemoveDir);
                }
            }
        }
    }

    /// Whether what lies beside is the beginning of what was to take a place in that folder.
    fn is_torn(&self, steps: &[Step], folder: &Rel, name: &OsStr) -> bool {
        let Ok(torn) = std::fs::read(folder.join(name).at(&self.path)) else { return false };
        let here = steps.iter().filter(|step| step.path.split().is_some_and(|(at, _)| at == *folder));
        let own = here.filter(|step| {
            let own = step.path.split().map(|(_, name)| clipped(&name).to_vec()).unwrap_or_default();
            name.as_bytes().strip_suffix(ASIDE.as_bytes()).is_some_and(|name| name.ends_with(&own))
        });
        let mut targets = own.filter_map(|step| match step.target {
            Some(Entry::File { digest, .. }) => self.store.get(digest),
            _ => None,
        });
        targets.any(|target| target.starts_with(&torn))
    }

    /// The folder of a path, reached without following a link.
    fn spot(&self, path: &Rel) -> Result<Spot, Errno> {
        let (folder, name) = path.split().ok_or(Errno::EINVAL)?;
        let mut at = self.root.try_clone().map_err(|_| Errno::EMFILE)?;
        for part in folder.path().components() {
            let Component::Normal(part) = part else { return Err(Errno::EINVAL) };
            at = openat(&at, part, FOLDER | PATH_ONLY, Mode::empty())?;
        }
        Ok(Spot { folder: at, name })
    }

    fn aside(&mut self, name: &OsStr) -> OsString {
        self.number += 1;
        let name = clipped(name);
        let mut aside = OsString::from(format!(".{}-{}-", std::process::id(), self.number));
        aside.push(OsStr::from_bytes(name));
        aside.push(ASIDE);
        aside
    }
}

#[cfg(target_os = "linux")]
const PATH_ONLY: OFlag = OFlag::O_PATH;
#[cfg(not(target_os = "linux"))]
const PATH_ONLY: OFlag = OFlag::O_RDONLY;

#[cfg(target_os = "linux")]
fn sync(root: &OwnedFd) {
    // Where it fails the contents are still kept: only a loss of power in this moment could tell the difference.
    let _ = nix::unistd::syncfs(root);
}
#[cfg(not(target_os = "linux"))]
fn sync(_root: &OwnedFd) {
    nix::unistd::sync();
}

/// As much of a file's own name as stands in the name of what lies beside it.
fn clipped(name: &OsStr) -> &[u8] {
    name.as_bytes().get(..NAME).unwrap_or(name.as_bytes())
}

fn link(entry: &Option<Entry>) -> Option<&Rel> {
    if let Some(Entry::Link { target }) = entry { Some(target) } else { None }
}

fn gone(error: Errno) -> Why {
    match error {
        Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP => Why::Changed,
        other => disk(other),
    }
}
