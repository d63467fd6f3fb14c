//! What was found out about models: whether each takes native tool calls. One small file, kept between sessions, with
//! the time of each finding, so that an old no can be asked about again.

use crate::message::Channel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Bytes of the file that are read.
const MAX_BYTES: u64 = 1024 * 1024;
/// Findings that are kept; the oldest go first.
const MAX_KNOWN: usize = 500;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The channel that works.
    pub channel: Channel,
    /// How it was found out.
    pub why: String,
    /// When, in seconds since the UNIX epoch.
    pub at: u64,
}

/// The file.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    path: Option<PathBuf>,
}

impl Memory {
    /// At a path, which need not exist; without one nothing is remembered.
    pub fn open(path: Option<PathBuf>) -> Self {
        Self { path }
    }

    /// What is known of a model at an address.
    pub fn get(&self, base: &str, model: &str) -> Option<Known> {
        self.read().remove(&key(base, model))
    }

    /// Remember it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, base: &str, model: &str, known: Known) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let mut all = self.read();
        all.insert(key(base, model), known);
        while all.len() > MAX_KNOWN {
            let oldest = all.iter().min_by_key(|(_, known)| known.at).map(|(key, _)| key.clone());
            oldest.map(|key| all.remove(&key));
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        beside.write_all(serde_json::to_string_pretty(&all)?.as_bytes())?;
        beside.persist(path).map(|_| ()).map_err(|error| error.error)
    }

    /// A file that cannot be read says nothing: then it is found out again.
    fn read(&self) -> BTreeMap<String, Known> {
        let small = self.path.as_ref().filter(|path| fs::metadata(path).is_ok_and(|info| info.len() <= MAX_BYTES));
        let text = small.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

fn key(base: &str, model: &str) -> String {
    format!("{model} at {base}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_outlive_the_program_and_the_oldest_go_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sub/channels.json");
        let memory = Memory::open(Some(path.clone()));
        let known = |at| Known { channel: Channel::Native, why: "it called a tool".to_owned(), at };
        assert_eq!(memory.get("http://x/v1", "m"), None);
        memory.keep("http://x/v1", "m", known(1)).expect("it is written");
        assert_eq!(Memory::open(Some(path.clone())).get("http://x/v1", "m"), Some(known(1)));
        assert_eq!(memory.get("http://x/v1", "n"), None);
        for n in 0..MAX_KNOWN as u64 {
            memory.keep("http://y/v1", &n.to_string(), known(n + 2)).expect("it is written");
        }
        assert_eq!((memory.get("http://x/v1", "m"), memory.read().len()), (None, MAX_KNOWN));
        fs::write(&path, "nonsense").expect("a file");
        assert_eq!(memory.get("http://y/v1", "3"), None);
    }
}
