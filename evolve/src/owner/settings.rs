//! The judge's own settings: `$XDG_CONFIG_HOME/selfsmith/judge.yaml`, written by the owner of the machine.
//!
//! Strict: an unknown key or a wrong type is an error with file, line and column. The judge never reads the agent's
//! `config.yaml`. Without a file the defaults hold. Keys are never stored here, only the name of the variable with one.

use serde::Deserialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// All of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The model behind the relay.
    pub model: Model,
    /// What is done with what was accepted, where the command line does not say.
    pub landing: Landing,
    /// Who may have kept candidates forgotten.
    pub forgetting: Forgetting,
    /// Programs that count as agents besides the known ones, by the names of their files.
    pub agents: Vec<String>,
    /// Limits of a cycle.
    pub limits: Limits,
    /// The room.
    pub room: Room,
    /// Mutations of the changed lines.
    pub mutants: Mutants,
}

/// The model that proposers reach through the relay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// Base URL of an OpenAI-compatible endpoint, up to and without `/chat/completions`.
    pub base_url: Option<String>,
    /// The model's name there.
    pub name: Option<String>,
    /// Name of the environment variable that holds the key; none for endpoints without one.
    pub api_key_env: Option<String>,
    /// Tool channel of the agent; by default it chooses.
    pub channel: Option<Channel>,
}

/// How tool calls travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// As tags in the text.
    Text,
    /// As the provider's tool calls.
    Native,
}

/// What is done with what was accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Landing {
    /// It lands.
    Auto,
    /// It waits for a person's approval.
    #[default]
    Review,
}

/// Who may have kept candidates forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Forgetting {
    /// A person at a terminal.
    #[default]
    Person,
    /// Whoever asks: an unattended run, too.
    Unattended,
}

/// Limits of a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// How often diagnostics go back to the proposer.
    pub max_repairs: u32,
    /// Seconds a proposer may take for one attempt.
    pub propose_seconds: u64,
    /// Bytes of memory a proposer may use.
    pub propose_memory: u64,
}

impl Limits {
    /// Wall time of one attempt.
    pub const fn propose(&self) -> Duration {
        Duration::from_secs(self.propose_seconds)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_repairs: 1, propose_seconds: 900, propose_memory: 4 << 30 }
    }
}

/// Mutations of the changed lines.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mutants {
    /// cargo-mutants, where it is not found on the path.
    pub program: Option<PathBuf>,
    /// Seconds that all mutations of one candidate may take; 0: none is tried.
    pub seconds: u64,
}

impl Default for Mutants {
    fn default() -> Self {
        Self { program: None, seconds: 300 }
    }
}

/// The room.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Room {
    /// Whether walls may be missing that this machine cannot give.
    pub accept_weaker: bool,
}

impl Settings {
    /// Read the file; without one the defaults hold.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|found| found.in_file(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(SettingsError::Read { path: path.to_owned(), source }),
        }
    }

    fn parse(text: &str) -> Result<Self, Fault> {
        let text = text.trim_start_matches('\u{feff}');
        // A file of comments alone is an empty document.
        if serde_yaml::from_str::<serde_yaml::Value>(text).is_ok_and(|value| value.is_null()) {
            return Ok(Self::default());
        }
        let settings: Self = serde_yaml::from_str(text).map_err(|error| {
            let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
            Fault { line, column, why: error.to_string() }
        })?;
        if settings.limits.propose_seconds == 0 {
            return Err(Fault {
                line: 1,
                column: 1,
                why: "limits.propose_seconds is 0: nothing could be proposed".to_owned(),
            });
        }
        Ok(settings)
    }
}

#[derive(Debug)]
struct Fault {
    line: usize,
    column: usize,
    why: String,
}

impl Fault {
    fn in_file(self, path: &Path) -> SettingsError {
        SettingsError::Wrong { path: path.to_owned(), line: self.line, column: self.column, why: self.why }
    }
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is there but cannot be read.
    #[error("read the judge's settings {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// What it says is wrong.
    #[error("use the judge's settings {}:{line}:{column}: {why}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        why: String,
    },
}

impl SettingsError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Read { .. } => "make the file readable, or move it away to use the defaults".to_owned(),
            Self::Wrong { .. } => "correct that line; docs/judge-settings.md lists every key".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_is_read() {
        let text = "model:\n  base_url: http://127.0.0.1:11434/v1\n  name: qwen\n  api_key_env: MY_KEY\n  channel: text\n\
                    landing: auto\nlimits:\n  max_repairs: 2\nroom:\n  accept_weaker: true\n";
        let settings = Settings::parse(text).expect("is right");
        assert_eq!(settings.landing, Landing::Auto);
        assert_eq!((settings.limits.max_repairs, settings.limits.propose_seconds), (2, 900));
        assert_eq!(settings.model.api_key_env.as_deref(), Some("MY_KEY"));
        assert!(settings.room.accept_weaker);
    }

    #[test]
    fn no_file_an_empty_one_and_one_of_comments_are_the_defaults() {
        for text in ["", "# nothing yet\n", "\u{feff}"] {
            assert_eq!(Settings::parse(text).expect("is right"), Settings::default());
        }
        assert_eq!(Settings::read(Path::new("/nowhere/judge.yaml")).expect("defaults"), Settings::default());
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_line() {
        let fault = Settings::parse("limits:\n  max_repairs: 1\n  max_repair: 2\n").expect_err("is wrong");
        assert_eq!(fault.line, 3, "{fault:?}");
        assert!(fault.why.contains("max_repairs"), "names what is known: {}", fault.why);
    }

    #[test]
    fn a_stored_key_is_refused() {
        assert!(Settings::parse("model:\n  api_key: secret\n").is_err());
    }
}
