//! Places in the new root: folders, files and links made below one open folder, never through a link, so that what a
//! candidate planted in a bound folder cannot lead us out of it.

use nix::fcntl::{AtFlags, OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{Gid, Uid, fchownat, symlinkat};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

/// The new root, while it is built.
#[derive(Debug)]
pub(super) struct NewRoot(OwnedFd);

impl NewRoot {
    /// Of an open folder.
    pub(super) fn of(folder: OwnedFd) -> Self {
        Self(folder)
    }

    /// The folder itself.
    pub(super) fn folder(&self) -> &OwnedFd {
        &self.0
    }

    /// The folder at this path, made where it is missing, with its parents.
    pub(super) fn dir(&self, at: &Path) -> io::Result<OwnedFd> {
        let mut folder = self.0.try_clone()?;
        for part in at.components() {
            let Component::Normal(name) = part else { continue };
            let name = Path::new(name);
            folder = match step(&folder, name, OFlag::O_DIRECTORY) {
                Err(nix::Error::ENOENT) => {
                    mkdirat(&folder, name, Mode::from_bits_truncate(0o755))?;
                    step(&folder, name, OFlag::O_DIRECTORY)?
                }
                found => found?,
            };
        }
        Ok(folder)
    }

    /// The file at this path, made empty where it is missing, with its parents.
    pub(super) fn file(&self, at: &Path) -> io::Result<OwnedFd> {
        let (folder, name) = self.parent(at)?;
        match step(&folder, &name, OFlag::empty()) {
            Err(nix::Error::ENOENT) => {
                create(&folder, &name)?;
                Ok(step(&folder, &name, OFlag::empty())?)
            }
            found => Ok(found?),
        }
    }

    /// Writes a small file that everybody may read.
    pub(super) fn write(&self, at: &Path, text: &str) -> io::Result<()> {
        let (folder, name) = self.parent(at)?;
        create(&folder, &name)?.write_all(text.as_bytes())
    }

    /// Makes a link.
    pub(super) fn link(&self, at: &Path, target: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(at)?;
        Ok(symlinkat(target, &folder, &name)?)
    }

    /// Makes a folder of this user's alone.
    pub(super) fn private_dir(&self, at: &Path, user: Uid, group: Gid) -> io::Result<()> {
        let (folder, name) = self.parent(at)?;
        mkdirat(&folder, &name, Mode::S_IRWXU)?;
        Ok(fchownat(&folder, &name, Some(user), Some(group), AtFlags::AT_SYMLINK_NOFOLLOW)?)
    }

    fn parent(&self, at: &Path) -> io::Result<(OwnedFd, std::path::PathBuf)> {
        let name = at.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.dir(at.parent().unwrap_or(Path::new("/")))?, name.into()))
    }
}

/// Opens one name as a mere place.
fn step(folder: &OwnedFd, name: &Path, kind: OFlag) -> nix::Result<OwnedFd> {
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | kind)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS);
    openat2(folder.as_fd(), name, how)
}

fn create(folder: &OwnedFd, name: &Path) -> io::Result<File> {
    let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(openat(folder, name, flags, Mode::from_bits_truncate(0o644))?.into())
}
