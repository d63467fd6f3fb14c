//! Markdown while it streams: what is printed is final, scrollback is never rewritten.
//!
//! A block is printed when it is complete, a line of code when its line is, a long line of words by and by. Text comes from a model: control characters
//! are made harmless before anything is styled.

mod blocks;
mod highlight;
mod render;
mod wrap;

pub use wrap::wrap;

use crate::clean::clean;
use blocks::{Piece, Splitter};
use highlight::Highlighter;

/// How much colour the terminal takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// Sixteen million.
    True,
    /// 256.
    Indexed,
}

/// The ground that colours stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// Dark.
    Dark,
    /// Light.
    Light,
}

/// A stream of Markdown on its way to a terminal.
pub struct Markdown {
    splitter: Splitter,
    highlighter: Highlighter,
    /// Columns that words may take; without an end where nobody said.
    columns: usize,
    started: bool,
    /// The last row of a long line that is not over yet, styled: whole rows of it went out already.
    row: String,
}

impl Markdown {
    /// A fresh stream.
    pub fn new(colours: Colours, ground: Ground) -> Self {
        let highlighter = Highlighter::new(colours, ground);
        Self { splitter: Splitter::default(), highlighter, columns: usize::MAX, started: false, row: String::new() }
    }

    /// The screen has so many columns from now on.
    pub fn fit(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// A piece of text came: what can be printed now, line ends included.
    pub fn push(&mut self, text: &str) -> String {
        let pieces = self.splitter.push(&clean(text));
        self.print(pieces)
    }

    /// What is not final yet, as it came.
    pub fn pending(&self) -> String {
        format!("{}{}", console::strip_ansi_codes(&self.row), self.splitter.pending())
    }

    /// The text is over: what is left.
    pub fn finish(&mut self) -> String {
        let pieces = self.splitter.finish();
        let mut rest = self.print(pieces);
        self.end_row(&mut rest);
        self.started = false;
        rest
    }

    fn print(&mut self, pieces: Vec<Piece>) -> String {
        let mut out = String::new();
        for piece in pieces {
            if !matches!(piece, Piece::Flow { .. } | Piece::Block { .. }) {
                self.end_row(&mut out);
            }
            match piece {
                Piece::Gap if !self.started => continue,
                Piece::Gap => out.push('\n'),
                Piece::Block { indent, text } => {
                    let text = if self.row.is_empty() { text } else { self.continued(&text, &mut out) };
                    for line in render::block(&text, self.columns.saturating_sub(indent)) {
                        out.push_str(&format!("{}{line}\n", " ".repeat(indent)));
                    }
                }
                Piece::Flow { text } => self.flow(&text, &mut out),
                Piece::CodeStart { language } => self.highlighter.start(&language),
                Piece::CodeLine { indent, text } => {
                    out.push_str(&format!("{}{}\n", " ".repeat(indent + 2), self.highlighter.line(&text)));
                }
                Piece::CodeEnd => self.highlighter.end(),
            }
            self.started = true;
        }
        out
    }

    /// A piece of a line goes on in the row that is open; rows that are full go out.
    fn flow(&mut self, text: &str, out: &mut String) {
        // A piece of a line is one line; the blank at its end is not for the parser.
        self.row.push_str(&format!("{} ", render::block(text, usize::MAX).concat()));
        let mut rows = wrap(&self.row, self.columns);
        self.row = rows.pop().unwrap_or_default();
        if !self.row.ends_with(' ') {
            self.row.push(' ');
        }
        rows.iter().for_each(|row| out.push_str(&format!("{row}\n")));
    }

    /// The first line of a block ends the line that is open; the lines after it are given back.
    fn continued(&mut self, text: &str, out: &mut String) -> String {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        self.row.push_str(&render::block(first, usize::MAX).concat());
        self.end_row(out);
        rest.to_owned()
    }

    /// The line that is open is over.
    fn end_row(&mut self, out: &mut String) {
        let line = std::mem::take(&mut self.row);
        if !line.is_empty() {
            wrap(&line, self.columns).iter().for_each(|row| out.push_str(&format!("{}\n", row.trim_end())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n\nSome **bold** and `code`\nsecond line\n\n- one\n- two\n  - deep\n\n```rust\nfn a() {}\n\n\
                        let x = 1;\n```\n\n| a | b |\n|---|--:|\n| 中文 | 2 |\n\n1. first\n   ```sh\n   ls\n   ```\n2. second\n> quote\n\n\
                        A line of so many words that it is *shown* before its end, with `code`, a [link](x), and an end\n\nend";

    fn whole(text: &str, pieces: &[&str]) -> String {
        let mut markdown = Markdown::new(Colours::Indexed, Ground::Dark);
        markdown.fit(80);
        let mut out: String = pieces.iter().map(|piece| markdown.push(piece)).collect();
        out.push_str(&markdown.finish());
        assert!(!text.is_empty());
        console::strip_ansi_codes(&out).into_owned()
    }

    #[test]
    fn what_is_printed_does_not_depend_on_how_it_came() {
        let at_once = whole(TEXT, &[TEXT]);
        let letters: Vec<String> = TEXT.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(whole(TEXT, &letters), at_once);
    }

    #[test]
    fn every_word_is_printed_and_tables_line_up_by_columns() {
        let out = whole(TEXT, &[TEXT]);
        for word in
            ["Title", "bold", "code", "• one", "  • deep", "fn a() {}", "let x = 1;", "1. first", "ls", "│ quote"]
        {
            assert!(out.contains(word), "{word} is missing in\n{out}");
        }
        assert!(out.contains("a    │ b") && out.contains("中文 │ 2"), "{out}");
    }

    #[test]
    fn a_line_of_code_is_printed_before_its_block_ends() {
        let mut markdown = Markdown::new(Colours::Indexed, Ground::Dark);
        markdown.fit(80);
        let shown = markdown.push("```\nfirst\nsec");
        assert!(shown.contains("first") && !shown.contains("sec"));
    }

    #[test]
    fn a_long_line_of_words_shows_before_it_ends_and_markup_only_whole() {
        let mut markdown = Markdown::new(Colours::Indexed, Ground::Dark);
        markdown.fit(80);
        let words = "word ".repeat(40);
        let mut shown = markdown.push(&words);
        // Rows that are full are final; the one that is open is pending.
        assert!(shown.starts_with("word word") && shown.lines().all(|row| row.len() == 79), "{shown:?}");
        shown.push_str(&markdown.push("and **bo"));
        assert!(markdown.pending().ends_with("word and **bo"), "{}", markdown.pending());
        shown.push_str(&markdown.push("ld** end"));
        shown.push_str(&markdown.finish());
        let rows = wrap(&format!("{words}and bold end"), 80);
        assert_eq!(console::strip_ansi_codes(&shown), format!("{}\n", rows.join("\n")));
    }

    proptest::proptest! {
        #[test]
        fn no_blank_between_words_is_lost_and_no_row_is_too_long(
            words in proptest::collection::vec("[a-z]{1,9}|\\*\\*[a-z]{1,5}\\*\\*|`[a-z]{1,5}`", 1..80),
            columns in 12_usize..100,
            lines in 1_usize..4,
        ) {
            let breaks = words.len().div_ceil(lines);
            let text: String = words.chunks(breaks).map(|line| format!("{}\n", line.join(" "))).collect();
            let mut markdown = Markdown::new(Colours::Indexed, Ground::Dark);
            markdown.fit(columns);
            let mut out: String = text.split_inclusive(' ').map(|piece| markdown.push(piece)).collect();
            out.push_str(&markdown.finish());
            let out = console::strip_ansi_codes(&out).into_owned();
            let bare = |text: &str| text.replace("**", "").replace('`', "").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            proptest::prop_assert_eq!(bare(&out), bare(&text));
            proptest::prop_assert!(out.lines().all(|line| line.len() <= columns), "{}", out);
        }
    }

    #[test]
    fn a_table_wider_than_the_terminal_is_told_row_by_row() {
        let text = format!("| name | note |\n|---|---|\n| a | 你好 |\n| {} | x |\n", "long cell ".repeat(8));
        let out = whole(&text, &[&text]);
        assert!(out.contains("name: a\nnote: 你好\n") && out.contains("note: x"), "{out}");
        assert!(!out.contains('│') && !out.contains('┼'), "{out}");
    }

    #[test]
    fn escapes_in_the_text_stay_text() {
        assert!(whole("x", &["a \u{1b}]0;title\u{7} b"]).contains("␛]0;title␇"));
    }
}
