//! How a tool's block is written on the text channel: the example that prompts and refusals show, and its arguments in words.

use super::admit::{may_be_blank, required};
use crate::query::ToolSpec;
use serde_json::Value;

/// A block with every required argument; [`arguments`] tells the optional ones.
pub fn form(spec: &ToolSpec) -> String {
    let mut attributes = String::new();
    let mut children = String::new();
    for name in required(spec).filter(|name| Some(*name) != spec.body) {
        if is_short(spec, name) {
            attributes.push_str(&format!(" {name}=\"…\""));
        } else {
            children.push_str(&format!("<{name}>\n…\n</{name}>\n"));
        }
    }
    let name = spec.name;
    match spec.body {
        Some(_) => format!("<{name}{attributes}>\n{children}…\n</{name}>"),
        None if children.is_empty() => format!("<{name}{attributes}/>"),
        None => format!("<{name}{attributes}>\n{children}</{name}>"),
    }
}

/// The arguments in words, as the schema describes them: those that the form shows where there is something to say of them,
/// then the optional ones. Empty where the form says all.
pub fn arguments(spec: &ToolSpec) -> String {
    let properties = spec.schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let (shown, optional): (Vec<_>, Vec<_>) =
        properties.partition(|(name, _)| Some(name.as_str()) == spec.body || required(spec).any(|one| one == *name));
    let is_body = |name: &str| Some(name) == spec.body;
    let shown = shown.into_iter().filter(|(name, property)| is_body(name) || property.get("description").is_some());
    let told = |(name, property): (&String, &Value)| format!("`{name}`{}", details(property));
    let shown: Vec<String> =
        shown.map(|one| if is_body(one.0) { format!("The body is {}", told(one)) } else { told(one) }).collect();
    let optional: Vec<String> = optional.into_iter().map(told).collect();
    let optional = (!optional.is_empty()).then(|| format!("Optional: {}.", optional.join(", ")));
    let shown = (!shown.is_empty()).then(|| format!("{}.", shown.join(", ")));
    shown.into_iter().chain(optional).collect::<Vec<_>>().join(" ")
}

/// ` (integer, from 1 on)`: the type where it is no text, the words that are allowed, the description. A list of objects is
/// written as more of the block's own children.
fn details(property: &Value) -> String {
    if let Some(parts) = property.pointer("/items/properties").and_then(Value::as_object) {
        let names: Vec<String> = parts.keys().map(|name| format!("<{name}>…</{name}>")).collect();
        let told = property.get("description").and_then(Value::as_str).unwrap_or_default();
        return format!(", as more {} in the same block ({told})", names.join(""));
    }
    let word = |name: &str| property.get(name).and_then(Value::as_str).map(str::to_owned);
    let choices = property.get("enum").and_then(Value::as_array).map(|all| {
        let words: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
        words.join(" | ")
    });
    let kind = word("type").filter(|kind| kind != "string");
    let all: Vec<String> = [kind, choices, word("description")].into_iter().flatten().collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}

/// Whether an argument is one line that fits an attribute: a text that must not be empty, or no text at all.
fn is_short(spec: &ToolSpec, name: &str) -> bool {
    let kind = spec.schema.pointer(&format!("/properties/{name}/type"));
    kind.and_then(Value::as_str) != Some("string") || !may_be_blank(spec, name)
}
