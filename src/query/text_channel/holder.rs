//! What of a growing reply is safe to show: prose as soon as it cannot turn into anything else, blocks never.
//!
//! Promises: the joined pieces do not depend on how the text was cut; the work over all pieces is linear. What is shown
//! is not folded or trimmed; the whole reply's [`super::Parsed::visible`] is.

use super::close::Known;
use super::scan::{Scanner, Step};
use super::{Finish, tag};
use crate::query::ToolSpec;

/// Failed looks at the same place before waiting for the text to grow by a half.
const PATIENCE: u32 = 16;

/// Something to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// Prose.
    Text(String),
    /// Thinking.
    Thinking(String),
    /// What was shown as prose since the last thinking was thinking: its opening tag was never written.
    Recant,
}

/// Holds back what is not yet certain.
#[derive(Debug, Clone)]
pub struct Holder {
    tools: Vec<ToolSpec>,
    text: String,
    scanner: Scanner,
    /// Where the walk stands since `waits` looks, and the length at which the next look is worth it.
    stuck_at: usize,
    waits: u32,
    look_again: usize,
}

impl Holder {
    /// For a reply to a request with these tools on offer in text; without any, only thinking is told apart.
    pub fn new(tools: Vec<ToolSpec>) -> Self {
        // How long the reply will be is not known; this is room for the longest that any provider sends.
        Self { tools, text: String::new(), scanner: Scanner::new(1 << 20), stuck_at: 0, waits: 0, look_again: 0 }
    }

    /// The next piece of the reply.
    pub fn push(&mut self, piece: &str) -> Vec<Shown> {
        self.text.push_str(piece);
        // Inside a block only a tag or a line's end can change anything.
        let stuck = self.waits > 0 && !piece.contains(['>', '\n', '`']) && self.text.len() - self.scanner.at > 256;
        if self.text.len() < self.look_again || stuck {
            return Vec::new();
        }
        let shown = self.walk(Known::Growing, Finish::Whole);
        if self.scanner.at == self.stuck_at {
            self.waits += 1;
        } else {
            (self.stuck_at, self.waits) = (self.scanner.at, 1);
        }
        let pending = self.text.len() - self.scanner.at;
        self.look_again = if self.waits > PATIENCE { self.text.len() + pending / 2 } else { 0 };
        shown
    }

    /// The reply is over: what is left to show.
    pub fn finish(mut self, finish: Finish) -> Vec<Shown> {
        self.walk(Known::Whole, finish)
    }

    fn walk(&mut self, known: Known, finish: Finish) -> Vec<Shown> {
        let mut shown = Vec::new();
        loop {
            match self.scanner.step(&self.text, known, finish, &self.tools) {
                Step::Text(range) => push(&mut shown, Shown::Text(tag::cut(&self.text, range).to_owned())),
                Step::Thought(range) => push(&mut shown, Shown::Thinking(tag::cut(&self.text, range).to_owned())),
                Step::Recant => shown.push(Shown::Recant),
                Step::Skip | Step::ThoughtEnd | Step::Calls { .. } => {}
                Step::More | Step::End => return shown,
            }
        }
    }
}

/// Neighbours of one kind become one.
fn push(shown: &mut Vec<Shown>, piece: Shown) {
    match (shown.last_mut(), piece) {
        (Some(Shown::Text(last)), Shown::Text(more)) | (Some(Shown::Thinking(last)), Shown::Thinking(more)) => {
            last.push_str(&more);
        }
        (_, piece) => shown.push(piece),
    }
}
