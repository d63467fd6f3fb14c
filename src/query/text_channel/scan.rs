//! The walk through a reply: prose, thinking, fences, inline code and tool blocks, one step at a time.
//!
//! The same steps serve a whole reply and a growing one; for a growing one a step that could still turn out otherwise
//! is [`Step::More`]. Knows what a block is, not what its arguments mean.

use super::admit::{may_be_blank, refuse, required};
use super::close::{self, Budget, Close, Known, Style};
use super::dialect::{self, Foreign, Place};
use super::examples::as_examples;
use super::fences::Fence;
use super::form::form;
use super::quoting::{backtick_before, is_indented_code, is_quotation_line, is_quoted, is_table_row};
use super::tag::{self, Open};
use super::{Finish, Found, block, children, heredoc, tool_named, unclosed};
use crate::query::ToolSpec;
use crate::query::think::{self, Side};
use std::ops::Range;

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Prose to show.
    Text(Range<usize>),
    /// Thinking.
    Thought(Range<usize>),
    /// Thinking ended here.
    ThoughtEnd,
    /// Everything since the last thinking was thinking too.
    Recant,
    /// Nothing to show.
    Skip,
    /// Calls, admitted or not.
    Calls {
        /// In order.
        found: Vec<Found>,
        /// Whether the last had no end.
        unclosed: bool,
    },
    /// It depends on what follows.
    More,
    /// The text is used up.
    End,
}

/// What the walk was told.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub text: &'a str,
    pub known: Known,
    pub finish: Finish,
    pub tools: &'a [ToolSpec],
}

impl View<'_> {
    pub fn growing(&self) -> bool {
        self.known == Known::Growing
    }
}

/// A position in a reply, and what is open there.
#[derive(Debug, Clone)]
pub struct Scanner {
    /// The next byte.
    pub(super) at: usize,
    /// The byte after the last block: what stands before it on its line does not count as prose.
    floor: usize,
    /// The byte after the last block that was no example: what stands before it is not prose either.
    prose: usize,
    pub(super) fence: Option<Fence>,
    /// A fence round real calls: only its closing line is left to drop.
    pub(super) wrapping: Option<String>,
    pub(super) thinking: usize,
    pub(super) thought_before: bool,
    pub(super) calls_since: bool,
    /// The line that was looked at last, as far as it was searched for its end.
    line: Range<usize>,
    pub(super) budget: Budget,
}

impl Scanner {
    /// At the beginning of a text; `length` is what is known of its size.
    pub fn new(length: usize) -> Self {
        Self {
            at: 0,
            floor: 0,
            prose: 0,
            fence: None,
            wrapping: None,
            thinking: 0,
            thought_before: false,
            calls_since: false,
            line: 0..0,
            budget: Budget::of(length),
        }
    }

    /// Whether thinking is open.
    pub fn is_thinking(&self) -> bool {
        self.thinking > 0
    }

    /// The next step. The text may only have grown at its end since the last.
    pub fn step(&mut self, text: &str, known: Known, finish: Finish, tools: &[ToolSpec]) -> Step {
        let view = View { text, known, finish, tools };
        let Some(first) = text.as_bytes().get(self.at) else {
            return if view.growing() { Step::More } else { Step::End };
        };
        if self.thinking > 0 {
            return self.thinking_step(&view);
        }
        if self.fence.is_some() {
            return self.fence_step(&view);
        }
        match first {
            b'`' | b'~' => self.marks_step(&view),
            b'<' | b'[' => self.tag_step(&view),
            _ => {
                let tail = text.get(self.at..).unwrap_or_default();
                let length = tail.find(['`', '~', '<', '[']).unwrap_or(tail.len());
                self.show(self.at + length)
            }
        }
    }

    pub(super) fn show(&mut self, end: usize) -> Step {
        let range = self.at..end;
        self.at = end;
        Step::Text(range)
    }

    pub(super) fn skip(&mut self, end: usize) -> Step {
        self.at = end;
        self.floor = end;
        self.prose = end;
        Step::Skip
    }

    /// The end of the line at the next byte, as [`tag::line_end`] tells it. What was searched is not searched again: a reply
    /// may be one line.
    pub(super) fn line_end(&mut self, text: &str) -> usize {
        if !(self.line.start..=self.line.end).contains(&self.at) {
            self.line = self.at..self.at;
        }
        if text.as_bytes().get(self.line.end) != Some(&b'\n') {
            self.line.end = tag::line_end(text, self.line.end);
        }
        self.line.end
    }

    fn calls(&mut self, end: usize, found: Vec<Found>, unclosed: bool) -> Step {
        self.at = end;
        self.floor = end;
        self.calls_since = true;
        Step::Calls { found, unclosed }
    }

