//! The REPL's frontend: final lines above, a few rows below them that are painted anew as things change.
//!
//! Scrollback is never rewritten: an answer goes up when it is final, block by block, and what is not final yet is seen
//! in the rows below, together with what is waited for, what is typed and what is asked. Without a terminal there are no
//! such rows and no colours, and the answer is passed on as it comes.

mod asking;
mod events;
mod output;
mod said;
mod shown;
mod state;
mod typewriter;
mod view;

use super::Interrupt;
use super::dialog::{Question, Reply};
use super::input::Lines;
use super::line::{Editor, Inset, Item, Key, Submission};
use super::region::Reflow;
use super::rules::Rules;
use crate::clean::clean;
use crate::markdown::{Colours, Ground};
use crate::streams;
use futures::future::BoxFuture;
use selfsmith_agent::redact::Redactor;
use selfsmith_agent::texts::Texts;
use state::State;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a reader of lines looks whether its question is void.
const PATIENCE: Duration = Duration::from_millis(100);
/// Work that took so long rings when it ends.
const LONG: Duration = Duration::from_secs(10);

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

/// Whether the terminal is rung.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bell {
    /// When a question waits, and when long work ended.
    Rings,
    /// Never.
    Silent,
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
    /// Whether the terminal is rung.
    pub bell: Bell,
}

/// Where answers come from.
pub enum Answers {
    /// Questions at the bottom of the screen.
    Dialogs(Box<Editor>),
    /// Lines, for a terminal that cannot move its cursor.
    Lines(Lines),
    /// Nobody: input is a pipe.
    Nobody,
}

/// Where the work happens, and what is allowed there.
pub struct Whereabouts {
    /// Root of the workspace.
    pub root: PathBuf,
    /// The person's home.
    pub home: Option<PathBuf>,
    /// What was allowed once and for all.
    pub rules: Rules,
    /// Takes secrets out of what is shown.
    pub redactor: Redactor,
    /// Variables of the environment, for git.
    pub environment: Vec<(OsString, OsString)>,
}

/// What a key asks of whoever runs the REPL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A prompt.
    Submit(Submission),
    /// Stop.
    Interrupt,
    /// Escape.
    Escape,
    /// Leave.
    Leave,
    /// Another way of asking for permission.
    Mode,
    /// Open the text in `$EDITOR`.
    External,
    /// Attach the picture of the clipboard.
    Picture,
    /// Stop the program until the shell brings it back.
    Suspend,
}

/// The screen.
pub struct Screen {
    texts: &'static Texts,
    look: Look,
    taste: Taste,
    lines: Option<Lines>,
    asks: bool,
    interrupt: Interrupt,
    whereabouts: Whereabouts,
    state: Mutex<State>,
}

impl Screen {
    /// A screen.
    pub fn new(
        texts: &'static Texts,
        look: Look,
        taste: Taste,
        answers: Answers,
        reflow: Reflow,
        whereabouts: Whereabouts,
        interrupt: Interrupt,
    ) -> Self {
        let asks = !matches!(answers, Answers::Nobody);
        let (editor, lines) = match answers {
            Answers::Dialogs(editor) => (Some(*editor), None),
            Answers::Lines(lines) => (None, Some(lines)),
            Answers::Nobody => (None, None),
        };
        let state = Mutex::new(State::new(texts, look, taste, editor, reflow));
        Self { texts, look, taste, lines, asks, interrupt, whereabouts, state }
    }

    /// Print lines for the person.
    pub fn say(&self, text: &str) {
        self.state().words_of_ours(&clean(&self.whereabouts.redactor.text(text)));
    }

    /// Print lines that are made for a terminal: they may hold colours.
    pub fn show(&self, text: &str) {
        self.state().line(text);
    }

    /// The rows at the bottom appear; called when the keyboard is there.
    pub fn open(&self) {
        let mut state = self.state();
        state.awake = self.look != Look::Bare;
        state.paint();
    }

    /// They go, because somebody else writes or the program ends.
    pub fn close(&self) {
        let mut state = self.state();
        state.wipe();
        state.awake = false;
    }

    /// A key.
    pub fn key(&self, key: Key) -> Option<Act> {
        self.state().key(key, &self.interrupt)
    }

    /// Called many times a second while there is work, and while [`Self::is_restless`].
    pub fn tick(&self) {
        let mut state = self.state();
        if self.interrupt.token().is_cancelled() {
            state.hurry();
        }
        state.tick();
    }

