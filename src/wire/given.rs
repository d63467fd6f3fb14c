//! What a session is made of: settings, surroundings, a cassette, and which session it is to be.

use super::door;
use crate::approve::{Mode, Rules};
use crate::hook;
use crate::prompt;
use crate::query::client;
use crate::query::settings::{Growth, Settings as ModelSettings};
use crate::query::tape::OnDrift;
use crate::session::{self, Clock, Ids};
use crate::snapshot;
use crate::texts::Texts;
use crate::tool::{self, compiler::CheckEdits};
use crate::turn;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// What settings decide.
#[derive(Debug, Clone)]
pub struct Choices {
    /// Which model, and how it is reached.
    pub model: ModelSettings,
    /// How replies that are cut off grow.
    pub growth: Growth,
    /// Limits of the loop.
    pub turn: turn::Settings,
    /// How the conversation is compacted.
    pub memory: session::Settings,
    /// What may be done without a question.
    pub mode: Mode,
    /// Rules about commands.
    pub rules: Rules,
    /// What the person has run before and after calls.
    pub hooks: hook::Settings,
    /// How commands run.
    pub bash: tool::bash::Settings,
    /// How pages of the web are fetched.
    pub fetch: tool::fetch_url::Settings,
    /// Whether the compiler is asked after edits.
    pub check_edits: CheckEdits,
    /// How snapshots are kept.
    pub snapshots: snapshot::Settings,
    /// The project's own check of edits.
    pub check: session::check::Check,
    /// Where they are kept; below it a folder for each workspace.
    pub snapshots_root: Option<PathBuf>,
    /// Where sessions are written down; below it a folder for each workspace.
    pub sessions: Option<PathBuf>,
}

/// What is done with the model's traffic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Cassette {
    /// Nothing.
    #[default]
    Off,
    /// It is recorded to a new file.
    Record(PathBuf),
    /// It comes from a file.
    Replay {
        /// The file.
        path: PathBuf,
        /// What a difference means.
        drift: OnDrift,
    },
}

/// What the program found around it.
pub struct Around {
    /// Root of the workspace, links resolved.
    pub root: PathBuf,
    /// Variables of the environment that are text.
    pub environment: BTreeMap<String, String>,
    /// All variables of the environment, as they are.
    pub variables: Vec<(OsString, OsString)>,
    /// Where prompts come from.
    pub prompts: prompt::Source,
    /// What the model is told of the machine.
    pub told: prompt::Surroundings,
    /// Time and chance for the model client.
    pub chance: client::Surroundings,
    /// The time.
    pub clock: Clock,
    /// Fresh ids, ordered by time.
    pub ids: Ids,
    /// The language.
    pub texts: &'static Texts,
    /// Folders beside the root that the person opened.
    pub more: tool::paths::More,
    /// Where sets of edits are written down before they are made; below it a folder for each workspace.
    pub edits: Option<PathBuf>,
    /// Where it is remembered which channel each model takes.
    pub channels: Option<PathBuf>,
}

impl Around {
    pub(super) fn for_tools(&self, choices: &Choices) -> tool::Surroundings {
        tool::Surroundings {
            root: self.root.clone(),
            environment: self.variables.clone(),
            bash: choices.bash.clone(),
            more: self.more.clone(),
            journal: self.edits.as_deref().map(|folder| super::folder(folder, &self.root)),
            fetch: choices.fetch.clone(),
            door: Some(Arc::new(door::Web(choices.model.clone()))),
            check_edits: choices.check_edits,
        }
    }
}

/// Which session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// A new one.
    New,
    /// That one, or the workspace's last.
    Resumed(Option<String>),
    /// A copy of that one, or of the workspace's last, which goes its own way.
    Forked(Option<String>),
}
