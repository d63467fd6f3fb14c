//! Commits as the person would make them: their identity, hooks, filters and signing. Promises: when it fails, files and index
//! are as they were; a path is meant literally; the message is kept as it is; no embedded repository becomes a bare link.

use super::guard::{Attempt, Guard};
use super::paths::nul_list;
use super::status::Moves;
use super::{Changed, Class, Difference, PersonError, WorkTree};
use crate::checkout::operation_in;
use crate::path::TreePath;
use std::fs;
use std::io::Write;
use std::time::Duration;
use tempfile::NamedTempFile;

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// Its id.
    pub id: String,
    /// What the person should know.
    pub warnings: Vec<Warning>,
}

/// What a person should know of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// This folder holds a git repository of its own and was left out: it would have become a link that nobody can follow.
    EmbeddedRepository(TreePath),
}

/// What is committed.
struct Selection {
    paths: Vec<TreePath>,
    untracked: Vec<TreePath>,
    warnings: Vec<Warning>,
}

impl WorkTree<'_> {
    /// Commits everything that differs from the last commit, untracked files included.
    ///
    /// # Errors
    /// Nothing to commit, HEAD on no branch, a merge under way, no identity, a hook that refused, signing or a filter that
    /// failed, more time than `timeout`. Files and index are then as they were.
    pub fn commit_all(&self, message: &str, timeout: Duration) -> Result<Committed, PersonError> {
        self.may_commit()?;
        let selection = select(self.changes(Moves::AsTwo)?);
        let (filters, guard) = self.prepare(&selection)?;
        let known = ["add", "--update"].map(str::to_owned).to_vec();
        let unknown = ["add", "--pathspec-from-file=-", "--pathspec-file-nul"].map(str::to_owned).to_vec();
        let steps = [(known, Vec::new()), (unknown, nul_list(&selection.untracked))];
        for (args, stdin) in steps {
            if args.len() > 2 && stdin.is_empty() {
                continue;
            }
            self.guarded(
                &guard,
                Attempt { doing: "stage the changes", args, stdin, filters: filters.clone(), timeout },
            )?;
        }
        self.make_commit(&guard, message, &selection, &[], filters, timeout)
    }

    /// Commits what differs in these files, or below these folders, and nothing else; what else is staged stays staged.
    ///
    /// # Errors
    /// As `commit_all`; and a path that is not there, is ignored, or lies outside.
    pub fn commit_paths(&self, paths: &[&[u8]], message: &str, timeout: Duration) -> Result<Committed, PersonError> {
        self.may_commit()?;
        let wanted = paths.iter().map(|path| self.place(path)).collect::<Result<Vec<_>, _>>()?;
        let changes = self.changes(Moves::AsTwo)?;
        for path in &wanted {
            if !changes.iter().any(|c| c.path.is_within(path.as_bytes())) {
                self.may_be_unchanged(path)?;
            }
        }
        let within = |c: &Changed| wanted.iter().any(|path| c.path.is_within(path.as_bytes()));
        let selection = select(changes.into_iter().filter(within).collect());
        let (filters, guard) = self.prepare(&selection)?;
        if !selection.untracked.is_empty() {
            let args =
                ["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"].map(str::to_owned).to_vec();
            let stdin = nul_list(&selection.untracked);
            self.guarded(
                &guard,
                Attempt { doing: "stage the new files", args, stdin, filters: filters.clone(), timeout },
            )?;
        }
        let only = ["--only", "--pathspec-from-file=-", "--pathspec-file-nul"];
        self.make_commit(&guard, message, &selection, &only, filters, timeout)
    }

    /// Whether a commit can be made here and now.
    pub(super) fn may_commit(&self) -> Result<(), PersonError> {
        self.nothing_under_way("commit")?;
        self.on_a_branch("commit")?;
        for who in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            let done = self.git().setting("user.useConfigOnly=true").finish(&["var", who])?;
            if !done.ok() {
                let message = format!("commit: git does not know who you are\n{}", done.said());
                return Err(PersonError::new(Class::Identity, message));
            }
        }
        Ok(())
    }

    pub(super) fn nothing_under_way(&self, doing: &str) -> Result<(), PersonError> {
        if let Some(operation) = operation_in(&self.git_dir) {
            return Err(PersonError::new(Class::InProgress, format!("{doing}: a {operation} is under way")));
        }
        let unmerged = self.git().output(&["ls-files", "--unmerged", "-z"])?;
        if !unmerged.is_empty() {
            return Err(PersonError::new(Class::InProgress, format!("{doing}: there are unmerged files")));
        }
        Ok(())
    }

    pub(super) fn on_a_branch(&self, doing: &str) -> Result<(), PersonError> {
        if self.git().finish(&["symbolic-ref", "--quiet", "HEAD"])?.ok() {
            return Ok(());
        }
        let message = format!("{doing}: HEAD is detached, on no branch, and the commit would easily be lost");
        Err(PersonError::new(Class::Detached, message))
    }

    /// A path without a change: it must at least be a file that git knows.
    fn may_be_unchanged(&self, path: &TreePath) -> Result<(), PersonError> {
        if !self.indexed(path)?.is_empty() {
            return Ok(());
        }
        match fs::symlink_metadata(path.below(&self.top)) {
            Ok(_) => Err(PersonError::new(Class::BadPath, format!("commit {path}: it is ignored, or holds nothing"))),
            Err(_) => Err(PersonError::new(Class::NoSuchFile, format!("commit {path}: there is no such file"))),
        }
    }

    fn prepare(&self, selection: &Selection) -> Result<(Vec<String>, Guard), PersonError> {
        if selection.paths.is_empty() {
            let mut message = "commit: nothing differs from the last commit".to_owned();
            for Warning::EmbeddedRepository(path) in &selection.warnings {
                message.push_str(&format!("; {path} is a git repository of its own"));
            }
            return Err(PersonError::new(Class::NoChange, message));
        }
        let filters = self.filters_of(&selection.paths)?;
        Ok((filters, Guard::new(self)?))
    }

    /// Runs a step, and puts everything back when it fails.
    fn guarded(&self, guard: &Guard, attempt: Attempt<'_>) -> Result<(), PersonError> {
        match self.attempt(attempt) {
            Ok(Ok(())) => Ok(()),
            Ok(Err((error, done))) => {
                guard.restore(&done);
                Err(error)
            }
            Err(error) => {
                guard.put_back();
                Err(error)
            }
        }
    }

    fn make_commit(
        &self,
        guard: &Guard,
        message: &str,
        selection: &Selection,
        only: &[&str],
        filters: Vec<String>,
        timeout: Duration,
    ) -> Result<Committed, PersonError> {
        let before = self.head()?;
        let file = message_file(&message_or_default(message, &selection.paths))?;
        let name = file.path().to_string_lossy().into_owned();
        let fixed = ["commit", "--quiet", "--cleanup=whitespace", "--file", &name];
        let args = fixed.iter().chain(only).map(|arg| (*arg).to_owned()).collect();
        let stdin = if only.is_empty() { Vec::new() } else { nul_list(&selection.paths) };
        self.guarded(guard, Attempt { doing: "commit", args, stdin, filters, timeout })?;
        match self.head()? {
            Some(id) if Some(&id) != before.as_ref() => Ok(Committed { id, warnings: selection.warnings.clone() }),
            _ => Err(PersonError::new(Class::Failed, "commit: git says that it did, and HEAD has not moved")),
        }
    }
}

