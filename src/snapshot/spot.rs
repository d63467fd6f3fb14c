//! A name in an open folder: what stands there, and the few ways to change it that never change what is not expected.

use super::entry::{Digest, Entry, Outside, Rel, Stamp};
use super::plan::Why;
use crate::attributes;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, readlinkat};
use nix::sys::stat::{FchmodatFlags, FileStat, Mode, SFlag, fchmod, fchmodat, fstatat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

pub(super) const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// A name in an open folder.
pub(super) struct Spot {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
}
impl Spot {
    pub(super) fn named(&self, name: &OsStr) -> Spotted<'_> {
        Spotted { folder: &self.folder, name: name.to_owned() }
    }

    fn here(&self) -> Spotted<'_> {
        self.named(&self.name)
    }

    pub(super) fn is(&self, entry: &Option<Entry>) -> bool {
        self.here().is(entry)
    }

    /// Of a folder, whether it can be read or not.
    pub(super) fn set_mode(&self, mode: u32) -> Result<(), Why> {
        let bits = Mode::from_bits_truncate(mode);
        match openat(&self.folder, self.name.as_os_str(), FOLDER, Mode::empty()) {
            Ok(folder) => fchmod(folder, bits).map_err(disk),
            Err(Errno::EACCES) => {
                fchmodat(&self.folder, self.name.as_os_str(), bits, FchmodatFlags::NoFollowSymlink).map_err(disk)
            }
            Err(error) => Err(disk(error)),
        }
    }

    /// What hangs on the file here hangs on the one beside it too, as far as that can be done.
    pub(super) fn hand_on(&self, beside: &OsStr) {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let open = |name: &OsStr| openat(&self.folder, name, flags, Mode::empty()).map(File::from);
        if let (Ok(here), Ok(beside)) = (open(&self.name), open(beside)) {
            // The content comes back without it too.
            let _ = attributes::copy(&here, &beside);
        }
    }

    pub(super) fn stat(&self) -> Option<FileStat> {
        self.here().stat()
    }

    pub(super) fn entry(&self) -> Option<Entry> {
        self.here().entry()
    }
}

/// What stands at a name.
pub(super) struct Spotted<'a> {
    folder: &'a OwnedFd,
    name: OsString,
}

impl Spotted<'_> {
    /// Whether this stands there. What is not kept is known by its stamp.
    pub(super) fn is(&self, entry: &Option<Entry>) -> bool {
        match entry {
            None => self.stat().is_none(),
            Some(Entry::Outside { stamp, .. }) => self.stat().is_some_and(|stat| same(&stamp_of(&stat), stamp)),
            Some(entry @ Entry::File { size, .. }) => {
                let size_fits = self.stat().is_some_and(|stat| u64::try_from(stat.st_size) == Ok(*size));
                size_fits && self.entry().as_ref() == Some(entry)
            }
            Some(entry) => self.entry().as_ref() == Some(entry),
        }
    }

    pub(super) fn stat(&self) -> Option<FileStat> {
        fstatat(self.folder, self.name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW).ok()
    }

    pub(super) fn entry(&self) -> Option<Entry> {
        let stat = self.stat()?;
        let stamp = stamp_of(&stat);
        Some(match kind(&stat) {
            SFlag::S_IFDIR => Entry::Folder { mode: stamp.permissions() },
            SFlag::S_IFLNK => {
                let target = readlinkat(self.folder, self.name.as_os_str()).ok()?;
                Entry::Link { target: Rel::new(target.as_bytes().to_vec()) }
            }
            SFlag::S_IFREG => match self.read() {
                Some(bytes) => {
                    Entry::File { mode: stamp.permissions(), size: bytes.len() as u64, digest: Digest::of(&bytes) }
                }
                None => Entry::Outside { why: Outside::Unreadable, stamp },
            },
            _ => Entry::Outside { why: Outside::NoFile, stamp },
        })
    }

    fn read(&self) -> Option<Vec<u8>> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let mut file = File::from(openat(self.folder, self.name.as_os_str(), flags, Mode::empty()).ok()?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

pub(super) fn write(folder: &OwnedFd, name: &OsStr, bytes: &[u8], mode: u32) -> Result<(), Why> {
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut file = File::from(openat(folder, name, flags, Mode::S_IRUSR | Mode::S_IWUSR).map_err(disk)?);
    file.write_all(bytes).map_err(|error| Why::Disk(error.to_string()))?;
    fchmod(&file, Mode::from_bits_truncate(mode)).map_err(disk)
}

/// Puts what lies aside in the place of what is expected there, which lies aside then; changes nothing where it is not.
pub(super) fn exchange(spot: &Spot, aside: &OsStr, expected: &Option<Entry>) -> Result<(), Why> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use nix::fcntl::{RenameFlags, renameat2};
        let swap = || renameat2(&spot.folder, aside, &spot.folder, spot.name.as_os_str(), RenameFlags::RENAME_EXCHANGE);
        match swap() {
            Ok(()) if spot.named(aside).is(expected) => return Ok(()),
            Ok(()) => {
                swap().map_err(disk)?;
                return Err(Why::Changed);
            }
            Err(Errno::ENOENT) => return Err(Why::Changed),
            // This file system cannot exchange.
            Err(Errno::EINVAL | Errno::ENOSYS | Errno::EOPNOTSUPP) => {}
            Err(error) => return Err(disk(error)),
        }
    }
    if !spot.is(expected) {
        return Err(Why::Changed);
    }
    // The caller finds nothing aside any more.
    nix::fcntl::renameat(&spot.folder, aside, &spot.folder, spot.name.as_os_str()).map_err(disk)
}

/// Renames, but never over something.
pub(super) fn rename_to_nothing(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use nix::fcntl::{RenameFlags, renameat2};
        match renameat2(folder, from, folder, to, RenameFlags::RENAME_NOREPLACE) {
            Err(Errno::EINVAL | Errno::ENOSYS | Errno::EOPNOTSUPP) => {}
            done => return done,
        }
    }
    if fstatat(folder, to, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok() {
        return Err(Errno::EEXIST);
    }
    nix::fcntl::renameat(folder, from, folder, to)
}

pub(super) fn kind(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

fn stamp_of(stat: &FileStat) -> Stamp {
    Stamp {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        ino: stat.st_ino,
        mtime: (stat.st_mtime, stat.st_mtime_nsec),
        ctime: (stat.st_ctime, stat.st_ctime_nsec),
        mode: stat.st_mode,
    }
}

/// The time of the last change of anything moves with every renaming.
fn same(a: &Stamp, b: &Stamp) -> bool {
    (a.size, a.ino, a.mtime, a.mode) == (b.size, b.ino, b.mtime, b.mode)
}

pub(super) fn disk(error: Errno) -> Why {
    Why::Disk(std::io::Error::from(error).to_string())
}
