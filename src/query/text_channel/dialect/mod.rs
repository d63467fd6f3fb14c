//! Calls in the syntax of other agents: a file per dialect.
//!
//! A model that was trained on another format falls back to it now and then. What is unambiguous runs like a call of our
//! own; the rest is refused with the way to write it here, and is never taken for an answer. A dialect looks only at
//! the start of a line, outside code and thinking.

mod bare;
mod function;
mod invoke;
mod json;
mod tokens;

pub use bare::whole_reply;

use super::admit::refuse;
use super::close::{Budget, Known};
use super::form::form;
use super::{Finish, Found, TextCall, block, children, tool_named, unclosed};
use crate::query::ToolSpec;

/// What a dialect found at a place.
#[derive(Debug, Clone, PartialEq)]
pub enum Foreign {
    /// Nothing of this dialect.
    None,
    /// More text could make it something.
    More,
    /// The end of a wrapper, or an opener that carries no meaning of its own.
    Wrapper(usize),
    /// Calls, up to this byte.
    Calls(Vec<Found>, usize),
    /// It began and does not end.
    Unclosed(String),
}

/// What a dialect may use.
pub struct Place<'a> {
    /// The whole text.
    pub text: &'a str,
    /// Where to look.
    pub at: usize,
    /// Whether more may come.
    pub known: Known,
    /// The tools on offer.
    pub tools: &'a [ToolSpec],
}

/// Ask each dialect in turn.
pub fn at(place: &Place<'_>, budget: &mut Budget) -> Foreign {
    for dialect in [invoke::at, function::at, json::at, tokens::at] {
        match dialect(place, budget) {
            Foreign::None => {}
            found => return found,
        }
    }
    Foreign::None
}

/// A refusal that shows how the call is written here.
fn foreign_syntax(place: &Place<'_>, name: &str) -> Found {
    let right = match tool_named(place.tools, name) {
        Some(spec) => form(spec),
        None => place.tools.iter().map(form).next().unwrap_or_default(),
    };
    let why = format!("this is the call syntax of another program and was not run. Write it like this: {right}");
    Found::Refused(refuse(name, "foreign_tool_syntax", why))
}

/// A call in another syntax that does not end: what was cut off is said to be cut off.
pub fn unclosed(place: &Place<'_>, finish: Finish, name: &str) -> Found {
    match finish {
        Finish::Cut => Found::Refused(unclosed::refusal(finish, name)),
        Finish::Whole => foreign_syntax(place, name),
    }
}

/// Children in the `parameter` form, then the closer `ends`: a call, or why not.
fn with_parameters(place: &Place<'_>, name: &str, from: usize, ends: &[&str], budget: &mut Budget) -> Foreign {
    let Some(spec) = tool_named(place.tools, name) else {
        let end = after_closer(place.text, from, ends);
        return match end {
            Some(end) => Foreign::Calls(vec![unknown(place, name)], end),
            None if place.known == Known::Growing => Foreign::More,
            None => Foreign::Unclosed(name.to_owned()),
        };
    };
    if place.known == Known::Growing {
        // Where a parameter ends can depend on what follows, so what stands behind such a block waits for the end.
        return Foreign::More;
    }
    let read = children::read(place.text, from, spec, budget);
    let blanks = place.text.get(read.end..).map_or(0, |tail| tail.len() - tail.trim_start().len());
    match super::tag::close_at(place.text, read.end + blanks) {
        Some((closer, end)) if read.whole && ends.contains(&closer) => {
            Foreign::Calls(vec![found(block::finish(spec, read.pairs))], end)
        }
        _ => match after_closer(place.text, from, ends) {
            Some(end) => Foreign::Calls(vec![foreign_syntax(place, name)], end),
            None => Foreign::Unclosed(name.to_owned()),
        },
    }
}

fn unknown(place: &Place<'_>, name: &str) -> Found {
    let known: Vec<&str> = place.tools.iter().map(|spec| spec.name).collect();
    Found::Refused(refuse(name, "unknown_tool", format!("there is no tool `{name}`. There are: {}", known.join(", "))))
}

fn after_closer(text: &str, from: usize, ends: &[&str]) -> Option<usize> {
    ends.iter()
        .filter_map(|name| {
            let closer = format!("</{name}>");
            Some(from + text.get(from..)?.find(&closer)? + closer.len())
        })
        .min()
}

fn found(result: Result<TextCall, crate::query::Refusal>) -> Found {
    match result {
        Ok(call) => Found::Call(call),
        Err(refusal) => Found::Refused(refusal),
    }
}
