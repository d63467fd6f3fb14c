//! How each event of a session changes the screen.

use super::state::{State, size};
use super::{Look, Thinking};
use crate::activity;
use crate::clean::clean;
use crate::markdown::Markdown;
use selfsmith_agent::event::EventKind;
use std::time::Instant;

/// The tool that ends the work.
const DONE: &str = "done";

impl State {
    /// What an event means.
    pub fn event(&mut self, kind: &EventKind) {
        match kind {
            EventKind::TurnStarted { .. } => self.wait(self.texts.thinking),
            EventKind::TextDelta { text } => self.answer(text),
            EventKind::ThinkingDelta { text } => self.thought(text),
            EventKind::Replied { text, .. } => {
                self.waiting = None;
                self.last_reply = text.trim().to_owned();
                self.finish_answer();
            }
            EventKind::Superseded { .. } => {
                self.finish_answer();
                self.remark(kind);
            }
            EventKind::CallStarted { call } => {
                let shown = self.shown_call.take().is_some_and(|id| id == call.id);
                // The summary of a `done` is shown as what was answered.
                if !shown && call.name != DONE {
                    self.faint(&activity::call(self.texts, call, activity::COLUMNS));
                }
                self.wait(&call.name);
            }
            EventKind::CallEnded { result } => {
                self.waiting = None;
                self.said(result);
                let tasks = activity::tasks(result);
                match tasks.or_else(|| activity::result(self.texts, result, activity::COLUMNS)) {
                    Some(line) => self.faint(&line),
                    None => self.paint(),
                }
            }
            EventKind::Ended { summary, turns, .. } => {
                self.waiting = None;
                self.finish_answer();
                self.summary(summary);
                if let Some(line) = activity::ended(self.texts, kind).filter(|_| *turns > 0) {
                    self.faint(&line);
                }
            }
            EventKind::SessionStarted { .. } | EventKind::PromptTaken { .. } => {}
            _ => self.remark(kind),
        }
    }

    fn wait(&mut self, what: &str) {
        self.waiting = Some((what.to_owned(), Instant::now()));
        self.paint();
    }

    fn remark(&mut self, kind: &EventKind) {
        if let Some(line) = activity::other(self.texts, kind) {
            self.faint(&line);
        }
    }

    /// A line in the background.
    pub fn faint(&mut self, text: &str) {
        let text = self.dimmed(&self.wrapped(text));
        self.line(&text);
    }

    /// The summary of a `done` is not part of any reply's visible text, so it is shown here.
    fn summary(&mut self, summary: &str) {
        let said = std::mem::take(&mut self.last_reply);
        if !summary.trim().is_empty() && summary.trim() != said {
            self.answer(&format!("{summary}\n"));
            self.finish_answer();
        }
    }

    /// An answer of before.
    pub fn quote(&mut self, text: &str) {
        if !text.is_empty() {
            self.answer(&format!("{text}\n"));
            self.finish_answer();
        }
    }

    fn answer(&mut self, text: &str) {
        if self.thoughts {
            self.end_line();
        }
        if !text.trim().is_empty() {
            self.waiting = None;
        }
        if let Look::Rich(colours) = self.look {
            let ground = self.taste.ground;
            let columns = if self.awake { size().0 } else { usize::MAX };
            let markdown = self.markdown.get_or_insert_with(|| Markdown::new(colours, ground));
            markdown.fit(columns);
            let shown = markdown.push(text);
            self.words(&shown);
        } else {
            self.words(&clean(text));
        }
    }

    fn finish_answer(&mut self) {
        if let Some(mut markdown) = self.markdown.take() {
            let rest = markdown.finish();
            self.words(&rest);
        }
        self.end_line();
    }

    fn thought(&mut self, text: &str) {
        if self.taste.thinking == Thinking::Hidden {
            return;
        }
        self.waiting = None;
        self.thoughts = true;
        self.flow(&clean(text));
    }
}