    fn tag_step(&mut self, view: &View<'_>) -> Step {
        let (text, at) = (view.text, self.at);
        if self.budget.is_spent() {
            // A text of nothing but beginnings; what is left of it is shown, and nothing in it runs.
            return self.show(text.len());
        }
        let second = text.get(at + 1..).and_then(|tail| tail.chars().next());
        let tag_like = second.is_none_or(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '|' | '｜' | '!'));
        if text.as_bytes().get(at) == Some(&b'<') && tag_like && view.growing() && tag::unfinished(text, at) {
            return Step::More;
        }
        let starts = tag::starts_line(text, at, self.floor);
        match think::tag_at(text, at) {
            // The character behind it decides whether it is quoted.
            Some((_, end)) if view.growing() && end == text.len() && backtick_before(text, at) => return Step::More,
            Some((Side::Open, end)) => return self.thinking_opens(view, end, starts),
            Some((Side::Close, end)) => return self.lone_closer(end),
            None => {}
        }
        if view.tools.is_empty() {
            return self.show(at + 1);
        }
        if let Some(step) = self.example(view) {
            return step;
        }
        let prose = self.prose;
        let step = self.call_tag(view, starts);
        if matches!(step, Step::Calls { .. }) {
            if is_table_row(text, at) || is_indented_code(text, at, prose) {
                return as_examples(step);
            }
            self.prose = self.at;
        }
        step
    }

    /// A tag that may begin a call.
    fn call_tag(&mut self, view: &View<'_>, starts: bool) -> Step {
        let (text, at) = (view.text, self.at);
        if let Some(spec) = tag::name_at(text, at).and_then(|name| tool_named(view.tools, name)) {
            return self.own_tag(view, spec, starts);
        }
        if !starts || is_quotation_line(text, at) {
            return self.show(at + 1);
        }
        let place = Place { text, at, known: view.known, tools: view.tools };
        match dialect::at(&place, &mut self.budget) {
            Foreign::None => self.show(at + 1),
            Foreign::More => Step::More,
            Foreign::Wrapper(end) => self.skip(end),
            Foreign::Calls(found, end) => self.calls(end, found, false),
            Foreign::Unclosed(name) => {
                let found = dialect::unclosed(&place, view.finish, &name);
                self.calls(text.len(), vec![found], true)
            }
        }
    }

    /// A tag that has the name of a tool.
    fn own_tag(&mut self, view: &View<'_>, spec: &ToolSpec, starts: bool) -> Step {
        let (text, at) = (view.text, self.at);
        if let Some((_, end)) = tag::close_at(text, at) {
            // The character behind it tells whether it is quoted.
            if view.growing() && end == text.len() {
                return Step::More;
            }
            let quoted = text.as_bytes().get(end) == Some(&b'`');
            // A closer too many is dropped where it stands by itself, and is a word where it stands among words.
            return if starts && !quoted { self.skip(end) } else { self.show(end) };
        }
        let line_end = self.line_end(text);
        let Some(open) = tag::open_at(text, at) else {
            if !starts || is_quotation_line(text, at) || text.as_bytes().get(at + 1) == Some(&b'/') {
                return self.show(at + 1);
            }
            return self.malformed(view, spec, line_end);
        };
        let line_known = line_end < text.len() || !view.growing();
        if !line_known && tag::line_head(text, at, 0).matches('"').count() % 2 == 1 {
            return Step::More;
        }
        if is_quoted(text, at, line_end) {
            return self.show(open.end);
        }
        let rest_blank = tag::cut(text, open.end..line_end.max(open.end)).trim().is_empty();
        if open.self_closed {
            let mention = !starts && open.attributes.is_empty();
            return match mention {
                true if line_end == text.len() && view.growing() => Step::More,
                true if !rest_blank => self.show(open.end),
                _ => {
                    let call = found(block::call(spec, &open, "", &mut self.budget));
                    self.calls(open.end, vec![call], false)
                }
            };
        }
        self.open_block(view, spec, &open, Head { starts, rest_blank })
    }

    fn open_block(&mut self, view: &View<'_>, spec: &ToolSpec, open: &Open, head: Head) -> Step {
        let text = view.text;
        let line_end = tag::line_end(text, open.end);
        let line_known = line_end < text.len() || !view.growing();
        let close = close::find(text, open.end, &open.name, style(spec), view.known, &mut self.budget);
        // In the middle of a line a block is one line, or its body begins on the next; all else is a mention.
        let far = !head.starts && !head.rest_blank;
        match close {
            Close::At(range) if far && range.start > line_end => self.show(open.end),
            Close::At(range) if close::quoted(text, self.at..range.end) => self.show(range.end),
            Close::At(_) if far && !line_known => Step::More,
            // A word of a sentence that goes on behind it.
            Close::At(range) if far && goes_on(text, self.at, range.end..line_end) => self.show(range.end),
            Close::At(range) if view.growing() && is_in_heredoc(text, spec, open, &range) => Step::More,
            Close::At(range) if children::is_file(spec) && !is_last_known(view, range.end) => Step::More,
            Close::At(range) => {
                let range = self.last_closer(view, spec, open, range);
                let body = tag::cut(text, open.end..range.start);
                let call = found(block::call(spec, open, body, &mut self.budget));
                self.calls(range.end, vec![call], false)
            }
            Close::More if far && line_known && !unclosed::is_complete(spec, open) => self.show(open.end),
            Close::More => Step::More,
            Close::Nowhere if far && !unclosed::is_complete(spec, open) => self.show(open.end),
            Close::Nowhere => {
                let (end, call) = unclosed::block(view, spec, open, &mut self.budget);
                self.calls(end, vec![call], true)
            }
        }
    }

    /// A file's text may hold its own closer on a line of its own: if another one follows before the next block, with
    /// more than blanks between, that one is the real one. So may a here-document of a command: there it is the first one
    /// behind its end. Known once the next block begins, or the reply is whole.
    fn last_closer(&mut self, view: &View<'_>, spec: &ToolSpec, open: &Open, first: Range<usize>) -> Range<usize> {
        let in_heredoc = is_in_heredoc(view.text, spec, open, &first);
        let may_go_on = children::is_file(spec) || in_heredoc;
        if !may_go_on {
            return first;
        }
        let limit = unclosed::next_block(view, first.end).unwrap_or(view.text.len());
        if !self.budget.spend(limit - first.end) {
            return first;
        }
        let closer = format!("</{}>", open.name);
        let after = tag::cut(view.text, first.end..limit);
        let mut last = first.clone();
        for (n, _) in after.match_indices(&closer) {
            let at = first.end + n;
            let range = at..at + closer.len();
            let alone = tag::starts_line(view.text, at, 0) && !close::quoted(view.text, range.clone());
            if !alone || tag::cut(view.text, last.end..at).trim().is_empty() {
                continue;
            }
            if !in_heredoc {
                last = range;
            } else if self.budget.spend(at - open.end) && !is_in_heredoc(view.text, spec, open, &range) {
                return range;
            }
        }
        last
    }

    /// At the start of a line, a tool's name in a tag that cannot be read.
    fn malformed(&mut self, view: &View<'_>, spec: &ToolSpec, line_end: usize) -> Step {
        let line = tag::cut(view.text, self.at..line_end);
        let Some(tag_end) = line.find('>').map(|n| self.at + n + 1) else {
            // All that follows belongs to it, so that it is told at the end.
            if view.growing() {
                return Step::More;
            }
            let refusal = unclosed::refusal(view.finish, spec.name);
            return self.calls(view.text.len(), vec![Found::Refused(refusal)], true);
        };
        let name = tag::name_at(view.text, self.at).unwrap_or_default().to_owned();
        let self_closed = line.get(..tag_end - self.at).is_some_and(|tag| tag.ends_with("/>"));
        let end = match close::find(view.text, tag_end, &name, style(spec), view.known, &mut self.budget) {
            _ if self_closed => tag_end,
            Close::At(range) => range.end,
            Close::More => return Step::More,
            Close::Nowhere => tag_end,
        };
        let why = format!("its opening tag cannot be read. It is written: {}", form(spec));
        self.calls(end, vec![Found::Refused(refuse(spec.name, "malformed_call", why))], false)
    }
}

