//! The words in which a session and a person talk with the keeper: what may change, how far back, what came of it.

use super::entry::{Outside, Rel};
use super::plan::Why;
use super::record::Label;
use super::restore::Did;
use super::scan::ScanError;
use std::io;
use std::path::PathBuf;

/// What a call may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// These files and nothing else; absolute.
    Files(Vec<PathBuf>),
    /// Anything in the workspace.
    Everything,
}

/// What a person should know before the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// Contents that an undo will not be able to bring back, with their sizes in bytes.
    NotKept(Vec<(Rel, Outside, u64)>),
    /// The workspace is too large: an undo covers what file tools change, and nothing that commands change.
    TooMany(u64),
    /// There is no snapshot of this turn at all.
    None(String),
}

/// How far back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What<'a> {
    /// The last turn that changed something.
    Turn,
    /// Everything since the last prompt whose turns changed something.
    Prompt,
    /// In that session, every turn of the prompt at that place of the conversation and of later ones.
    Since {
        /// The session's id.
        session: &'a str,
        /// The index of the prompt's message.
        message: usize,
    },
}

/// What came of an undo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Turns that were undone, newest first; none: there was nothing to undo.
    pub turns: Vec<Label>,
    /// Paths that are as they were, sorted.
    pub restored: Vec<(Rel, Did)>,
    /// Paths that were left as they are, with the reason, sorted.
    pub left: Vec<(Rel, Why)>,
}

/// Why an undo could not be done.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The disk says no.
    #[error("{doing} {path}")]
    Io {
        /// `read`, `write`.
        doing: &'static str,
        /// The file or folder.
        path: String,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The workspace cannot be looked at.
    #[error("look at {path}")]
    Scan {
        /// The workspace.
        path: String,
        /// Why.
        #[source]
        cause: ScanError,
    },
}

impl SnapshotError {
    /// What the person can do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => {
                "check that the folder is yours and has room; nothing is lost: the same undo can be asked for again"
            }
            Self::Scan { .. } => {
                "leave large folders out with `snapshots.exclude` in the settings, or work in a smaller folder"
            }
        }
    }
}

/// Whether a background job of the session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// One does.
    Runs,
    /// None does.
    None,
}
