//! The record of a session on disk: JSON, one entry a line, only ever appended to.
//!
//! Safe against a kill at any byte: an entry is written in one piece, and a last line that is torn is dropped
//! when the file is read again. Any other line that cannot be read is an error with its number, never skipped: a
//! conversation with a hole in it is not the conversation. Lines are numbered, so that one that was lost or doubled is
//! seen (records from before that have no numbers and are read as they are). Secrets are taken out before anything is written.

use crate::ending::Ending;
use crate::message::{Channel, Message, ToolCall};
use crate::redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the lines.
pub const LOG_VERSION: u32 = 1;
/// Field of a line with its number, from 0.
const NUMBER: &str = "n";
/// Bytes that a log may have to be read back.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// How often a held lock is tried, 5 ms apart.
const BEING_STARTED: u32 = 40;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The first.
    Started {
        /// Version of the lines.
        version: u32,
        /// The session's id.
        session: String,
        /// Milliseconds since the UNIX epoch.
        at: u64,
        /// Root of the workspace.
        root: String,
        /// The model's name.
        model: String,
        /// How calls travel.
        channel: Channel,
    },
    /// The conversation grew.
    Message {
        /// Milliseconds since the UNIX epoch.
        at: u64,
        /// What was added.
        message: Message,
        /// Calls in it that are about to run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// The conversation was cleared: only the system message stays.
    Cleared {
        /// Milliseconds since the UNIX epoch.
        at: u64,
    },
    /// The conversation was compacted: the system message stays, these come after it.
    Compacted {
        /// Milliseconds since the UNIX epoch.
        at: u64,
        /// What stands for the older part, and the messages that stay.
        messages: Vec<Message>,
    },
    /// The person went back: only so many messages stay.
    WentBack {
        /// Milliseconds since the UNIX epoch.
        at: u64,
        /// Messages that stay.
        kept: usize,
    },
    /// A prompt came to its end.
    Ended {
        /// Milliseconds since the UNIX epoch.
        at: u64,
        /// How.
        ending: Ending,
    },
}

/// An open log.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    redactor: Redactor,
    /// Entries so far, which is the next one's number.
    count: u64,
}

/// What was read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The entries that are whole.
    pub entries: Vec<Entry>,
    /// Bytes of a torn last line that were dropped.
    pub torn: usize,
}

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system says no.
    #[error("{doing} {path}")]
    Io {
        /// `read`, `write`, `create`.
        doing: &'static str,
        /// The file or folder.
        path: String,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Another program has it open.
    #[error("open {path}: this session is running in another program")]
    InUse {
        /// The file.
        path: String,
    },
    /// A line cannot be read.
    #[error("read {path}, line {line}: {what}")]
    Broken {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A later version of this program wrote it.
    #[error("read {path}: it is of version {version}, and this program reads up to {LOG_VERSION}")]
    Newer {
        /// The file.
        path: String,
        /// What it says.
        version: u64,
    },
    /// There is no such session.
    #[error("find {what} in {folder}")]
    Missing {
        /// What was looked for.
        what: String,
        /// Where.
        folder: String,
    },
}

impl LogError {
    /// What the person can do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => "check that the folder exists, is yours and has room",
            Self::InUse { .. } => "end the other program, or start a new session",
            Self::Broken { .. } => "correct that line or start a new session; the file is left as it is",
            Self::Newer { .. } => "use the program that wrote it, or start a new session; the file is left as it is",
            Self::Missing { .. } => {
                "start a new session; `selfsmith-agent sessions` lists those of this folder, with --all those of every folder"
            }
        }
    }
}

