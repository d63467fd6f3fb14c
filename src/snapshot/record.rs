//! What turns changed, a line of JSON each, only ever appended to; and the turn that is under way.
//!
//! A torn last line is dropped, as is any line that cannot be read: the turns around it can still be undone. A turn under
//! way has a file of its own, locked as long as its session lives, so that a turn whose session was killed is found.

use super::entry::{Entry, Rel};
use super::store::private_folder;
use super::tree::Change;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Bytes of records that are read.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

/// What an undo is about to do.
const UNDOING: &str = "undoing.json";

/// Which turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The session's id.
    pub session: String,
    /// Where the prompt stands in the conversation: the index of its message.
    pub message: usize,
    /// The turn, from 1 within its prompt.
    pub turn: u32,
    /// When it began, in milliseconds since the UNIX epoch.
    pub at: u64,
}

/// Who made changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The turn, as far as one can know.
    #[default]
    Turn,
    /// A background job, or somebody else while it ran.
    Job,
    /// A turn whose session was ended in the middle of it, or somebody else since.
    Killed,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// A turn changed something.
    Turn {
        /// Which.
        label: Label,
        /// Who.
        #[serde(default)]
        author: Author,
        /// What.
        changes: Vec<Change>,
        /// Paths of these that file tools changed: no other session takes them for its own.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<Rel>,
    },
    /// Turns were undone.
    Undone {
        /// When, in milliseconds since the UNIX epoch.
        at: u64,
        /// Which.
        turns: Vec<(Label, Author)>,
        /// What that changed.
        #[serde(default)]
        changes: Vec<Change>,
    },
    /// The last undo that was not done again is.
    Redone {
        /// When, in milliseconds since the UNIX epoch.
        at: u64,
    },
}

/// A turn under way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// Which.
    pub label: Label,
    /// Whether the whole workspace was looked at before it.
    pub whole: bool,
    /// Single paths that were looked at.
    pub files: BTreeMap<String, (Rel, Option<Entry>)>,
    /// Paths that file tools were to change.
    #[serde(default)]
    pub tools: BTreeSet<Rel>,
}

impl Open {
    /// Paths of these changes that file tools made.
    pub fn by_tools(&self, changes: &[Change]) -> Vec<Rel> {
        let paths = changes.iter().map(|change| &change.path);
        paths.filter(|path| self.tools.contains(path)).cloned().collect()
    }
}

/// The records of a workspace.
#[derive(Debug)]
pub struct Records {
    folder: PathBuf,
}

/// The file of a turn under way, locked.
#[derive(Debug)]
pub struct OpenFile {
    path: PathBuf,
    file: File,
}

impl Records {
    /// In that folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Adds a line, in one piece.
    pub fn append(&self, record: &Record) -> io::Result<()> {
        private_folder(&self.folder)?;
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(self.path())?;
        file.write_all(&line)
    }

