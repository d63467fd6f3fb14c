//! Files that tools keep their hands off: git's own, the program's own, secrets, and what `.selfsmithignore` names.
//!
//! Decides by the path, relative to the workspace with links resolved, and for a file of several names (hard links) by
//! each of them that lies in the workspace. Does not know what a tool wants to do with it, but for whether it writes.

use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Name of the file that lists what tools may not see, in the syntax of `.gitignore`.
pub const IGNORE_FILE: &str = ".selfsmithignore";
/// Bytes of it that are read.
const MAX_IGNORE_BYTES: u64 = 64 * 1024;

/// Entries of a workspace that are looked at for the other names of a file.
const MAX_LOOKED_AT: usize = 100_000;
/// Folders of what tools made and fetched: large, full of hard links, and without a person's secrets.
const BULK: [&str; 3] = ["node_modules", "target", ".venv"];

/// Whether bytes are only looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// Reading.
    Reads,
    /// Writing, making, replacing.
    Writes,
}

/// What is guarded in one workspace, as its list stood when this was made.
#[derive(Debug)]
pub struct Guard {
    root: PathBuf,
    own: Vec<PathBuf>,
    listed: Listed,
    /// Device and inode of what is guarded against reading; found where first asked for. None: there is too much to know.
    inodes: OnceLock<Option<HashSet<(u64, u64)>>>,
}

/// What is guarded in each of several folders.
#[derive(Debug)]
pub struct Guards(Vec<Guard>);

impl Guards {
    /// For folders, links resolved; the first that holds a place decides about it. `own`: this program's ([`own_folders`]).
    pub fn new(roots: impl IntoIterator<Item = PathBuf>, own: &[PathBuf]) -> Self {
        Self(roots.into_iter().map(|root| Guard { own: own.to_owned(), ..Guard::new(&root) }).collect())
    }

    /// The guard that a place is under, and the place relative to its folder; None: the place is in none of them.
    pub fn of<'a>(&self, absolute: &'a Path) -> Option<(&Guard, &'a Path)> {
        self.0.iter().find_map(|guard| Some((guard, absolute.strip_prefix(&guard.root).ok()?)))
    }
}

#[derive(Debug)]
enum Listed {
    Nothing,
    /// The list cannot be read.
    Everything,
    These(Gitignore),
}

impl Guard {
    /// For a workspace, links resolved.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), own: Vec::new(), listed: listed(root), inodes: OnceLock::new() }
    }

    /// Why a path is guarded, as the end of a sentence; None where it is free.
    pub fn why(&self, relative: &Path, touch: Touch) -> Option<&'static str> {
        self.by_name(relative, touch).or_else(|| self.by_other_names(relative))
    }

    fn by_other_names(&self, relative: &Path) -> Option<&'static str> {
        let metadata = fs::symlink_metadata(self.root.join(relative)).ok()?;
        if !metadata.is_file() || metadata.nlink() < 2 {
            return None;
        }
        match self.inodes.get_or_init(|| self.guarded_inodes()) {
            Some(inodes) => {
                let one = inodes.contains(&(metadata.dev(), metadata.ino()));
                one.then_some("it is the same file as one that is guarded, under another name")
            }
            None => Some("it has other names, and there are too many files here to see whether one of them is guarded"),
        }
    }

    fn guarded_inodes(&self) -> Option<HashSet<(u64, u64)>> {
        let mut found = HashSet::new();
        let walk = WalkBuilder::new(&self.root)
            .standard_filters(false)
            .follow_links(false)
            .filter_entry(|entry| {
                let is_bulk = entry.path().parent().is_some_and(|above| above.ends_with(".git"))
                    && entry.file_name() == "objects";
                let is_made = BULK.iter().any(|name| entry.file_name() == *name);
                !(is_bulk || is_made)
            })
            .build();
        for (n, entry) in walk.filter_map(Result::ok).enumerate() {
            if n >= MAX_LOOKED_AT {
                return None;
            }
            let relative = entry.path().strip_prefix(&self.root).unwrap_or(entry.path());
            if entry.file_type().is_some_and(|kind| kind.is_file())
                && self.by_name(relative, Touch::Reads).is_some()
                && let Ok(metadata) = entry.metadata()
            {
                found.insert((metadata.dev(), metadata.ino()));
            }
        }
        Some(found)
    }

    fn by_name(&self, relative: &Path, touch: Touch) -> Option<&'static str> {
        let names: Vec<String> =
            relative.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
        if names.iter().any(|name| name == ".git") {
            return Some("git's own files are changed by git alone");
        }
        if touch == Touch::Writes && names.first().is_some_and(|name| name == ".selfsmith" || name == IGNORE_FILE) {
            return Some("it holds this program's own settings, which the person changes");
        }
        let absolute = self.root.join(relative);
        if self.own.iter().any(|folder| absolute.starts_with(folder)) {
            return Some("it is this program's own, with the person's settings, keys and sessions");
        }
        if is_secret(&names) {
            return Some("it looks like a file of secrets");
        }
        self.is_listed(relative).then_some("the person listed it in .selfsmithignore")
    }

    fn is_listed(&self, relative: &Path) -> bool {
        match &self.listed {
            Listed::Nothing => false,
            Listed::Everything => true,
            Listed::These(list) => {
                let is_dir = self.root.join(relative).is_dir();
                list.matched_path_or_any_parents(relative, is_dir).is_ignore()
            }
        }
    }
}