    /// Something is still to be printed or listed.
    pub fn is_restless(&self) -> bool {
        self.state().is_restless()
    }

    /// Words wait to be printed.
    pub fn is_typing(&self) -> bool {
        self.state().is_typing()
    }

    /// A question is open.
    pub fn is_asking(&self) -> bool {
        self.state().is_asking()
    }

    /// Work begins, or ends.
    pub fn work(&self, under_way: bool) {
        let long = self.state().work(under_way).is_some_and(|took| took >= LONG);
        if long {
            self.ring();
        }
    }

    /// Keep a prompt until the work is done.
    pub fn queue(&self, submission: Submission) {
        let mut state = self.state();
        state.queue.push_back(submission);
        state.paint();
    }

    /// The next prompt that was kept.
    pub fn unqueue(&self) -> Option<Submission> {
        let mut state = self.state();
        let next = state.queue.pop_front();
        state.paint();
        next
    }

    /// What was kept goes back to where it was typed.
    pub fn give_back(&self) {
        self.state().give_back();
    }

    /// What is typed, pastes put in.
    pub fn draft(&self) -> String {
        self.state().editor.as_ref().map(|editor| editor.buffer().expanded()).unwrap_or_default()
    }

    /// Put a text where one types.
    pub fn set_draft(&self, text: &str) {
        let mut state = self.state();
        if let Some(editor) = &mut state.editor {
            editor.set(text);
        }
        state.paint();
    }

    /// Attach something to what is typed.
    pub fn attach(&self, inset: Inset) {
        let mut state = self.state();
        if let Some(editor) = &mut state.editor {
            editor.insert(inset);
        }
        state.paint();
    }

    /// Which commands the palette offers.
    pub fn offer(&self, commands: Vec<Item>) {
        if let Some(editor) = &mut self.state().editor {
            editor.offer(commands);
        }
    }

    /// A word about how permission is asked for now, below what is typed.
    pub fn set_mode(&self, mode: Option<String>) {
        let mut state = self.state();
        state.mode = mode;
        state.paint();
    }

    /// Show what was sent, as a final line.
    pub fn echo(&self, shown: &str) {
        self.state().echo(shown);
    }

    /// Show what the model said before, as it was shown then.
    pub fn quote(&self, answer: &str) {
        self.state().quote(answer);
    }

    /// Whether somebody is there to look and to answer.
    pub fn is_attended(&self) -> bool {
        self.asks
    }

    /// Ask. Dropping the future takes the question back.
    pub fn ask(&self, question: Question) -> BoxFuture<'_, Reply> {
        self.ring();
        if let Some(lines) = &self.lines {
            return Box::pin(by_lines(lines.clone(), question));
        }
        let Some(reply) = self.state().ask(question) else { return Box::pin(async { Reply::Cancelled }) };
        Box::pin(async move {
            let sweep = Sweep(self);
            let reply = reply.await.unwrap_or(Reply::Cancelled);
            drop(sweep);
            reply
        })
    }

    /// The words of an empty buffer are not worth a bell.
    fn ring(&self) {
        if self.taste.bell == Bell::Rings && self.asks && self.look != Look::Bare {
            streams::data("\u{7}");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes void questions off the screen.
struct Sweep<'a>(&'a Screen);

impl Drop for Sweep<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.sweep();
        state.paint();
    }
}

/// Ask on a terminal that only has lines.
async fn by_lines(lines: Lines, question: Question) -> Reply {
    let mut text = format!("{}\n", clean(&question.title));
    for (n, choice) in question.choices.iter().enumerate() {
        text.push_str(&format!("  {}. {}  {}\n", n + 1, clean(&choice.item.name), clean(&choice.item.about)));
    }
    streams::data(&format!("{text}? "));
    let void = std::sync::Arc::new(());
    let alive = std::sync::Arc::downgrade(&void);
    let answer = tokio::task::spawn_blocking(move || {
        loop {
            match lines.next(PATIENCE) {
                Some(Some(line)) => break question.understand(&line),
                Some(None) => break Reply::Cancelled,
                // Whoever asked is gone: the next line is none of this question's business.
                None if alive.strong_count() == 0 => break Reply::Cancelled,
                None => {}
            }
        }
    });
    let reply = answer.await.unwrap_or(Reply::Cancelled);
    drop(void);
    reply
}
