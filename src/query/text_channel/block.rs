//! A block of our own dialect becomes a call: its attributes, its body or its child tags.
//!
//! Promises: a body is one argument, raw; child tags are read only where the tool has no body, or where they are the
//! whole of it and something needed was not given as an attribute.

use super::TextCall;
use super::admit::{arguments, may_be_blank, property, refuse, required};
use super::children::{self, Children, is_file};
use super::close::{Budget, Style};
use super::form::form;
use super::frame::{Last, out_of_fence, unframed};
use super::scan::style;
use super::tag::Open;
use crate::query::{Refusal, ToolSpec};
use serde_json::{Map, Value};

/// The call of a block; `body` is what stands between its tags.
pub fn call(spec: &ToolSpec, open: &Open, body: &str, budget: &mut Budget) -> Result<TextCall, Refusal> {
    let mut written: Vec<(String, String)> = open
        .attributes
        .iter()
        .map(|(name, value)| (name.clone(), value.clone().unwrap_or_else(|| "true".to_owned())))
        .collect();
    let given = |written: &[(String, String)], name: &str| {
        written.iter().any(|(other, _)| property(spec, other).as_deref() == Some(name))
    };
    let children = children::read(body, 0, spec, budget);
    let rest = body.get(children.end..).unwrap_or_default();
    // A child without a closer ends with the block.
    let all_children = !children.pairs.is_empty() && is_foreign_end(rest);
    match spec.body {
        Some(_) if all_children && children_are_meant(spec, &children, |name| given(&written, name)) => {
            written.extend(children.pairs);
        }
        // Without a body and without arguments it is the body that is missing.
        Some(name) if body.trim().is_empty() && !may_be_blank(spec, name) => {
            if written.is_empty() {
                written.push((name.to_owned(), String::new()));
            }
        }
        Some(name) if !given(&written, name) && !open.self_closed => {
            let last = if is_file(spec) { Last::Kept } else { Last::Dropped };
            written.push((name.to_owned(), unframed(body, last)));
        }
        Some(_) if body.trim().is_empty() => {}
        Some(name) => {
            let why = format!("`{name}` is given as an attribute and as the body. Give it once: {}", form(spec));
            return Err(refuse(spec.name, "bad_arguments", why));
        }
        None if all_children => written.extend(children.pairs),
        None if body.trim().is_empty() => {}
        None => match only_missing(spec, |name| given(&written, name)) {
            Missing::Nothing => {}
            Missing::One(name) if !body.contains('<') => written.push((name, body.trim().to_owned())),
            _ => return Err(refuse(spec.name, "malformed_call", malformed(spec))),
        },
    }
    finish(spec, written)
}

/// The call of pairs that were already read.
pub fn finish(spec: &ToolSpec, written: Vec<(String, String)>) -> Result<TextCall, Refusal> {
    let (written, groups) = grouped(spec, written)?;
    let mut arguments = arguments(spec, written)?;
    arguments.extend(groups);
    // A command goes to no file; in a shell three backticks mean nothing, so a fence round all of it is only a wrapper.
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or("command.sh");
    if let Some(body) = spec.body
        && style(spec) != Style::Words
        && let Some(inner) = arguments.get(body).and_then(Value::as_str).and_then(|text| out_of_fence(path, text))
    {
        let inner = if is_file(spec) { inner } else { inner.trim_end().to_owned() };
        arguments.insert(body.to_owned(), Value::String(inner));
    }
    Ok(TextCall { name: spec.name.to_owned(), arguments })
}

fn malformed(spec: &ToolSpec) -> String {
    format!(
        "there is text between the tags of {} that belongs to no argument. It is written: {}",
        spec.name,
        form(spec)
    )
}

/// What may follow the last child: nothing, or the closers of another dialect.
fn is_foreign_end(rest: &str) -> bool {
    let mut rest = rest.trim_start();
    while let Some((_, end)) = super::tag::close_at(rest, 0) {
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    rest.is_empty()
}

/// Inside a body, child tags are arguments only where an attribute is missing, or where they are the body's own name.
fn children_are_meant(spec: &ToolSpec, children: &Children, given: impl Fn(&str) -> bool) -> bool {
    let lacking = required(spec).any(|name| Some(name) != spec.body && !given(name));
    let only_body =
        !is_file(spec) && children.pairs.iter().any(|(name, _)| property(spec, name).as_deref() == spec.body);
    lacking || only_body
}

enum Missing {
    Nothing,
    One(String),
    Several,
}

fn only_missing(spec: &ToolSpec, given: impl Fn(&str) -> bool) -> Missing {
    let mut missing = required(spec).filter(|name| !given(name));
    match (missing.next(), missing.next()) {
        (None, _) => Missing::Nothing,
        (Some(name), None) => Missing::One(name.to_owned()),
        _ => Missing::Several,
    }
}

type Pairs = Vec<(String, String)>;

/// Children that come in rounds (`<old>`, `<new>`, `<path>`, `<old>`, `<new>`): the first is the tool's own arguments, the
/// others fill its list of such objects. What a round may have besides comes before what it needs.
fn grouped(spec: &ToolSpec, written: Pairs) -> Result<(Pairs, Map<String, Value>), Refusal> {
    let mut repeated = written.iter().enumerate().filter(|(n, (name, _))| {
        let own = property(spec, name);
        own.is_some() && written.iter().take(*n).any(|(earlier, _)| property(spec, earlier) == own)
    });
    let Some((_, (name, _))) = repeated.next() else { return Ok((written, Map::new())) };
    let Some((list, members, needed)) = list_with(spec, &property(spec, name).unwrap_or_default()) else {
        return Ok((written, Map::new()));
    };
    let (mine, mut rest): (Pairs, Pairs) =
        written.into_iter().partition(|(name, _)| property(spec, name).is_some_and(|name| members.contains(&name)));
    let whole = |round: &Map<String, Value>| needed.iter().all(|name| round.contains_key(name));
    let mut rounds: Vec<Map<String, Value>> = Vec::new();
    for (name, text) in mine {
        let name = property(spec, &name).unwrap_or(name);
        match rounds.last_mut() {
            Some(round) if !round.contains_key(&name) && !whole(round) => {
                round.insert(name, Value::String(text));
            }
            _ => rounds.push(Map::from_iter([(name, Value::String(text))])),
        }
    }
    if !rounds.iter().all(whole) {
        return Err(refuse(spec.name, "missing_arg", format!("each round needs all of: {}", needed.join(", "))));
    }
    let mut rounds = rounds.into_iter();
    for (name, value) in rounds.next().into_iter().flatten() {
        rest.push((name, value.as_str().unwrap_or_default().to_owned()));
    }
    Ok((rest, Map::from_iter([(list, Value::Array(rounds.map(Value::Object).collect()))])))
}

/// The array argument whose items have this property, what its items may have, and what they need.
fn list_with(spec: &ToolSpec, name: &str) -> Option<(String, Vec<String>, Vec<String>)> {
    let properties = spec.schema.get("properties")?.as_object()?;
    properties.iter().find_map(|(list, schema)| {
        let items = schema.get("items")?;
        let members = items.get("properties")?.as_object()?;
        members.get(name)?;
        let needed = items.get("required")?.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Some((list.clone(), members.keys().cloned().collect(), needed))
    })
}
