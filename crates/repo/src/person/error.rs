//! Why something was not done in a person's work tree: a class to act on, a message that completes "could not …" with git's
//! own words, a hint. What git says is read in the C locale only.

use crate::error::RepoError;
use crate::program::Done;
use selfsmith_sandbox::End;
use std::path::Path;

/// What kind of refusal or failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// No repository here.
    NotARepository,
    /// No work tree.
    Bare,
    /// Owned by another user.
    Ownership,
    /// git does not know who commits.
    Identity,
    /// Another git process holds a lock.
    Locked,
    /// A merge, rebase or the like is under way.
    InProgress,
    /// HEAD is on no branch.
    Detached,
    /// Uncommitted changes would be lost or mixed up.
    Dirty,
    /// A hook said no.
    Hook,
    /// Signing failed.
    Sign,
    /// It took too long.
    TimedOut,
    /// A filter (as LFS) is missing or failed.
    Filter,
    /// There is no commit before this one here.
    NoParent,
    /// Undoing it needs a decision between several parents.
    Merge,
    /// It was published already.
    Published,
    /// Both sides changed the same lines.
    Conflict,
    /// There is nothing to do.
    NoChange,
    /// No such revision, or no file that git knows.
    NotFound,
    /// No such file.
    NoSuchFile,
    /// Something is there already.
    Exists,
    /// A folder where a file is meant.
    IsDirectory,
    /// A pipe or device.
    NotAFile,
    /// A path that names no file here.
    BadPath,
    /// A path that leads out of the work tree.
    OutsideRoot,
    /// A path inside `.git`.
    Protected,
    /// Stopped by the caller.
    Cancelled,
    /// A kind of repository that this operation cannot work on.
    Unsupported,
    /// Anything else.
    Failed,
}

impl Class {
    fn hint(self) -> &'static str {
        match self {
            Self::NotARepository => "change to a folder of a git repository, or run `git init`",
            Self::Bare => "work in a clone that has files",
            Self::Ownership => {
                "work as the owner of the files, or trust the folder yourself with `git config --global --add safe.directory <folder>`"
            }
            Self::Identity => "tell git who you are: `git config user.name \"…\"` and `git config user.email …`",
            Self::Locked => "wait for the other git process; if none runs, remove the lock file that it left",
            Self::InProgress => {
                "finish it (`git merge --continue`, `git rebase --continue`) or abort it, then try again"
            }
            Self::Detached => "make a branch for it: `git switch -c <name>`",
            Self::Dirty => "commit or stash your changes to these files first",
            Self::Hook => "mend what the hook complains about; your changes are as they were",
            Self::Sign => {
                "see that the signing program works in this environment (`git config commit.gpgsign` tells whether it is on)"
            }
            Self::TimedOut => {
                "a hook or the signing program may wait for input that nobody sees; run `git commit` by hand once"
            }
            Self::Filter => {
                "install the program of the filter (for lfs: `git lfs install`); without it the wrong content would be committed"
            }
            Self::NoParent => "there is nothing to go back to; in a shallow clone fetch more: `git fetch --deepen 10`",
            Self::Merge => "revert it by hand and name the side to keep: `git revert -m 1 <commit>`",
            Self::Published => "undo it by a new commit instead: `git revert <commit>`",
            Self::Conflict => "undo it by hand: `git revert <commit>` and resolve the conflict",
            Self::NoChange => "change something first",
            Self::NotFound | Self::NoSuchFile => "look at `git status` and `git log` for the right name",
            Self::Exists => "choose another name, or move away what is there",
            Self::IsDirectory | Self::NotAFile | Self::BadPath => "name a file of the work tree",
            Self::OutsideRoot => "name a file inside the work tree",
            Self::Protected => "git's own files are not touched this way",
            Self::Cancelled => "start it again",
            Self::Unsupported => "use the git program by hand",
            Self::Failed => "run the git command by hand to see more",
        }
    }
}

