//! The lines of an event stream, whole: what the parser above gets never ends in the middle of one.
//!
//! Promises: linear work however the bytes were cut, one line of bounded length, comments left out. The parser above looks
//! at all it holds again with every piece, so that a long line in small pieces would take quadratic time there. Knows
//! nothing of what the events mean.

use std::collections::VecDeque;

/// Bytes of one line that are taken at most.
pub(super) const MAX_LINE: usize = 16 * 1024 * 1024;
/// Size from which lines that are ready go on as a piece of their own.
const PIECE: usize = 16 * 1024;

/// A line is longer than [`MAX_LINE`].
#[derive(Debug, PartialEq, Eq)]
pub(in crate::query) struct TooLong;

/// Gathers bytes into lines.
#[derive(Debug, Default)]
pub(in crate::query) struct Lines {
    /// The line that has no end yet.
    open: Vec<u8>,
    ready: VecDeque<Vec<u8>>,
}

impl Lines {
    /// Take more bytes; whether they completed a line with data of an event.
    pub(in crate::query) fn push(&mut self, bytes: &[u8]) -> Result<bool, TooLong> {
        let mut event = false;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.open.len() + part.len() > MAX_LINE {
                return Err(TooLong);
            }
            self.open.extend_from_slice(part);
            if part.ends_with(b"\n") {
                event |= self.close();
            }
        }
        Ok(event)
    }

    /// No more will come: the last line ends here, and its event.
    pub(in crate::query) fn finish(&mut self) {
        for _ in 0..2 {
            self.open.push(b'\n');
            self.close();
        }
    }

    /// The next piece of whole lines.
    pub(in crate::query) fn next(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    fn close(&mut self) -> bool {
        let line = std::mem::take(&mut self.open);
        let words = line.trim_ascii_end();
        // A lone carriage return ends a line too: what looks like one comment may hold events behind it.
        if words.starts_with(b":") && !words.contains(&b'\r') {
            return false;
        }
        let data = line.split(|byte| *byte == b'\r').any(|line| line.starts_with(b"data"));
        match self.ready.back_mut() {
            Some(last) if last.len() < PIECE => last.extend_from_slice(&line),
            _ => self.ready.push_back(line),
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lines: &mut Lines) -> String {
        let bytes: Vec<u8> = std::iter::from_fn(|| lines.next()).flatten().collect();
        String::from_utf8(bytes).expect("the text that was put in")
    }

    #[test]
    fn lines_come_whole_and_without_comments_however_they_were_cut() {
        let text = ": ping\r\n\r\ndata: a\n: pong\n\ndata: b";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut events = 0;
            for piece in text.as_bytes().chunks(size) {
                events += usize::from(lines.push(piece).expect("short lines"));
                for whole in std::iter::from_fn(|| lines.next()) {
                    assert!(whole.ends_with(b"\n"));
                    assert!(!whole.starts_with(b":"));
                }
            }
            assert_eq!(events, 1);
            lines.finish();
            assert_eq!(all(&mut lines), "data: b\n\n");
        }
    }

    #[test]
    fn comments_and_other_fields_are_no_part_of_an_event() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b": ping\n\nretry: 3\nid: 1\n\n"), Ok(false));
        assert_eq!(lines.push(b"data: {"), Ok(false));
        assert_eq!(lines.push(b"}\n"), Ok(true));
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let mut lines = Lines::default();
        let piece = vec![b'z'; 1024 * 1024];
        let taken = (0..17).take_while(|_| lines.push(&piece).is_ok()).count();
        assert_eq!(taken, MAX_LINE / piece.len());
    }
}
