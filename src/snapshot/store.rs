//! Contents of files by their digest, a file each, readable by their owner alone.
//!
//! Promises that what [`Store::get`] gives has the digest that was asked for: a torn or lost content is none. A content is
//! written aside and renamed, so that a kill leaves no half of one. It outlives this program, not a loss of power.

use super::entry::Digest;
use std::collections::HashSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a small file takes on most disks.
const BLOCK: u64 = 4096;

/// A folder of contents.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    names: AtomicU64,
}

impl Store {
    /// In that folder, which is made with the first content.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, names: AtomicU64::new(0) }
    }

    /// Whether there is any.
    pub fn exists(&self) -> bool {
        self.folder.is_dir()
    }

    /// Keeps a content.
    ///
    /// # Errors
    /// The disk says no.
    pub fn keep(&self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(bytes);
        let path = self.path(digest);
        if fs::metadata(&path).is_ok_and(|metadata| metadata.len() == bytes.len() as u64) {
            return Ok(digest);
        }
        let number = self.names.fetch_add(1, Ordering::Relaxed);
        let aside = self.folder.join(format!("new-{}-{number}", std::process::id()));
        let write = || {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
            file.write_all(bytes)
        };
        if let Err(error) = write() {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            private_folder(&self.folder)?;
            write()?;
        }
        if fs::rename(&aside, &path).is_err() {
            private_folder(path.parent().unwrap_or(&self.folder))?;
            fs::rename(&aside, &path)?;
        }
        Ok(digest)
    }

    /// A content; none where it is lost or is not what it was.
    pub fn get(&self, digest: Digest) -> Option<Vec<u8>> {
        fs::read(self.path(digest)).ok().filter(|bytes| Digest::of(bytes) == digest)
    }

    /// Drops every content but these; bytes that are left. Nobody else may be using the store.
    pub fn sweep(&self, wanted: &HashSet<Digest>) -> io::Result<u64> {
        let mut left = 0;
        for entry in entries(&self.folder)? {
            let path = entry.path();
            if !entry.file_type()?.is_dir() {
                fs::remove_file(&path)?;
                continue;
            }
            for content in entries(&path)? {
                let name = format!("{}{}", entry.file_name().to_string_lossy(), content.file_name().to_string_lossy());
                if Digest::try_from(name).is_ok_and(|digest| wanted.contains(&digest)) {
                    left += content.metadata()?.len().next_multiple_of(BLOCK);
                } else {
                    fs::remove_file(content.path())?;
                }
            }
        }
        Ok(left)
    }

    /// Bytes that all contents take, about.
    pub fn size(&self) -> u64 {
        let folders = entries(&self.folder).unwrap_or_default();
        let contents = folders.iter().flat_map(|folder| entries(&folder.path()).unwrap_or_default());
        contents.filter_map(|content| Some(content.metadata().ok()?.len().next_multiple_of(BLOCK))).sum()
    }

    fn path(&self, digest: Digest) -> PathBuf {
        let hex = digest.hex();
        let (folder, name) = hex.split_at_checked(2).unwrap_or(("", &hex));
        self.folder.join(folder).join(name)
    }
}

/// Makes a folder that its owner alone can enter.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_kept_once_and_a_torn_one_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path().join("contents"));
        let digest = store.keep(b"hello").expect("kept");
        assert_eq!(store.keep(b"hello").expect("kept"), digest);
        assert_eq!(store.get(digest).as_deref(), Some(&b"hello"[..]));
        fs::write(store.path(digest), "hell").expect("torn");
        assert_eq!(store.get(digest), None);
        store.keep(b"hello").expect("kept anew");
        assert_eq!(store.get(digest).as_deref(), Some(&b"hello"[..]));
    }

    #[test]
    fn a_sweep_leaves_what_is_wanted() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path().join("contents"));
        let (one, two) = (store.keep(b"one").expect("kept"), store.keep(b"two").expect("kept"));
        assert_eq!(store.size(), 2 * BLOCK);
        assert_eq!(store.sweep(&HashSet::from([two])).expect("swept"), BLOCK);
        assert_eq!((store.get(one), store.get(two).as_deref()), (None, Some(&b"two"[..])));
    }
}
