//! `case.yaml` and `model.yaml`: what people write. Strict: an unknown key is an error with its place.

use selfsmith_cassette::Reply;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One case.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The behaviour in one sentence.
    pub fact: String,
    /// Arguments of the program. `$ROOT` stands for the workspace, `$CASE` for the case folder's copy.
    pub argv: Vec<String>,
    /// Standard input; none: closed.
    #[serde(default)]
    pub stdin: String,
    /// Variables on top of the runner's own (`HOME`, `PATH`, `LANG`, `SELFSMITH_BASE_URL`, `_API_KEY`, `_MODEL`).
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Exit code.
    #[serde(default)]
    pub exit: i32,
    /// What standard output must be.
    #[serde(default)]
    pub stdout: Expected,
    /// What standard error must be.
    #[serde(default)]
    pub stderr: Expected,
    /// Seconds until the program is ended and the case has failed.
    #[serde(default = "thirty")]
    pub within_s: u64,
}

/// What a text must be. All that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The whole text, the last line end aside.
    pub is: Option<String>,
    /// Pieces that occur, in any order.
    #[serde(default)]
    pub has: Vec<String>,
    /// Pieces that must not occur.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Regular expressions that match somewhere; `^` and `$` stand at lines.
    #[serde(default)]
    pub matches: Vec<String>,
}

/// One scripted turn of the model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Turn {
    /// Pieces that the request's messages must hold; an unmet one fails the case.
    #[serde(default)]
    pub sees: Vec<String>,
    /// Pieces that they must not hold.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// The answer.
    pub reply: Reply,
}

/// What is wrong with a case folder.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A file cannot be read.
    #[error("could not read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file does not say what it should.
    #[error("{path}: {what}")]
    Form {
        /// The file.
        path: PathBuf,
        /// What, with line and column where known.
        what: String,
    },
}

impl Case {
    /// Read `case.yaml` of a folder.
    pub fn read(folder: &Path) -> Result<Self, CaseError> {
        read_yaml(&folder.join("case.yaml"))
    }
}

/// Read `model.yaml` of a folder; no file means no replies.
pub(crate) fn read_turns(folder: &Path) -> Result<Vec<Turn>, CaseError> {
    let path = folder.join("model.yaml");
    if path.exists() { read_yaml(&path) } else { Ok(Vec::new()) }
}

fn read_yaml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, CaseError> {
    let text = std::fs::read_to_string(path).map_err(|source| CaseError::Read { path: path.to_owned(), source })?;
    serde_yaml::from_str(&text).map_err(|e| CaseError::Form { path: path.to_owned(), what: e.to_string() })
}

const fn thirty() -> u64 {
    30
}
