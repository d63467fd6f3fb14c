//! A real repository in a temporary folder, and the git program to look at it with.

use selfsmith_repo::{Caller, Identity, Repo, When};
use selfsmith_sandbox::Cancel;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub struct World {
    _dir: TempDir,
    pub root: PathBuf,
}

pub const NOW: When = When { seconds: 1_700_000_000, offset_minutes: 120 };

pub fn me() -> Identity {
    Identity { name: "A. Gent".into(), email: "agent@example.org".into() }
}

/// Runs git in `dir` with an empty configuration and a fixed clock.
pub fn git_in(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(dir)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .env("LC_ALL", "C")
        .output()
        .unwrap()
}

/// Who calls: this process's environment, with what a hostile or careless parent may have left in it.
pub struct Us {
    pub environment: Vec<(OsString, OsString)>,
    pub cancel: Cancel,
}

impl Us {
    pub fn new() -> Self {
        let mut environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        environment.retain(|(name, _)| !name.to_string_lossy().starts_with("GIT_"));
        environment.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
        environment.push(("GIT_CONFIG_NOSYSTEM".into(), "1".into()));
        environment.push(("GIT_DIR".into(), "/nowhere".into())); // inherited, and not to be believed
        Self { environment, cancel: Cancel::default() }
    }

    pub fn caller(&self) -> Caller<'_> {
        Caller { environment: &self.environment, cancel: &self.cancel }
    }
}

impl World {
    /// An empty repository on branch main.
    pub fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("repo");
        std::fs::create_dir(&root).unwrap();
        let world = Self { _dir: dir, root };
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["config", "user.name", "T"]);
        world.git(&["config", "user.email", "t@example.org"]);
        world
    }

    /// One commit with `a.txt` = "one\n" and `src/lib.rs` = "fn f() {}\n".
    pub fn with_base() -> Self {
        let world = Self::empty();
        world.write("a.txt", "one\n");
        world.write("src/lib.rs", "fn f() {}\n");
        world.commit_all("base");
        world
    }

    pub fn git(&self, args: &[&str]) -> String {
        let out = git_in(&self.root, args);
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim_end().to_owned()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn commit_all(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
        self.head()
    }

    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn tree(&self) -> String {
        self.git(&["rev-parse", "HEAD^{tree}"])
    }

    pub fn repo(&self) -> Repo {
        Repo::open(&self.root).unwrap()
    }

    /// A fresh folder outside of the repository.
    pub fn outside(&self, name: &str) -> PathBuf {
        let path = self.root.parent().unwrap().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    pub fn fsck(&self) {
        self.git(&["fsck", "--strict", "--no-dangling"]);
    }
}
