//! What a person trusts: a file for each project, with the digests of what was in its files when they said so.
//!
//! Trust holds for contents, not for names: a file that changed is not trusted any more, one that was added never was. The
//! ledger lies with the person's state, out of a project's reach. It does not ask; it keeps answers.

use super::project::{Project, digest};
use crate::texts::Texts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Bytes of one record that are read.
const MAX_BYTES: u64 = 1024 * 1024;

/// What a person said of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Its files may steer this program.
    Trusted,
    /// They may not.
    Declined,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Root of the project.
    pub root: PathBuf,
    /// When it was given, in milliseconds since the UNIX epoch.
    pub at: u64,
    /// The answer.
    pub answer: Answer,
    /// Digests of the files that it is about.
    pub files: BTreeMap<String, String>,
}

/// Where a project stands with the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Everything that it says is trusted, or it says nothing and was trusted.
    Trusted,
    /// The person said no to just this.
    Declined,
    /// The person was not asked about this yet.
    Unasked,
}

/// Why a file of a project is not trusted as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The person was not asked about the project.
    Unasked,
    /// The person said no.
    Declined,
    /// It changed since it was trusted.
    Changed,
    /// The project was trusted before it was there.
    New,
}

impl Doubt {
    /// The reason for a person.
    pub fn told(self, texts: &Texts) -> &'static str {
        match self {
            Self::Unasked => texts.trust.unasked,
            Self::Declined => texts.trust.declined,
            Self::Changed => texts.trust.changed,
            Self::New => texts.trust.came,
        }
    }
}

/// A project with what is known of it.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// What it says.
    pub project: Project,
    record: Option<Record>,
}

impl Trust {
    /// Whether a file with these bytes is trusted.
    pub fn covers(&self, path: &Path, bytes: &[u8]) -> bool {
        let Some(record) = self.record.as_ref().filter(|record| record.answer == Answer::Trusted) else { return false };
        let known = self.project.name(path).and_then(|name| record.files.get(&name));
        known.is_some_and(|known| *known == digest(bytes))
    }

    /// Where the project stands.
    pub fn standing(&self) -> Standing {
        match &self.record {
            Some(record) if self.news().is_empty() => match record.answer {
                Answer::Trusted => Standing::Trusted,
                Answer::Declined => Standing::Declined,
            },
            _ => Standing::Unasked,
        }
    }

    /// Why a file with these bytes is not trusted, if it is not.
    pub fn doubt(&self, path: &Path, bytes: &[u8]) -> Option<Doubt> {
        (!self.covers(path, bytes)).then(|| self.why(self.project.name(path).as_deref()))
    }

    /// Why a file of this name is not trusted as it was found, if it is not.
    pub fn doubt_of(&self, name: &str) -> Option<Doubt> {
        self.untrusted().contains(&name).then(|| self.why(Some(name)))
    }

    fn why(&self, name: Option<&str>) -> Doubt {
        match &self.record {
            None => Doubt::Unasked,
            Some(record) if record.answer == Answer::Declined => Doubt::Declined,
            Some(record) if name.is_some_and(|name| record.files.contains_key(name)) => Doubt::Changed,
            Some(_) => Doubt::New,
        }
    }

    /// Whether the person was asked before, about whatever it was then.
    pub fn was_asked(&self) -> bool {
        self.record.is_some()
    }

    /// Files that are not trusted as they are.
    pub fn untrusted(&self) -> Vec<&str> {
        match &self.record {
            Some(record) if record.answer == Answer::Trusted => self.news(),
            _ => self.project.files.keys().map(String::as_str).collect(),
        }
    }

    /// Files that the last answer, if there was one, was not about as they are now.
    pub fn news(&self) -> Vec<&str> {
        let known = |name: &String, digest: &String| {
            self.record.as_ref().is_some_and(|record| record.files.get(name) == Some(digest))
        };
        self.project.files.iter().filter(|(name, digest)| !known(name, digest)).map(|(name, _)| name.as_str()).collect()
    }
}

/// All answers.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    folder: Option<PathBuf>,
}

impl Ledger {
    /// In a folder, which need not exist; without one nothing is trusted.
    pub fn open(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// The project that a folder lies in, and what is known of it.
    pub fn look(&self, start: &Path) -> Trust {
        let project = Project::look(start);
        let record = self.path(&project.root).and_then(|path| read(&path)).filter(|known| known.root == project.root);
        Trust { project, record }
    }

    /// Keep an answer about a project as it is in `trust`. What was trusted before of other files of it stays so.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, trust: &Trust, answer: Answer, at: u64) -> io::Result<()> {
        let mut files = match (&trust.record, answer) {
            (Some(record), Answer::Trusted) if record.answer == answer => record.files.clone(),
            _ => BTreeMap::new(),
        };
        files.extend(trust.project.files.clone());
        let record = Record { root: trust.project.root.clone(), at, answer, files };
        let path = self.path(&record.root).ok_or_else(|| io::Error::other("there is no folder for it: set HOME"))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        beside.write_all(serde_json::to_string_pretty(&record)?.as_bytes())?;
        beside.as_file().sync_all()?;
        beside.persist(&path).map(|_| ()).map_err(|error| error.error)
    }

