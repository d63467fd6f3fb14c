//! Why a path cannot be used, and what a model can do about it.

/// Why there is no such place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It leads out of the workspace.
    #[error("{path} is outside of the workspace")]
    Outside {
        /// As written.
        path: String,
    },
    /// It is guarded.
    #[error("{path} is guarded: {why}")]
    Guarded {
        /// As resolved.
        path: String,
        /// The end of the sentence.
        why: &'static str,
    },
    /// It is not there.
    #[error("there is no file {path}{alike}")]
    Missing {
        /// As written.
        path: String,
        /// Where a file of that name is.
        alike: String,
    },
    /// It is a folder.
    #[error("{path} is a folder")]
    Folder {
        /// As resolved.
        path: String,
    },
    /// It is a pipe, a socket or a device, or goes through a file.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// As resolved.
        path: String,
    },
    /// It is no path.
    #[error("{path:?} is not a usable path: {why}")]
    Bad {
        /// As written.
        path: String,
        /// Why.
        why: String,
    },
    /// There is a file whose name differs in capitals only.
    #[error("{path} would fall together with {other}, which differs only in capitals")]
    Collision {
        /// As written.
        path: String,
        /// What is there.
        other: String,
    },
}

impl PathError {
    /// A word of the list in tests/cases/README.md.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Outside { .. } => "outside_root",
            Self::Guarded { .. } => "protected",
            Self::Missing { .. } => "no_such_file",
            Self::Folder { .. } => "is_directory",
            Self::NotAFile { .. } => "not_a_file",
            Self::Bad { .. } => "bad_path",
            Self::Collision { .. } => "case_collision",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Outside { .. } => "work on files inside the workspace; the person can start in another folder",
            Self::Guarded { .. } => "leave it alone, and tell the person if it has to change",
            Self::Missing { .. } => "look at the folder with view, or search with glob_search",
            Self::Folder { .. } => "name a file in it",
            Self::NotAFile { .. } => "name a regular file",
            Self::Bad { .. } => "write a path relative to the root of the workspace",
            Self::Collision { .. } => "use the name that is there, spelled the same",
        }
    }
}
