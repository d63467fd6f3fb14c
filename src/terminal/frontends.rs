//! The two frontends of a headless run: event lines on stdout, or activity on stderr.

use crate::activity;
use crate::streams::{self, Reader};
use futures::future::{BoxFuture, ready};
use selfsmith_agent::approve::Mode;
use selfsmith_agent::event::{Event, EventKind};
use selfsmith_agent::frontend::{Decision, Frontend};
use selfsmith_agent::message::ToolCall;
use selfsmith_agent::redact::Redactor;
use selfsmith_agent::texts::{Texts, fill};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// Events as JSON, one a line, without secrets. A reader that goes away stops the work.
pub struct JsonLines {
    redactor: Redactor,
    cancel: CancellationToken,
}

impl JsonLines {
    /// Event lines; `cancel` fires when nobody reads them any more.
    pub fn new(redactor: Redactor, cancel: CancellationToken) -> Self {
        Self { redactor, cancel }
    }
}

impl Frontend for JsonLines {
    fn notify(&self, event: &Event) {
        if line(event, &self.redactor) == Reader::Gone {
            self.cancel.cancel();
        }
    }

    fn approve<'a>(&'a self, _call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        Box::pin(ready(Decision::Nobody))
    }
}

/// One event as a line of JSON.
pub fn line(event: &Event, redactor: &Redactor) -> Reader {
    // An event is plain data: it cannot fail to be JSON.
    let mut value = serde_json::to_value(event).unwrap_or_default();
    redactor.value(&mut value);
    streams::data(&format!("{value}\n"))
}

/// Activity on stderr; the answer is printed by whoever runs the prompt.
pub struct Activity {
    texts: &'static Texts,
    mode: Mode,
    told: AtomicBool,
}

impl Activity {
    /// Activity in a language; `mode` is named where a permission is missing.
    pub fn new(texts: &'static Texts, mode: Mode) -> Self {
        Self { texts, mode, told: AtomicBool::new(false) }
    }
}

impl Frontend for Activity {
    fn notify(&self, event: &Event) {
        let line = match &event.kind {
            EventKind::CallStarted { call } => Some(activity::call(self.texts, call, activity::COLUMNS)),
            EventKind::CallEnded { result } => activity::result(self.texts, result, activity::COLUMNS),
            EventKind::Ended { .. } => activity::ended(self.texts, &event.kind),
            other => activity::other(self.texts, other),
        };
        if let Some(line) = line {
            streams::tell(&line);
        }
    }

    fn approve<'a>(&'a self, _call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        if !self.told.swap(true, Ordering::SeqCst) {
            streams::tell(&fill(self.texts.ask_denied_headless, &[("mode", self.mode.word())]));
        }
        Box::pin(ready(Decision::Nobody))
    }
}
