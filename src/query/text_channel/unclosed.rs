//! Blocks without an end: which of them are calls all the same, and where they stop.
//!
//! A view whose tag says all runs, and so do the words of a `done`. What writes files and a command are refused, since half
//! of them may be missing (`rm -rf build/` of `rm -rf build/tmp`), whatever the server says of the reply's end; a reply that
//! was cut off never runs its last block.

use super::admit::{property, refuse, required};
use super::close::Budget;
use super::close::Style;
use super::form::form;
use super::scan::{View, style};
use super::tag::{self, Open};
use super::{Finish, Found, block, children, frame, tool_named};
use crate::query::{Refusal, ToolSpec};

/// Why a block without an end is not run.
pub fn refusal(finish: Finish, name: &str) -> Refusal {
    match finish {
        Finish::Cut => refuse(
            name,
            "truncated",
            "the reply was cut off inside this call, so nothing of it was run. Send it again, in smaller parts.",
        ),
        Finish::Whole => {
            refuse(name, "unclosed", format!("this call has no closing tag </{name}>, so it was not run."))
        }
    }
}

/// Whether the opening tag alone says all that the tool needs.
pub fn is_complete(spec: &ToolSpec, open: &Open) -> bool {
    let given = |name: &str| open.attributes.iter().any(|(other, _)| property(spec, other).as_deref() == Some(name));
    spec.body.is_none() && required(spec).count() > 0 && required(spec).all(given)
}

/// What a block without a closer of its own becomes, and the byte after it.
pub(super) fn block(view: &View<'_>, spec: &ToolSpec, open: &Open, budget: &mut Budget) -> (usize, Found) {
    let text = view.text;
    // Reading children and looking for the next block are searches of the same length as that for the closer.
    budget.spend(4 * text.len().saturating_sub(open.end));
    if view.finish == Finish::Cut {
        return (text.len(), Found::Refused(refusal(Finish::Cut, spec.name)));
    }
    if is_complete(spec, open) {
        return (open.end, as_found(block::call(spec, open, "", budget)));
    }
    if let Some(end) = foreign_end(text, spec, open, budget) {
        let body = tag::cut(text, open.end..end);
        return (end, as_found(block::call(spec, open, body, budget)));
    }
    let next = next_bare_block(view, open.end);
    let limit = next.unwrap_or(text.len());
    let body = tag::cut(text, open.end..limit);
    let refused = Found::Refused(with_form(refusal(Finish::Whole, spec.name), spec));
    // A closer in the middle of a line was not believed; running what stands around it would be a guess.
    let doubtful = tag::find_ignoring_case(body, &format!("</{}", open.name)).is_some();
    match style(spec) {
        Style::Words if !doubtful => (limit, as_found(block::call(spec, open, body, budget))),
        // Another block or prose follows: without a here-document in between it is a block of its own.
        Style::Command if !body.contains("<<") => (limit, refused),
        Style::File if spec.body.is_none() => {
            let read = children::read(text, open.end, spec, budget);
            let end = if read.pairs.is_empty() { open.end } else { read.end };
            (end, refused)
        }
        _ => (text.len(), refused),
    }
}

fn with_form(mut refusal: Refusal, spec: &ToolSpec) -> Refusal {
    refusal.why = format!("{} It is written: {}", refusal.why, form(spec));
    refusal
}

/// Our opener, then children of another dialect and its closers: the byte after those.
fn foreign_end(text: &str, spec: &ToolSpec, open: &Open, budget: &mut Budget) -> Option<usize> {
    let read = children::read(text, open.end, spec, budget);
    if read.pairs.is_empty() || !read.whole {
        return None;
    }
    let mut end = read.end;
    loop {
        let tail = text.get(end..)?;
        let start = end + (tail.len() - tail.trim_start().len());
        match tag::close_at(text, start) {
            Some((name, after)) if is_foreign_closer(name) => end = after,
            _ => break,
        }
    }
    (end > read.end).then_some(end)
}

fn is_foreign_closer(name: &str) -> bool {
    matches!(name, "function" | "invoke" | "tool_call" | "tool_calls" | "function_calls" | "tool")
}

/// Where the next block begins at the start of a line, outside fences: one inside is an example, whatever it follows.
fn next_bare_block(view: &View<'_>, from: usize) -> Option<usize> {
    let next = next_block(view, from)?;
    let mut fence: Option<String> = None;
    let mut at = from;
    let mut bare = next;
    while at < view.text.len() {
        let end = tag::line_end(view.text, at);
        let line = tag::cut(view.text, at..end);
        if fence.is_none() && (at..=end).contains(&bare) {
            return Some(bare);
        }
        match (&fence, frame::fence_marks(line)) {
            (None, marks) => fence = marks,
            (Some(open), Some(marks)) if marks.starts_with(open.as_str()) && line.trim() == marks => fence = None,
            (Some(_), _) => {}
        }
        at = end + 1;
        if bare < at {
            bare = next_block(view, at)?;
        }
    }
    None
}

/// Where the next block begins at the start of a line.
pub(super) fn next_block(view: &View<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += view.text.get(at..)?.find('<')?;
        let named = tag::open_at(view.text, at).is_some_and(|open| tool_named(view.tools, &open.name).is_some());
        if named && tag::starts_line(view.text, at, 0) {
            return Some(at);
        }
        at += 1;
    }
}

fn as_found(result: Result<super::TextCall, Refusal>) -> Found {
    match result {
        Ok(call) => Found::Call(call),
        Err(refusal) => Found::Refused(refusal),
    }
}
