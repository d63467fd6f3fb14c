//! What a session needs of whoever watches it: to be heard, and to be answered. REPL, JSON lines and tests are three.

use crate::event::{Event, EventKind};
use crate::message::ToolCall;
use crate::redact::{MARK, Redactor};
use futures::future::{BoxFuture, ready};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// A person's answer to a call that needs one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Allow,
    /// Do not run it.
    Deny {
        /// The person's reason for the model; empty where none was given.
        why: String,
    },
    /// Nobody is there to answer.
    Nobody,
}

/// Whoever watches a session.
pub trait Frontend: Send + Sync {
    /// Something happened. Must not block for long: the work waits for it.
    fn notify(&self, event: &Event);
    /// May this call run? The future is dropped when the person interrupts.
    fn approve<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Decision>;
    /// The work goes in circles, with this tool and mostly this call: may it go on? As `approve` otherwise.
    fn go_on<'a>(&'a self, _name: &'a str, _call: Option<&'a ToolCall>) -> BoxFuture<'a, Decision> {
        Box::pin(ready(Decision::Nobody))
    }
}

/// A frontend that never gets a secret to see, not even in pieces: a piece of text that ends as a secret may begin waits
/// for the next event.
pub struct Redacted {
    inner: Arc<dyn Frontend>,
    redactor: Redactor,
    waiting: Mutex<Option<Event>>,
}

impl Redacted {
    /// Before that frontend.
    pub fn new(inner: Arc<dyn Frontend>, redactor: Redactor) -> Self {
        Self { inner, redactor, waiting: Mutex::new(None) }
    }

    fn pass(&self, event: Event) {
        self.inner.notify(&clean(event, &self.redactor));
    }

    fn flush(&self) {
        if let Some(event) = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.pass(event);
        }
    }
}

impl Frontend for Redacted {
    fn notify(&self, event: &Event) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut event = event.clone();
        if let Some(mut before) = waiting.take() {
            if let Some((early, late)) = pieces(&mut before.kind, &mut event.kind) {
                // Whatever may be part of a secret goes on to the next piece, so that it is whole there or harmless.
                let (safe, open) = self.redactor.split(early);
                *late = format!("{open}{late}");
                *early = safe.to_owned();
            }
            self.pass(before);
        }
        match &event.kind {
            EventKind::TextDelta { text } | EventKind::ThinkingDelta { text }
                if !self.redactor.split(text).1.is_empty() =>
            {
                *waiting = Some(event);
            }
            _ => self.pass(event),
        }
    }

    fn approve<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        self.flush();
        let mut shown = call.clone();
        shown.arguments.values_mut().for_each(|value| self.redactor.value(value));
        Box::pin(async move { self.inner.approve(&shown).await })
    }

    fn go_on<'a>(&'a self, name: &'a str, call: Option<&'a ToolCall>) -> BoxFuture<'a, Decision> {
        self.flush();
        let mut shown = call.cloned();
        shown.iter_mut().flat_map(|call| call.arguments.values_mut()).for_each(|value| self.redactor.value(value));
        Box::pin(async move { self.inner.go_on(name, shown.as_ref()).await })
    }
}

impl Drop for Redacted {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The texts of two pieces of the same stream.
fn pieces<'a>(early: &'a mut EventKind, late: &'a mut EventKind) -> Option<(&'a mut String, &'a mut String)> {
    match (early, late) {
        (EventKind::TextDelta { text: early }, EventKind::TextDelta { text: late })
        | (EventKind::ThinkingDelta { text: early }, EventKind::ThinkingDelta { text: late }) => Some((early, late)),
        _ => None,
    }
}

fn clean(event: Event, redactor: &Redactor) -> Event {
    let Event { seq, at, kind } = event;
    let mut value = serde_json::to_value(&kind).unwrap_or(Value::Null);
    redactor.value(&mut value);
    // Texts stay texts, so it is an event again; were it none, nothing is better than a secret.
    let kind = serde_json::from_value(value).unwrap_or_else(|_| EventKind::Notice { text: MARK.to_owned() });
    Event { seq, at, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<Event>>);

    impl Frontend for Heard {
        fn notify(&self, event: &Event) {
            self.0.lock().expect("one thread").push(event.clone());
        }
        fn approve<'a>(&'a self, _: &'a ToolCall) -> BoxFuture<'a, Decision> {
            Box::pin(ready(Decision::Nobody))
        }
    }

    fn heard(kinds: Vec<EventKind>) -> Vec<Event> {
        let inner = Arc::new(Heard::default());
        let redacted = Redacted::new(inner.clone(), Redactor::new(["hunter2hunter2".to_owned()]));
        for (seq, kind) in (1..).zip(kinds) {
            redacted.notify(&Event { seq, at: 0, kind });
        }
        drop(redacted);
        let heard = inner.0.lock().expect("one thread").clone();
        assert!(heard.iter().map(|event| event.seq).eq(1..=heard.len() as u64), "{heard:?}");
        heard
    }

    fn streamed(text: &str, piece: usize) -> String {
        let chars: Vec<char> = text.chars().collect();
        let delta = |piece: &[char]| EventKind::TextDelta { text: piece.iter().collect() };
        let mut kinds: Vec<EventKind> = chars.chunks(piece).map(delta).collect();
        kinds.push(EventKind::Superseded { why: String::new() });
        let text = |event: Event| if let EventKind::TextDelta { text } = event.kind { text } else { String::new() };
        heard(kinds).into_iter().map(text).collect()
    }

    #[test]
    fn a_secret_in_pieces_is_never_seen_and_everything_else_is() {
        for piece in 1..20 {
            assert_eq!(streamed("a hunter2hunter2, b", piece), "a [redacted], b");
            assert_eq!(streamed("a hunter2hunt", piece), "a hunter2hunt");
            let key = format!("a sk-{} b", "aB1".repeat(10));
            assert_eq!(streamed(&key, piece), "a [redacted] b");
        }
    }

    #[test]
    fn keys_of_several_words_or_lines_are_never_seen_in_pieces() {
        let block = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----",
            "aB1/".repeat(15).as_str().to_owned() + "\n"
        );
        for piece in 1..40 {
            assert_eq!(streamed(&format!("a\n{block}\nb ---- c"), piece), "a\n[redacted]\nb ---- c");
            let header = "Authorization: Bearer abcdefghijklmnopqrstuvwx, and";
            assert_eq!(streamed(header, piece), "Authorization: Bearer [redacted], and");
            assert_eq!(streamed("MY_API_KEY = abc123def456ghi7 x", piece), "MY_API_KEY = [redacted] x");
            assert_eq!(streamed("at https://me:s3cret@host/x y", piece), "at https://me:[redacted]@host/x y");
            assert_eq!(streamed("-----BEGIN CERTIFICATE-----\nAA", piece), "-----BEGIN CERTIFICATE-----\nAA");
        }
        assert_eq!(streamed("-----BEGIN PRIVATE KEY-----\nAAAA", 5), "[redacted]");
    }

    #[test]
    fn a_problem_that_quotes_a_secret_is_told_without_it() {
        let heard = heard(vec![EventKind::Problem { text: "wrong key: hunter2hunter2".to_owned() }]);
        assert_eq!(heard[0].kind, EventKind::Problem { text: "wrong key: [redacted]".to_owned() });
    }
}
