//! The layers and how they are laid over each other.

use super::error::{ConfigError, Place};
use super::ledger::{Doubt, Trust};
use super::{SHIPPED, file, shape, trust};
use serde_yaml::{Mapping, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Where settings come from; everything outside is passed in.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// What the command line says.
    pub flags: Vec<Flag>,
    /// The variables of the process.
    pub environment: BTreeMap<String, String>,
    /// Folder from which the project's file is looked for.
    pub start: PathBuf,
    /// The user's file; it need not exist.
    pub user: Option<PathBuf>,
    /// The generation's `config.yaml`; the built-in one where absent.
    pub shipped: Option<PathBuf>,
    /// What the person trusts of the project; nothing by default.
    pub trust: Trust,
}

/// A setting on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// As typed, such as `--model`.
    pub name: &'static str,
    /// The dotted key that it sets.
    pub key: &'static str,
    /// The value.
    pub value: String,
}

/// A layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// The shipped settings.
    Shipped,
    /// The user's file.
    User(PathBuf),
    /// The project's file.
    Project(PathBuf),
    /// A variable.
    Environment(String),
    /// A flag.
    Flag(String),
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shipped => f.write_str("the shipped settings"),
            Self::User(path) | Self::Project(path) => write!(f, "{}", path.display()),
            Self::Environment(variable) => write!(f, "the variable {variable}"),
            Self::Flag(name) => write!(f, "the flag {name}"),
        }
    }
}

/// Which layer set each key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<String, Layer>);

impl Origins {
    /// The layer that set a dotted key or, for a key inside a free group, the group.
    pub fn get(&self, key: &str) -> Option<&Layer> {
        self.0.get(key).or_else(|| key.rsplit_once('.').and_then(|(group, _)| self.0.get(group)))
    }
}

/// The layers laid over each other.
#[derive(Debug)]
pub(super) struct Merged {
    pub values: Value,
    pub origins: Origins,
    pub untrusted: Vec<String>,
    pub doubt: Option<Doubt>,
    pub project: Option<PathBuf>,
}

/// Variables and the keys that they set. Keys of providers are no settings: they are read where they are sent.
const VARIABLES: &[(&str, &str)] = &[
    ("SELFSMITH_APPROVAL", "tools.approval"),
    ("SELFSMITH_BASE_URL", "model.base_url"),
    ("SELFSMITH_CHANNEL", "model.channel"),
    ("SELFSMITH_CONTEXT_WINDOW", "model.context_window"),
    ("SELFSMITH_MAX_TOKENS", "model_chat.initial_max_tokens"),
    ("SELFSMITH_MAX_TURNS", "model_chat.max_turns"),
    ("SELFSMITH_MODEL", "model.name"),
    ("SELFSMITH_PROVIDER", "model.provider"),
];

/// Keys whose values are numbers, though the shipped settings leave them out.
const NUMBERS: &[&str] = &["limits.cost_usd", "limits.time_s", "limits.tokens", "model.context_window"];

pub(super) fn merge(sources: &Sources) -> Result<Merged, ConfigError> {
    let shape = file::shape()?;
    let mut merged = Merged {
        values: shape::read(SHIPPED, "the shipped settings", &shape)?,
        origins: Origins::default(),
        untrusted: Vec::new(),
        doubt: None,
        project: None,
    };
    note(&mut merged.origins, &merged.values, &Layer::Shipped);
    if let Some(path) = &sources.shipped {
        lay(&mut merged, file::read_file(path)?, &Layer::Shipped);
    }
    if let Some(path) = sources.user.as_ref().filter(|path| path.exists()) {
        lay(&mut merged, file::read_file(path)?, &Layer::User(path.clone()));
    }
    if let Some(path) = file::find_project(&sources.start).filter(|path| Some(path) != sources.user.as_ref()) {
        let text = file::text(&path)?;
        let mut values = shape::read(&text, &path.display().to_string(), &shape)?;
        // The bytes that count are those that were read here, whatever the file holds by now.
        merged.doubt = sources.trust.doubt(&path, text.as_bytes());
        if merged.doubt.is_some() {
            merged.untrusted = trust::filter(&mut values, &shape);
        }
        lay(&mut merged, values, &Layer::Project(path.clone()));
        merged.project = Some(path);
    }
    for (variable, key) in VARIABLES {
        if let Some(text) = sources.environment.get(*variable).filter(|text| !text.trim().is_empty()) {
            put(&mut merged, &shape, key, text, &Layer::Environment((*variable).to_owned()))?;
        }
    }
    for flag in &sources.flags {
        put(&mut merged, &shape, flag.key, &flag.value, &Layer::Flag(flag.name.to_owned()))?;
    }
    Ok(merged)
}

/// These values over the shipped ones, and nothing else.
pub(super) fn over_shipped(values: Value) -> Result<Merged, ConfigError> {
    let mut merged = Merged {
        values: shape::read(SHIPPED, "the shipped settings", &file::shape()?)?,
        origins: Origins::default(),
        untrusted: Vec::new(),
        doubt: None,
        project: None,
    };
    over(&mut merged.values, values);
    Ok(merged)
}

fn note(origins: &mut Origins, values: &Value, layer: &Layer) {
    origins.0.extend(shape::leaves(values).into_iter().map(|(key, _)| (key, layer.clone())));
}

fn lay(merged: &mut Merged, values: Value, layer: &Layer) {
    note(&mut merged.origins, &values, layer);
    over(&mut merged.values, values);
}

fn over(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Mapping(below), Value::Mapping(above)) => {
            for (key, value) in above {
                match below.get_mut(&key) {
                    Some(inner) => over(inner, value),
                    None => {
                        below.insert(key, value);
                    }
                }
            }
        }
        (below, above) => *below = above,
    }
}

/// One setting that came as a text.
fn put(merged: &mut Merged, shape: &Value, key: &str, text: &str, layer: &Layer) -> Result<(), ConfigError> {
    let wrong = |why: &str| ConfigError::Value {
        key: key.to_owned(),
        place: Place { name: layer.to_string(), at: None },
        why: why.to_owned(),
    };
    let value = match shape::at(shape, key) {
        Some(shape) if shape.is_number() || (shape.is_null() && NUMBERS.contains(&key)) => {
            let number = serde_yaml::from_str::<Value>(text.trim())
                .ok()
                .filter(|value| value.as_f64().is_some_and(f64::is_finite));
            number.ok_or_else(|| wrong("a number is expected"))?
        }
        Some(Value::Bool(_)) => match text.trim() {
            "true" | "1" => true.into(),
            "false" | "0" => false.into(),
            _ => return Err(wrong("true or false is expected")),
        },
        Some(_) => text.trim().into(),
        None => {
            return Err(ConfigError::UnknownKey {
                key: key.to_owned(),
                place: Place { name: layer.to_string(), at: None },
                suggestion: None,
            });
        }
    };
    let mut nested = value;
    for part in key.rsplit('.') {
        nested = Value::Mapping(Mapping::from_iter([(part.into(), nested)]));
    }
    lay(merged, nested, layer);
    Ok(())
}
