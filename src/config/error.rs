//! Why settings could not be used. Each message completes "could not …" and names the place.

use std::fmt;
use std::path::PathBuf;

/// An error of this module.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file could not be read.
    #[error("read the settings in {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// A file is too large to be settings.
    #[error("read the settings in {}: it has more than {most} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bytes that are read.
        most: u64,
    },
    /// A file is no YAML, or a group is no group.
    #[error("understand the settings in {place}: {why}")]
    Syntax {
        /// Where.
        place: Place,
        /// What is wrong.
        why: String,
    },
    /// A key does not exist.
    #[error("use the setting `{key}` in {place}: there is no such key")]
    UnknownKey {
        /// The key, dotted.
        key: String,
        /// Where it stands.
        place: Place,
        /// A key that may be meant.
        suggestion: Option<String>,
    },
    /// A value has the wrong type or is out of bounds.
    #[error("use the setting `{key}` from {place}: {why}")]
    Value {
        /// The key, dotted.
        key: String,
        /// Who set it.
        place: Place,
        /// What is wrong.
        why: String,
    },
    /// A value that is to be written is none of those that there are.
    #[error("set `{key}` to `{value}`: {why}")]
    Refused {
        /// The key, dotted.
        key: String,
        /// As it was given.
        value: String,
        /// What is wrong, with what is allowed.
        why: String,
    },
    /// The template could not be written.
    #[error("write the template {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
}

impl ConfigError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Read { .. } => "check that you may read the file and that it is UTF-8".into(),
            Self::TooLarge { .. } => "settings are a few lines; is this the right file?".into(),
            Self::Syntax { .. } => "correct that line; `config show` prints the keys that exist".into(),
            Self::UnknownKey { key, suggestion: None, .. } if key.ends_with("api_key") => {
                "keys are not kept in files: put it in SELFSMITH_API_KEY, or name a variable in model.api_key_env"
                    .into()
            }
            Self::UnknownKey { suggestion: Some(other), .. } => format!("did you mean `{other}`?"),
            Self::UnknownKey { .. } => "remove it; `config show` prints the keys that exist".into(),
            Self::Value { .. } => "correct it there; `config show --origin` prints what is in force".into(),
            Self::Refused { .. } => "nothing was written".into(),
            Self::Write { .. } => "check that the folder may be written".into(),
        }
    }
}

/// A place in a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// File, variable or flag.
    pub name: String,
    /// Line and column, from 1.
    pub at: Option<(usize, usize)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some((line, column)) => write!(f, "{}, line {line}, column {column}", self.name),
            None => f.write_str(&self.name),
        }
    }
}
