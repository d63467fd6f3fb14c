//! Words that are printed one character after the other, and whatever must wait behind them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A piece of what waits.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Printed a character at a time, escape sequences whole.
    Slow(String),
    /// Printed at once.
    Whole(String),
}

/// What waits to be printed.
#[derive(Debug, Default)]
pub struct Typewriter {
    pieces: VecDeque<Piece>,
    last: Option<Instant>,
}

impl Typewriter {
    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Words of an answer.
    pub fn slowly(&mut self, text: &str) {
        self.pieces.push_back(Piece::Slow(text.to_owned()));
    }

    /// Something that comes at once, after what waits.
    pub fn whole(&mut self, text: &str) {
        self.pieces.push_back(Piece::Whole(text.to_owned()));
    }

    /// What waits ends its line before anything else comes.
    pub fn end_line(&mut self) {
        let open = |piece: &Piece| match piece {
            Piece::Slow(text) | Piece::Whole(text) => !text.ends_with('\n'),
        };
        if self.pieces.back().is_some_and(open) {
            self.whole("\n");
        }
    }

    /// Everything that waits.
    pub fn all(&mut self) -> String {
        let text = |piece: Piece| match piece {
            Piece::Slow(text) | Piece::Whole(text) => text,
        };
        self.pieces.drain(..).map(text).collect()
    }

    /// What is due now, with so much time between two characters.
    pub fn due(&mut self, delay: Duration, now: Instant) -> String {
        let last = *self.last.get_or_insert(now);
        let passed = now.saturating_duration_since(last).as_nanos();
        let mut count = passed.checked_div(delay.as_nanos()).map_or(usize::MAX, |n| n.try_into().unwrap_or(usize::MAX));
        if count > 0 {
            self.last = Some(now);
        }
        let mut out = String::new();
        while let Some(piece) = self.pieces.front_mut() {
            match piece {
                Piece::Whole(text) => out.push_str(text),
                Piece::Slow(text) => {
                    let end = steps(text, &mut count);
                    out.extend(text.drain(..end));
                    if !text.is_empty() {
                        break;
                    }
                }
            }
            self.pieces.pop_front();
        }
        if self.pieces.is_empty() {
            self.last = None;
        }
        out
    }
}

/// Where so many characters end, escape sequences not counted.
fn steps(text: &str, count: &mut usize) -> usize {
    let mut escape = false;
    for (at, c) in text.char_indices() {
        if escape {
            escape = c != 'm';
        } else if c == '\u{1b}' {
            escape = true;
        } else if *count == 0 {
            return at;
        } else {
            *count -= 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_come_one_by_one_and_what_follows_waits() {
        let mut typewriter = Typewriter::default();
        let (start, delay) = (Instant::now(), Duration::from_millis(10));
        typewriter.slowly("a\u{1b}[1m中\u{1b}[0mb");
        typewriter.end_line();
        typewriter.whole("end\n");
        assert_eq!(typewriter.due(delay, start), "");
        assert_eq!(typewriter.due(delay, start + delay), "a\u{1b}[1m");
        assert_eq!(typewriter.due(delay, start + delay * 2), "中\u{1b}[0m");
        assert_eq!(typewriter.due(delay, start + delay * 9), "b\nend\n");
        assert!(typewriter.is_empty());
        assert_eq!(typewriter.all(), "");
    }
}
