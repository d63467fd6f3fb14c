//! The frontends of a headless run: event lines on stdout, activity on stderr, or nothing but what went wrong.

use crate::activity;
use crate::clean::clean;
use crate::streams::{self, Reader};
use crate::surroundings;
use futures::future::{BoxFuture, ready};
use selfsmith_agent::approve::Mode;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::event::{Event, EventKind, Usage};
use selfsmith_agent::frontend::{Decision, Frontend};
use selfsmith_agent::message::ToolCall;
use selfsmith_agent::redact::Redactor;
use selfsmith_agent::texts::{Texts, fill};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The call that ends the work: what was said beside it belongs to the answer.
const DONE: &str = "done";

/// Events as JSON, one a line, without secrets. A reader that goes away stops the work.
pub struct JsonLines {
    redactor: Redactor,
    cancel: CancellationToken,
    told: Mutex<Told>,
}

/// What went out already.
#[derive(Default)]
struct Told {
    /// Number of the last line.
    seq: u64,
    /// It was `ended`: nothing comes after it.
    ended: bool,
}

impl JsonLines {
    /// Event lines; `cancel` fires when nobody reads them any more.
    pub fn new(redactor: Redactor, cancel: CancellationToken) -> Self {
        Self { redactor, cancel, told: Mutex::default() }
    }

    /// The last lines of a run that ends before a session could say so; nothing where one did.
    pub fn close(&self, ending: Ending, problem: Option<&str>) {
        let ended = EventKind::Ended {
            ending,
            exit_code: ending.exit_code(),
            summary: String::new(),
            files: Vec::new(),
            commands: 0,
            turns: 0,
            usage: Usage { measured: true, ..Usage::default() },
            cost_usd: None,
        };
        let problem = problem.map(|text| EventKind::Problem { text: text.to_owned() });
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        for kind in problem.into_iter().chain([ended]) {
            let seq = told.seq + 1;
            self.tell(&mut told, &Event { seq, at: surroundings::now(), kind });
        }
    }

    fn tell(&self, told: &mut Told, event: &Event) {
        if told.ended {
            return;
        }
        told.seq = event.seq;
        told.ended = matches!(event.kind, EventKind::Ended { .. });
        if line(event, &self.redactor) == Reader::Gone {
            self.cancel.cancel();
        }
    }
}

impl Frontend for JsonLines {
    fn notify(&self, event: &Event) {
        self.tell(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner), event);
    }

    fn approve<'a>(&'a self, _call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        Box::pin(ready(Decision::Nobody))
    }
}

/// One event as a line of JSON.
fn line(event: &Event, redactor: &Redactor) -> Reader {
    // An event is plain data: it cannot fail to be JSON.
    let mut value = serde_json::to_value(event).unwrap_or_default();
    redactor.value(&mut value);
    streams::data(&format!("{value}\n"))
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loud {
    /// Everything that is done.
    All,
    /// Only what went wrong.
    Problems,
}

/// Activity on stderr, the words that the model says on its way among it; the answer is printed by whoever runs the prompt.
pub struct Activity {
    texts: &'static Texts,
    mode: Mode,
    loud: Loud,
    told: AtomicBool,
    /// What it said in its last reply, as long as no call came after it.
    said: Mutex<String>,
}

impl Activity {
    /// Activity in a language; `mode` is named where a permission is missing.
    pub fn new(texts: &'static Texts, mode: Mode, loud: Loud) -> Self {
        Self { texts, mode, loud, told: AtomicBool::new(false), said: Mutex::default() }
    }

    /// The answer to a prompt: what the model said last, above the summary where that is another text.
    pub fn answer(&self, summary: &str) -> String {
        let said = self.take();
        match (said.trim(), summary.trim()) {
            (said, "") => said.to_owned(),
            ("", _) => summary.to_owned(),
            (said, short) if said.contains(short) => said.to_owned(),
            (said, _) => format!("{said}\n\n{summary}"),
        }
    }

    fn take(&self) -> String {
        std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows what was said, before what follows from it.
    fn show(&self) {
        let said = clean(self.take().trim());
        if !said.is_empty() && self.loud == Loud::All {
            streams::tell(&said);
        }
    }
}

impl Frontend for Activity {
    fn notify(&self, event: &Event) {
        match &event.kind {
            EventKind::Replied { text, .. } => {
                self.said.lock().unwrap_or_else(PoisonError::into_inner).clone_from(text);
            }
            EventKind::CallStarted { call } if call.name != DONE => self.show(),
            EventKind::TurnStarted { .. } => self.show(),
            _ => {}
        }
        let line = match &event.kind {
            EventKind::CallStarted { call } => Some(activity::call(self.texts, call, activity::COLUMNS)),
            EventKind::CallEnded { result } => {
                activity::tasks(result).or_else(|| activity::result(self.texts, result, activity::COLUMNS))
            }
            EventKind::Ended { .. } => activity::ended(self.texts, &event.kind),
            other => activity::other(self.texts, other),
        };
        let wanted = self.loud == Loud::All || matches!(event.kind, EventKind::Problem { .. });
        if let Some(line) = line.filter(|_| wanted) {
            streams::tell(&line);
        }
    }

    fn approve<'a>(&'a self, _call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        if !self.told.swap(true, Ordering::SeqCst) && self.loud == Loud::All {
            streams::tell(&fill(self.texts.ask_denied_headless, &[("mode", self.mode.word())]));
        }
        Box::pin(ready(Decision::Nobody))
    }
}
