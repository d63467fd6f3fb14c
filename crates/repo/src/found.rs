//! Makes a repository of a plain folder: one branch, one commit of everything in it, nothing of the user's configuration.

use crate::commits::{Identity, When};
use crate::error::RepoError;
use crate::open::Repo;
use git2::{IndexAddOption, RepositoryInitOptions};
use std::path::Path;

impl Repo {
    /// Makes `dir` a repository with the branch `main` and one commit of every file in it. Index and work tree agree with
    /// the commit afterwards. No template is copied, no hook and no filter runs, ignore files are obeyed.
    ///
    /// # Errors
    /// The folder is a repository already, or cannot be read or written.
    pub fn found(dir: &Path, author: &Identity, message: &str, when: When) -> Result<(Self, String), RepoError> {
        let shown = dir.display();
        let mut options = RepositoryInitOptions::new();
        options.no_reinit(true).mkdir(true).external_template(false).initial_head("main");
        let inner = git2::Repository::init_opts(dir, &options)
            .map_err(RepoError::git(format!("make a repository of {shown}")))?;
        let id = {
            let adding = || RepoError::git(format!("add the files of {shown}"));
            let mut index = inner.index().map_err(adding())?;
            index.add_all(["*"], IndexAddOption::DEFAULT, None).map_err(adding())?;
            let tree = index.write_tree().map_err(adding())?;
            let tree = inner.find_tree(tree).map_err(adding())?;
            index.write().map_err(adding())?;
            let signature = author.signature(when)?;
            inner
                .commit(Some("HEAD"), &signature, &signature, message, &tree, &[])
                .map_err(RepoError::git(format!("write the first commit of {shown}")))?
        };
        Ok((Self { inner }, id.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_plain_folder_becomes_a_clean_repository_on_main() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::create_dir(dir.path().join("src")).expect("folder");
        fs::write(dir.path().join("src/lib.rs"), "// one\n").expect("file");
        fs::write(dir.path().join(".gitignore"), "/target\n").expect("file");
        fs::create_dir(dir.path().join("target")).expect("folder");
        fs::write(dir.path().join("target/out"), "").expect("file");
        let author = Identity { name: "Somebody".into(), email: "somebody@example.invalid".into() };
        let when = When { seconds: 1_700_000_000, offset_minutes: 0 };
        let (repo, commit) = Repo::found(dir.path(), &author, "First", when).expect("founded");
        assert_eq!(repo.read_ref("refs/heads/main").expect("reads"), Some(commit));
        assert_eq!(repo.inner.statuses(None).expect("status").iter().filter(|s| !s.status().is_ignored()).count(), 0);
        assert!(Repo::found(dir.path(), &author, "Again", when).is_err(), "it is one already");
    }
}
