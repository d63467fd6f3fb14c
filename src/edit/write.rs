//! Writing a file in one step: the old file stands whole until the new one is.
//!
//! Promises: mode and owner stay; a link is never replaced by a file (callers pass the resolved path); a file that
//! changed since it was read is not overwritten; a file with several names keeps them all, which costs it the single
//! step. Does not know what the bytes mean.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file was not written. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It is not what was read.
    #[error("{} has changed since it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// It is there already.
    #[error("{} exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Its mode allows nobody to write.
    #[error("{} is read-only for everyone", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The disk said no.
    #[error("could not {action} {}: {source}", path.display())]
    Disk {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Put `new` in the place of `old`, which is what was read.
pub fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<(), WriteError> {
    let disk = |action, source| WriteError::Disk { action, path: path.to_owned(), source };
    let metadata = fs::symlink_metadata(path).map_err(|source| disk("look at", source))?;
    if !metadata.is_file() {
        return Err(WriteError::Changed { path: path.to_owned() });
    }
    if is_read_only(&metadata) {
        return Err(WriteError::ReadOnly { path: path.to_owned() });
    }
    let unchanged = || -> Result<(), WriteError> {
        let now = fs::read(path).map_err(|source| disk("read again", source))?;
        if now == old { Ok(()) } else { Err(WriteError::Changed { path: path.to_owned() }) }
    };
    unchanged()?;
    if names_of(&metadata) > 1 {
        return in_place(path, new).map_err(|source| disk("write", source));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut temporary = temporary_in(folder, Mode::Private).map_err(|source| disk("make a file beside", source))?;
    temporary.write_all(new).map_err(|source| disk("write beside", source))?;
    temporary
        .as_file()
        .set_permissions(metadata.permissions())
        .map_err(|source| disk("set the mode beside", source))?;
    if !same_owner(temporary.as_file(), &metadata) {
        // Someone else's file stays theirs: it is written through instead of replaced.
        return in_place(path, new).map_err(|source| disk("write", source));
    }
    temporary.as_file().sync_all().map_err(|source| disk("flush beside", source))?;
    unchanged()?;
    temporary.persist(path).map_err(|error| disk("rename over", error.error))?;
    sync_folder(folder).map_err(|source| disk("flush the folder of", source))
}

/// Make a file that is not there, and the folders above it.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let disk = |action, source| WriteError::Disk { action, path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|source| disk("make the folder of", source))?;
    let mut temporary = temporary_in(folder, Mode::OfNewFiles).map_err(|source| disk("make a file beside", source))?;
    temporary.write_all(bytes).map_err(|source| disk("write beside", source))?;
    temporary.as_file().sync_all().map_err(|source| disk("flush beside", source))?;
    match temporary.persist_noclobber(path) {
        Ok(_) => sync_folder(folder).map_err(|source| disk("flush the folder of", source)),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(WriteError::Exists { path: path.to_owned() })
        }
        Err(error) => Err(disk("name", error.error)),
    }
}

enum Mode {
    /// For its maker alone, until it has the mode of the file that it replaces.
    Private,
    /// What the process gives to any new file.
    OfNewFiles,
}

fn temporary_in(folder: &Path, mode: Mode) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".selfsmith-").suffix(".tmp");
    #[cfg(unix)]
    if let Mode::OfNewFiles = mode {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

fn in_place(path: &Path, new: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(new)?;
    file.set_len(u64::try_from(new.len()).unwrap_or(u64::MAX))?;
    file.sync_all()
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(unix)]
fn names_of(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn names_of(_: &fs::Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn is_read_only(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o222 == 0
}

#[cfg(not(unix))]
fn is_read_only(metadata: &fs::Metadata) -> bool {
    metadata.permissions().readonly()
}

/// Whether the new file has, or could be given, the owner and group of the old.
#[cfg(unix)]
fn same_owner(file: &File, wanted: &fs::Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, fchown};
    let Ok(have) = file.metadata() else { return false };
    let same = have.uid() == wanted.uid() && have.gid() == wanted.gid();
    // Changing the owner may clear bits of the mode, so the mode is set once more.
    same || (fchown(file, Some(wanted.uid()), Some(wanted.gid())).is_ok()
        && file.set_permissions(wanted.permissions()).is_ok())
}

#[cfg(not(unix))]
fn same_owner(_: &File, _: &fs::Metadata) -> bool {
    true
}