    /// Forget the answer about a project; whether there was one.
    ///
    /// # Errors
    /// The record cannot be removed.
    pub fn forget(&self, root: &Path) -> io::Result<bool> {
        let Some(path) = self.path(root) else { return Ok(false) };
        match fs::remove_file(path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Every answer, by root.
    pub fn all(&self) -> Vec<Record> {
        let entries = self.folder.iter().flat_map(fs::read_dir).flatten().filter_map(Result::ok);
        let mut all: Vec<Record> = entries.filter_map(|entry| read(&entry.path())).collect();
        all.sort_by(|a, b| a.root.cmp(&b.root));
        all
    }

    fn path(&self, root: &Path) -> Option<PathBuf> {
        let name = digest(root.as_os_str().as_encoded_bytes());
        Some(self.folder.as_ref()?.join(format!("{}.json", name.get(..16)?)))
    }
}

/// A record that cannot be read is none: then the person is asked again.
fn read(path: &Path) -> Option<Record> {
    if fs::metadata(path).ok()?.len() > MAX_BYTES {
        return None;
    }
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    struct World {
        folder: tempfile::TempDir,
        ledger: Ledger,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let ledger = Ledger::open(Some(folder.path().join("state")));
            let world = Self { folder, ledger };
            world.write("work/.git/HEAD", "");
            world.write("work/AGENTS.md", "be good");
            world
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn look(&self, below: &str) -> Trust {
            self.ledger.look(&self.folder.path().canonicalize().unwrap().join(below))
        }
    }

    #[test]
    fn what_is_trusted_is_what_the_files_held_and_a_change_is_asked_about_again() {
        let world = World::new();
        assert_eq!(world.look("work").standing(), Standing::Unasked);
        world.ledger.keep(&world.look("work"), Answer::Trusted, 1).unwrap();
        let trust = world.look("work");
        let path = trust.project.root.join("AGENTS.md");
        assert_eq!(trust.standing(), Standing::Trusted);
        assert!(trust.covers(&path, b"be good") && !trust.covers(&path, b"be bad"));
        assert!(!trust.covers(&trust.project.root.join("CLAUDE.md"), b"be good"));
        world.write("work/AGENTS.md", "be bad");
        world.write("work/.selfsmith/config.yaml", "model: {name: m}");
        let trust = world.look("work");
        assert_eq!((trust.standing(), trust.news()), (Standing::Unasked, vec![".selfsmith/config.yaml", "AGENTS.md"]));
    }

    #[test]
    fn a_no_is_remembered_for_what_was_shown_and_can_be_forgotten() {
        let world = World::new();
        world.ledger.keep(&world.look("work"), Answer::Declined, 1).unwrap();
        let trust = world.look("work");
        assert_eq!(trust.standing(), Standing::Declined);
        assert!(!trust.covers(&trust.project.root.join("AGENTS.md"), b"be good"));
        assert_eq!(world.ledger.all().len(), 1);
        assert!(
            world.ledger.forget(&trust.project.root).unwrap() && !world.ledger.forget(&trust.project.root).unwrap()
        );
        assert_eq!((world.look("work").standing(), world.ledger.all().len()), (Standing::Unasked, 0));
    }

    #[test]
    fn a_folder_deep_in_a_repository_is_of_the_same_project_and_hears_all_notes_above() {
        let world = World::new();
        world.write("AGENTS.md", "of nobody's");
        world.write("work/a/b/CLAUDE.md", "deep");
        world.write("work/a/b/.selfsmith/commands/x/y.md", "do it");
        let trust = world.look("work/a/b");
        let names: Vec<&String> = trust.project.files.keys().collect();
        assert_eq!(names, ["AGENTS.md", "a/b/.selfsmith/commands/x/y.md", "a/b/CLAUDE.md"]);
        world.ledger.keep(&world.look("work"), Answer::Trusted, 1).unwrap();
        world.ledger.keep(&world.look("work/a/b"), Answer::Trusted, 2).unwrap();
        assert_eq!((world.look("work").standing(), world.ledger.all().len()), (Standing::Trusted, 1));
    }

    #[test]
    fn a_link_out_of_the_project_is_no_part_of_it() {
        let world = World::new();
        world.write("secret", "key");
        std::os::unix::fs::symlink("../secret", world.folder.path().join("work/CLAUDE.md")).unwrap();
        assert_eq!(world.look("work").project.files.len(), 1);
    }
}
