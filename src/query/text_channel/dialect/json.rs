//! `<tool_call>{"name": "bash", "arguments": {…}}</tool_call>` and `<tool_call>bash<arg_key>…</arg_key><arg_value>…`.
//!
//! JSON that is not whole is never completed by guessing.

use super::{Foreign, Place, after_closer, foreign_syntax, found, unknown};
use crate::query::text_channel::close::{Budget, Known};
use crate::query::text_channel::frame::{Last, unframed};
use crate::query::text_channel::{Found, TextCall, admit, block, tool_named};
use regex::Regex;
use serde_json::{Map, Value};
use std::sync::LazyLock;

const OPENER: &str = "<tool_call>";
const CLOSER: &str = "</tool_call>";

static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)^\s*<arg_key>([^<]*)</arg_key>\s*<arg_value>(.*?)</arg_value>")
        .expect("a fixed pattern that the tests compile")
});

/// What stands at the place.
pub fn at(place: &Place<'_>, _budget: &mut Budget) -> Foreign {
    let Some(tail) = place.text.get(place.at..) else { return Foreign::None };
    if tail.starts_with(CLOSER) {
        return Foreign::Wrapper(place.at + CLOSER.len());
    }
    let Some(inside) = tail.strip_prefix(OPENER) else { return Foreign::None };
    let from = place.at + OPENER.len();
    let start = inside.trim_start();
    if start.starts_with('<') {
        return Foreign::Wrapper(from);
    }
    if start.is_empty() && place.known == Known::Growing {
        return Foreign::More;
    }
    if start.starts_with('{') { object(place, from, inside) } else { pairs(place, from, inside) }
}

fn object(place: &Place<'_>, from: usize, inside: &str) -> Foreign {
    let mut values = serde_json::Deserializer::from_str(inside).into_iter::<Value>();
    let first = values.next();
    let Some(Ok(value)) = first else {
        let may_go_on = !matches!(&first, Some(Err(error)) if !error.is_eof());
        return match after_closer(place.text, from, &["tool_call"]) {
            _ if may_go_on && place.known == Known::Growing => Foreign::More,
            Some(end) => Foreign::Calls(vec![foreign_syntax(place, "tool_call")], end),
            None if place.known == Known::Growing => Foreign::More,
            None => Foreign::Calls(vec![foreign_syntax(place, "tool_call")], place.text.len()),
        };
    };
    let end = from + values.byte_offset();
    Foreign::Calls(vec![call(place, &value)], end)
}

/// A call whose name and arguments are JSON.
pub fn call(place: &Place<'_>, value: &Value) -> Found {
    let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(*key)).and_then(Value::as_str).map(str::to_owned);
    let Some(name) = text(&["name", "tool", "tool_name", "function"]) else {
        return foreign_syntax(place, "tool_call");
    };
    let Some(spec) = tool_named(place.tools, &name) else { return unknown(place, &name) };
    let given = ["arguments", "parameters", "args", "input"].iter().find_map(|key| value.get(*key));
    let parsed: Option<Map<String, Value>> = match given {
        Some(Value::Object(map)) => Some(map.clone()),
        Some(Value::String(text)) => serde_json::from_str(text).ok(),
        _ => None,
    };
    let Some(given) = parsed else { return foreign_syntax(place, &name) };
    match admit::typed_arguments(spec, given) {
        Ok(arguments) => Found::Call(TextCall { name: spec.name.to_owned(), arguments }),
        Err(refusal) => Found::Refused(refusal),
    }
}

fn pairs(place: &Place<'_>, from: usize, inside: &str) -> Foreign {
    let Some(end) = after_closer(place.text, from, &["tool_call"]) else {
        return if place.known == Known::Growing { Foreign::More } else { Foreign::Unclosed("tool_call".to_owned()) };
    };
    let body = inside.get(..end - from - CLOSER.len()).unwrap_or_default();
    let (name, mut rest) = match body.split_once("<arg_key>") {
        Some((name, _)) => (name.trim(), body.get(name.len()..).unwrap_or_default()),
        None => (body.trim(), ""),
    };
    let mut written = Vec::new();
    while let Some(pair) = PAIR.captures(rest) {
        written.push((pair[1].trim().to_owned(), unframed(&pair[2], Last::Dropped)));
        rest = rest.get(pair.get(0).map_or(rest.len(), |whole| whole.end())..).unwrap_or_default();
    }
    let one = match tool_named(place.tools, name) {
        Some(spec) if rest.trim().is_empty() => found(block::finish(spec, written)),
        Some(_) => foreign_syntax(place, name),
        None => foreign_syntax(place, "tool_call"),
    };
    Foreign::Calls(vec![one], end)
}
