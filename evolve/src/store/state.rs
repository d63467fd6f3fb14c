//! The state folder of one repository: where the judge keeps what does not belong into git.
//!
//! Paths only, passed in from above; nothing here reads the environment. The folder is readable by its owner alone.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// `…/selfsmith/<repo id>/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    root: PathBuf,
}

/// The folder of one cycle, or of one decision of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CycleFolder {
    root: PathBuf,
}

impl StateFolder {
    /// The folder of the repository with this id, below `home` (`$XDG_STATE_HOME/selfsmith`), made if it is not there.
    pub fn open(home: &Path, repo_id: &str) -> io::Result<Self> {
        let folder = Self { root: home.join(repo_id) };
        make(&folder.root)?;
        make(&folder.root.join("cycles"))?;
        Ok(folder)
    }

    /// Itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Held while a cycle runs.
    pub fn cycle_lock(&self) -> PathBuf {
        self.root.join("cycle.lock")
    }

    /// Held while refs move.
    pub fn landing_lock(&self) -> PathBuf {
        self.root.join("landing.lock")
    }

    /// The operation log.
    pub fn ops(&self) -> PathBuf {
        self.root.join("ops.log")
    }

    /// Kept build slots.
    pub fn slots(&self) -> PathBuf {
        self.root.join("slots")
    }

    /// Goals that wait.
    pub fn inbox(&self) -> PathBuf {
        self.root.join("inbox")
    }

    /// The folder of a cycle or decision; it need not be there.
    pub fn cycle(&self, id: &str) -> CycleFolder {
        CycleFolder { root: self.root.join("cycles").join(id) }
    }

    /// Ids of all cycles and decisions that left a folder, sorted.
    pub fn cycles(&self) -> io::Result<Vec<String>> {
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(self.root.join("cycles"))? {
            if let Ok(id) = entry?.file_name().into_string() {
                ids.push(id);
            }
        }
        ids.sort();
        Ok(ids)
    }
}

impl CycleFolder {
    /// Make it.
    pub fn make(&self) -> io::Result<()> {
        make(&self.root)
    }

    /// Itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What was going on.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal.log")
    }

    /// The files that the proposer edits.
    pub fn candidate(&self) -> PathBuf {
        self.root.join("candidate")
    }

    /// What was refused for a secret, kept outside the repository.
    pub fn refused(&self) -> PathBuf {
        self.root.join("refused")
    }
}

/// An id for a cycle: the time in UTC, and a few digits so that two of one second differ. Sorts by time.
pub fn cycle_id(seconds: i64, random: u16) -> String {
    let time = jiff::Timestamp::from_second(seconds).unwrap_or_default();
    format!("{}-{random:04x}", time.strftime("%Y%m%d-%H%M%S"))
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn ids_sort_by_time_and_fit_a_ref() {
        assert_eq!(cycle_id(0, 0xab), "19700101-000000-00ab");
        assert!(cycle_id(1_900_000_000, 0) < cycle_id(1_900_000_001, 0));
    }

    #[test]
    fn the_folder_is_its_owners_alone() {
        let home = tempfile::tempdir().unwrap();
        let state = StateFolder::open(&home.path().join("selfsmith"), "sample-1").unwrap();
        assert_eq!(std::fs::metadata(state.root()).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(state.cycles().unwrap().is_empty());
        state.cycle("b").make().unwrap();
        state.cycle("a").make().unwrap();
        assert_eq!(state.cycles().unwrap(), ["a", "b"]);
    }
}
