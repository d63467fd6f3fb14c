//! Admission of a call: written names and texts become the arguments that the tool's schema asks for, or a refusal.
//!
//! Promises: a text argument is passed on as it was written, never guessed into a number or a boolean; an argument
//! that the tool does not have is refused, because ignoring it could run something else than was meant. Does not know
//! how the call was spelled.

use super::form::form;
use crate::query::lift::lift_first;
use crate::query::{Refusal, ToolSpec};
use serde_json::{Map, Value};

/// Names that mean the same in the agents that models were trained on.
const SYNONYMS: &[&[&str]] = &[
    &["path", "file_path", "filepath", "file", "filename", "file_name", "target_file", "absolute_path"],
    &["content", "contents", "file_text", "text", "code", "body", "data"],
    &["old", "old_str", "old_string", "old_text", "search", "find"],
    &["new", "new_str", "new_string", "new_text", "replace", "replacement"],
    &["command", "cmd", "script", "code"],
    &["summary", "text", "message", "result", "answer"],
    &["pattern", "query", "regex", "glob"],
    &["start_line", "line_start", "start", "from_line"],
    &["end_line", "line_end", "end", "to_line"],
    &["timeout_s", "timeout", "timeout_seconds"],
];

/// A refusal in the words of a class.
pub fn refuse(name: &str, class: &'static str, why: impl Into<String>) -> Refusal {
    Refusal { id: None, name: name.to_owned(), class, why: why.into() }
}

/// The arguments as the tool wants them.
pub fn arguments(spec: &ToolSpec, written: Vec<(String, String)>) -> Result<Map<String, Value>, Refusal> {
    let mut arguments = Map::new();
    for (name, text) in written {
        let Some(property) = property(spec, &name) else {
            let why = format!("{} has no argument `{name}`. It is written: {}", spec.name, form(spec));
            return Err(refuse(spec.name, "bad_arguments", why));
        };
        let value = typed(spec, &property, text)?;
        if arguments.insert(property.clone(), value).is_some() {
            let why = format!("`{property}` is given twice. Give it once: {}", form(spec));
            return Err(refuse(spec.name, "bad_arguments", why));
        }
    }
    lift_first(&mut arguments, &spec.schema);
    check_required(spec, &arguments)?;
    Ok(arguments)
}

/// The tool's own name for an argument.
pub fn property(spec: &ToolSpec, written: &str) -> Option<String> {
    let properties = spec.schema.get("properties")?.as_object()?;
    let plain = written.to_ascii_lowercase().replace('-', "_");
    if properties.contains_key(&plain) {
        return Some(plain);
    }
    SYNONYMS
        .iter()
        .filter(|group| group.contains(&plain.as_str()))
        .find_map(|group| group.iter().find(|name| properties.contains_key(**name)))
        .map(|name| (*name).to_owned())
}

/// Names of the arguments that must be there.
pub fn required(spec: &ToolSpec) -> impl Iterator<Item = &str> {
    spec.schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn check_required(spec: &ToolSpec, arguments: &Map<String, Value>) -> Result<(), Refusal> {
    let absent = required(spec).find(|name| !arguments.contains_key(*name));
    let blank = || {
        let blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
        arguments.iter().find(|(name, value)| blank(value) && !may_be_blank(spec, name)).map(|(name, _)| name.as_str())
    };
    match absent.or_else(blank) {
        None => Ok(()),
        Some(name) => {
            let why = format!("{} needs `{name}`. It is written: {}", spec.name, form(spec));
            Err(refuse(spec.name, "missing_arg", why))
        }
    }
}

/// An empty file and an empty replacement are fine, an empty path or command is not: the schema says so.
pub fn may_be_blank(spec: &ToolSpec, name: &str) -> bool {
    let floor = spec.schema.pointer(&format!("/properties/{name}/minLength")).and_then(Value::as_u64);
    floor.unwrap_or(0) == 0
}

fn typed(spec: &ToolSpec, name: &str, text: String) -> Result<Value, Refusal> {
    let kind = spec.schema.pointer(&format!("/properties/{name}/type"));
    let is = |word: &str| match kind {
        Some(Value::String(one)) => one == word,
        Some(Value::Array(several)) => several.iter().any(|one| one == word),
        _ => false,
    };
    let trimmed = text.trim();
    let value = if kind.is_none() || is("string") {
        Some(Value::String(text.clone()))
    } else if is("integer") {
        trimmed.parse::<i64>().ok().map(Value::from)
    } else if is("number") {
        trimmed.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from)
    } else if is("boolean") {
        match trimmed.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(Value::Bool(true)),
            "false" | "no" | "0" => Some(Value::Bool(false)),
            _ => None,
        }
    } else {
        let fits = |value: &Value| (value.is_array() && is("array")) || (value.is_object() && is("object"));
        serde_json::from_str::<Value>(trimmed).ok().filter(fits)
    };
    value.ok_or_else(|| {
        let word = kind.map(Value::to_string).unwrap_or_default();
        let shown: String = trimmed.chars().take(60).collect();
        refuse(spec.name, "bad_arguments", format!("`{name}` of {} must be of type {word}, not `{shown}`", spec.name))
    })
}

/// Arguments that came as JSON: names as the tool has them, values of the type it asks for, texts read where it wants
/// something else.
pub fn typed_arguments(spec: &ToolSpec, given: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    let mut arguments = Map::new();
    for (name, value) in given {
        let Some(property) = property(spec, &name) else {
            let why = format!("{} has no argument `{name}`. It is written: {}", spec.name, form(spec));
            return Err(refuse(spec.name, "bad_arguments", why));
        };
        let value = match value {
            Value::String(text) => typed(spec, &property, text)?,
            other => checked(spec, &property, other)?,
        };
        arguments.insert(property, value);
    }
    lift_first(&mut arguments, &spec.schema);
    check_required(spec, &arguments)?;
    Ok(arguments)
}

fn checked(spec: &ToolSpec, name: &str, value: Value) -> Result<Value, Refusal> {
    let kind = spec.schema.pointer(&format!("/properties/{name}/type")).and_then(Value::as_str);
    let fits = match kind {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    if fits {
        return Ok(value);
    }
    let why = format!("`{name}` of {} must be of type {}", spec.name, kind.unwrap_or_default());
    Err(refuse(spec.name, "bad_arguments", why))
}
