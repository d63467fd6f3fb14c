//! Whether a tree holds the judge's own sources, and whether they are the ones that this judge was built from.
//!
//! The judge embeds a digest of its sources (the package's build script); the same digest is taken here from a git tree. A
//! judge that was built from other sources than the base's would judge by rules that the base does not have.

use crate::judgement::candidate::TreeId;
use selfsmith_repo::{Entry, Mode, Repo, RepoError};
use sha2::{Digest, Sha256};

/// Folders whose files are compiled into the judge.
const SOURCES: &[&str] = &["evolve", "crates"];

/// The digest of the judge's sources in a tree, as the build script takes it; none where the tree is another project's.
pub fn digest(repo: &Repo, tree: &TreeId) -> Result<Option<String>, RepoError> {
    let Some(manifest) = repo.entry(&tree.0, &"evolve/Cargo.toml".into())? else { return Ok(None) };
    let text = String::from_utf8_lossy(&repo.blob(&manifest.id)?).into_owned();
    if !text.lines().any(|line| line.trim() == r#"name = "selfsmith""#) {
        return Ok(None);
    }
    let mut files: Vec<(String, Entry)> = repo
        .entries(&tree.0)?
        .into_iter()
        .filter_map(|entry| Some((entry.path.as_str().filter(|path| is_compiled(path))?.to_owned(), entry)))
        .filter(|(_, entry)| matches!(entry.mode, Mode::File | Mode::Executable))
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let mut digest = Sha256::new();
    for (name, entry) in files {
        let content = repo.blob(&entry.id)?;
        digest.update((name.len() as u64).to_be_bytes());
        digest.update(name.as_bytes());
        digest.update((content.len() as u64).to_be_bytes());
        digest.update(&content);
    }
    Ok(Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Why this judge cannot judge this tree; none if it can.
pub fn foreign(repo: &Repo, tree: &TreeId, judge: &str) -> Result<Option<String>, RepoError> {
    Ok(digest(repo, tree)?.filter(|base| base != judge).map(|_| {
        "rebuild the judge: it was built from other sources than evolve/ and crates/ of the base commit".to_owned()
    }))
}

/// Test folders are no part of the program, and neither is what tools leave in hidden ones.
fn is_compiled(path: &str) -> bool {
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    let below = folders.split_first();
    below.is_some_and(|(top, rest)| {
        SOURCES.contains(top) && !rest.iter().any(|f| *f == "tests" || *f == "target" || f.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::is_compiled;

    #[test]
    fn tests_and_hidden_folders_are_no_part_of_the_program() {
        for path in ["evolve/src/lib.rs", "crates/repo/Cargo.toml", "evolve/src/journal/tests.rs", "evolve/.keep"] {
            assert!(is_compiled(path), "{path}");
        }
        for path in
            ["evolve/tests/a.rs", "crates/repo/tests/x/y.rs", "src/lib.rs", "Cargo.toml", "evolve/.x/a", "evolve"]
        {
            assert!(!is_compiled(path), "{path}");
        }
    }
}
