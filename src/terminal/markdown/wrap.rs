//! A styled line broken between its words, so that no word is cut at the edge of the screen: pure.
//!
//! Between wide characters a line can be broken anywhere but before closing punctuation. A word that is longer than a row is
//! cut. Styles end with each row and begin again on the next, so that nothing is styled which stands before it.

use console::AnsiCodeIterator;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

const RESET: &str = "\u{1b}[0m";
/// Never first in a row.
const CLOSING: &str = "，。、！？：；）」』】》〉”’…,.!?:;)]}%";
/// Fewer columns than this are not worth a break.
const NARROWEST: usize = 10;

/// The rows of a line.
pub fn wrap(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(NARROWEST);
    let mut rows = Rows { columns, ..Rows::default() };
    for (part, is_code) in AnsiCodeIterator::new(line) {
        if is_code {
            rows.code(part);
        } else {
            part.graphemes(true).for_each(|grapheme| rows.take(grapheme));
        }
    }
    rows.finish()
}

#[derive(Default)]
struct Rows {
    columns: usize,
    rows: Vec<String>,
    row: String,
    width: usize,
    /// Codes in force.
    style: String,
    /// Where the row can be broken: bytes and columns before it, and the codes in force there.
    gap: Option<(usize, usize, String)>,
}

impl Rows {
    fn code(&mut self, code: &str) {
        self.row.push_str(code);
        if code == RESET {
            self.style.clear();
        } else {
            self.style.push_str(code);
        }
    }

    fn take(&mut self, grapheme: &str) {
        let width = grapheme.width();
        if width > 1 && !CLOSING.contains(grapheme) && self.width > 0 {
            self.mark();
        }
        if self.width + width > self.columns && self.width > 0 {
            if grapheme == " " {
                self.end(self.row.len(), self.width, self.style.clone());
                return;
            }
            let (at, before, style) = self.gap.take().unwrap_or((self.row.len(), self.width, self.style.clone()));
            self.end(at, before, style);
        }
        self.row.push_str(grapheme);
        self.width += width;
        if grapheme == " " {
            self.mark();
        }
    }

    fn mark(&mut self) {
        self.gap = Some((self.row.len(), self.width, self.style.clone()));
    }

    /// The row ends at a byte; what stands behind it begins the next.
    fn end(&mut self, at: usize, before: usize, style: String) {
        let rest = self.row.split_off(at);
        let row = self.row.trim_end().to_owned();
        self.rows.push(if style.is_empty() { row } else { format!("{row}{RESET}") });
        self.row = format!("{style}{rest}");
        self.width -= before;
        self.gap = None;
    }

    fn finish(mut self) -> Vec<String> {
        // A line of one row stays as it was.
        if self.width > 0 || self.rows.is_empty() {
            self.rows.push(self.row);
        }
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::{measure_text_width, strip_ansi_codes};
    use proptest::prelude::*;

    #[test]
    fn words_stay_whole_and_wide_characters_break_but_not_before_a_full_stop() {
        assert_eq!(wrap("one two three four", 10), ["one two", "three four"]);
        assert_eq!(wrap("中文字符很长。后", 12), ["中文字符很", "长。后"]);
        assert_eq!(wrap("abcdefghijklmno", 10), ["abcdefghij", "klmno"]);
        assert_eq!(wrap("short", 10), ["short"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn a_style_ends_with_its_row_and_begins_again() {
        let rows = wrap("a \u{1b}[1mbold words here\u{1b}[0m end", 10);
        assert_eq!(rows, ["a \u{1b}[1mbold\u{1b}[0m", "\u{1b}[1mwords here\u{1b}[0m", "end"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_but_blanks_and_no_row_is_too_long(text in "[ a-z中文字。🙂é]{0,80}", columns in 10..30_usize) {
            let styled = format!("{}\u{1b}[1m{text}\u{1b}[0m", text);
            let rows = wrap(&styled, columns);
            let bare = |text: &str| strip_ansi_codes(text).replace(' ', "");
            prop_assert_eq!(bare(&rows.concat()), bare(&styled));
            prop_assert!(rows.iter().all(|row| measure_text_width(row) <= columns), "{rows:?}");
        }
    }
}
