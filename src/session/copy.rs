//! A record read without being opened, and a copy of it that goes its own way.

use super::log::{self, Entry, Log, LogError};
use crate::redact::Redactor;
use std::fs;
use std::path::{Path, PathBuf};

/// The whole entries of a record. It may be running in another program: a line that is being written is left out.
///
/// # Errors
/// It cannot be read, or a line in it is broken.
pub fn read(path: &Path) -> Result<Vec<Entry>, LogError> {
    let failed = |cause| LogError::Io { doing: "read", path: path.display().to_string(), cause };
    Ok(log::parse(&fs::read(path).map_err(failed)?, path)?.0)
}

/// Copy a record to the new session `id` in its folder; the copy.
///
/// # Errors
/// It cannot be read, or the copy cannot be written.
pub fn fork(path: &Path, id: &str, redactor: Redactor) -> Result<PathBuf, LogError> {
    let entries = read(path)?;
    let mut log = Log::create(path.parent().unwrap_or(Path::new(".")), id, redactor)?;
    for entry in entries {
        let entry = match entry {
            Entry::Started { version, at, root, model, channel, .. } => {
                Entry::Started { version, session: id.to_owned(), at, root, model, channel }
            }
            other => other,
        };
        log.append(&entry)?;
    }
    Ok(log.path().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Channel, Message, Role};
    use crate::session::LOG_VERSION;

    #[test]
    fn a_copy_holds_the_same_conversation_under_its_own_id_and_grows_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let started = |session: &str| Entry::Started {
            version: LOG_VERSION,
            session: session.to_owned(),
            at: 1,
            root: "/w".to_owned(),
            model: "m".to_owned(),
            channel: Channel::Text,
        };
        let said = Entry::Message { at: 2, message: Message::text(Role::System, "s"), calls: vec![] };
        let mut log = Log::create(folder.path(), "a", Redactor::new([])).expect("a log");
        log.append(&started("a")).expect("it is written");
        log.append(&said).expect("it is written");
        // The original stays open, as in a running program.
        let copy = fork(log.path(), "b", Redactor::new([])).expect("a copy");
        log.append(&Entry::Cleared { at: 3 }).expect("it goes on");
        assert_eq!(read(&copy).expect("the copy"), [started("b"), said.clone()]);
        assert_eq!(read(log.path()).expect("the original"), [started("a"), said, Entry::Cleared { at: 3 }]);
    }
}
