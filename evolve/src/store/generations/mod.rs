//! Installed generations: immutable folders `generations/<tree id>/`, and `current` and `previous`, which point to two of them.
//!
//! ```text
//! generations/
//!   <tree id>/       the agent's program, config.yaml, prompts/, manifest.json; appears whole, never changed afterwards
//!   current          a link to the one that is started
//!   previous         a link to the one before it
//!   marks/<tree>     what is known of a tree: probed and good, tries, denied and why
//!   starts/<tree>/   a file for each process that was started and has not been seen to end well
//! ```
//!
//! At a start only sizes and times are compared with the manifest; [`Generation::verify`] reads every byte. Whatever dies in
//! the middle of a change here, `current` leads to a whole generation that is not denied, or the next start finds one
//! ([`start`]). Only the boot probe marks good (`gates/boot.rs`); what has landed is followed by [`slots`].

pub mod marks;
pub mod slots;
pub mod start;

mod install;

use crate::store::faults::Failed;
use crate::store::lock::{self, LockError, LockProof};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// How long another process that changes links or marks is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
const MANIFEST: &str = "manifest.json";
const PROGRAM: &str = "selfsmith-agent";

/// One file of a generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Path in the folder, `/` between parts.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Milliseconds since the UNIX epoch.
    pub modified_ms: u64,
    /// SHA-256 of the content, hexadecimal.
    pub sha256: String,
}

/// What a generation is made of. Written once, beside its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this file.
    pub version: u32,
    /// The commit whose tree it is, or the ref of the candidate that leads to it.
    pub commit: String,
    /// The tree it was built from; the folder's name.
    pub tree: String,
    /// Digest of the judge that installed it.
    pub judge: String,
    /// `rustc -V` of the build.
    pub toolchain: String,
    /// Profile and flags of the build.
    pub flags: String,
    /// Its files, sorted by path.
    pub files: Vec<Item>,
}

/// What is to be installed.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// The commit.
    pub commit: &'a str,
    /// Its tree, 40 hexadecimal digits.
    pub tree: &'a str,
    /// Digest of the judge.
    pub judge: &'a str,
    /// `rustc -V`.
    pub toolchain: &'a str,
    /// Profile and flags.
    pub flags: &'a str,
    /// The built agent.
    pub program: &'a Path,
    /// The checkout with `config.yaml` and `prompts/`.
    pub sources: &'a Path,
}

/// An installed generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// Its tree.
    pub tree: String,
    /// Its folder.
    pub folder: PathBuf,
}

impl Generation {
    /// The agent's program.
    pub fn program(&self) -> PathBuf {
        self.folder.join(PROGRAM)
    }

    /// Its manifest.
    pub fn manifest(&self) -> Result<Manifest, StoreError> {
        let path = self.folder.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|source| StoreError::file("read", &path, source))?;
        serde_json::from_str(&text).map_err(|error| StoreError::Damaged { path, why: error.to_string() })
    }

    /// Compare sizes and times with the manifest: what every start can afford.
    pub fn glance(&self) -> Result<(), StoreError> {
        for item in self.manifest()?.files {
            let path = self.folder.join(&item.path);
            let data = fs::metadata(&path).map_err(|source| StoreError::file("look at", &path, source))?;
            if data.len() != item.size || modified_ms(&data) != item.modified_ms {
                return Err(StoreError::Damaged { path, why: "size or time differs from the manifest".to_owned() });
            }
        }
        Ok(())
    }

    /// Compare every byte, and which files there are, with the manifest.
    pub fn verify(&self) -> Result<(), StoreError> {
        let manifest = self.manifest()?;
        if manifest.tree != self.tree {
            let why = format!("its manifest is that of {}", manifest.tree);
            return Err(StoreError::Damaged { path: self.folder.join(MANIFEST), why });
        }
        let mut there = Vec::new();
        list(&self.folder, "", &mut there)?;
        there.retain(|path| path != MANIFEST);
        there.sort();
        let known: Vec<&String> = manifest.files.iter().map(|item| &item.path).collect();
        if let Some(path) = there.iter().find(|path| !known.contains(path)) {
            let path = self.folder.join(path);
            return Err(StoreError::Damaged { path, why: "the manifest does not know it".to_owned() });
        }
        for item in &manifest.files {
            let path = self.folder.join(&item.path);
            if digest(&path)? != item.sha256 {
                return Err(StoreError::Damaged { path, why: "its content differs from the manifest".to_owned() });
            }
        }
        Ok(())
    }

    /// SHA-256 of the manifest itself.
    pub fn manifest_digest(&self) -> Result<String, StoreError> {
        digest(&self.folder.join(MANIFEST))
    }

    /// When it was put in place, as far as the disk tells.
    fn installed_at(&self) -> u64 {
        fs::metadata(self.folder.join(MANIFEST)).map_or(0, |data| modified_ms(&data))
    }
}

