//! Writing a file in one step: the old file stands whole until the new one is.
//!
//! Promises: mode, owner, access list and extended attributes stay; a link is never replaced by a file (callers pass the
//! resolved path); a file that changed since it was read is not overwritten; other names of the file (hard links), which may
//! lie anywhere, keep the old bytes. Only a file whose owner or attributes a new one could not have is written through, with
//! a copy of it kept until that has succeeded. Does not know what the bytes mean.

use super::pin::Pin;
use crate::attributes;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a person should know of a file that was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Nothing.
    Plainly,
    /// It had other names, and they keep the old bytes.
    ApartFromOtherNames,
}

/// Why a file was not written. Unless it says otherwise, the file is as it was.
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
    /// It was written through, that failed, and so did putting the old bytes back.
    #[error(
        "could not write {}: {source}; it could not be put back either: its old bytes are in {}",
        path.display(), copy.display()
    )]
    Torn {
        /// The file.
        path: PathBuf,
        /// Where its old bytes are.
        copy: PathBuf,
        /// Why it was not written.
        source: io::Error,
    },
    /// Some files of a set were written, some not, and the first could not be brought back.
    #[error("could not write {}: {source}; other files of this call hold the new text already", path.display())]
    Partly {
        /// The file that was not.
        path: PathBuf,
        /// Why not.
        source: io::Error,
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

impl WriteError {
    /// The same of the path that people know.
    fn of(self, known: &Path) -> Self {
        let path = known.to_owned();
        match self {
            Self::Changed { .. } => Self::Changed { path },
            Self::Exists { .. } => Self::Exists { path },
            Self::ReadOnly { .. } => Self::ReadOnly { path },
            // The copy lies in the same folder, which is known by its name, too.
            Self::Torn { copy, source, .. } => {
                Self::Torn { copy: known.with_file_name(copy.file_name().unwrap_or_default()), path, source }
            }
            Self::Partly { source, .. } => Self::Partly { path, source },
            Self::Disk { action, source, .. } => Self::Disk { action, path, source },
        }
    }
}

/// Hold the folder of a file, so that a link that takes its place leads nowhere.
fn pinned(path: &Path) -> Result<Pin, WriteError> {
    Pin::of(path).map_err(|source| WriteError::Disk { action: "find the folder of", path: path.to_owned(), source })
}

/// Put `new` in the place of `old`, which is what was read.
pub fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<Written, WriteError> {
    let disk = |action, source| WriteError::Disk { action, path: path.to_owned(), source };
    let pin = pinned(path)?;
    let at = pin.path();
    let metadata = writable(&at).map_err(|error| error.of(path))?;
    still(&at, old).map_err(|error| error.of(path))?;
    let folder = pin.folder();
    let mut temporary = temporary_in(folder, Mode::Private).map_err(|source| disk("make a file beside", source))?;
    temporary.write_all(new).map_err(|source| disk("write beside", source))?;
    temporary
        .as_file()
        .set_permissions(metadata.permissions())
        .map_err(|source| disk("set the mode beside", source))?;
    if !same_owner(temporary.as_file(), &metadata) || !same_attributes(temporary.as_file(), &at) {
        // Someone else's file stays theirs: it is written through instead of replaced.
        drop(temporary);
        through(&at, old, new, in_place).map_err(|error| error.of(path))?;
        return Ok(Written::Plainly);
    }
    temporary.as_file().sync_all().map_err(|source| disk("flush beside", source))?;
    still(&at, old).map_err(|error| error.of(path))?;
    temporary.persist(&at).map_err(|error| disk("rename over", error.error))?;
    sync_folder(folder).map_err(|source| disk("flush the folder of", source))?;
    Ok(apart(&metadata))
}

/// What a replaced file leaves behind.
pub(super) fn apart(metadata: &fs::Metadata) -> Written {
    if names_of(metadata) > 1 { Written::ApartFromOtherNames } else { Written::Plainly }
}

/// What is known of a file that may be written.
pub(super) fn writable(path: &Path) -> Result<fs::Metadata, WriteError> {
    let metadata = fs::symlink_metadata(path).map_err(|source| WriteError::Disk {
        action: "look at",
        path: path.to_owned(),
        source,
    })?;
    if !metadata.is_file() {
        return Err(WriteError::Changed { path: path.to_owned() });
    }
    if is_read_only(&metadata) {
        return Err(WriteError::ReadOnly { path: path.to_owned() });
    }
    Ok(metadata)
}

/// Whether a file is what was read.
pub(super) fn still(path: &Path, old: &[u8]) -> Result<(), WriteError> {
    let now =
        fs::read(path).map_err(|source| WriteError::Disk { action: "read again", path: path.to_owned(), source })?;
    if now == old { Ok(()) } else { Err(WriteError::Changed { path: path.to_owned() }) }
}

/// Make a file that is not there, and the folders above it.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let disk = |action, source| WriteError::Disk { action, path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|source| disk("make the folder of", source))?;
    let pin = pinned(path)?;
    let folder = pin.folder();
    let mut temporary = temporary_in(folder, Mode::OfNewFiles).map_err(|source| disk("make a file beside", source))?;
    temporary.write_all(bytes).map_err(|source| disk("write beside", source))?;
    temporary.as_file().sync_all().map_err(|source| disk("flush beside", source))?;
    match temporary.persist_noclobber(pin.path()) {
        Ok(_) => sync_folder(folder).map_err(|source| disk("flush the folder of", source)),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(WriteError::Exists { path: path.to_owned() })
        }
        Err(error) => Err(disk("name", error.error)),
    }
}

