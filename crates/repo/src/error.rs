//! What can go wrong with a repository. Each message completes "could not …" and names the path, ref or argv; `hint` says
//! what to do next.

use crate::path::TreePath;
use std::io;
use std::path::{Path, PathBuf};

/// Why a repository could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepoError {
    /// Nothing there.
    #[error("open {}: there is no git repository here or above", path.display())]
    NotARepository {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Owned by somebody else.
    #[error("open {}: it belongs to another user", path.display())]
    Owner {
        /// The repository.
        path: PathBuf,
    },
    /// A kind of repository that would be misread.
    #[error("use {}: it is {what}", path.display())]
    Unsupported {
        /// The repository.
        path: PathBuf,
        /// What it is, as in "a partial clone".
        what: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// Needs a work tree.
    #[error("use {}: it is bare, there are no files to work on", path.display())]
    Bare {
        /// The repository.
        path: PathBuf,
    },
    /// No such revision, or of the wrong kind.
    #[error("find {what}: {why}")]
    NotFound {
        /// What was asked for.
        what: String,
        /// libgit2's reason.
        why: String,
    },
    /// A ref is not where it was expected, so it was left alone.
    #[error(
        "move {name}: it is at {} and not at {}, somebody moved it",
        found.as_deref().unwrap_or("nothing"),
        expected.as_deref().unwrap_or("nothing")
    )]
    Moved {
        /// The ref.
        name: String,
        /// Where it was expected.
        expected: Option<String>,
        /// Where it is.
        found: Option<String>,
    },
    /// Another process holds a lock, and kept it.
    #[error("lock {what}: {}", holder(path.as_deref()))]
    Locked {
        /// The ref or file.
        what: String,
        /// The lock, where it is known.
        path: Option<PathBuf>,
    },
    /// A ref of this name cannot exist beside that one.
    #[error("create {name}: {other} stands in the way")]
    InTheWay {
        /// Wanted.
        name: String,
        /// There already.
        other: String,
    },
    /// No valid full ref name, or a symbolic one.
    #[error("use {name:?} as a ref: {why}")]
    BadRef {
        /// The name.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// A path that may not be written.
    #[error("use the path {path}: {why}")]
    UnsafePath {
        /// The path.
        path: TreePath,
        /// Why not.
        why: &'static str,
    },
    /// A checkout was left alone, because something of the person's would have been lost.
    #[error("update {}: {why}", path.display())]
    CheckoutKept {
        /// The checkout.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// libgit2 refused.
    #[error("{doing}: {}", source.message())]
    Git {
        /// What was being done.
        doing: String,
        /// Its error.
        source: git2::Error,
    },
    /// The disk refused.
    #[error("{doing} {}: {source}", path.display())]
    Disk {
        /// What was being done.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The git program failed.
    #[error("run {argv}: {said}")]
    Program {
        /// The command.
        argv: String,
        /// How it ended and what it said.
        said: String,
    },
    /// The git program could not be started.
    #[error("run {argv}: {source}")]
    Start {
        /// The command.
        argv: String,
        /// Why.
        source: selfsmith_sandbox::SandboxError,
    },
}

impl RepoError {
    /// What to do next.
    pub fn hint(&self) -> &str {
        match self {
            Self::NotARepository { .. } => "give the folder of a git repository, or run `git init` in it first",
            Self::Owner { .. } => {
                "work as its owner, or, if you trust it, add it to safe.directory: `git config --global --add safe.directory <folder>`"
            }
            Self::Unsupported { hint, .. } => hint,
            Self::Bare { .. } => "use a clone that has a work tree",
            Self::NotFound { .. } => "`git rev-parse` shows what git knows by that name",
            Self::Moved { .. } => "look at what moved it, then start again from there",
            Self::Locked { .. } => {
                "wait until that git process has ended; if none runs, a killed one left the .lock file: remove it (`rm`), and start again"
            }
            Self::InTheWay { .. } => "rename or remove the ref that stands in the way, or use another name",
            Self::BadRef { .. } => "give a full name such as refs/heads/main",
            Self::UnsafePath { .. } => "rename the file",
            Self::CheckoutKept { .. } => {
                "commit or stash what is there, then `git merge --ff-only` the branch yourself"
            }
            Self::Git { source, .. } if source.class() == git2::ErrorClass::Os => {
                "see that the git folder has room and that you may write all of it (`ls -ld` shows whose it is)"
            }
            Self::Git { .. } => "`git fsck` tells whether the repository is whole",
            Self::Disk { .. } => "check that the path exists, has room and may be written",
            Self::Program { .. } => "run the command by hand to see more",
            Self::Start { .. } => "install git, and see that PATH finds it",
        }
    }

    /// Wraps libgit2's error, telling the kinds apart that callers act on.
    pub(crate) fn git(doing: impl Into<String>) -> impl FnOnce(git2::Error) -> Self {
        let doing = doing.into();
        move |source| match source.code() {
            git2::ErrorCode::Locked => {
                // libgit2 names the file in quotes, and nowhere else.
                let named = source.message().split('\'').nth(1).map(PathBuf::from);
                Self::Locked { what: doing, path: named.filter(|path| path.is_absolute()) }
            }
            git2::ErrorCode::NotFound => Self::NotFound { what: doing, why: source.message().to_owned() },
            _ => Self::Git { doing, source },
        }
    }

    /// Wraps an error of the disk.
    pub(crate) fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Disk { doing, path, source }
    }
}

fn holder(lock: Option<&Path>) -> String {
    match lock {
        Some(lock) => format!("{} is there, so another git process holds it", lock.display()),
        None => "another git process holds it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_disk_refuses_is_no_matter_for_fsck() {
        let refused = |class| {
            let source = git2::Error::new(git2::ErrorCode::GenericError, class, "Permission denied");
            RepoError::Git { doing: "write".into(), source }
        };
        assert!(refused(git2::ErrorClass::Os).hint().contains("may write"));
        assert!(refused(git2::ErrorClass::Odb).hint().contains("fsck"));
    }
}
