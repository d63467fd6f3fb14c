//! What was typed before: kept in a file, one entry a line, without secrets.
//!
//! Line ends inside an entry are written as `<\n>`, as earlier versions did, so their files go on. Several programs may
//! append at once: an entry goes out in one write. Whoever cannot write keeps the entries of this run.

use selfsmith_agent::redact::Redactor;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Entries that are kept.
const MAX_ENTRIES: usize = 2000;
/// Bytes of one entry; longer ones are not kept.
const MAX_ENTRY: usize = 64 * 1024;
/// Bytes of the file that are read, from its end.
const MAX_FILE: usize = 8 * 1024 * 1024;
const LINE_END: &str = "<\\n>";

/// The entries, oldest first.
#[derive(Debug)]
pub struct History {
    path: Option<PathBuf>,
    redactor: Redactor,
    entries: Vec<String>,
}

impl History {
    /// Read a file; it need not exist.
    pub fn open(path: Option<&Path>, redactor: Redactor) -> Self {
        let bytes = path.and_then(|path| fs::read(path).ok()).unwrap_or_default();
        let tail = bytes.get(bytes.len().saturating_sub(MAX_FILE)..).unwrap_or_default();
        let text = String::from_utf8_lossy(tail);
        let mut entries: Vec<String> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            entries.push(line.replace(LINE_END, "\n"));
        }
        let history = Self { path: path.map(Path::to_owned), redactor, entries };
        history.shortened()
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Keep an entry, unless it begins with a blank or repeats the last one.
    pub fn add(&mut self, entry: &str) {
        let entry = self.redactor.text(entry).into_owned();
        let unwanted = entry.trim().is_empty() || entry.starts_with(' ') || entry.len() > MAX_ENTRY;
        if unwanted || self.entries.last() == Some(&entry) {
            return;
        }
        if let Some(path) = &self.path {
            // A history that cannot be written is no reason to stop a person from working.
            let _ = append(path, &format!("{}\n", entry.replace('\n', LINE_END)));
        }
        self.entries.push(entry);
    }

    /// The newest entry before `from` that holds a text, and its number.
    pub fn find(&self, text: &str, from: usize) -> Option<(usize, &str)> {
        let earlier = self.entries.get(..from.min(self.entries.len())).unwrap_or_default();
        let text = text.to_lowercase();
        let found = earlier.iter().enumerate().rev().find(|(_, entry)| entry.to_lowercase().contains(&text));
        found.map(|(n, entry)| (n, entry.as_str()))
    }

    /// A file that outgrew its bound is written anew, in one step.
    fn shortened(mut self) -> Self {
        if self.entries.len() <= MAX_ENTRIES * 2 {
            return self;
        }
        self.entries.drain(..self.entries.len() - MAX_ENTRIES);
        if let Some(path) = &self.path {
            let text: String = self.entries.iter().map(|entry| entry.replace('\n', LINE_END) + "\n").collect();
            let beside = path.with_extension("new");
            let _ = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
        }
        self
    }
}

fn append(path: &Path, line: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_outlive_the_program_with_their_lines_and_without_secrets() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/history");
        let redactor = Redactor::new(["hunter2hunter2".to_owned()]);
        let mut history = History::open(Some(&path), redactor.clone());
        for entry in ["one", "two\nlines", "two\nlines", " private", "use hunter2hunter2", ""] {
            history.add(entry);
        }
        let again = History::open(Some(&path), redactor);
        assert_eq!(again.entries(), ["one", "two\nlines", "use [redacted]"]);
        assert_eq!(again.find("LINE", 3), Some((1, "two\nlines")));
        assert_eq!(again.find("one", 0), None);
    }

    #[test]
    fn a_file_that_outgrew_its_bound_keeps_the_newest() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("history");
        let many: String = (0..5000).map(|n| format!("entry {n}\n")).collect();
        fs::write(&path, many).expect("a file");
        let history = History::open(Some(&path), Redactor::new([]));
        assert_eq!((history.entries().len(), history.entries()[0].as_str()), (MAX_ENTRIES, "entry 3000"));
        assert_eq!(fs::read_to_string(&path).expect("a file").lines().count(), MAX_ENTRIES);
    }
}
