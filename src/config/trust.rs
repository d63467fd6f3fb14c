//! Which settings a project's own file may not make by itself, and which have no effect yet.

use super::layers::{Layer, Origins};
use serde_yaml::Value;

/// A repository is not trusted by being opened: these would send keys or code elsewhere, or loosen what is asked.
const UNTRUSTED: &[&str] = &[
    "code_project.logs_root",
    "code_project.project_root",
    "hooks.after_tool",
    "hooks.before_tool",
    "model.api_key_env",
    "model.base_url",
    "model.ca_file",
    "model.provider",
    "model.proxy",
    "snapshots.enabled",
    "snapshots.exclude",
    "snapshots.keep_bytes",
    "snapshots.max_entries",
    "snapshots.max_file_bytes",
    "snapshots.max_total_bytes",
    "tools.approval",
    "tools.bash.keep",
    "tools.bash.network",
    "tools.bash.sandbox",
    "tools.bash.writable",
    "tools.rules",
];

/// Known, accepted, and without effect so far.
const NOT_BUILT: &[&str] =
    &["code_project.code_output_root", "memory.compact_threshold", "memory.max_inject_tokens", "memory.root_dir"];

/// Take what may not count out of a project's settings; the keys that were taken out.
pub fn filter(values: &mut Value) -> Vec<String> {
    UNTRUSTED.iter().filter(|key| remove(values, key)).map(|key| (*key).to_owned()).collect()
}

fn remove(values: &mut Value, key: &str) -> bool {
    let Some((group, name)) = key.rsplit_once('.') else { return false };
    let group = group.split('.').try_fold(values, |value, part| value.get_mut(part));
    group.and_then(Value::as_mapping_mut).is_some_and(|map| map.shift_remove(name).is_some())
}

/// Keys that somebody set though nothing comes of it.
pub fn not_built(origins: &Origins) -> Vec<String> {
    let is_set = |key: &&&str| origins.get(key).is_some_and(|layer| *layer != Layer::Shipped);
    NOT_BUILT.iter().filter(is_set).map(|key| (*key).to_owned()).collect()
}