/// Where an opening tag stands.
#[derive(Clone, Copy)]
struct Head {
    starts: bool,
    rest_blank: bool,
}

/// Whether a sentence goes on behind a block: letters, before another tag comes. A table's row is no sentence.
fn goes_on(text: &str, at: usize, rest: Range<usize>) -> bool {
    let words = tag::cut(text, rest).split('<').next().unwrap_or_default();
    !is_table_row(text, at) && words.chars().any(char::is_alphanumeric)
}

/// Whether what follows tells which closer of a file's text is the last: the next block has begun.
fn is_last_known(view: &View<'_>, from: usize) -> bool {
    let named = |at: &usize| tag::name_at(view.text, *at).is_some_and(|name| tool_named(view.tools, name).is_some());
    let tags = tag::cut(view.text, from..view.text.len()).match_indices('<').map(|(n, _)| from + n);
    let tags = tags.filter(|at| view.text.as_bytes().get(at + 1) != Some(&b'/'));
    // A tag that has the name of a tool and no end yet may become one.
    let next = tags.filter(|at| tag::starts_line(view.text, *at, 0)).find(named);
    !view.growing() || next.is_some_and(|at| tag::open_at(view.text, at).is_some())
}

/// Whether the closer stands within a here-document of the command.
fn is_in_heredoc(text: &str, spec: &ToolSpec, open: &Open, closer: &Range<usize>) -> bool {
    style(spec) == Style::Command && heredoc::is_open(tag::cut(text, open.end..closer.start))
}

fn found(result: Result<super::TextCall, crate::query::Refusal>) -> Found {
    match result {
        Ok(call) => Found::Call(call),
        Err(refusal) => Found::Refused(refusal),
    }
}

/// How the closers of this tool's block are believed.
pub(super) fn style(spec: &ToolSpec) -> Style {
    match spec.body {
        Some(body) if may_be_blank(spec, body) && !required(spec).any(|name| name == body) => Style::Words,
        Some(_) if !children::is_file(spec) => Style::Command,
        _ => Style::File,
    }
}
