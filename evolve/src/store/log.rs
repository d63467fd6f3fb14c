//! A durable log: one JSON value a line, each with a checksum chained to the line before, on disk before `append` returns.
//!
//! Promises: what `append` returned for is there after a power cut; a line torn by one is dropped when the log is opened
//! again; damage anywhere else is an error that names file and line, never skipped; one owner at a time (the file itself is
//! locked, so a dead owner frees it). It does not know what its lines mean.

use crate::store::faults::{self, Faults, Half};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Hexadecimal digits of a line's checksum.
const SUM_DIGITS: usize = 16;

/// An open log; dropping it frees it for others.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
    length: u64,
    sum: String,
}

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Another process has it open.
    #[error("open {}: another process is using it", path.display())]
    Busy {
        /// The log.
        path: PathBuf,
    },
    /// A line that is not the last is damaged.
    #[error("read {}, line {line}: {what}", path.display())]
    Damaged {
        /// The log.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// How.
        what: String,
    },
    /// The disk refused.
    #[error("{doing} {}: {source}", path.display())]
    Disk {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl LogError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "wait until the other one has ended",
            Self::Damaged { .. } => "nothing was changed; move the file aside to go on without what it tells",
            Self::Disk { .. } => "check that the folder exists, has room and may be written",
        }
    }
}

impl Drop for Log {
    /// Closing is not enough: a child that another thread is just starting shares the open file until it runs its program.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Log {
    /// Open a log, made if it is not there, and read what it holds. A torn last line is cut off.
    pub fn open<T: DeserializeOwned>(path: &Path) -> Result<(Self, Vec<T>), LogError> {
        let disk = |doing| move |source| LogError::Disk { doing, path: path.to_owned(), source };
        let is_new = !path.exists();
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(disk("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LogError::Busy { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(disk("lock")(source)),
        }
        if is_new && let Some(folder) = path.parent() {
            sync_folder(folder).map_err(disk("write the folder of"))?;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(disk("read"))?;
        let read = parse(path, &bytes)?;
        if (read.good as usize) < bytes.len() {
            file.set_len(read.good).map_err(disk("cut"))?;
            file.sync_all().map_err(disk("write"))?;
        }
        file.seek(SeekFrom::Start(read.good)).map_err(disk("read"))?;
        Ok((Self { file, path: path.to_owned(), length: read.good, sum: read.sum }, read.values))
    }

    /// Append one value; it is on the disk when this returns. `name` is for the faults that tests inject.
    pub fn append<T: Serialize>(&mut self, value: &T, name: &str, faults: &dyn Faults) -> Result<(), LogError> {
        let json = serde_json::to_string(value)
            .map_err(|e| self.disk("write", io::Error::new(io::ErrorKind::InvalidData, e)))?;
        let sum = checksum(&self.sum, &json);
        let line = format!("{sum} {json}\n");
        if let Err(error) = self.write(line.as_bytes(), name, faults) {
            // What is there of it must not stand before a line that is written later. If that fails as well, whoever opens
            // the log next cuts it off.
            let _ = self.file.set_len(self.length).and_then(|()| self.file.seek(SeekFrom::Start(self.length)));
            return Err(self.disk("write", error));
        }
        self.length += line.len() as u64;
        self.sum = sum;
        faults::at(faults, name, "on the disk", Half::Nothing).map_err(|e| self.disk("write", e.into()))
    }

    fn write(&mut self, line: &[u8], name: &str, faults: &dyn Faults) -> io::Result<()> {
        faults::at(faults, name, "before it is written", Half::Nothing)?;
        self.file.write_all(line)?;
        faults::at(faults, name, "written, not on the disk", Half::Bytes(&self.path, self.length))?;
        self.file.sync_data()
    }

    fn disk(&self, doing: &'static str, source: io::Error) -> LogError {
        LogError::Disk { doing, path: self.path.clone(), source }
    }
}

/// Read a log without owning it; a torn last line is left out. A log that is not there is empty.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, LogError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(parse(path, &bytes)?.values),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(LogError::Disk { doing: "read", path: path.to_owned(), source }),
    }
}

/// Read a log that nobody writes: a last line that is torn or damaged is an error like any other. In one that was left by a
/// kill it goes when the log is opened again.
pub fn read_strictly<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, LogError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(LogError::Disk { doing: "read", path: path.to_owned(), source }),
    };
    let parsed = parse(path, &bytes)?;
    if parsed.good == bytes.len() as u64 {
        return Ok(parsed.values);
    }
    let what = "its last line is torn or damaged".to_owned();
    Err(LogError::Damaged { path: path.to_owned(), line: parsed.values.len() + 1, what })
}

