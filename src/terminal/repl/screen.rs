//! The REPL's frontend: the answer as it streams, activity in lines, and one line that counts seconds while one waits.
//!
//! Only the line that counts is ever rewritten, and it is wiped before anything else is printed; scrollback is left
//! alone. Without a terminal there is no such line and no colour, and the answer is passed on as it comes.

use super::ask::{Asker, Interrupt};
use crate::activity;
use crate::clean::{clean, one_line};
use crate::markdown::{Colours, Ground, Markdown};
use crate::streams;
use console::Style;
use futures::future::BoxFuture;
use selfsmith_agent::event::{Event, EventKind};
use selfsmith_agent::frontend::{Decision, Frontend};
use selfsmith_agent::message::ToolCall;
use selfsmith_agent::texts::{Texts, fill};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What the terminal can do, found out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Cursor movement and colours.
    Rich(Colours),
    /// Cursor movement, no colours (`NO_COLOR`).
    Plain,
    /// Neither: a pipe, or a dumb terminal.
    Bare,
}

/// What the person wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// The model's thoughts, dimmed.
    Shown,
    /// Only that it thinks.
    Hidden,
}

/// How the person wants it.
#[derive(Debug, Clone, Copy)]
pub struct Taste {
    /// Whether thoughts are shown.
    pub thinking: Thinking,
    /// Between two characters of an answer; nothing where it is to come at once.
    pub delay: Duration,
    /// The ground that colours stand on.
    pub ground: Ground,
}

/// The screen.
pub struct Screen {
    texts: &'static Texts,
    look: Look,
    taste: Taste,
    asker: Asker,
    interrupt: Interrupt,
    state: Mutex<State>,
}

/// Columns of the terminal now.
fn columns() -> usize {
    console::Term::stdout().size_checked().map_or(80, |(_, columns)| usize::from(columns))
}

#[derive(Default)]
struct State {
    /// What is waited for, and since when.
    waiting: Option<(String, Instant)>,
    /// The counting line is on the screen.
    counting: bool,
    markdown: Option<Markdown>,
    /// The last thing printed did not end its line.
    open_line: bool,
    /// Thoughts are being shown.
    thoughts: bool,
    /// Visible text of the last reply.
    last_reply: String,
}

impl Screen {
    /// A screen.
    pub fn new(texts: &'static Texts, look: Look, taste: Taste, asker: Asker, interrupt: Interrupt) -> Self {
        Self { texts, look, taste, asker, interrupt, state: Mutex::new(State::default()) }
    }

    /// Called a few times a second: keeps the counting line true.
    pub fn tick(&self) {
        if self.look == Look::Bare {
            return;
        }
        let mut state = self.state();
        let Some((what, since)) = &state.waiting else { return };
        let seconds = since.elapsed().as_secs();
        if state.open_line || seconds == 0 {
            return;
        }
        let line = fill(self.texts.waiting, &[("what", what), ("seconds", &seconds.to_string())]);
        streams::data(&format!("\r\u{1b}[2K{}", self.dim(&line)));
        state.counting = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dim(&self, text: &str) -> String {
        match self.look {
            Look::Rich(_) => Style::new().force_styling(true).dim().apply_to(text).to_string(),
            Look::Plain | Look::Bare => text.to_owned(),
        }
    }

    fn wipe(state: &mut State) {
        if std::mem::take(&mut state.counting) {
            streams::data("\r\u{1b}[2K");
        }
    }

    fn line(&self, state: &mut State, text: &str) {
        Self::wipe(state);
        self.end_line(state);
        streams::data(&format!("{}\n", self.dim(text)));
    }

    fn end_line(&self, state: &mut State) {
        if std::mem::take(&mut state.open_line) {
            streams::data("\n");
        }
        state.thoughts = false;
    }

    fn answer(&self, state: &mut State, text: &str) {
        if state.thoughts {
            self.end_line(state);
        }
        let Look::Rich(colours) = self.look else {
            Self::wipe(state);
            state.waiting = None;
            let text = clean(text);
            state.open_line = !text.ends_with('\n');
            self.write(&text);
            return;
        };
        let shown =
            state.markdown.get_or_insert_with(|| Markdown::new(colours, self.taste.ground, columns())).push(text);
        if !shown.is_empty() {
            Self::wipe(state);
            self.write(&shown);
            state.open_line = !shown.ends_with('\n');
        }
    }

    /// Words of an answer, as a typewriter where that is wished; an interrupt lets the rest come at once. Escape
    /// sequences go out whole.
    fn write(&self, text: &str) {
        if self.taste.delay.is_zero() || self.look == Look::Bare {
            streams::data(text);
            return;
        }
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if self.interrupt.token().is_cancelled() {
                break;
            }
            let escape = first == '\u{1b}';
            let end = if escape { rest.find('m').map_or(rest.len(), |at| at + 1) } else { first.len_utf8() };
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            streams::data(piece);
            rest = after;
            if !escape {
                std::thread::sleep(self.taste.delay);
            }
        }
        streams::data(rest);
    }

