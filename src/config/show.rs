//! The settings in force, as a person reads them: valid YAML by dotted keys.

use super::layers::Layer;
use super::{Loaded, shape};
use serde_yaml::Value;

/// Whether each line says which layer set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    /// It does.
    Origins,
    /// It does not.
    Nothing,
}

/// Keys whose values differ.
pub fn changed(before: &Loaded, after: &Loaded) -> Vec<String> {
    let (before, after) = (shape::leaves(&before.values), shape::leaves(&after.values));
    let differs = |(key, value): &&(String, &Value)| !before.iter().any(|(old, was)| old == key && was == value);
    let mut keys: Vec<String> = after.iter().filter(differs).map(|(key, _)| key.clone()).collect();
    keys.extend(before.iter().filter(|(key, _)| after.iter().all(|(new, _)| new != key)).map(|(key, _)| key.clone()));
    keys
}

/// One line a setting.
pub fn show(loaded: &Loaded, with: With) -> String {
    let mut out = String::new();
    for (key, value) in shape::leaves(&loaded.values) {
        let value = match value {
            Value::Mapping(_) => "{}".to_owned(),
            Value::Null => "null".to_owned(),
            // A list in one line, which is YAML too.
            Value::Sequence(list) => serde_json::to_string(list).unwrap_or_default(),
            other => serde_yaml::to_string(other).unwrap_or_default().trim_end().to_owned(),
        };
        out.push_str(&format!("{key}: {value}"));
        if with == With::Origins {
            let layer = loaded.origins.get(&key).unwrap_or(&Layer::Shipped);
            out.push_str(&format!("  # {layer}"));
        }
        out.push('\n');
    }
    out
}