impl Log {
    /// Start a new log `<folder>/<session>.jsonl`. Folder and file can be read by their owner alone.
    pub fn create(folder: &Path, session: &str, redactor: Redactor) -> Result<Self, LogError> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io_error("create", folder))?;
        let path = folder.join(format!("{session}.jsonl"));
        let mut options = OpenOptions::new();
        let file = options.append(true).create_new(true).mode(0o600).open(&path).map_err(io_error("create", &path))?;
        let log = Self { path, file, redactor, count: 0 };
        log.lock()?;
        Ok(log)
    }

    /// Open a log to go on with it: read what is there, and cut off a torn last line.
    pub fn open(path: &Path, redactor: Redactor) -> Result<(Self, Recorded), LogError> {
        let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(io_error("open", path))?;
        let bytes = file.metadata().map_err(io_error("read", path))?.len();
        if bytes > MAX_BYTES {
            let what = format!("it has {bytes} bytes, more than the {MAX_BYTES} that are read back");
            return Err(LogError::Broken { path: path.display().to_string(), line: 0, what });
        }
        let own = file.try_clone().map_err(io_error("open", path))?;
        let mut log = Self { path: path.to_owned(), file: own, redactor, count: 0 };
        log.lock()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io_error("read", path))?;
        let (entries, whole) = parse(&text, path)?;
        log.count = entries.len() as u64;
        let torn = text.len() - whole;
        if torn > 0 {
            log.file.set_len(whole as u64).map_err(io_error("write", path))?;
            log.file.seek(SeekFrom::End(0)).map_err(io_error("write", path))?;
        }
        Ok((log, Recorded { entries, torn }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Add an entry, in one piece. It outlives this program from then on, and the machine once a prompt has ended.
    pub fn append(&mut self, entry: &Entry) -> Result<(), LogError> {
        let failed = |cause| LogError::Io { doing: "write", path: self.path.display().to_string(), cause };
        let mut value = serde_json::to_value(entry).map_err(|error| failed(error.into()))?;
        self.redactor.value(&mut value);
        if let Some(fields) = value.as_object_mut() {
            fields.insert(NUMBER.to_owned(), self.count.into());
        }
        let line = format!("{value}\n");
        let before = self.file.metadata().map_err(failed)?.len();
        if let Err(cause) = self.file.write_all(line.as_bytes()) {
            // Half a line would spoil the next; where it stays, it is the last one and is dropped as torn.
            let _ = self.file.set_len(before);
            return Err(failed(cause));
        }
        self.count += 1;
        if matches!(entry, Entry::Ended { .. }) { self.file.sync_data().map_err(failed) } else { Ok(()) }
    }

    fn lock(&self) -> Result<(), LogError> {
        // A child that is just being started holds what its parent held, until it has become its program.
        for _ in 0..BEING_STARTED {
            match self.file.try_lock() {
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
                // A file system without locks is no reason to refuse the work.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
            }
        }
        Err(LogError::InUse { path: self.path.display().to_string() })
    }
}

/// The log to resume: the one of that id, or the last one of the folder (ids are ordered by time).
pub fn find(folder: &Path, session: Option<&str>) -> Result<PathBuf, LogError> {
    let missing = |what: &str| LogError::Missing { what: what.to_owned(), folder: folder.display().to_string() };
    if let Some(session) = session {
        let plain = !session.is_empty() && session.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let path = folder.join(format!("{session}.jsonl"));
        return if plain && path.is_file() { Ok(path) } else { Err(missing(&format!("the session \"{session}\""))) };
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing("a session")),
        Err(error) => return Err(io_error("read", folder)(error)),
    };
    let logs = entries.filter_map(|entry| Some(entry.ok()?.path()));
    logs.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).max().ok_or_else(|| missing("a session"))
}

/// The whole entries and how many bytes they take.
pub(super) fn parse(text: &[u8], path: &Path) -> Result<(Vec<Entry>, usize), LogError> {
    let mut entries = Vec::new();
    let mut whole = 0;
    for (n, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        // Whatever lacks its line end was never finished: the writer did not go on from it.
        if !line.ends_with(b"\n") {
            break;
        }
        if !line.trim_ascii().is_empty() {
            entries.push(entry(line, n + 1, entries.len() as u64, path)?);
        }
        whole += line.len();
    }
    Ok((entries, whole))
}

/// One line, which is to have this number.
fn entry(line: &[u8], at: usize, number: u64, path: &Path) -> Result<Entry, LogError> {
    let broken = |what: String| LogError::Broken { path: path.display().to_string(), line: at, what };
    let value: Value = serde_json::from_slice(line).map_err(|error| broken(error.to_string()))?;
    let version = value.get("version").and_then(Value::as_u64).unwrap_or_default();
    if value.get("entry").is_some_and(|entry| entry == "started") && version > u64::from(LOG_VERSION) {
        return Err(LogError::Newer { path: path.display().to_string(), version });
    }
    if let Some(own) = value.get(NUMBER).filter(|own| own.as_u64() != Some(number)) {
        return Err(broken(format!("it is entry {own} where entry {number} belongs: a line was lost or doubled")));
    }
    serde_json::from_value(value).map_err(|error| broken(error.to_string()))
}