/// Remove a file that still is what was read.
pub fn remove(path: &Path, old: &[u8]) -> Result<(), WriteError> {
    let pin = pinned(path)?;
    let at = pin.path();
    writable(&at).map_err(|error| error.of(path))?;
    still(&at, old).map_err(|error| error.of(path))?;
    let disk = |action, source| WriteError::Disk { action, path: path.to_owned(), source };
    fs::remove_file(&at).map_err(|source| disk("remove", source))?;
    sync_folder(pin.folder()).map_err(|source| disk("flush the folder of", source))
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

/// Write through a file that cannot be replaced: first a copy of it, then the new bytes, the old ones again on failure.
fn through(
    path: &Path,
    old: &[u8],
    new: &[u8],
    write: impl Fn(&Path, &[u8]) -> io::Result<()>,
) -> Result<(), WriteError> {
    let disk = |action, source| WriteError::Disk { action, path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut copy = temporary_in(folder, Mode::Private).map_err(|source| disk("make a copy beside", source))?;
    copy.write_all(old)
        .and_then(|()| copy.as_file().sync_all())
        .map_err(|source| disk("write a copy beside", source))?;
    let Err(source) = write(path, new) else { return Ok(()) };
    if write(path, old).is_ok() {
        return Err(disk("write", source));
    }
    let place = copy.path().to_owned();
    // What cannot be kept is removed with the error that says so; there is no third place.
    let copy = copy.keep().map_or(place, |(_, kept)| kept);
    Err(WriteError::Torn { path: path.to_owned(), copy, source })
}

pub(super) fn in_place(path: &Path, new: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // A link that came into the file's place meanwhile leads nowhere.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::libc::O_NOFOLLOW);
    let mut file = options.write(true).open(path)?;
    file.write_all(new)?;
    file.set_len(u64::try_from(new.len()).unwrap_or(u64::MAX))?;
    file.sync_all()
}

pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
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
pub(super) fn same_owner(file: &File, wanted: &fs::Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, fchown};
    let Ok(have) = file.metadata() else { return false };
    let same = have.uid() == wanted.uid() && have.gid() == wanted.gid();
    // Changing the owner may clear bits of the mode, so the mode is set once more.
    same || (fchown(file, Some(wanted.uid()), Some(wanted.gid())).is_ok()
        && file.set_permissions(wanted.permissions()).is_ok())
}

/// Whether the new file has, or could be given, what hangs on the old one: access lists, labels, notes.
pub(super) fn same_attributes(file: &File, old: &Path) -> bool {
    File::open(old).is_ok_and(|old| attributes::copy(&old, file))
}

#[cfg(not(unix))]
pub(super) fn same_owner(_: &File, _: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        fs::write(&path, text).expect("a file");
        (folder, path)
    }

    fn names(folder: &tempfile::TempDir) -> usize {
        fs::read_dir(folder.path()).expect("the folder").count()
    }

    #[cfg(unix)]
    #[test]
    fn other_names_of_a_file_keep_the_old_bytes() {
        let (folder, path) = file("old");
        let other = folder.path().join("b");
        fs::hard_link(&path, &other).expect("a link");
        assert_eq!(replace(&path, b"old", b"new").expect("it is written"), Written::ApartFromOtherNames);
        assert_eq!(fs::read(&path).expect("a"), b"new");
        assert_eq!(fs::read(&other).expect("b"), b"old");
        assert_eq!(replace(&path, b"new", b"newer").expect("it is written"), Written::Plainly);
        assert_eq!(names(&folder), 2);
    }

    #[cfg(unix)]
    #[test]
    fn what_hangs_on_a_file_stays() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let (_folder, path) = file("old");
        // A file system without attributes has none to lose.
        if setxattr(&path, "user.origin", b"here", XattrFlags::empty()).is_err() {
            return;
        }
        replace(&path, b"old", b"new").expect("it is written");
        let mut value = [0; 16];
        let length = getxattr(&path, "user.origin", value.as_mut_slice()).expect("it is still there");
        assert_eq!(value.get(..length), Some(b"here".as_slice()));
    }

    #[test]
    fn a_file_written_through_is_as_it_was_when_that_fails() {
        let (folder, path) = file("the old text");
        let full = |path: &Path, bytes: &[u8]| {
            if bytes == b"new" {
                fs::write(path, "n").and(Err(io::Error::other("full")))
            } else {
                in_place(path, bytes)
            }
        };
        let error = through(&path, b"the old text", b"new", full).expect_err("the disk is full");
        assert!(matches!(error, WriteError::Disk { .. }), "{error}");
        assert_eq!(fs::read(&path).expect("a"), b"the old text");
        assert_eq!(names(&folder), 1);
        through(&path, b"the old text", b"new", in_place).expect("there is room");
        assert_eq!(fs::read(&path).expect("a"), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let (folder, path) = file("theirs");
        let link = folder.path().join("b");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert!(in_place(&link, b"ours").is_err());
        assert_eq!(fs::read(&path).expect("a"), b"theirs");
    }

    #[test]
    fn the_old_bytes_survive_a_disk_that_takes_nothing_more() {
        let (_folder, path) = file("old");
        let broken = |path: &Path, _: &[u8]| fs::write(path, "").and(Err(io::Error::other("broken")));
        let error = through(&path, b"old", b"new", broken).expect_err("the disk is broken");
        let WriteError::Torn { copy, .. } = error else { panic!("{error}") };
        assert_eq!(fs::read(copy).expect("the copy"), b"old");
    }
}
