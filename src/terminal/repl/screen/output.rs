//! How words get out: whole lines go up and are final, an unfinished line is seen below, a typewriter takes its time.

use super::state::{State, size};
use super::view::styled;
use crate::streams;
use console::Style;
use std::time::{Duration, Instant};

/// Streamed words are painted so often at most.
const PAINT_EVERY: Duration = Duration::from_millis(30);

impl State {
    /// Words of an answer, as a typewriter where that is wished.
    pub(super) fn words(&mut self, text: &str) {
        if self.taste.delay.is_zero() || !self.awake {
            self.flow(text);
        } else if !text.is_empty() {
            self.typewriter.slowly(text);
        }
    }

    /// Text that goes on: whole lines go up, the rest waits below.
    pub(super) fn flow(&mut self, text: &str) {
        if !self.awake {
            let text = if self.thoughts { styled(self.look, Style::new().dim(), text) } else { text.to_owned() };
            if !text.is_empty() {
                self.open_line = !text.ends_with('\n');
                streams::data(&text);
            }
            return;
        }
        self.partial.push_str(text);
        if let Some(end) = self.partial.rfind('\n') {
            let whole: String = self.partial.drain(..=end).collect();
            let whole = if self.thoughts { self.dimmed(&whole) } else { whole };
            self.up(&whole);
        } else if self.painted.is_none_or(|painted| painted.elapsed() >= PAINT_EVERY) {
            self.paint();
        }
        // Otherwise the next tick paints.
    }

    /// Lines that are whole, behind what the typewriter still has.
    pub(super) fn lines(&mut self, text: &str) {
        if self.typewriter.is_empty() { self.up(text) } else { self.typewriter.whole(text) }
    }

    pub(super) fn up(&mut self, text: &str) {
        if !self.awake {
            streams::data(text);
            return;
        }
        let (columns, height) = size();
        let picture = self.scene(columns, height).picture();
        streams::data(&self.region.above(text, picture, columns));
        self.painted = Some(Instant::now());
    }

    pub(super) fn end_line(&mut self) {
        let thoughts = std::mem::take(&mut self.thoughts);
        if !self.awake {
            if std::mem::take(&mut self.open_line) {
                streams::data("\n");
            }
            return;
        }
        if !self.typewriter.is_empty() {
            self.typewriter.end_line();
            return;
        }
        let partial = std::mem::take(&mut self.partial);
        if !partial.is_empty() {
            let partial = if thoughts { self.dimmed(&partial) } else { partial };
            self.up(&format!("{partial}\n"));
        }
    }

    /// Each line by itself, so that a style never crosses a line end.
    pub(super) fn dimmed(&self, text: &str) -> String {
        let line = |line: &str| match line.strip_suffix('\n') {
            Some(words) => format!("{}\n", styled(self.look, Style::new().dim(), words)),
            None => styled(self.look, Style::new().dim(), line),
        };
        text.split_inclusive('\n').map(line).collect()
    }
}
