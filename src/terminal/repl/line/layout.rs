//! Where each character of a text stands in rows of so many columns: pure.
//!
//! Widths are those of the Unicode standard (`unicode-width`); a terminal may think otherwise of an emoji. So whoever
//! paints places the cursor by writing what stands before it, never by a computed column.

use super::buffer::{Buffer, Inset};
use crate::clean::clean;
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// One row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// What is shown.
    pub shown: String,
    /// Byte index in the text where it begins.
    pub start: usize,
    /// Byte index and column of each place where the cursor can stand in it, in order.
    places: Vec<(usize, usize)>,
}

/// The rows of a text, and the cursor in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The rows; at least one.
    pub rows: Vec<Row>,
    /// The row with the cursor.
    pub row: usize,
    /// What stands in that row before the cursor.
    pub before: String,
    /// Columns of that.
    pub column: usize,
}

/// Lay a text out. `marker` says how an inset is shown.
pub fn lay_out(buffer: &Buffer, columns: usize, marker: impl Fn(&Inset) -> String) -> Layout {
    let columns = columns.max(2);
    let mut rows = vec![Row::default()];
    let mut layout = Layout { rows: Vec::new(), row: 0, before: String::new(), column: 0 };
    let mut width = 0;
    for (at, grapheme) in buffer.text().grapheme_indices(true) {
        let newline = grapheme == "\n" || grapheme == "\r\n";
        let cell = if newline { Cow::Borrowed("") } else { cell(buffer, grapheme, columns, &marker) };
        let wide = cell.width();
        if !newline && width + wide > columns && width > 0 {
            rows.push(Row { start: at, ..Row::default() });
            width = 0;
        }
        place(&mut layout, &mut rows, at, width, buffer.cursor());
        if newline {
            rows.push(Row { start: at + grapheme.len(), ..Row::default() });
            width = 0;
        } else if let Some(row) = rows.last_mut() {
            row.shown.push_str(&cell);
            width += wide;
        }
    }
    // At the end of a full row the cursor would stand in the margin.
    if width >= columns {
        rows.push(Row { start: buffer.text().len(), ..Row::default() });
        width = 0;
    }
    place(&mut layout, &mut rows, buffer.text().len(), width, buffer.cursor());
    layout.rows = rows;
    layout
}

impl Layout {
    /// Byte index of the place in a row that is nearest to a column.
    pub fn at(&self, row: usize, column: usize) -> Option<usize> {
        let places = &self.rows.get(row)?.places;
        places.iter().rev().find(|(_, c)| *c <= column).or(places.first()).map(|(at, _)| *at)
    }
}

/// A text without an editor cut into rows of so many columns.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let mut row = String::new();
        let mut width = 0;
        for grapheme in line.graphemes(true) {
            let cell = if grapheme == "\t" { "    " } else { grapheme };
            if width + cell.width() > columns {
                rows.push(std::mem::take(&mut row));
                width = 0;
            }
            row.push_str(cell);
            width += cell.width();
        }
        rows.push(row);
    }
    rows
}

/// A text cut at so many columns, with an ellipsis where something is missing.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut width = 1;
    for grapheme in text.graphemes(true) {
        width += grapheme.width();
        if width > columns {
            break;
        }
        out.push_str(grapheme);
    }
    out.push('…');
    out
}

fn place(layout: &mut Layout, rows: &mut [Row], at: usize, column: usize, cursor: usize) {
    let number = rows.len() - 1;
    let Some(row) = rows.last_mut() else { return };
    row.places.push((at, column));
    if at == cursor {
        (layout.row, layout.before, layout.column) = (number, row.shown.clone(), column);
    }
}

fn cell<'a>(buffer: &Buffer, grapheme: &'a str, columns: usize, marker: &impl Fn(&Inset) -> String) -> Cow<'a, str> {
    if grapheme == "\t" {
        return Cow::Borrowed("    ");
    }
    let mut chars = grapheme.chars();
    match chars.next().and_then(|c| buffer.inset(c)) {
        Some(inset) => Cow::Owned(cut(&marker(inset), columns)),
        None => Cow::Owned(clean(grapheme)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str, columns: usize) -> Layout {
        let mut buffer = Buffer::default();
        buffer.insert(text);
        lay_out(&buffer, columns, |_| "[paste]".to_owned())
    }

    fn shown(layout: &Layout) -> Vec<&str> {
        layout.rows.iter().map(|row| row.shown.as_str()).collect()
    }

    #[test]
    fn wide_characters_are_never_split_over_two_rows() {
        let layout = layout("a中文字b", 4);
        assert_eq!(shown(&layout), ["a中", "文字", "b"]);
        assert_eq!((layout.row, layout.before.as_str()), (2, "b"));
    }

    #[test]
    fn the_cursor_after_a_full_row_stands_in_a_fresh_one() {
        let full = layout("abcd", 4);
        assert_eq!((shown(&full), full.row, full.column), (vec!["abcd", ""], 1, 0));
        assert_eq!(shown(&layout("ab\ncd", 4)), ["ab", "cd"]);
        assert_eq!(shown(&layout("", 4)), [""]);
    }

    #[test]
    fn columns_find_their_place_in_another_row() {
        let layout = layout("中文\nabc", 10);
        assert_eq!(layout.at(0, 3), Some("中".len()));
        assert_eq!(layout.at(1, 9), Some("中文\nabc".len()));
        assert_eq!(layout.at(2, 0), None);
    }

    #[test]
    fn escapes_and_tabs_in_a_typed_text_are_shown_and_not_obeyed() {
        assert_eq!(shown(&layout("a\tb\u{1b}[2J", 20)), ["a    b␛[2J"]);
    }

    #[test]
    fn texts_are_cut_by_columns() {
        assert_eq!(cut("中文字符", 5), "中文…");
        assert_eq!(wrap("中文字\nab", 4), ["中文", "字", "ab"]);
    }
}
