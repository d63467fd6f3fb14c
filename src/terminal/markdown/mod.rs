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
}

impl Markdown {
    /// A fresh stream.
    pub fn new(colours: Colours, ground: Ground) -> Self {
        let highlighter = Highlighter::new(colours, ground);
        Self { splitter: Splitter::default(), highlighter, columns: usize::MAX, started: false }
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
        self.splitter.pending()
    }

    /// The text is over: what is left.
    pub fn finish(&mut self) -> String {
        let pieces = self.splitter.finish();
        let rest = self.print(pieces);
        self.started = false;
        rest
    }

    fn print(&mut self, pieces: Vec<Piece>) -> String {
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Gap if !self.started => continue,
                Piece::Gap => out.push('\n'),
                Piece::Block { indent, text } => {
                    for line in render::block(&text, self.columns.saturating_sub(indent)) {
                        out.push_str(&format!("{}{line}\n", " ".repeat(indent)));
                    }
                }
                // A piece of a line is one line; the blank at its end is not for the parser.
                Piece::Flow { text } => out.push_str(&format!("{} ", render::block(&text, self.columns).concat())),
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
        let words = "word ".repeat(20);
        let mut shown = markdown.push(&words);
        assert!(shown.starts_with("word word") && shown.len() >= 60 && !shown.contains('\n'), "{shown:?}");
        shown.push_str(&markdown.push("and **bo"));
        assert!(!shown.contains("bo"), "{shown:?}");
        shown.push_str(&markdown.push("ld** end"));
        shown.push_str(&markdown.finish());
        assert_eq!(console::strip_ansi_codes(&shown), format!("{words}and bold end\n"));
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