    fn finish_answer(&self, state: &mut State) {
        if let Some(mut markdown) = state.markdown.take() {
            let rest = markdown.finish();
            Self::wipe(state);
            self.write(&rest);
            if !rest.is_empty() {
                state.open_line = !rest.ends_with('\n');
            }
        }
        self.end_line(state);
    }

    fn thought(&self, state: &mut State, text: &str) {
        if self.taste.thinking == Thinking::Hidden {
            return;
        }
        Self::wipe(state);
        state.waiting = None;
        state.open_line = !text.ends_with('\n');
        state.thoughts = true;
        streams::data(&self.dim(&clean(text)));
    }
}

impl Frontend for Screen {
    fn notify(&self, event: &Event) {
        let mut state = self.state();
        let state = &mut *state;
        match &event.kind {
            EventKind::TurnStarted { .. } => {
                state.waiting = Some((self.texts.thinking.to_owned(), Instant::now()));
            }
            EventKind::TextDelta { text } => self.answer(state, text),
            EventKind::ThinkingDelta { text } => self.thought(state, text),
            EventKind::Replied { text, .. } => {
                state.waiting = None;
                state.last_reply = text.trim().to_owned();
                self.finish_answer(state);
            }
            EventKind::Superseded { .. } => {
                self.finish_answer(state);
                self.line(state, &activity::other(self.texts, &event.kind).unwrap_or_default());
            }
            EventKind::CallStarted { call } => {
                self.line(state, &activity::call(self.texts, call, activity::COLUMNS));
                state.waiting = Some((call.name.clone(), Instant::now()));
            }
            EventKind::CallEnded { result } => {
                state.waiting = None;
                Self::wipe(state);
                if let Some(line) = activity::result(self.texts, result, activity::COLUMNS) {
                    self.line(state, &line);
                }
            }
            EventKind::Ended { summary, .. } => {
                state.waiting = None;
                self.finish_answer(state);
                self.ended(state, summary, &event.kind);
            }
            EventKind::SessionStarted { .. } | EventKind::PromptTaken { .. } => {}
            other => {
                if let Some(line) = activity::other(self.texts, other) {
                    self.line(state, &line);
                }
            }
        }
    }

    fn approve<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        {
            let mut state = self.state();
            Self::wipe(&mut state);
            state.waiting = None;
            self.end_line(&mut state);
        }
        let about = activity::about(call);
        let shown: Vec<String> = about.lines().take(12).map(|line| one_line(line, activity::COLUMNS)).collect();
        let values = [("name", call.name.as_str()), ("about", &shown.join("\n  "))];
        self.asker.ask(fill(self.texts.may_it_run, &values))
    }
}

impl Screen {
    /// The summary of a `done` is not part of any reply's visible text, so it is shown here.
    fn ended(&self, state: &mut State, summary: &str, kind: &EventKind) {
        let EventKind::Ended { turns, .. } = kind else { return };
        let said = std::mem::take(&mut state.last_reply);
        if !summary.trim().is_empty() && summary.trim() != said {
            self.answer(state, &format!("{summary}\n"));
            self.finish_answer(state);
        }
        if let Some(line) = activity::ended(self.texts, kind).filter(|_| *turns > 0) {
            self.line(state, &line);
        }
    }
}
