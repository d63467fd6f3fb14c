//! A reply that is nothing but a call in code: JSON, or our own block inside a fence.
//!
//! Text like that may as well be an example, so it never runs; but it is no answer either, so the model is told.

use super::{Place, foreign_syntax};
use crate::query::text_channel::admit::refuse;
use crate::query::text_channel::close::Known;
use crate::query::text_channel::form::form;
use crate::query::text_channel::{Found, frame, tag, tool_named};
use crate::query::{Refusal, ToolSpec};
use serde_json::Value;

/// Refusals for a reply without any other call.
pub fn whole_reply(visible: &str, tools: &[ToolSpec]) -> Vec<Refusal> {
    let (inside, fenced) = match fence_at_end(visible) {
        Some(inside) => (inside, true),
        None => (visible.to_owned(), false),
    };
    let whole = visible.lines().next().is_some_and(|line| frame::fence_marks(line).is_some());
    let inside = inside.trim();
    if let Some(spec) = tag::name_at(inside, 0).and_then(|name| tool_named(tools, name)).filter(|_| fenced && whole) {
        let why = format!("a call inside a code fence is an example and was not run. Write it bare: {}", form(spec));
        return vec![refuse(spec.name, "fenced_call", why)];
    }
    let Some(name) = named_in_json(inside, tools) else { return Vec::new() };
    let place = Place { text: inside, at: 0, known: Known::Whole, tools };
    match foreign_syntax(&place, &name) {
        Found::Refused(refusal) => vec![refusal],
        Found::Call(_) => Vec::new(),
    }
}

/// The inside of a fence that ends a text.
fn fence_at_end(text: &str) -> Option<String> {
    let mut inside: Option<(String, String)> = None;
    for line in text.lines() {
        match (&mut inside, frame::fence_marks(line)) {
            (None, Some(marks)) => inside = Some((marks, String::new())),
            (Some((open, _)), Some(marks)) if marks.len() >= open.len() && line.trim() == marks => {
                let rest = text.get(text.rfind(line.trim())?..)?;
                if rest.trim() == marks {
                    return inside.map(|(_, inside)| inside);
                }
                inside = None;
            }
            (Some((_, lines)), _) => {
                lines.push_str(line);
                lines.push('\n');
            }
            (None, None) => {}
        }
    }
    None
}

/// The tool that a JSON object, or a list of such, wants to call.
fn named_in_json(text: &str, tools: &[ToolSpec]) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let call = match &value {
        Value::Array(calls) => calls.first()?,
        one => one,
    };
    let call = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
    let name = ["name", "tool", "tool_name", "function"].iter().find_map(|key| call.get(*key)?.as_str())?;
    let has_arguments = ["arguments", "parameters", "args", "input"].iter().any(|key| call.get(*key).is_some());
    (has_arguments && tool_named(tools, name).is_some()).then(|| name.to_owned())
}