/// Why it was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PersonError {
    /// To act on.
    pub class: Class,
    message: String,
}

impl PersonError {
    pub(crate) fn new(class: Class, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        self.class.hint()
    }
}

impl From<RepoError> for PersonError {
    fn from(error: RepoError) -> Self {
        let class = match &error {
            RepoError::NotARepository { .. } => Class::NotARepository,
            RepoError::Owner { .. } => Class::Ownership,
            RepoError::Bare { .. } => Class::Bare,
            RepoError::Unsupported { .. } => Class::Unsupported,
            RepoError::NotFound { .. } => Class::NotFound,
            RepoError::Locked { .. } => Class::Locked,
            RepoError::UnsafePath { .. } => Class::BadPath,
            RepoError::CheckoutKept { .. } => Class::Dirty,
            RepoError::Program { said, .. } => class_of(said),
            _ => Class::Failed,
        };
        Self::new(class, error.to_string())
    }
}

/// Why a folder could not be opened as a work tree.
pub(super) fn of_opening(dir: &Path, done: &Done) -> PersonError {
    let said = done.said();
    let class = match class_of(&said) {
        Class::Failed if said.contains("not a git repository") => Class::NotARepository,
        other => other,
    };
    let told = match class {
        Class::NotARepository => "there is no git repository here".to_owned(),
        Class::Bare => "there is no work tree here, only git's own files (a bare repository)".to_owned(),
        Class::Ownership => format!("it belongs to another user: {}", said.lines().next().unwrap_or("")),
        _ => said,
    };
    PersonError::new(class, format!("open {}: {told}", dir.display()))
}

/// Why a command failed.
pub(super) fn of_command(doing: &str, done: &Done) -> PersonError {
    let class = match done.end() {
        End::TimedOut => Class::TimedOut,
        End::Cancelled => Class::Cancelled,
        _ => class_of(&done.said()),
    };
    PersonError::new(class, format!("{doing}: {}", done.error()))
}

/// Why the disk refused.
pub(super) fn of_disk(doing: &str, error: &std::io::Error) -> PersonError {
    PersonError::new(Class::Failed, format!("{doing}: {error}"))
}

/// Recognises what git says. Only its own lines count: a hook's output can hold anything.
pub(super) fn class_of(said: &str) -> Class {
    let words: &[(&str, Class)] = &[
        ("dubious ownership", Class::Ownership),
        ("unsafe repository", Class::Ownership),
        ("not a git repository", Class::NotARepository),
        ("must be run in a work tree", Class::Bare),
        ("cannot use bare repository", Class::Bare),
        (".lock': File exists", Class::Locked),
        ("Another git process seems to be running", Class::Locked),
        ("cannot lock ref", Class::Locked),
        ("tell me who you are", Class::Identity),
        ("auto-detection is disabled", Class::Identity),
        ("empty ident name", Class::Identity),
        ("unable to auto-detect email", Class::Identity),
        ("clean filter", Class::Filter),
        ("smudge filter", Class::Filter),
        ("external filter", Class::Filter),
        ("failed to sign", Class::Sign),
        ("signing failed", Class::Sign),
        ("user.signingkey", Class::Sign),
        ("failed to write commit object", Class::Sign),
        ("would be overwritten", Class::Dirty),
        ("beyond a symbolic link", Class::BadPath),
        ("is outside repository", Class::OutsideRoot),
        ("destination exists", Class::Exists),
        ("not under version control", Class::NotFound),
        ("bad source", Class::NoSuchFile),
        ("did not match any file", Class::NoSuchFile),
        ("nothing to commit", Class::NoChange),
        ("no changes added to commit", Class::NoChange),
        ("nothing added to commit", Class::NoChange),
        ("unmerged", Class::InProgress),
    ];
    words.iter().find(|(text, _)| said.contains(text)).map_or(Class::Failed, |(_, class)| *class)
}
