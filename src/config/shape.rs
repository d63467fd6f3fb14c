//! Reading a layer against the shape of the shipped settings.
//!
//! A walk through the YAML as it is parsed, so that every complaint has the line and column of what it is about: an
//! unknown key, a key twice, a group that is none, a value of another kind. An empty group in the shape takes any keys, a
//! null takes any value. What the parser's time grows with more than linearly is bounded before it sees the text.

use super::error::{ConfigError, Place};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_yaml::{Mapping, Value};
use std::cell::RefCell;
use std::fmt;

/// Openers of lists and groups in a layer: the parser takes time with the square of those that are open at once.
const MAX_OPENERS: usize = 1000;
/// Anchors and aliases in a layer: they multiply what is read.
const MAX_MARKS: usize = 64;

/// Read a text; `name` stands in messages.
pub fn read(text: &str, name: &str, shape: &Value) -> Result<Value, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Value::Mapping(Mapping::new()));
    }
    if let Some(why) = costly(text) {
        return Err(ConfigError::Syntax { place: Place { name: name.to_owned(), at: None }, why });
    }
    let found = RefCell::new(None);
    let seed = Walk { shape: Some(shape), path: String::new(), found: &found, target: None };
    seed.deserialize(serde_yaml::Deserializer::from_str(text)).map_err(|error| {
        let at = error.location().map(|location| (location.line(), location.column()));
        let place = Place { name: name.to_owned(), at };
        match found.take() {
            Some(Finding::Unknown(key)) => {
                let suggestion = suggest(&key, shape);
                ConfigError::UnknownKey { key, place, suggestion }
            }
            Some(Finding::Kind(key, why)) if key.is_empty() => ConfigError::Syntax { place, why },
            Some(Finding::Kind(key, why)) => ConfigError::Value { key, place, why },
            None => ConfigError::Syntax { place, why: without_place(&error.to_string()) },
        }
    })
}

/// Why a text could take the parser long. Quotes are not told apart: settings have few of these anywhere.
fn costly(text: &str) -> Option<String> {
    let lines = || text.lines().filter(|line| !line.trim_start().starts_with('#'));
    if lines().flat_map(str::chars).filter(|c| matches!(c, '[' | '{')).count() > MAX_OPENERS {
        return Some(format!("it has more than {MAX_OPENERS} `[` and `{{`"));
    }
    let words = lines().flat_map(|line| line.split([' ', '\t', ',', '[', '{', ':']));
    let marks = words.filter(|word| word.len() > 1 && word.starts_with(['&', '*'])).count();
    (marks > MAX_MARKS).then(|| format!("it has more than {MAX_MARKS} anchors and aliases (`&name`, `*name`)"))
}

/// Line and column of a key's value in a text.
pub fn locate(text: &str, key: &str) -> Option<(usize, usize)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let found = RefCell::new(None);
    let seed = Walk { shape: None, path: String::new(), found: &found, target: Some(key) };
    let error = seed.deserialize(serde_yaml::Deserializer::from_str(text)).err()?;
    found.take()?;
    error.location().map(|location| (location.line(), location.column()))
}

/// The value of a dotted key.
pub fn at<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(value, |value, part| value.get(part))
}

/// All dotted keys that hold something other than a group with keys.
pub fn leaves(value: &Value) -> Vec<(String, &Value)> {
    let mut out = Vec::new();
    collect(value, String::new(), &mut out);
    out
}

fn collect<'a>(value: &'a Value, path: String, out: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Mapping(map) if !map.is_empty() => {
            for (key, item) in map {
                collect(item, join(&path, key.as_str().unwrap_or("?")), out);
            }
        }
        other if !path.is_empty() => out.push((path, other)),
        _ => {}
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// What the walk complains about; kept beside the error, whose type is the YAML library's.
enum Finding {
    Unknown(String),
    Kind(String, String),
}

/// A step of the walk. With a `target` it looks for that key and complains about nothing else.
struct Walk<'a> {
    shape: Option<&'a Value>,
    path: String,
    found: &'a RefCell<Option<Finding>>,
    target: Option<&'a str>,
}

impl<'a> Walk<'a> {
    fn complain<E: serde::de::Error>(&self, finding: Finding) -> E {
        let words = match &finding {
            Finding::Unknown(key) => format!("no key {key}"),
            Finding::Kind(_, why) => why.clone(),
        };
        *self.found.borrow_mut() = Some(finding);
        E::custom(words)
    }

