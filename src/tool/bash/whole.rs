//! The whole output of a command in a file, once it is more than the model is shown.
//!
//! The files lie in a temporary folder that only the person can enter and that goes with the session. Bounded: what comes
//! after [`MOST`] bytes is not written, and that is said.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// Bytes of one file.
const MOST: u64 = 1 << 30;

/// Where the files lie.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    folder: OnceLock<Option<TempDir>>,
    files: AtomicU64,
}

/// One command's output.
#[derive(Debug)]
pub(super) struct Whole {
    /// Bytes until it is worth a file.
    limit: usize,
    first: Vec<u8>,
    file: Option<(PathBuf, File)>,
    written: u64,
    total: u64,
    lost: bool,
}

impl Outputs {
    fn create(&self) -> Option<(PathBuf, File)> {
        let folder =
            self.folder.get_or_init(|| tempfile::Builder::new().prefix("selfsmith-").tempdir().ok()).as_ref()?;
        let number = self.files.fetch_add(1, Ordering::Relaxed) + 1;
        let path = folder.path().join(format!("output-{number}.txt"));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
        Some((path, file))
    }
}

impl Whole {
    /// Nothing yet; `limit` bytes are shown anyway.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, first: Vec::new(), file: None, written: 0, total: 0, lost: false }
    }

    /// More output.
    pub(super) fn push(&mut self, bytes: &[u8], outputs: &Outputs) {
        self.total += bytes.len() as u64;
        if self.lost {
            return;
        }
        if self.file.is_none() {
            self.first.extend(bytes);
            if self.first.len() <= self.limit {
                return;
            }
            self.file = outputs.create();
            let first = std::mem::take(&mut self.first);
            self.write(&first);
        } else {
            self.write(bytes);
        }
    }

    /// A line that names the file, where there is one.
    pub(super) fn told(&self) -> Option<String> {
        let (path, _) = self.file.as_ref()?;
        let (path, total) = (path.display(), self.total);
        Some(if self.lost {
            format!("[the first {} of {total} bytes of output: {path}]\n", self.written)
        } else {
            format!("[the whole output, {total} bytes: {path}]\n")
        })
    }

    fn write(&mut self, bytes: &[u8]) {
        let room = usize::try_from(MOST - self.written).unwrap_or(usize::MAX).min(bytes.len());
        let (bytes, over) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        let written = self.file.as_mut().is_some_and(|(_, file)| file.write_all(bytes).is_ok());
        if written {
            self.written += bytes.len() as u64;
        }
        self.lost = !written || !over.is_empty();
    }
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
        let (path, _) = whole.file.as_ref().expect("a file");
        assert_eq!(std::fs::read(path).expect("it reads"), b"12345678");
        assert!(whole.told().is_some_and(|told| told.contains("8 bytes")));
        let folder = path.parent().expect("a folder").to_owned();
        drop(outputs);
        assert!(!folder.exists());
    }
}
