//! Output of one stream, bounded while it is read: the first bytes and the last ones.
//!
//! Costs a copy per byte and no memory beyond the limit, however much comes.

use std::collections::VecDeque;

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One stream of output, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// First bytes; all of them where nothing was dropped.
    pub head: Vec<u8>,
    /// Last bytes; empty where nothing was dropped.
    pub tail: Vec<u8>,
    /// Bytes dropped between the two.
    pub dropped: u64,
}

impl Captured {
    /// All as text: bytes that are no UTF-8 become U+FFFD, and where bytes were dropped stands `note(how many)`. No
    /// character is torn by the cut: its pieces count as dropped.
    pub fn text(&self, note: impl FnOnce(u64) -> String) -> String {
        if self.dropped == 0 {
            return String::from_utf8_lossy(&self.bytes()).into_owned();
        }
        let head = whole_characters(&self.head);
        let tail = after_torn_character(&self.tail);
        let torn = (self.head.len() - head.len()) + (self.tail.len() - tail.len());
        let mut text = String::from_utf8_lossy(head).into_owned();
        text.push_str(&note(self.dropped + torn as u64));
        text.push_str(&String::from_utf8_lossy(tail));
        text
    }

    /// Head and tail together, whatever was dropped between them.
    pub fn bytes(&self) -> Vec<u8> {
        [self.head.as_slice(), self.tail.as_slice()].concat()
    }

    /// Bytes that came, the dropped ones included.
    pub fn total(&self) -> u64 {
        self.head.len() as u64 + self.dropped + self.tail.len() as u64
    }
}

/// Collects a stream within a limit.
#[derive(Debug)]
pub(crate) struct Collector {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
    head_limit: usize,
    tail_limit: usize,
}

impl Collector {
    /// Keeps at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        let head_limit = limit / 2;
        Self { head: Vec::new(), tail: VecDeque::new(), dropped: 0, head_limit, tail_limit: limit - head_limit }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.head_limit.saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let skipped = rest.len().saturating_sub(self.tail_limit);
        let (lost, kept) = rest.split_at(skipped);
        let overflow = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..overflow);
        self.tail.extend(kept);
        self.dropped += (lost.len() + overflow) as u64;
    }

    /// What was kept.
    pub(crate) fn finish(self) -> Captured {
        let mut captured = Captured { head: self.head, tail: self.tail.into(), dropped: self.dropped };
        if captured.dropped == 0 {
            captured.head.append(&mut captured.tail);
        }
        captured
    }
}

/// The bytes without an unfinished UTF-8 character at their end; bytes that are no UTF-8 at all are left.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    for back in 1..=bytes.len().min(3) {
        let (before, last) = bytes.split_at(bytes.len() - back);
        let needed = match last.first() {
            Some(0xC2..=0xDF) => 2,
            Some(0xE0..=0xEF) => 3,
            Some(0xF0..=0xF4) => 4,
            Some(0x80..=0xBF) => continue,
            _ => break,
        };
        return if needed > back { before } else { bytes };
    }
    bytes
}

/// The bytes without the end of a UTF-8 character that began before them.
fn after_torn_character(bytes: &[u8]) -> &[u8] {
    let torn = bytes.iter().take(3).take_while(|byte| matches!(byte, 0x80..=0xBF)).count();
    bytes.split_at(torn).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(limit: usize, pieces: &[&[u8]]) -> Captured {
        let mut collector = Collector::new(limit);
        pieces.iter().for_each(|piece| collector.push(piece));
        collector.finish()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let captured = collected(8, &[b"abc", b"defgh"]);
        assert_eq!(captured, Captured { head: b"abcdefgh".to_vec(), tail: vec![], dropped: 0 });
    }

    #[test]
    fn the_middle_is_dropped_and_counted() {
        let captured = collected(4, &[b"abcdef", b"g", b"hij"]);
        assert_eq!(captured, Captured { head: b"ab".to_vec(), tail: b"ij".to_vec(), dropped: 6 });
        assert_eq!(captured.total(), 10);
        assert_eq!(captured.text(|dropped| format!("[{dropped}]")), "ab[6]ij");
    }

    #[test]
    fn a_flood_in_one_piece_costs_no_more_than_the_limit() {
        let captured = collected(10, &[&[b'x'; 100_000]]);
        assert_eq!((captured.head.len(), captured.tail.len(), captured.dropped), (5, 5, 99_990));
    }

    #[test]
    fn a_cut_never_tears_a_character() {
        for limit in 0..24 {
            let text = "中文字符".repeat(20);
            let captured = collected(limit, &[text.as_bytes()]);
            let shown = captured.text(|dropped| format!("[{dropped}]"));
            assert!(!shown.contains('\u{FFFD}'), "limit {limit}: {shown}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        let captured = collected(100, &[b"a\xFFb"]);
        assert_eq!(captured.text(|_| String::new()), "a\u{FFFD}b");
    }
}
