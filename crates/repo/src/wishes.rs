//! What a person's configuration asks of every commit and the judge's do not fulfil: it writes objects and moves refs, so no hook
//! runs and nothing is signed. Whoever lands something says so. Promises to read only.

use crate::open::Repo;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Hooks that a commit, or a move of a branch, would run by git's own hand.
const HOOKS: [&str; 7] = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "post-merge",
    "reference-transaction",
];

impl Repo {
    /// Hooks of this repository, or of the folder that `core.hooksPath` names, that the judge's commits do not run.
    pub fn hooks(&self) -> Vec<String> {
        let config = self.inner.config().ok();
        let named = config.and_then(|config| config.get_path("core.hooksPath").ok());
        let folder = match named {
            Some(path) if path.is_absolute() => path,
            // A relative one is meant from the top of the work tree.
            Some(path) => self.inner.workdir().unwrap_or(self.inner.path()).join(path),
            None => self.inner.commondir().join("hooks"),
        };
        let runs = |path: PathBuf| fs::metadata(path).is_ok_and(|f| f.is_file() && f.permissions().mode() & 0o111 != 0);
        HOOKS.iter().filter(|name| runs(folder.join(name))).map(|name| (*name).to_owned()).collect()
    }

    /// Whether the configuration asks for signed commits.
    pub fn asks_for_signing(&self) -> bool {
        self.inner.config().and_then(|config| config.get_bool("commit.gpgSign")).unwrap_or(false)
    }
}
