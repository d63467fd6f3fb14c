//! Settings merged from their layers and typed once.
//!
//! Command line > environment > project (`.selfsmith/config.yaml`, found by walking up) > user > shipped. Layers are
//! merged as data; the shipped file is the shape that every other layer must fit, so an unknown key is an error with
//! file, line, column and a suggestion. It promises that nothing which a foreign project's file says about addresses,
//! keys, certificates, hooks or approval takes effect before a person trusts it as it is: such keys are left out and told.
//! It reads no environment: that is passed in.

mod error;
mod file;
mod layers;
mod ledger;
mod project;
mod set;
mod shape;
mod show;
mod trust;

pub use error::ConfigError;
pub use file::{find_project, read_file, template, user_file, write_template};
pub use layers::{Flag, Layer, Origins, Sources};
pub use ledger::{Answer, Doubt, Ledger, Record, Standing, Trust};
pub use project::Project;
pub use set::set;
pub use show::{With, changed, show};
pub use trust::steering;

use crate::approve::{Mode, Rule, Rules};
use crate::hook;
use crate::query::settings::{Growth, Settings as ModelSettings};
use crate::session::{self, check};
use crate::snapshot;
use crate::texts::{Texts, fill};
use crate::tool::compiler::CheckEdits;
use crate::tool::{bash, fetch_url};
use crate::turn;
use error::Place;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_yaml::Value;
use std::path::PathBuf;

/// The shipped settings, as they stand when this program was built; used where no file is beside it.
pub const SHIPPED: &str = include_str!("../../config.yaml");

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The model client.
    pub model: ModelSettings,
    /// How answers grow.
    pub growth: Growth,
    /// Limits of the loop.
    pub turn: turn::Settings,
    /// How conversations are compacted.
    pub memory: session::Settings,
    /// Folders.
    pub folders: Folders,
    /// Tools.
    pub tools: Tools,
    /// Commands of the person around calls.
    pub hooks: hook::Settings,
    /// Snapshots of the workspace.
    pub snapshots: snapshot::Settings,
    /// The project's own check of edits.
    pub checks: check::Settings,
    /// The terminal.
    pub screen: Screen,
}

/// The group `code_project`, as far as it is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folders {
    /// Root of the workspace; the present folder where absent.
    pub project_root: Option<PathBuf>,
    /// Where sessions are kept.
    pub logs_root: Option<PathBuf>,
}

/// The group `tools`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tools {
    /// What may be done without a question.
    pub approval: Mode,
    /// Rules about commands, with their examples.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Shell commands.
    pub bash: bash::Settings,
    /// Pages of the web.
    #[serde(default)]
    pub fetch: fetch_url::Settings,
    /// Whether the compiler is asked after edits.
    pub check_edits: CheckEdits,
}

/// The group `cli`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Screen {
    /// Whether thinking is shown.
    pub show_thinking: bool,
    /// Seconds between characters.
    pub typewriter_delay: f64,
    /// Colours.
    pub theme: Theme,
    /// Whether the terminal is rung when a question waits or long work ended.
    pub bell: bool,
}

/// Colours of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// As the terminal is.
    Auto,
    /// For a dark ground.
    Dark,
    /// For a light ground.
    Light,
    /// None.
    None,
}

/// Settings, where each came from, and what a person should know about them.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Which layer set each key.
    pub origins: Origins,
    /// The merged data, for [`show`].
    pub values: Value,
    /// Keys of an untrusted project file that were left out.
    pub untrusted: Vec<String>,
    /// Why that file is not trusted.
    pub doubt: Option<Doubt>,
    /// Keys that were set and have no effect yet.
    pub not_built: Vec<String>,
    /// The project's file, where there is one.
    pub project: Option<PathBuf>,
}

impl Loaded {
    /// What a person should know.
    pub fn notices(&self, texts: &Texts) -> Vec<String> {
        let mut notices = Vec::new();
        if let (false, Some(project)) = (self.untrusted.is_empty(), &self.project) {
            let why = self.doubt.map_or("", |doubt| doubt.told(texts)).to_owned();
            let (file, keys) = (project.display().to_string(), self.untrusted.join(", "));
            let values = [("file", file), ("keys", keys), ("why", why)];
            notices.push(fill(
                texts.trust.untrusted_settings,
                &values.each_ref().map(|(name, value)| (*name, value.as_str())),
            ));
        }
        notices.extend(self.not_built.iter().map(|key| fill(texts.setting_without_effect, &[("key", key)])));
        notices
    }
}

/// Read every layer, merge them, and type the result.
///
/// # Errors
/// A file cannot be read, or a layer holds an unknown key or a value of the wrong type; place and remedy are named.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let merged = layers::merge(sources)?;
    let config = typed(&merged)?;
    Ok(Loaded {
        config,
        not_built: trust::not_built(&merged.origins),
        origins: merged.origins,
        values: merged.values,
        untrusted: merged.untrusted,
        doubt: merged.doubt,
        project: merged.project,
    })
}