fn select(changes: Vec<Changed>) -> Selection {
    let mut selection = Selection { paths: Vec::new(), untracked: Vec::new(), warnings: Vec::new() };
    for change in changes {
        match change.difference {
            Difference::Embedded => selection.warnings.push(Warning::EmbeddedRepository(change.path)),
            Difference::Untracked => {
                selection.untracked.push(change.path.clone());
                selection.paths.push(change.path);
            }
            _ => selection.paths.push(change.path),
        }
    }
    selection
}

/// The message, or one made from the paths where there is none.
fn message_or_default(message: &str, paths: &[TreePath]) -> String {
    let message = message.replace('\0', " ");
    if !message.trim().is_empty() {
        return message;
    }
    match paths {
        [one] => format!("Update {one}"),
        [first, rest @ ..] => format!("Update {first} and {} more", rest.len()),
        [] => "Update".to_owned(),
    }
}

fn message_file(message: &str) -> Result<NamedTempFile, PersonError> {
    let make = || -> std::io::Result<NamedTempFile> {
        let mut file = NamedTempFile::with_prefix("selfsmith-message-")?;
        file.write_all(message.as_bytes())?;
        Ok(file)
    };
    make().map_err(|e| PersonError::new(Class::Failed, format!("write the message to a temporary file: {e}")))
}
