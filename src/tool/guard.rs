//! Files that tools keep their hands off: git's own, the program's own, secrets, and what `.selfsmithignore` names.
//!
//! Decides by the path alone, relative to the workspace with links resolved. Does not know what a tool wants to do with it,
//! but for whether it writes.

use ignore::gitignore::GitignoreBuilder;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Name of the file that lists what tools may not see, in the syntax of `.gitignore`.
pub const IGNORE_FILE: &str = ".selfsmithignore";
/// Bytes of it that are read.
const MAX_IGNORE_BYTES: u64 = 64 * 1024;

/// Whether bytes are only looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// Reading.
    Reads,
    /// Writing, making, replacing.
    Writes,
}

/// Why a path is guarded, as the end of a sentence; None where it is free.
pub fn guarded(root: &Path, relative: &Path, touch: Touch) -> Option<&'static str> {
    let names: Vec<String> =
        relative.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
    if names.iter().any(|name| name == ".git") {
        return Some("git's own files are changed by git alone");
    }
    if touch == Touch::Writes && names.first().is_some_and(|name| name == ".selfsmith" || name == IGNORE_FILE) {
        return Some("it holds this program's own settings, which the person changes");
    }
    if is_secret(&names) {
        return Some("it looks like a file of secrets");
    }
    is_ignored(root, relative).then_some("the person listed it in .selfsmithignore")
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

fn is_ignored(root: &Path, relative: &Path) -> bool {
    let Ok(file) = File::open(root.join(IGNORE_FILE)) else { return false };
    let mut text = Vec::new();
    if file.take(MAX_IGNORE_BYTES).read_to_end(&mut text).is_err() {
        return true;
    }
    let mut builder = GitignoreBuilder::new(root);
    for line in String::from_utf8_lossy(&text).lines() {
        // A line that is no pattern guards nothing; the others still do.
        let _ = builder.add_line(None, line);
    }
    let is_dir = root.join(relative).is_dir();
    // A list that cannot be read guards everything.
    builder.build().map_or(true, |list| list.matched_path_or_any_parents(relative, is_dir).is_ignore())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded_by_name(path: &str, touch: Touch) -> bool {
        guarded(Path::new("/nowhere"), Path::new(path), touch).is_some()
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
}