    /// Every line that can be read, oldest first.
    pub fn read(&self) -> io::Result<Vec<Record>> {
        let file = match File::open(self.path()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Paths that file tools of other sessions changed since the records were that long, or may be changing now.
    pub fn of_others(&self, session: &str, from: u64) -> HashSet<Rel> {
        let mut text = Vec::new();
        if let Ok(mut file) = File::open(self.path())
            && self.size() > from
            && file.seek(SeekFrom::Start(from)).is_ok()
        {
            // What cannot be read is nobody else's.
            let _ = file.take(MAX_BYTES).read_to_end(&mut text);
        }
        let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        let done = lines.filter_map(|record| match record {
            Record::Turn { label, tools, .. } if label.session != session => Some(tools),
            Record::Turn { .. } | Record::Undone { .. } | Record::Redone { .. } => None,
        });
        let under_way = self.under_way().filter_map(|path| serde_json::from_slice::<Open>(&fs::read(path).ok()?).ok());
        let others = under_way.filter(|open| open.label.session != session);
        let now = others.flat_map(|open| open.tools);
        done.flatten().chain(now).collect()
    }

    fn under_way(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let under_way = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("under-way-"));
        under_way.map(|entry| entry.path())
    }

    /// Puts these in the place of all.
    pub fn replace(&self, records: &[Record]) -> io::Result<()> {
        let mut text = Vec::new();
        for record in records {
            serde_json::to_writer(&mut text, record)?;
            text.push(b'\n');
        }
        let aside = self.folder.join("turns.new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
        file.write_all(&text)?;
        fs::rename(&aside, self.path())
    }

    /// Bytes of all lines.
    pub fn size(&self) -> u64 {
        fs::metadata(self.path()).map_or(0, |metadata| metadata.len())
    }

    /// Says that a turn is under way.
    pub fn open(&self, open: &Open) -> io::Result<OpenFile> {
        private_folder(&self.folder)?;
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = open.label.session.chars().map(plain).take(80).collect();
        let path = self.folder.join(format!("under-way-{name}-{}", std::process::id()));
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        // A file system without locks only costs the finding of turns that were killed.
        let _ = file.try_lock();
        let mut file = OpenFile { path, file };
        file.write(open)?;
        Ok(file)
    }

    /// Turns whose sessions are gone; their files are locked by us now.
    pub fn abandoned(&self) -> Vec<(Open, OpenFile)> {
        let found = self.under_way().filter_map(|path| {
            let mut file = OpenOptions::new().read(true).write(true).open(&path).ok()?;
            file.try_lock().ok()?;
            let mut text = Vec::new();
            file.read_to_end(&mut text).ok()?;
            match serde_json::from_slice(&text) {
                Ok(open) => Some((open, OpenFile { path, file })),
                // It was killed before it had said anything, and so before anything ran.
                Err(_) => {
                    let _ = fs::remove_file(&path);
                    None
                }
            }
        });
        found.collect()
    }

    /// Says what an undo is about to do.
    pub fn begin_undoing(&self, changes: &[Change]) -> io::Result<()> {
        fs::write(self.folder.join(UNDOING), serde_json::to_vec(changes)?)
    }

    /// What an undo was about to do that was killed.
    pub fn undoing(&self) -> Vec<Change> {
        let text = fs::read(self.folder.join(UNDOING)).unwrap_or_default();
        // One that was killed before it had said this has done nothing.
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// It is done.
    pub fn end_undoing(&self) {
        // Left behind, it leads to nothing: what lies beside is gone.
        let _ = fs::remove_file(self.folder.join(UNDOING));
    }

    /// Nobody else may undo, sweep or resume while this lives.
    pub fn alone(&self) -> io::Result<File> {
        private_folder(&self.folder)?;
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(self.folder.join("lock"))?;
        file.lock()?;
        Ok(file)
    }

    /// Held by every session that keeps snapshots here, shared.
    pub fn alive(&self) -> io::Result<File> {
        private_folder(&self.folder)?;
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(self.folder.join("live"))?;
        file.lock_shared()?;
        Ok(file)
    }

    fn path(&self) -> PathBuf {
        self.folder.join("turns.jsonl")
    }
}

impl OpenFile {
    /// Says it anew.
    pub fn write(&mut self, open: &Open) -> io::Result<()> {
        let text = serde_json::to_vec(open)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&text)?;
        self.file.set_len(text.len() as u64)
    }

    /// The turn is over, and written down.
    pub fn close(self) {
        // Left behind it would be taken for a turn that was killed, whose changes are known already: nothing comes of it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Which records are undos that stand: each that was done again is none.
fn standing(records: &[Record]) -> Vec<usize> {
    let mut standing = Vec::new();
    for (n, record) in records.iter().enumerate() {
        match record {
            Record::Undone { .. } => standing.push(n),
            Record::Redone { .. } => {
                // One without its undo: that went with the oldest records.
                let _ = standing.pop();
            }
            Record::Turn { .. } => {}
        }
    }
    standing
}

/// An undo: which turns it took back, and what it changed.
pub type Undo<'a> = (&'a [(Label, Author)], &'a [Change]);

/// The last undo that can be done again.
pub fn redoable(records: &[Record]) -> Option<Undo<'_>> {
    let last = records.get(*standing(records).last()?)?;
    if let Record::Undone { turns, changes, .. } = last { Some((turns.as_slice(), changes.as_slice())) } else { None }
}

/// The labels of turns that can be undone, newest first, with what they changed.
pub fn undoable(records: &[Record]) -> Vec<(&Label, Author, &[Change])> {
    let key = |label: &Label, author: Author| (label.session.clone(), label.at, label.turn, author);
    let undone: HashSet<_> = standing(records)
        .into_iter()
        .filter_map(|n| if let Some(Record::Undone { turns, .. }) = records.get(n) { Some(turns) } else { None })
        .flatten()
        .map(|(label, author)| key(label, *author))
        .collect();
    let turns = records.iter().rev().filter_map(|record| match record {
        Record::Turn { label, author, changes, .. } if !undone.contains(&key(label, *author)) => {
            Some((label, *author, changes.as_slice()))
        }
        Record::Turn { .. } | Record::Undone { .. } | Record::Redone { .. } => None,
    });
    turns.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(at: u64) -> Record {
        let label = Label { session: "s".to_owned(), message: 1, turn: 1, at };
        Record::Turn { label, author: Author::Turn, changes: Vec::new(), tools: Vec::new() }
    }

    #[test]
    fn lines_read_back_and_a_torn_one_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let records = Records::new(folder.path().join("r"));
        assert_eq!(records.read().expect("none"), []);
        records.append(&turn(1)).expect("appended");
        records.append(&turn(2)).expect("appended");
        let bytes = fs::read(records.path()).expect("the file");
        fs::write(records.path(), bytes.get(..bytes.len() - 3).expect("within")).expect("torn");
        assert_eq!(records.read().expect("read"), [turn(1)]);
    }

    #[test]
    fn what_was_undone_is_not_undoable() {
        let Record::Turn { label, .. } = turn(2) else { return };
        let records = [turn(1), turn(2), undone(label)];
        assert_eq!(undoable(&records).iter().map(|(label, ..)| label.at).collect::<Vec<_>>(), [1]);
    }

    fn undone(label: Label) -> Record {
        Record::Undone { at: 3, turns: vec![(label, Author::Turn)], changes: Vec::new() }
    }

    #[test]
    fn an_undo_that_was_done_again_leaves_the_one_before_it() {
        let Record::Turn { label: first, .. } = turn(1) else { return };
        let Record::Turn { label: second, .. } = turn(2) else { return };
        let mut records = vec![turn(1), turn(2), undone(second), undone(first), Record::Redone { at: 5 }];
        assert_eq!(undoable(&records).iter().map(|(label, ..)| label.at).collect::<Vec<_>>(), [1]);
        let redoable_at = |records: &[Record]| redoable(records).map(|(turns, _)| turns.first().map(|(l, _)| l.at));
        assert_eq!(redoable_at(&records), Some(Some(2)));
        records.push(Record::Redone { at: 6 });
        assert_eq!((redoable_at(&records), undoable(&records).len()), (None, 2));
    }

    #[test]
    fn a_turn_is_abandoned_only_once_nobody_holds_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let records = Records::new(folder.path().to_owned());
        let open = Open { whole: true, ..Open::default() };
        let held = records.open(&open).expect("opened");
        assert!(records.abandoned().is_empty());
        drop(held);
        assert_eq!(records.abandoned().into_iter().map(|(open, _)| open).collect::<Vec<_>>(), [open]);
    }
}
