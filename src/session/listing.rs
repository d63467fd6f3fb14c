//! The sessions of a workspace, for a person to choose from.

use super::log::Entry;
use crate::message::{Part, Role};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Sessions that are looked into, newest first.
const MAX_SESSIONS: usize = 200;
/// Bytes of each that are looked into.
const MAX_BYTES: u64 = 256 * 1024;
/// Characters of a first prompt.
const MAX_TEXT: usize = 200;

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// When it began, in milliseconds since the UNIX epoch.
    pub at: u64,
    /// Root of its workspace.
    pub root: String,
    /// The model's name.
    pub model: String,
    /// The first prompt; empty where none came.
    pub prompt: String,
}

/// The sessions whose records lie in a folder, newest first. What cannot be read is left out: this is a list, and
/// whoever opens a session is told what is wrong with it.
pub fn list(folder: &Path) -> Vec<Listed> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths.iter().rev().take(MAX_SESSIONS).filter_map(|path| look(path)).collect()
}

/// The sessions of every workspace whose folder lies in this one, newest first.
pub fn list_below(folder: &Path) -> Vec<Listed> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut all: Vec<Listed> = entries.flat_map(|entry| list(&entry.path())).collect();
    // Ids are ordered by time.
    all.sort_by(|a, b| b.id.cmp(&a.id));
    all.truncate(MAX_SESSIONS);
    all
}

fn look(path: &Path) -> Option<Listed> {
    let mut listed: Option<Listed> = None;
    let lines = BufReader::new(File::open(path).ok()?.take(MAX_BYTES)).lines();
    for line in lines.map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Entry::Started { session, at, root, model, .. }) => {
                listed = Some(Listed { id: session, at, root, model, prompt: String::new() });
            }
            Ok(Entry::Message { message, .. }) if message.role == Role::User => {
                let text = message.parts.iter().find_map(|part| match part {
                    Part::Text { text } => Some(text.chars().take(MAX_TEXT).collect()),
                    _ => None,
                });
                let listed = listed.as_mut()?;
                listed.prompt = text.unwrap_or_default();
                break;
            }
            Ok(_) => {}
            // A line that is cut by the bound, or newer than this program.
            Err(_) => break,
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Channel, Message};
    use crate::redact::Redactor;
    use crate::session::{LOG_VERSION, Log};

    #[test]
    fn sessions_are_listed_newest_first_with_what_was_asked_and_broken_ones_are_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        for (id, prompt) in [("01", Some("first")), ("02", None)] {
            let mut log = Log::create(folder.path(), id, Redactor::new([])).expect("a new log");
            let (session, model) = (id.to_owned(), "m".to_owned());
            let started = Entry::Started {
                version: LOG_VERSION,
                session,
                at: 7,
                root: "/".to_owned(),
                model,
                channel: Channel::Text,
            };
            log.append(&started).expect("it is written");
            for (role, text) in [(Role::System, Some("system")), (Role::User, prompt)] {
                if let Some(text) = text {
                    let message = Message::text(role, text);
                    log.append(&Entry::Message { at: 8, message, calls: vec![] }).expect("it is written");
                }
            }
        }
        std::fs::write(folder.path().join("03.jsonl"), "nonsense\n").expect("a file");
        let listed = |id: &str, prompt: &str| Listed {
            id: id.to_owned(),
            at: 7,
            root: "/".to_owned(),
            model: "m".to_owned(),
            prompt: prompt.to_owned(),
        };
        assert_eq!(list(folder.path()), [listed("02", ""), listed("01", "first")]);
        assert_eq!(list(&folder.path().join("none")), []);
        let other = folder.path().join("other");
        std::fs::create_dir(&other).expect("a folder");
        std::fs::rename(folder.path().join("02.jsonl"), other.join("02.jsonl")).expect("it is moved");
        let mine = folder.path().join("mine");
        std::fs::create_dir(&mine).expect("a folder");
        std::fs::rename(folder.path().join("01.jsonl"), mine.join("01.jsonl")).expect("it is moved");
        assert_eq!(list_below(folder.path()), [listed("02", ""), listed("01", "first")]);
    }
}
