//! What a project says by files of its own: its settings, its notes for agents, its commands.
//!
//! A repository can be anybody's. This says which of its files would steer this program, and what is in them, as digests;
//! whether a person trusts them is `ledger`. It follows no link out of the project.

use super::file;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of one file that are looked at; nothing that is read here may be larger.
const MAX_BYTES: u64 = 256 * 1024;
/// Files of a folder that are looked at.
const MAX_FILES: usize = 200;
/// Folders below each other.
const MAX_DEPTH: usize = 3;

/// Files that are read in each folder from the project's root down to the workspace.
const IN_EACH_FOLDER: &[&str] = &["AGENTS.md", "CLAUDE.md"];
/// Folders of the workspace whose files are read.
const FOLDERS: &[&str] = &[".selfsmith/commands"];

/// A project, and the files of it that would steer this program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    /// Its root: the repository's, else the folder that holds its settings, else the workspace itself.
    pub root: PathBuf,
    /// Digests of the files by their paths from the root, with `/`.
    pub files: BTreeMap<String, String>,
}

impl Project {
    /// The project that a folder lies in, links resolved.
    pub fn look(start: &Path) -> Self {
        let root = root(start);
        let mut files = BTreeMap::new();
        let mut take = |path: PathBuf| {
            let inside = fs::canonicalize(&path).is_ok_and(|real| real.starts_with(&root));
            if let (true, Some(name), Some(digest)) = (inside, name(&root, &path), of_file(&path)) {
                files.insert(name, digest);
            }
        };
        file::find_project(start).into_iter().for_each(&mut take);
        for folder in start.ancestors().take_while(|folder| folder.starts_with(&root)) {
            IN_EACH_FOLDER.iter().for_each(|file| take(folder.join(file)));
        }
        for folder in FOLDERS {
            let mut found = Vec::new();
            collect(&start.join(folder), MAX_DEPTH, &mut found);
            found.into_iter().for_each(&mut take);
        }
        Self { root, files }
    }

    /// The name of a file in it, as the keys of `files` are.
    pub fn name(&self, path: &Path) -> Option<String> {
        name(&self.root, path)
    }
}

/// The digest of what a file holds.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn root(start: &Path) -> PathBuf {
    let repository = start.ancestors().find(|folder| folder.join(".git").exists());
    let settings = || file::find_project(start)?.parent()?.parent().map(Path::to_owned);
    repository.map(Path::to_owned).or_else(settings).unwrap_or_else(|| start.to_owned())
}

fn name(root: &Path, path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

fn of_file(path: &Path) -> Option<String> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_BYTES).then(|| digest(&bytes))
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if found.len() == MAX_FILES {
            return;
        }
        let path = entry.path();
        if path.is_dir() && depth > 0 {
            collect(&path, depth - 1, found);
        } else if path.is_file() {
            found.push(path);
        }
    }
}