fn typed(merged: &layers::Merged) -> Result<Config, ConfigError> {
    let config = Config {
        model: group(merged, "model")?,
        growth: group(merged, "model_chat")?,
        turn: turn::Settings { max_turns: one(merged, "model_chat.max_turns")?, limits: group(merged, "limits")? },
        memory: group(merged, "memory")?,
        folders: group(merged, "code_project")?,
        tools: group(merged, "tools")?,
        hooks: group(merged, "hooks")?,
        snapshots: group(merged, "snapshots")?,
        checks: group(merged, "checks")?,
        screen: group(merged, "cli")?,
    };
    check(&config).map_err(|(key, why)| wrong(merged, key, why.into()))?;
    if let Some(why) = config.hooks.fault() {
        return Err(wrong(merged, "hooks", why));
    }
    if let Some(why) = config.tools.fetch.fault() {
        return Err(wrong(merged, "tools.fetch.allow", why));
    }
    Rules::new(&config.tools.rules).map_err(|error| wrong(merged, "tools.rules", error.to_string()))?;
    Ok(config)
}

/// What types cannot say.
fn check(config: &Config) -> Result<(), (&'static str, &'static str)> {
    let growth = &config.growth;
    if growth.initial_max_tokens == 0 {
        return Err(("model_chat.initial_max_tokens", "it should be at least 1"));
    }
    if growth.max_tokens_limit < growth.initial_max_tokens {
        return Err(("model_chat.max_tokens_limit", "it should not be below model_chat.initial_max_tokens"));
    }
    if config.turn.max_turns == 0 {
        return Err(("model_chat.max_turns", "it should be at least 1"));
    }
    if !(config.memory.compact_threshold > 0.0 && config.memory.compact_threshold <= 1.0) {
        return Err(("memory.compact_threshold", "it should be more than 0 and at most 1"));
    }
    if config.model.context_window.iter().chain(config.model.context_windows.values()).any(|tokens| *tokens < 1000) {
        return Err(("model.context_window", "it should be at least 1000 tokens"));
    }
    let limits = &config.turn.limits;
    if limits.tokens == Some(0) {
        return Err(("limits.tokens", "it should be at least 1"));
    }
    for (key, limit) in [("limits.cost_usd", limits.cost_usd), ("limits.time_s", limits.time_s)] {
        if limit.is_some_and(|limit| !(limit.is_finite() && limit > 0.0)) {
            return Err((key, "it should be more than 0"));
        }
    }
    let bash = &config.tools.bash;
    if bash.timeout_s == 0 || bash.output_bytes == 0 {
        return Err(("tools.bash", "timeout_s and output_bytes should be at least 1"));
    }
    if bash.max_timeout_s < bash.timeout_s {
        return Err(("tools.bash.max_timeout_s", "it should not be below tools.bash.timeout_s"));
    }
    if config.checks.timeout_s == 0 {
        return Err(("checks.timeout_s", "it should be at least 1"));
    }
    if config.model.retry.max_tries == 0 {
        return Err(("model.retry.max_tries", "it should be at least 1"));
    }
    for (key, seconds) in [
        ("model.connect_timeout_s", config.model.connect_timeout_s),
        ("model.first_token_timeout_s", config.model.first_token_timeout_s),
        ("model.stall_timeout_s", config.model.stall_timeout_s),
    ] {
        if !(seconds.is_finite() && seconds > 0.0) {
            return Err((key, "it should be more than 0 seconds"));
        }
    }
    if !(0.0..=10.0).contains(&config.screen.typewriter_delay) {
        return Err(("cli.typewriter_delay", "it should be 0 to 10 seconds"));
    }
    Ok(())
}

fn group<T: DeserializeOwned>(merged: &layers::Merged, name: &str) -> Result<T, ConfigError> {
    typed_value(merged, name, merged.values.get(name).cloned().unwrap_or_default())
}

fn one<T: DeserializeOwned>(merged: &layers::Merged, key: &str) -> Result<T, ConfigError> {
    typed_value(merged, key, shape::at(&merged.values, key).cloned().unwrap_or_default())
}

fn typed_value<T: DeserializeOwned>(merged: &layers::Merged, name: &str, value: Value) -> Result<T, ConfigError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inner = error.path().to_string();
        let key = if inner == "." { name.to_owned() } else { format!("{name}.{inner}") };
        wrong(merged, &key, plain(error.into_inner().to_string()))
    })
}

/// The deserialiser's words without the names of types.
fn plain(words: String) -> String {
    let of_number = ["u8", "u16", "u32", "u64", "usize", "i64", "f64"];
    match words.rsplit_once("expected ") {
        Some((_, wanted)) if of_number.contains(&wanted) => "a number is expected, without a sign".to_owned(),
        _ => words,
    }
}

/// An error at the place that set the key.
fn wrong(merged: &layers::Merged, key: &str, why: String) -> ConfigError {
    let place = match merged.origins.get(key) {
        Some(layer @ (Layer::User(path) | Layer::Project(path))) => {
            let at = file::text(path).ok().and_then(|text| shape::locate(&text, key));
            Place { name: layer.to_string(), at }
        }
        Some(layer) => Place { name: layer.to_string(), at: None },
        None => Place { name: Layer::Shipped.to_string(), at: None },
    };
    ConfigError::Value { key: key.to_owned(), place, why }
}

#[cfg(test)]
mod tests;
