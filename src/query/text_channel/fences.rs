//! Fences and inline code on the walk through a reply: shown as they are, and nothing in them runs.
//!
//! But a fence that says of itself that it is a tool call, and begins with one, is only a wrapper round calls.

use super::quoting::inline_code_end;
use super::scan::{Scanner, Step, View};
use super::{frame, tag, tool_named};
use crate::query::think::{self, Side};

/// An open fence.
#[derive(Debug, Clone)]
pub(super) struct Fence {
    marks: String,
    opened_thinking: usize,
}

impl Scanner {
    /// A line of a fenced block.
    pub(super) fn fence_step(&mut self, view: &View<'_>) -> Step {
        let end = tag::line_end(view.text, self.at);
        if end == view.text.len() && view.growing() {
            return Step::More;
        }
        let line = tag::cut(view.text, self.at..end).trim();
        let next = (end + 1).min(view.text.len());
        let Some(fence) = self.fence.as_mut() else { return self.show(next) };
        let closes = line.len() >= fence.marks.len() && line.chars().all(|c| fence.marks.starts_with(c));
        if closes {
            self.fence = None;
            return self.show(next);
        }
        match think::tag_at(line, 0) {
            Some((Side::Open, _)) => fence.opened_thinking += 1,
            Some((Side::Close, tag_end)) if tag_end == line.len() => {
                // A fence that was opened in thinking whose own opening tag was never written.
                if fence.opened_thinking == 0 && !self.thought_before {
                    self.fence = None;
                    self.skip(next);
                    self.thought_ended();
                    return Step::Recant;
                }
                fence.opened_thinking = fence.opened_thinking.saturating_sub(1);
            }
            _ => {}
        }
        self.show(next)
    }

    /// Backticks or tildes: a fence at the start of a line, inline code elsewhere.
    pub(super) fn marks_step(&mut self, view: &View<'_>) -> Step {
        let tail = view.text.get(self.at..).unwrap_or_default();
        let line_end = self.line_end(view.text);
        let line_known = line_end < view.text.len() || !view.growing();
        let line = tag::cut(view.text, self.at..line_end);
        let mark = if tail.starts_with('`') { '`' } else { '~' };
        let run = tail.len() - tail.trim_start_matches(mark).len();
        if !line_known {
            return Step::More;
        }
        if tag::starts_line(view.text, self.at, 0)
            && let Some(marks) = frame::fence_marks(line)
        {
            return self.open_fence(view, marks, line_end);
        }
        if mark == '~' {
            return self.show(self.at + run);
        }
        let end = inline_code_end(line, run).unwrap_or(run);
        self.show(self.at + end)
    }

    fn open_fence(&mut self, view: &View<'_>, marks: String, line_end: usize) -> Step {
        let next = (line_end + 1).min(view.text.len());
        let info = tag::cut(view.text, self.at + marks.len()..line_end).trim().to_ascii_lowercase();
        if self.wrapping.as_ref().is_some_and(|wrapping| info.is_empty() && marks.len() >= wrapping.len()) {
            self.wrapping = None;
            return self.skip(next);
        }
        if matches!(info.as_str(), "tool_code" | "tool_call" | "tool_calls" | "tool_use") {
            let inside = view.text.get(next..).unwrap_or_default();
            let first = next + (inside.len() - inside.trim_start().len());
            if view.growing() && (first == view.text.len() || tag::unfinished(view.text, first)) {
                return Step::More;
            }
            if tag::name_at(view.text, first).is_some_and(|name| tool_named(view.tools, name).is_some()) {
                self.wrapping = Some(marks);
                return self.skip(next);
            }
        }
        self.fence = Some(Fence { marks, opened_thinking: 0 });
        self.show(next)
    }
}