    fn of_kind<E: serde::de::Error>(&self, value: Value) -> Result<Value, E> {
        if self.target == Some(self.path.as_str()) {
            return Err(self.complain(Finding::Kind(String::new(), String::new())));
        }
        let wanted = match self.shape {
            _ if value.as_f64().is_some_and(|number| !number.is_finite()) => "a finite number",
            Some(Value::Bool(_)) if !value.is_bool() => "true or false",
            Some(Value::Number(_)) if !value.is_number() => "a number",
            Some(Value::String(_)) if !value.is_string() => "a text",
            Some(Value::Sequence(_)) if !value.is_sequence() => "a list",
            Some(Value::Mapping(_)) if !value.is_null() => "a group of keys",
            _ => return Ok(value),
        };
        Err(self.complain(Finding::Kind(self.path.clone(), format!("{wanted} is expected"))))
    }

    fn shape_of(&self, key: &str) -> Result<Option<&'a Value>, Finding> {
        match self.shape {
            Some(Value::Mapping(map)) if !map.is_empty() => match map.get(key) {
                Some(inner) => Ok(Some(inner)),
                None => Err(Finding::Unknown(join(&self.path, key))),
            },
            _ => Ok(None),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a setting")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.of_kind_or_null()
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Value, E> {
        self.of_kind_or_null()
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        self.of_kind(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.of_kind(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.of_kind(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.of_kind(value.into())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.of_kind(value.into())
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Value>()? {
            if item.as_f64().is_some_and(|number| !number.is_finite()) {
                return self.of_kind(item);
            }
            list.push(item);
        }
        self.of_kind(Value::Sequence(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let is_group = matches!(self.shape, None | Some(Value::Mapping(_) | Value::Null));
        if !is_group {
            return self.of_kind(Value::Mapping(Mapping::new()));
        }
        let mut map = Mapping::new();
        while let Some(key) = entries.next_key_seed(Key { walk: &self, seen: &map })? {
            let shape = self.shape_of(&key).unwrap_or(None);
            let inner = Walk { shape, path: join(&self.path, &key), found: self.found, target: self.target };
            let value = entries.next_value_seed(inner)?;
            map.insert(key.into(), value);
        }
        Ok(Value::Mapping(map))
    }
}

impl Walk<'_> {
    fn of_kind_or_null<E: serde::de::Error>(&self) -> Result<Value, E> {
        match (self.target, self.shape) {
            (None, None | Some(Value::Null)) => Ok(Value::Null),
            // `model:` with nothing below it is an empty group.
            (None, Some(Value::Mapping(_))) => Ok(Value::Mapping(Mapping::new())),
            _ => self.of_kind(Value::Null),
        }
    }
}

/// A key of a group; an error raised here carries the key's own place.
struct Key<'a, 'b> {
    walk: &'b Walk<'a>,
    seen: &'b Mapping,
}

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_, '_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        if self.walk.target.is_none() {
            if let Err(finding) = self.walk.shape_of(key) {
                return Err(self.walk.complain(finding));
            }
            if self.seen.contains_key(key) {
                return Err(E::custom(format!("the key `{key}` stands here twice")));
            }
        }
        Ok(key.to_owned())
    }
}

/// The existing key that looks most like this one: near in letters, in its own group first.
fn suggest(key: &str, shape: &Value) -> Option<String> {
    let (group, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut known: Vec<String> = leaves(shape).into_iter().map(|(known, _)| known).collect();
    if let Value::Mapping(map) = shape {
        known.extend(map.keys().filter_map(|group| group.as_str().map(ToOwned::to_owned)));
    }
    let far = name.chars().count() / 3 + 1;
    known
        .into_iter()
        .filter_map(|other| {
            let (other_group, other_name) = other.rsplit_once('.').unwrap_or(("", &other));
            let distance = distance(name, other_name);
            let elsewhere = usize::from(group != other_group);
            (distance <= far).then_some((distance + elsewhere, other))
        })
        .min()
        .map(|(_, other)| other)
}

/// Edits between two words (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, c) in a.chars().take(64).enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, d) in b.iter().enumerate() {
            let best = (diagonal + usize::from(c != *d)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    row[b.len()]
}

/// The library's message without the place it names itself.
fn without_place(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(words, _)| words).to_owned()
}
