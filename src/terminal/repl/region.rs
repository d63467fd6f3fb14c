//! The rows at the bottom of the screen that are painted again and again; what is above them is final.
//!
//! Pure: it turns rows into what is to be written. It promises that nothing above its rows is touched, that one change
//! is one write (terminals that know synchronised updates show no state in between), and that the cursor stands where
//! the terminal itself puts it after the text before it, whatever the terminal thinks of a character's width. Rows are
//! shorter than the screen is wide, and there are fewer of them than it is high.

use console::measure_text_width;

const BEGIN: &str = "\u{1b}[?2026h\u{1b}[?25l\u{1b}[?7l";
const END: &str = "\u{1b}[?7h\u{1b}[?2026l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// Whether a terminal breaks long rows anew when it becomes narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reflow {
    /// It does, as most do.
    Yes,
    /// It cuts them off.
    No,
}

/// What is to be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// The rows.
    pub rows: Vec<String>,
    /// The row with the cursor, and what stands in it before the cursor; nothing where the cursor is hidden.
    pub cursor: Option<(usize, String)>,
}

/// The rows that are there now.
#[derive(Debug)]
pub struct Region {
    shown: Picture,
    columns: usize,
    reflow: Reflow,
}

impl Region {
    /// Nothing is there; the cursor stands at the beginning of a line.
    pub fn new(reflow: Reflow) -> Self {
        Self { shown: Picture::default(), columns: 0, reflow }
    }

    /// Show a picture on a screen of so many columns; nothing to write where it is there already.
    pub fn paint(&mut self, picture: Picture, columns: usize) -> String {
        if self.columns != columns {
            return self.above("", picture, columns);
        }
        if self.shown == picture {
            return String::new();
        }
        if self.shown.rows.is_empty() || picture.rows.is_empty() {
            return self.above("", picture, columns);
        }
        let same = self.shown.rows.iter().zip(&picture.rows).take_while(|(old, new)| old == new).count();
        let from = same.min(self.shown.rows.len() - 1).min(picture.rows.len() - 1);
        let mut out = format!("{BEGIN}{}\r", vertical(self.row(), from));
        write_rows(&mut out, &picture, from);
        self.shown = picture;
        out.push_str(END);
        out
    }

    /// Print final lines above, and show a picture below them.
    pub fn above(&mut self, lines: &str, picture: Picture, columns: usize) -> String {
        let mut out = format!("{BEGIN}{}\r\u{1b}[J", up(self.rows_above(columns)));
        if !lines.is_empty() {
            // Final lines may be longer than the screen is wide: the terminal breaks them.
            out.push_str("\u{1b}[?7h");
            out.push_str(&lines.replace('\n', "\r\n"));
            if !lines.ends_with('\n') {
                out.push_str("\r\n");
            }
            out.push_str("\u{1b}[?7l");
        }
        write_rows(&mut out, &picture, 0);
        self.shown = picture;
        self.columns = columns;
        out.push_str(END);
        out
    }

    /// An empty screen with the picture at its top. Scrollback is left alone.
    pub fn clear(&mut self, picture: Picture, columns: usize) -> String {
        self.shown = Picture::default();
        format!("\u{1b}[H\u{1b}[2J{}", self.above("", picture, columns))
    }

    /// Somebody else wrote; the cursor stands at the beginning of a line again.
    pub fn forget(&mut self) {
        self.shown = Picture::default();
    }

    /// Wipe it.
    pub fn wipe(&mut self, columns: usize) -> String {
        let out = self.above("", Picture::default(), columns);
        format!("{out}{SHOW_CURSOR}")
    }

    /// The row that the cursor stands in.
    fn row(&self) -> usize {
        let last = self.shown.rows.len().saturating_sub(1);
        self.shown.cursor.as_ref().map_or(last, |(row, _)| (*row).min(last))
    }

    /// Rows of the screen between the first row and the cursor, were the screen so many columns wide by now.
    fn rows_above(&self, columns: usize) -> usize {
        let row = self.row();
        if columns >= self.columns || self.reflow == Reflow::No || columns == 0 {
            return row;
        }
        let above = self.shown.rows.iter().take(row).map(|row| measure_text_width(row).div_ceil(columns).max(1));
        let before = match &self.shown.cursor {
            Some((_, before)) => measure_text_width(before),
            None => self.shown.rows.last().map_or(0, |row| measure_text_width(row).saturating_sub(1)),
        };
        above.sum::<usize>() + before / columns
    }
}

/// Rows from one on, the cursor at the beginning of it; then the cursor in its place.
fn write_rows(out: &mut String, picture: &Picture, from: usize) {
    for (n, row) in picture.rows.iter().enumerate().skip(from) {
        if n > from {
            out.push_str("\r\n");
        }
        out.push_str(row);
        out.push_str("\u{1b}[K");
    }
    if !picture.rows.is_empty() {
        // What is left of more rows than there are now.
        out.push_str("\u{1b}[J");
    }
    if let Some((row, before)) = &picture.cursor {
        out.push_str(&up(picture.rows.len().saturating_sub(1).saturating_sub(*row)));
        out.push('\r');
        out.push_str(before);
        out.push_str(SHOW_CURSOR);
    }
}

fn vertical(from: usize, to: usize) -> String {
    if to > from { format!("\u{1b}[{}B", to - from) } else { up(from - to) }
}

fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\u{1b}[{rows}A") }
}

#[cfg(test)]
mod tests;