/// Where this program keeps the person's settings and keys, sessions and data, whether or not that exists yet; settings
/// first. Links are resolved as far as there is something.
pub fn own_folders(environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let absolute = |wanted: &str| {
        let value = environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| PathBuf::from(value));
        value.filter(|path| path.is_absolute())
    };
    let places =
        [("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state"), ("XDG_DATA_HOME", ".local/share")];
    let folder = |(name, usual): (&str, &str)| absolute(name).or_else(|| Some(absolute("HOME")?.join(usual)));
    places.into_iter().filter_map(folder).map(|folder| resolved(&folder).join("selfsmith")).collect()
}

fn resolved(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, real)) = there else { return path.to_owned() };
    path.strip_prefix(above).map_or_else(|_| path.to_owned(), |rest| real.join(rest))
}

/// Whether a path's parts, in lower case, are those of a file of secrets.
pub fn is_secret(names: &[String]) -> bool {
    let folders = [".ssh", ".gnupg", ".aws"];
    if names.iter().any(|name| folders.contains(&name.as_str())) {
        return true;
    }
    let Some(name) = names.last() else { return false };
    let environment = name == ".env" || name.strip_prefix(".env.").is_some_and(|kind| !is_sample(kind));
    let exact =
        [".netrc", "_netrc", ".pgpass", ".htpasswd", ".git-credentials", ".pypirc", ".npmrc", "credentials.json"];
    let key = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    let ending = [".pem", ".key", ".p12", ".pfx", ".kdbx", ".keystore", ".jks", ".ppk"];
    environment
        || exact.contains(&name.as_str())
        || key.contains(&name.as_str())
        || ending.iter().any(|ending| name.ends_with(ending))
}

/// `.env.example` and its like hold names, not values.
fn is_sample(kind: &str) -> bool {
    matches!(kind, "example" | "sample" | "template" | "dist" | "defaults")
}

fn listed(root: &Path) -> Listed {
    let Ok(file) = File::open(root.join(IGNORE_FILE)) else { return Listed::Nothing };
    let mut text = Vec::new();
    if file.take(MAX_IGNORE_BYTES).read_to_end(&mut text).is_err() {
        return Listed::Everything;
    }
    let mut builder = GitignoreBuilder::new(root);
    for line in String::from_utf8_lossy(&text).lines() {
        // A line that is no pattern guards nothing; the others still do.
        let _ = builder.add_line(None, line);
    }
    builder.build().map_or(Listed::Everything, Listed::These)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded_by_name(path: &str, touch: Touch) -> bool {
        Guard::new(Path::new("/nowhere")).why(Path::new(path), touch).is_some()
    }

    #[test]
    fn secrets_and_git_are_guarded_and_samples_are_not() {
        for path in
            [".env", "a/.env.local", "x/.git/config", ".GIT/hooks/x", "k/server.key", ".ssh/known_hosts", "id_rsa"]
        {
            assert!(guarded_by_name(path, Touch::Reads), "{path}");
        }
        for path in [".env.example", "src/key.rs", ".gitignore", "environment.md", ".selfsmith/config.yaml"] {
            assert!(!guarded_by_name(path, Touch::Reads), "{path}");
        }
        assert!(guarded_by_name(".selfsmith/config.yaml", Touch::Writes));
    }

    #[test]
    fn this_programs_own_folders_are_guarded_where_the_home_folder_is_the_workspace() {
        let home = tempfile::tempdir().expect("a folder");
        let real = home.path().canonicalize().expect("it is there");
        let environment =
            [("HOME".into(), real.clone().into()), ("XDG_STATE_HOME".into(), real.join("state").into_os_string())];
        let guards = Guards::new([real.clone()], &own_folders(&environment));
        let why = |name: &str| {
            let path = real.join(name);
            guards.of(&path).is_some_and(|(guard, relative)| guard.why(relative, Touch::Writes).is_some())
        };
        for name in [".config/selfsmith/config.yaml", "state/selfsmith/sessions/x", ".local/share/selfsmith/y"] {
            assert!(why(name), "{name}");
        }
        assert!(!why(".config/other") && !why(".local/state/selfsmith/x"));
    }

    #[test]
    fn a_guarded_file_is_guarded_under_its_other_names_too_and_other_links_are_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("deep/.git")).expect("folders");
        for name in [".env", "deep/listed.txt", "deep/.git/config", "free.txt"] {
            fs::write(at(name), name).expect("a file");
        }
        fs::write(at(IGNORE_FILE), "listed.txt\n").expect("a list");
        fs::write(at(".gitignore"), ".env\n").expect("a list");
        let links =
            [(".env", "notes.txt"), ("deep/listed.txt", "b.txt"), ("deep/.git/config", "c.txt"), ("free.txt", "d.txt")];
        for (name, link) in links {
            fs::hard_link(at(name), at(link)).expect("a link");
        }
        let guard = Guard::new(folder.path());
        let free = |name: &&(&str, &str)| guard.why(Path::new(name.1), Touch::Reads).is_none();
        assert_eq!(links.iter().filter(free).collect::<Vec<_>>(), [&links[3]]);
        assert_eq!(guard.why(Path::new("free.txt"), Touch::Writes), None);
    }
}
