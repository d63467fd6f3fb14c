//! What a set of files is about to become, on disk before the first of them changes.
//!
//! Lines of JSON, each flushed before what it announces is done: the files with the names that their new texts will lie
//! under, then that all of those texts are there. A line that is not whole was never written. A folder holds at most one
//! journal, and whoever reads or writes it holds the folder's lock. Does not touch the files it names.

use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "edits.journal";
const LOCK: &str = "edits.lock";
/// Bytes of a journal that are read; a set is far smaller.
const MAX_BYTES: u64 = 16 << 20;

/// One file of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The file.
    pub(super) path: OsString,
    /// Beside it: where its new text lies until it takes the file's place.
    pub(super) beside: OsString,
    /// Digest of the text that it has.
    pub(super) old: [u8; 32],
    /// Digest of the text that it gets.
    pub(super) new: [u8; 32],
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// These texts are being written.
    Begun { files: Vec<Entry> },
    /// All of them are there, so the set will be made; these of them are written through and not renamed.
    Whole { through: Vec<usize> },
    /// All files have their new texts.
    Made,
}

/// A set that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Begun {
    pub(super) files: Vec<Entry>,
    /// Which are written through, once all texts were there.
    pub(super) whole: Option<Vec<usize>>,
    /// Whether all files have their new texts.
    pub(super) made: bool,
}

impl Entry {
    /// Beside it too: its old text, until the whole set is made.
    pub(super) fn kept(&self) -> PathBuf {
        kept_of(&self.beside)
    }
}

/// The name of an old text, from the name of the new one.
pub(super) fn kept_of(beside: &OsStr) -> PathBuf {
    let mut name = beside.to_owned();
    name.push(".old");
    PathBuf::from(name)
}

/// The folder, locked against other processes until this is dropped.
#[derive(Debug)]
pub(super) struct Journal {
    folder: PathBuf,
    _lock: File,
}

impl Journal {
    /// Waits for whoever has it; that is a matter of milliseconds.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK))?;
        lock.lock()?;
        Ok(Self { folder: folder.to_owned(), _lock: lock })
    }

    /// Where there is a journal in a folder.
    pub(super) fn lies_in(folder: &Path) -> bool {
        folder.join(NAME).is_file()
    }

    /// What stands in it, in order.
    pub(super) fn read(&self) -> io::Result<Vec<Begun>> {
        let mut text = Vec::new();
        match File::open(self.path()) {
            Ok(file) => file.take(MAX_BYTES).read_to_end(&mut text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut begun: Vec<Begun> = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            match serde_json::from_slice(line) {
                Ok(Line::Begun { files }) => begun.push(Begun { files, whole: None, made: false }),
                Ok(Line::Whole { through }) => {
                    if let Some(last) = begun.last_mut() {
                        last.whole = Some(through);
                    }
                }
                Ok(Line::Made) => {
                    if let Some(last) = begun.last_mut() {
                        last.made = true;
                    }
                }
                // Nothing was done after a line that did not reach the disk.
                Err(_) => break,
            }
        }
        Ok(begun)
    }

    pub(super) fn begin(&self, files: &[Entry]) -> io::Result<()> {
        self.append(&Line::Begun { files: files.to_vec() })?;
        super::write::sync_folder(&self.folder)
    }

    pub(super) fn whole(&self, through: Vec<usize>) -> io::Result<()> {
        self.append(&Line::Whole { through })
    }

    pub(super) fn made(&self) -> io::Result<()> {
        self.append(&Line::Made)
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        fs::remove_file(self.path())
    }

    fn append(&self, line: &Line) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(self.path())?;
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        file.write_all(&text)?;
        file.sync_data()
    }

    fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }
}
