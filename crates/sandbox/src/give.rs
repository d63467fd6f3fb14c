//! Making files the room's user's own.

use crate::error::SandboxError;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The user as whom the room's programs run when the caller is root: one without an entry anywhere.
pub const ROOM_UID: u32 = 64321;

/// Makes a file or a whole folder the room's user's own, so that it can be bound for writing. Links are not followed.
/// Without root the room's user is the caller's own, and nothing changes.
///
/// # Errors
/// Where an owner cannot be changed, with the path.
pub fn give_to_room(path: &Path) -> Result<(), SandboxError> {
    if !nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    give(path).map_err(|(path, source)| SandboxError::Give { path, source })
}

fn give(path: &Path) -> Result<(), (std::path::PathBuf, io::Error)> {
    let here = |error| (path.to_owned(), error);
    let facts = path.symlink_metadata().map_err(here)?;
    if facts.uid() != ROOM_UID || facts.gid() != ROOM_UID {
        std::os::unix::fs::lchown(path, Some(ROOM_UID), Some(ROOM_UID)).map_err(here)?;
    }
    if facts.is_dir() {
        for entry in path.read_dir().map_err(here)? {
            give(&entry.map_err(here)?.path())?;
        }
    }
    Ok(())
}
