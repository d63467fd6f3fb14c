//! Which settings a project's own file may not make by itself, and which have no effect yet.

use super::file;
use super::layers::{Layer, Origins};
use serde_yaml::Value;
use std::path::{Path, PathBuf};

/// What a project's file may set before a person trusts it: nothing of it sends keys or code elsewhere, runs anything, or
/// loosens what is asked. Groups stand for all that is in them; what is not named here waits for trust.
const HARMLESS: &[&str] = &[
    "cli",
    "model.channel",
    "model.effort",
    "model.name",
    "model.stream",
    "model.temperature",
    "model_chat",
    "tools.bash.at_limit",
    "tools.bash.max_timeout_s",
    "tools.bash.output_bytes",
    "tools.bash.timeout_s",
];

/// Known, accepted, and without effect so far.
const NOT_BUILT: &[&str] = &["code_project.code_output_root", "memory.max_inject_tokens", "memory.root_dir"];

/// Take what may not count out of the settings of a project that nobody trusts; the keys that were taken out, as far as
/// the shape names keys.
pub fn filter(values: &mut Value, shape: &Value) -> Vec<String> {
    stripped(values, shape).into_iter().map(|(key, _)| key).collect()
}

/// What the settings of the project around a folder say that waits for trust: keys with their values, each in a line.
pub fn steering(start: &Path) -> Vec<(String, String)> {
    let of = |path: PathBuf| {
        let mut values = file::read_file(&path).ok()?;
        Some(stripped(&mut values, &file::shape().ok()?))
    };
    // A file that cannot be read is no setting either; reading the settings says what is wrong with it.
    let found = file::find_project(start).and_then(of).unwrap_or_default();
    let spelled = |value: Value| match value {
        Value::String(text) => text,
        other => serde_json::to_string(&other).unwrap_or_else(|_| format!("{other:?}")),
    };
    found.into_iter().map(|(key, value)| (key, spelled(value))).collect()
}

fn stripped(values: &mut Value, shape: &Value) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    strip(values, shape, "", &mut out);
    out.sort_by(|(key, _), (other, _)| key.cmp(other));
    out
}

fn strip(values: &mut Value, shape: &Value, path: &str, out: &mut Vec<(String, Value)>) {
    let Some(map) = values.as_mapping_mut() else { return };
    map.retain(|key, value| {
        let name = key.as_str().unwrap_or_default();
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if HARMLESS.contains(&path.as_str()) {
            return true;
        }
        let group = shape.get(key).filter(|shape| shape.as_mapping().is_some_and(|map| !map.is_empty()));
        match group {
            Some(shape) => strip(value, shape, &path, out),
            None => out.push((path, value.clone())),
        }
        group.is_some()
    });
}

/// Keys that somebody set though nothing comes of it.
pub fn not_built(origins: &Origins) -> Vec<String> {
    let is_set = |key: &&&str| origins.get(key).is_some_and(|layer| *layer != Layer::Shipped);
    NOT_BUILT.iter().filter(is_set).map(|key| (*key).to_owned()).collect()
}
