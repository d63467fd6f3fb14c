//! Installed generations: immutable folders `generations/<tree id>/`, and `current`, which points to one of them.
//!
//! A folder appears whole, by renaming, and is never changed afterwards. At a start only sizes and times are compared
//! with the manifest; [`Generation::verify`] reads every byte. What is not built yet: `previous`, the boot probe, moving
//! `current` to a later generation.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

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
    /// The commit whose tree it is.
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

    /// Compare every byte with the manifest.
    pub fn verify(&self) -> Result<(), StoreError> {
        for item in self.manifest()?.files {
            let path = self.folder.join(&item.path);
            if digest(&path)? != item.sha256 {
                return Err(StoreError::Damaged { path, why: "its content differs from the manifest".to_owned() });
            }
        }
        Ok(())
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

    /// The generation that `current` points to, glanced at; none if nothing was installed.
    pub fn current(&self) -> Result<Option<Generation>, StoreError> {
        let link = self.root.join("current");
        let name = match fs::read_link(&link) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::file("read the link", &link, source)),
        };
        let tree = name.to_str().filter(|name| is_tree(name)).map(str::to_owned);
        let Some(tree) = tree else {
            return Err(StoreError::Damaged { path: link, why: "it does not point to a generation".to_owned() });
        };
        let generation = Generation { folder: self.root.join(&tree), tree };
        generation.glance()?;
        Ok(Some(generation))
    }

    /// Install a generation. One that is there already is verified and left as it is. `current` is set if it points
    /// nowhere yet, and otherwise stays.
    pub fn install(&self, parts: Parts<'_>) -> Result<Generation, StoreError> {
        if !is_tree(parts.tree) {
            return Err(StoreError::Damaged {
                path: self.root.clone(),
                why: format!("`{}` is no tree id", parts.tree),
            });
        }
        fs::create_dir_all(&self.root).map_err(|source| StoreError::file("make", &self.root, source))?;
        let generation = Generation { tree: parts.tree.to_owned(), folder: self.root.join(parts.tree) };
        if generation.folder.exists() {
            generation.verify()?;
        } else {
            self.place(&generation, parts)?;
        }
        self.first(&generation)?;
        Ok(generation)
    }

    fn place(&self, generation: &Generation, parts: Parts<'_>) -> Result<(), StoreError> {
        let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.root);
        let fresh = fresh.map_err(|source| StoreError::file("make a folder in", &self.root, source))?;
        let mut files = Vec::new();
        copy(parts.program, fresh.path(), PROGRAM, &mut files)?;
        copy(&parts.sources.join("config.yaml"), fresh.path(), "config.yaml", &mut files)?;
        copy_tree(&parts.sources.join("prompts"), fresh.path(), "prompts", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let manifest = Manifest {
            version: 1,
            commit: parts.commit.to_owned(),
            tree: parts.tree.to_owned(),
            judge: parts.judge.to_owned(),
            toolchain: parts.toolchain.to_owned(),
            flags: parts.flags.to_owned(),
            files,
        };
        let path = fresh.path().join(MANIFEST);
        let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
        durable(&path, text.as_bytes())?;
        let fresh = fresh.keep();
        fs::rename(&fresh, &generation.folder)
            .map_err(|source| StoreError::file("put in place", &generation.folder, source))?;
        sync_dir(&self.root);
        Ok(())
    }

    /// Let `current` point to `generation` unless it points somewhere.
    fn first(&self, generation: &Generation) -> Result<(), StoreError> {
        let link = self.root.join("current");
        match std::os::unix::fs::symlink(&generation.tree, &link) {
            Ok(()) => sync_dir(&self.root),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(StoreError::file("make the link", &link, source)),
        }
        Ok(())
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

fn copy_tree(from: &Path, root: &Path, name: &str, files: &mut Vec<Item>) -> Result<(), StoreError> {
    let to = root.join(name);
    fs::create_dir_all(&to).map_err(|source| StoreError::file("make", &to, source))?;
    let entries = fs::read_dir(from).map_err(|source| StoreError::file("read", from, source))?;
    for entry in entries {
        let entry = entry.map_err(|source| StoreError::file("read", from, source))?;
        let Some(file) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let inner = format!("{name}/{file}");
        let kind = entry.file_type().map_err(|source| StoreError::file("look at", &entry.path(), source))?;
        if kind.is_dir() {
            copy_tree(&entry.path(), root, &inner, files)?;
        } else if kind.is_file() {
            copy(&entry.path(), root, &inner, files)?;
        }
    }
    Ok(())
}

fn copy(from: &Path, root: &Path, name: &str, files: &mut Vec<Item>) -> Result<(), StoreError> {
    let to = root.join(name);
    fs::copy(from, &to).map_err(|source| StoreError::file("copy", from, source))?;
    let file = fs::File::open(&to).map_err(|source| StoreError::file("open", &to, source))?;
    file.sync_all().map_err(|source| StoreError::file("write", &to, source))?;
    let mut rights = file.metadata().map_err(|source| StoreError::file("look at", &to, source))?.permissions();
    rights.set_readonly(true);
    fs::set_permissions(&to, rights).map_err(|source| StoreError::file("protect", &to, source))?;
    let data = file.metadata().map_err(|source| StoreError::file("look at", &to, source))?;
    files.push(Item { path: name.to_owned(), size: data.len(), modified_ms: modified_ms(&data), sha256: digest(&to)? });
    Ok(())
}

fn durable(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let write = || -> io::Result<()> {
        let mut file = fs::File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|source| StoreError::file("write", path, source))
}

/// That a folder's entry is on disk is worth waiting for, and no reason to fail where a file system cannot say.
fn sync_dir(dir: &Path) {
    if let Ok(folder) = fs::File::open(dir) {
        let _ = folder.sync_all();
    }
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
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn sources(dir: &Path) -> PathBuf {
        let sources = dir.join("checkout");
        fs::create_dir_all(sources.join("prompts/system")).expect("folder");
        fs::write(sources.join("config.yaml"), "model: {}\n").expect("file");
        fs::write(sources.join("prompts/system/1.md"), "text\n").expect("file");
        fs::write(sources.join("agent"), "#!program").expect("file");
        sources
    }

    fn parts<'a>(sources: &'a Path, program: &'a Path, tree: &'a str) -> Parts<'a> {
        Parts { commit: ONE, tree, judge: "j", toolchain: "rustc 1", flags: "release", program, sources }
    }

    #[test]
    fn the_first_generation_becomes_current_and_a_second_one_does_not() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let sources = sources(dir.path());
        let program = sources.join("agent");
        let store = Store::new(dir.path().join("generations"));
        assert_eq!(store.current().expect("reads"), None);
        store.install(parts(&sources, &program, ONE)).expect("installs");
        store.install(parts(&sources, &program, TWO)).expect("installs beside it");
        let current = store.current().expect("reads").expect("there is one");
        assert_eq!(current.tree, ONE);
        assert_eq!(fs::read(current.program()).expect("program"), b"#!program");
        let paths: Vec<_> = current.manifest().expect("manifest").files.into_iter().map(|item| item.path).collect();
        assert_eq!(paths, ["config.yaml", "prompts/system/1.md", "selfsmith-agent"]);
        store.install(parts(&sources, &program, ONE)).expect("again is no change");
    }

    #[test]
    fn a_changed_byte_is_found() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let sources = sources(dir.path());
        let program = sources.join("agent");
        let store = Store::new(dir.path().join("generations"));
        let installed = store.install(parts(&sources, &program, ONE)).expect("installs");
        fs::remove_file(installed.folder.join("config.yaml")).expect("remove");
        fs::write(installed.folder.join("config.yaml"), "model: []\n").expect("same size, other bytes");
        assert!(matches!(installed.verify(), Err(StoreError::Damaged { .. })));
    }
}