/// Write a whole small file so that it is either the old or the new one, whatever happens.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    sync_folder(folder)
}

/// Make a folder's own entries durable.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

struct Parsed<T> {
    values: Vec<T>,
    good: u64,
    sum: String,
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<Parsed<T>, LogError> {
    let mut parsed = Parsed { values: Vec::new(), good: 0, sum: "0".repeat(SUM_DIGITS) };
    let mut rest = bytes;
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let (line, after) = match rest.iter().position(|b| *b == b'\n') {
            Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default()),
            // No line end: torn, whatever it holds.
            None => break,
        };
        match value(line, &parsed.sum) {
            Ok((value, sum)) => {
                parsed.values.push(value);
                parsed.sum = sum;
                parsed.good += line.len() as u64 + 1;
            }
            Err(_) if after.is_empty() => break,
            Err(what) => return Err(LogError::Damaged { path: path.to_owned(), line: number, what }),
        }
        rest = after;
    }
    Ok(parsed)
}

fn value<T: DeserializeOwned>(line: &[u8], before: &str) -> Result<(T, String), String> {
    let line = std::str::from_utf8(line).map_err(|_| "it is not text".to_owned())?;
    let (sum, json) = line.split_once(' ').ok_or("it has no checksum")?;
    if checksum(before, json) != sum {
        return Err("its checksum is wrong".to_owned());
    }
    let value = serde_json::from_str(json).map_err(|e| e.to_string())?;
    Ok((value, sum.to_owned()))
}

fn checksum(before: &str, json: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(before.as_bytes());
    digest.update(json.as_bytes());
    digest.finalize().iter().take(SUM_DIGITS / 2).map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::store::faults::NoFaults;

    fn written(dir: &Path, values: &[&str]) -> PathBuf {
        let path = dir.join("log");
        let (mut log, _) = Log::open::<String>(&path).unwrap();
        for value in values {
            log.append(value, "test", &NoFaults).unwrap();
        }
        path
    }

    #[test]
    fn what_was_appended_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = written(dir.path(), &["a", "b\nc", "文"]);
        assert_eq!(read::<String>(&path).unwrap(), ["a", "b\nc", "文"]);
        assert_eq!(Log::open::<String>(&path).unwrap().1, ["a", "b\nc", "文"]);
        assert!(read::<String>(&dir.path().join("none")).unwrap().is_empty());
    }

    #[test]
    fn a_log_torn_at_any_byte_keeps_every_whole_line_and_can_be_continued() {
        let dir = tempfile::tempdir().unwrap();
        let path = written(dir.path(), &["first", "second"]);
        let whole = std::fs::read(&path).unwrap();
        let first = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut log, values) = Log::open::<String>(&path).unwrap();
            assert_eq!(values.len(), usize::from(cut >= first), "cut at {cut}");
            log.append(&"more", "test", &NoFaults).unwrap();
            drop(log);
            assert_eq!(read::<String>(&path).unwrap().last().unwrap(), "more");
        }
    }

    #[test]
    fn damage_before_the_last_line_is_an_error_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = written(dir.path(), &["first", "second", "third"]);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(6).position(|w| w == b"second").unwrap();
        bytes[at] = b'S';
        std::fs::write(&path, &bytes).unwrap();
        let error = Log::open::<String>(&path).unwrap_err();
        assert!(matches!(error, LogError::Damaged { line: 2, .. }), "{error}");
    }

    #[test]
    fn a_line_taken_out_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = written(dir.path(), &["first", "second", "third"]);
        let text = std::fs::read_to_string(&path).unwrap();
        let without: String = text.lines().filter(|l| !l.contains("second")).map(|l| format!("{l}\n")).collect();
        std::fs::write(&path, without + "x\n").unwrap();
        assert!(matches!(Log::open::<String>(&path), Err(LogError::Damaged { line: 2, .. })));
    }

    #[test]
    fn one_owner_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = written(dir.path(), &[]);
        let first = Log::open::<String>(&path).unwrap();
        assert!(matches!(Log::open::<String>(&path), Err(LogError::Busy { .. })));
        drop(first);
        assert!(Log::open::<String>(&path).is_ok());
    }
}
