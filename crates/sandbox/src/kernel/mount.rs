//! Mounts as descriptors (open_tree(2), fsopen(2), move_mount(2), mount_setattr(2)): made first, placed later, so that no
//! path is looked up twice. Needs Linux 5.12.

use nix::libc;
use nix::sys::stat::fstat;
use nix::unistd::Uid;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const OPEN_TREE_CLONE: u32 = 1;
const OPEN_TREE_CLOEXEC: u32 = libc::O_CLOEXEC as u32;
const AT_RECURSIVE: u32 = 0x8000;
const MOVE_MOUNT_F_EMPTY_PATH: u32 = 0x04;
const MOVE_MOUNT_T_EMPTY_PATH: u32 = 0x40;
const FSOPEN_CLOEXEC: u32 = 1;
const FSCONFIG_SET_FLAG: u32 = 0;
const FSCONFIG_SET_STRING: u32 = 1;
const FSCONFIG_CMD_CREATE: u32 = 6;
const FSMOUNT_CLOEXEC: u32 = 1;
const MOUNT_ATTR_IDMAP: u64 = 0x0010_0000;

/// What cannot be done on a mount (mount_setattr(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Forbidden(u64);

impl Forbidden {
    pub(crate) const WRITE: Self = Self(1);
    pub(crate) const SETUID: Self = Self(2);
    pub(crate) const DEVICES: Self = Self(4);
    pub(crate) const EXECUTE: Self = Self(8);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Whether mounts below a mount are meant too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Below {
    Too,
    Not,
}

/// A mount that may stand nowhere yet.
#[derive(Debug)]
pub(crate) struct Tree(OwnedFd);

impl Tree {
    /// What stands at the path, with all mounts below it; links are followed.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Self::opened(path, 0)
    }

    /// As [`Tree::of`], but a link stands for itself.
    pub(crate) fn of_itself(path: &Path) -> io::Result<Self> {
        Self::opened(path, libc::AT_SYMLINK_NOFOLLOW as u32)
    }

    fn opened(path: &Path, flags: u32) -> io::Result<Self> {
        let path = c_string(path)?;
        let flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | flags;
        // SAFETY: the path is a C string that outlives the call.
        let number = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
        owned(number).map(Self)
    }

    /// A new file system of this kind. An option without a value is a flag.
    pub(crate) fn new(kind: &CStr, options: &[(&CStr, Option<&str>)], forbidden: Forbidden) -> io::Result<Self> {
        // SAFETY: the name is a C string.
        let context = owned(unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), FSOPEN_CLOEXEC) })?;
        for (name, value) in options {
            configure(&context, name, *value)?;
        }
        let create = FSCONFIG_CMD_CREATE;
        let none = std::ptr::null::<libc::c_char>();
        // SAFETY: this command takes neither name nor value.
        done(unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), create, none, none, 0) })?;
        // SAFETY: takes numbers alone.
        let number = unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, forbidden.0) };
        owned(number).map(Self)
    }

    /// Forbids something on it and, where it has mounts below, on those too.
    pub(crate) fn forbid(&self, forbidden: Forbidden) -> io::Result<()> {
        forbid(self.0.as_raw_fd(), forbidden, AT_RECURSIVE)
    }

    /// Shows the files of the user whom the namespace maps as another user's (mount_setattr(2), id-mapped mounts), on
    /// all mounts below it too, or on this one alone. Not every file system can: overlays cannot, and those that can
    /// differ by kernel.
    pub(crate) fn map_owner(&self, namespace: BorrowedFd<'_>, below: Below) -> io::Result<()> {
        let userns_fd = u64::try_from(namespace.as_raw_fd()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let attributes = libc::mount_attr { attr_set: MOUNT_ATTR_IDMAP, attr_clr: 0, propagation: 0, userns_fd };
        let flags = match below {
            Below::Too => AT_RECURSIVE,
            Below::Not => 0,
        };
        set(self.0.as_raw_fd(), &attributes, flags)
    }

    /// Who owns the file or folder on top.
    pub(crate) fn owner(&self) -> io::Result<Uid> {
        Ok(Uid::from_raw(fstat(&self.0)?.st_uid))
    }

    /// Puts it over the file or folder.
    pub(crate) fn place(&self, over: BorrowedFd<'_>) -> io::Result<()> {
        let flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
        let empty = c"".as_ptr();
        // SAFETY: both paths are empty C strings, the descriptors are open.
        done(unsafe { libc::syscall(libc::SYS_move_mount, self.0.as_raw_fd(), empty, over.as_raw_fd(), empty, flags) })
    }
}

/// Forbids something on the mount that holds the open file, and on all mounts below it.
pub(crate) fn forbid_below(at: BorrowedFd<'_>, forbidden: Forbidden) -> io::Result<()> {
    forbid(at.as_raw_fd(), forbidden, AT_RECURSIVE)
}

/// Forbids something on the mount that holds the open file, and on no other.
pub(crate) fn forbid_here(at: BorrowedFd<'_>, forbidden: Forbidden) -> io::Result<()> {
    forbid(at.as_raw_fd(), forbidden, 0)
}

fn forbid(descriptor: i32, forbidden: Forbidden, flags: u32) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: forbidden.0, attr_clr: 0, propagation: 0, userns_fd: 0 };
    set(descriptor, &attributes, flags)
}

fn set(descriptor: i32, attributes: &libc::mount_attr, flags: u32) -> io::Result<()> {
    let flags = flags | libc::AT_EMPTY_PATH as u32;
    let (empty, size) = (c"".as_ptr(), size_of::<libc::mount_attr>());
    // SAFETY: the structure outlives the call and its size is given.
    done(unsafe { libc::syscall(libc::SYS_mount_setattr, descriptor, empty, flags, &raw const *attributes, size) })
}

fn configure(context: &OwnedFd, name: &CStr, value: Option<&str>) -> io::Result<()> {
    let value = value.map(CString::new).transpose().map_err(|_| io::ErrorKind::InvalidInput)?;
    let (command, pointer) = match &value {
        Some(value) => (FSCONFIG_SET_STRING, value.as_ptr()),
        None => (FSCONFIG_SET_FLAG, std::ptr::null()),
    };
    // SAFETY: name and value are C strings that outlive the call; a flag takes no value.
    done(unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), command, name.as_ptr(), pointer, 0) })
}

fn c_string(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn done(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    done(result)?;
    let number = i32::try_from(result).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