fn io_error(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> LogError {
    let path = path.display().to_string();
    move |cause| LogError::Io { doing, path: path.clone(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;

    fn entries() -> Vec<Entry> {
        let message = |at, text: &str| Entry::Message { at, message: Message::text(Role::User, text), calls: vec![] };
        vec![message(1, "héllo\nwörld"), Entry::Cleared { at: 2 }, message(3, "界")]
    }

    fn redactor() -> Redactor {
        Redactor::new(["topsecretvalue".to_owned()])
    }

    fn written(folder: &Path) -> Vec<u8> {
        let mut log = Log::create(folder, "s", redactor()).expect("a new log");
        entries().iter().for_each(|entry| log.append(entry).expect("it is written"));
        fs::read(log.path()).expect("the file")
    }

    #[test]
    fn a_log_cut_at_any_byte_opens_with_its_whole_entries_and_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let bytes = written(folder.path());
        let path = folder.path().join("cut.jsonl");
        for length in 0..=bytes.len() {
            let cut = bytes.get(..length).expect("a length within");
            fs::write(&path, cut).expect("the cut file");
            let (mut log, recorded) = Log::open(&path, redactor()).expect("it opens");
            let whole = cut.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(recorded.entries, entries().get(..whole).expect("a prefix"));
            let kept = cut.len() - recorded.torn;
            assert!(kept == 0 || cut.get(kept - 1) == Some(&b'\n'));
            log.append(&Entry::Cleared { at: 9 }).expect("it goes on");
            drop(log);
            let (_, again) = Log::open(&path, redactor()).expect("it opens again");
            assert_eq!((again.entries.len(), again.torn), (whole + 1, 0));
        }
    }

    #[test]
    fn a_broken_line_before_the_last_is_named_and_the_file_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bytes = b"{\"entry\":\"nonsense\"}\n".to_vec();
        bytes.extend(written(folder.path()));
        let path = folder.path().join("broken.jsonl");
        fs::write(&path, &bytes).expect("the file");
        let error = Log::open(&path, redactor()).expect_err("line 1 is broken");
        assert!(error.to_string().contains("line 1"), "{error}");
        assert_eq!(fs::read(&path).expect("the file"), bytes);
    }

    #[test]
    fn a_line_that_was_lost_doubled_or_moved_is_named_and_the_file_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let bytes = written(folder.path());
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let path = folder.path().join("holed.jsonl");
        for order in [&[1, 2][..], &[0, 2], &[0, 0, 1, 2], &[0, 1, 1, 2], &[0, 1, 2, 2], &[0, 2, 1], &[0, 1, 2, 0]] {
            let text: Vec<u8> = order.iter().flat_map(|n| lines[*n].to_vec()).collect();
            fs::write(&path, &text).expect("the file");
            let error = Log::open(&path, redactor()).expect_err("it is not the conversation");
            assert!(error.to_string().contains("lost or doubled"), "{order:?}: {error}");
            assert_eq!(fs::read(&path).expect("the file"), text);
        }
    }

    #[test]
    fn a_record_of_a_later_version_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("later.jsonl");
        fs::write(&path, "{\"entry\":\"started\",\"version\":99,\"else\":1}\n").expect("the file");
        let error = Log::open(&path, redactor()).expect_err("it is of a later version");
        assert!(matches!(error, LogError::Newer { version: 99, .. }), "{error}");
    }

    #[test]
    fn secrets_are_not_written_and_the_file_is_the_owners() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = Log::create(&folder.path().join("sub"), "s", redactor()).expect("a new log");
        let message = Message::text(Role::User, "my topsecretvalue!");
        log.append(&Entry::Message { at: 1, message, calls: vec![] }).expect("it is written");
        let text = fs::read_to_string(log.path()).expect("the file");
        assert!(!text.contains("topsecretvalue") && text.contains("[redacted]"), "{text}");
        assert_eq!(fs::metadata(log.path()).expect("the file").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_same_session_cannot_run_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = Log::create(folder.path(), "s", redactor()).expect("a new log");
        assert!(matches!(Log::open(log.path(), redactor()), Err(LogError::InUse { .. })));
    }

    #[test]
    fn the_last_session_is_found_and_ids_are_no_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        for id in ["01a", "01c", "01b"] {
            Log::create(folder.path(), id, redactor()).expect("a new log");
        }
        assert!(find(folder.path(), None).expect("the last").ends_with("01c.jsonl"));
        assert!(find(folder.path(), Some("01a")).expect("that one").ends_with("01a.jsonl"));
        assert!(find(folder.path(), Some("../01a")).is_err());
        assert!(find(&folder.path().join("none"), None).is_err());
    }
}
