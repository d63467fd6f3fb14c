//! What a person sees while a reply streams: prose and thinking at once, tool blocks never.
//!
//! When prose turns out to have been thinking, or a reply is asked for again, what was shown is declared void and what
//! still holds is shown anew, so that in the end exactly the right text stands there.

use crate::query::text_channel::{Finish, Holder, Shown};
use crate::query::{Delta, ToolSpec};

/// Where pieces go.
pub type On<'a> = &'a (dyn Fn(Delta) + Send + Sync);

/// Shows one try of a reply.
pub struct Show<'a> {
    on: On<'a>,
    holder: Option<Holder>,
    /// Text that came together with more: it is read and shown in one go.
    waiting: String,
    shown: Vec<Shown>,
}

impl<'a> Show<'a> {
    /// With the tools whose blocks are held back; none on the native channel.
    pub fn new(on: On<'a>, tools: &[ToolSpec]) -> Self {
        Self { on, holder: Some(Holder::new(tools.to_vec())), waiting: String::new(), shown: Vec::new() }
    }

    /// A piece of text; seen with the next [`flush`](Self::flush).
    pub fn text(&mut self, piece: &str) {
        self.waiting.push_str(piece);
    }

    /// Show what waits: nothing more is at hand.
    pub fn flush(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.waiting);
        let shown = self.holder.as_mut().map(|holder| holder.push(&text)).unwrap_or_default();
        self.all(shown);
    }

    /// A piece of thinking from a field of its own.
    pub fn thinking(&mut self, piece: &str) {
        self.flush();
        self.one(Shown::Thinking(piece.to_owned()));
    }

    /// The reply is over.
    pub fn finish(&mut self, finish: Finish) {
        self.flush();
        let shown = self.holder.take().map(|holder| holder.finish(finish)).unwrap_or_default();
        self.all(shown);
    }

    /// Take back what was shown, because another try follows.
    pub fn void(&mut self, why: &str) {
        self.waiting.clear();
        if !self.shown.is_empty() {
            self.shown.clear();
            (self.on)(Delta::Superseded { why: why.to_owned() });
        }
    }

    fn all(&mut self, shown: Vec<Shown>) {
        for one in shown {
            match one {
                Shown::Recant => self.recant(),
                piece => self.one(piece),
            }
        }
    }

    fn one(&mut self, piece: Shown) {
        if let Some(delta) = delta(&piece) {
            (self.on)(delta);
        }
        self.shown.push(piece);
    }

    /// Prose since the last thinking was thinking.
    fn recant(&mut self) {
        let from = self.shown.iter().rposition(|piece| matches!(piece, Shown::Thinking(_))).map_or(0, |at| at + 1);
        if from == self.shown.len() {
            return;
        }
        for piece in self.shown.iter_mut().skip(from) {
            if let Shown::Text(text) = piece {
                *piece = Shown::Thinking(std::mem::take(text));
            }
        }
        (self.on)(Delta::Superseded { why: RECANTED.to_owned() });
        for piece in &self.shown {
            if let Some(delta) = delta(piece) {
                (self.on)(delta);
            }
        }
    }
}

const RECANTED: &str = "it was thinking";

fn delta(piece: &Shown) -> Option<Delta> {
    match piece {
        Shown::Text(text) => Some(Delta::Text(text.clone())),
        Shown::Thinking(text) => Some(Delta::Thinking(text.clone())),
        Shown::Recant => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use std::sync::Mutex;

    /// What stands before a person in the end: text, then thinking.
    fn seen(pieces: &[&str]) -> (String, String) {
        let seen = Mutex::new((String::new(), String::new()));
        let on = |delta| {
            let mut seen = seen.lock().unwrap();
            match delta {
                Delta::Text(text) => seen.0.push_str(&text),
                Delta::Thinking(text) => seen.1.push_str(&text),
                Delta::Superseded { .. } => *seen = (String::new(), String::new()),
                Delta::Retrying { .. } | Delta::Notice(_) => {}
            }
        };
        let mut show = Show::new(&on, &[]);
        for piece in pieces {
            match piece.strip_prefix("field:") {
                Some(thinking) => show.thinking(thinking),
                None => {
                    show.text(piece);
                    show.flush();
                }
            }
        }
        show.finish(Finish::Whole);
        let seen = seen.lock().unwrap();
        (seen.0.trim().to_owned(), seen.1.trim().to_owned())
    }

    #[test]
    fn prose_that_turns_out_to_be_thinking_is_shown_as_thinking_in_the_end() {
        let want = ("It is X.".to_owned(), "let me see, write it.".to_owned());
        assert_eq!(seen(&["let me ", "see, write it.</th", "ink>It is X."]), want);
    }

    #[test]
    fn thinking_from_a_field_and_from_tags_is_shown_apart_from_text() {
        assert_eq!(seen(&["field:a", "<thi", "nk>b</think>c"]), ("c".to_owned(), "ab".to_owned()));
    }
}