/// The folder of generations.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// A store at `root`, which need not exist.
    pub const fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A generation by its tree; it need not be there.
    pub fn generation(&self, tree: &str) -> Generation {
        Generation { tree: tree.to_owned(), folder: self.root.join(tree) }
    }

    /// Every generation that is there.
    pub fn installed(&self) -> Vec<Generation> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| is_tree(name)).map(|tree| self.generation(&tree)).collect()
    }

    /// What a look at every byte finds: damaged generations, and manifests that are not those that the probe booted.
    pub fn faults(&self) -> Vec<StoreError> {
        let mut found = Vec::new();
        for generation in self.installed() {
            if let Err(error) = generation.verify() {
                found.push(error);
                continue;
            }
            let (marked, now) = (self.marks(&generation.tree).good, generation.manifest_digest().ok());
            if marked.is_some() && marked != now {
                let path = generation.folder.join(MANIFEST);
                found.push(StoreError::Damaged { path, why: "it is not the manifest that was booted".to_owned() });
            }
        }
        found
    }

    /// Held while links or marks change.
    fn lock(&self) -> Result<LockProof, StoreError> {
        fs::create_dir_all(&self.root).map_err(|source| StoreError::file("make", &self.root, source))?;
        Ok(lock::wait(&self.root.join("lock"), PATIENCE)?)
    }
}

/// Why a generation cannot be used or installed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder.
    #[error("{what} {}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Another process changes the generations.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// It is not as it was installed.
    #[error("use {}: {why}", path.display())]
    Damaged {
        /// What.
        path: PathBuf,
        /// How it is seen.
        why: String,
    },
}

impl StoreError {
    fn file(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { what, path: path.to_owned(), source }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::File { .. } => "check that the folder is there and may be written".to_owned(),
            Self::Lock(error) => error.hint().to_owned(),
            Self::Damaged { path, .. } => {
                let folder = path.parent().unwrap_or(path);
                format!("move {} away and install again; SELFSMITH_AGENT names an agent meanwhile", folder.display())
            }
        }
    }
}

fn is_tree(name: &str) -> bool {
    name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl From<Failed> for StoreError {
    fn from(failed: Failed) -> Self {
        Self::file("write", Path::new("a generation"), failed.into())
    }
}

/// Files below a folder, by their paths in it.
fn list(folder: &Path, at: &str, found: &mut Vec<String>) -> Result<(), StoreError> {
    let here = folder.join(at);
    for entry in fs::read_dir(&here).map_err(|source| StoreError::file("read", &here, source))? {
        let entry = entry.map_err(|source| StoreError::file("read", &here, source))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if at.is_empty() { name } else { format!("{at}/{name}") };
        if entry.path().is_dir() && !entry.path().is_symlink() {
            list(folder, &path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

fn modified_ms(data: &fs::Metadata) -> u64 {
    let since = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn digest(path: &Path) -> Result<String, StoreError> {
    let mut file = fs::File::open(path).map_err(|source| StoreError::file("open", path, source))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = io::Read::read(&mut file, &mut buffer).map_err(|source| StoreError::file("read", path, source))?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        digest.update(bytes);
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests;
