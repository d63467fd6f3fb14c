//! Fewer wake-ups where a stream is fast.
//!
//! A server that sends every token in a packet of its own wakes the program hundreds of times a second, and a wake-up costs
//! more than reading a token. Once pieces follow each other quickly, the reader takes a breath of a few milliseconds
//! before it looks again and then takes what has gathered. Streams at the pace of a usual model are read as they come, and
//! short replies never get that far, so that a turn does not become longer.

use std::time::Duration;

/// How long a breath is: shorter than a frame of a screen.
pub(super) const BREATH: Duration = Duration::from_millis(8);
/// Pieces further apart than this are read as they come.
const QUICK: Duration = Duration::from_millis(4);
/// Quick pieces in a row from which a stream counts as fast.
const RUN: u32 = 16;

/// How quickly the pieces of one stream follow each other.
#[derive(Debug, Default)]
pub(super) struct Pace(u32);

impl Pace {
    /// A piece came after so long a wait.
    pub(super) fn waited(&mut self, time: Duration) {
        self.0 = if time < QUICK { self.0.saturating_add(1) } else { 0 };
    }

    /// Whether the stream is fast.
    pub(super) const fn is_fast(&self) -> bool {
        self.0 >= RUN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_fast_after_a_run_of_quick_pieces_and_no_longer_after_one_wait() {
        let mut pace = Pace::default();
        (1..RUN).for_each(|_| pace.waited(Duration::from_millis(1)));
        assert!(!pace.is_fast());
        pace.waited(Duration::ZERO);
        assert!(pace.is_fast());
        pace.waited(QUICK);
        assert!(!pace.is_fast());
    }
}
