//! How a tool's block is written on the text channel: the example that prompts and refusals show.

use super::admit::{may_be_blank, required};
use crate::query::ToolSpec;
use serde_json::Value;

/// A block with every required argument; optional ones are told in the tool's own text.
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

/// Whether an argument is one line that fits an attribute: a text that must not be empty, or no text at all.
fn is_short(spec: &ToolSpec, name: &str) -> bool {
    let kind = spec.schema.pointer(&format!("/properties/{name}/type"));
    kind.and_then(Value::as_str) != Some("string") || !may_be_blank(spec, name)
}
