//! A command line as bash would read it: its simple commands with their words, its redirects and pipes, whatever stands in
//! substitutions, functions, loops and here-documents. The grammar is tree-sitter's; what it cannot read is said, never
//! guessed at.
//!
//! Promises no panic and bounded time. It runs nothing and looks at no disk.

mod walk;
mod word;

pub use word::Word;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tree_sitter::{ParseOptions, ParseState, Point};

/// Bytes that are read; a longer line is unclear.
const MOST: usize = 64 * 1024;
/// The longest that reading may take; ordinary lines take less than a thousandth of it.
const PATIENCE: Duration = Duration::from_millis(250);

/// What a line does, as far as it can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// Its simple commands, in the order in which they stand.
    pub commands: Vec<Command>,
    /// Where output goes and input comes from.
    pub redirects: Vec<Redirect>,
    /// Texts of here-documents and here-strings.
    pub documents: Vec<String>,
    /// A function that calls itself in a pipe or in the background.
    pub bomb: bool,
    /// Something in it could not be read.
    pub unclear: bool,
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Its name and arguments.
    pub words: Vec<Word>,
    /// The pipe that it is a part of, and its place in it from 0 on.
    pub pipe: Option<(usize, usize)>,
}

/// A redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Whether it writes.
    pub writes: bool,
    /// The file.
    pub target: Word,
}

/// Reads a line.
pub fn read(text: &str) -> Line {
    if text.len() > MOST || text.contains('\0') {
        return Line { unclear: true, ..Line::default() };
    }
    let mut parser = tree_sitter::Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    // Some texts take the grammar a time that grows faster than they do: what takes long is no ordinary command.
    let began = Instant::now();
    let mut progress =
        |_: &ParseState| if began.elapsed() > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut progress);
    // The grammar's scanner asks tables of the C library about characters that they do not hold, and crashes. Letters in
    // their place, as many bytes each, are read the same way: to bash, too, all of them are parts of words.
    let letters: Vec<u8> = text.bytes().map(|byte| if byte.is_ascii() { byte } else { b'z' }).collect();
    let mut rest = |at: usize, _: Point| letters.get(at..).unwrap_or_default();
    let known = parser.set_language(&language).is_ok();
    let tree = known.then(|| parser.parse_with_options(&mut rest, None, Some(options))).flatten();
    tree.map_or(Line { unclear: true, ..Line::default() }, |tree| walk::line(tree.root_node(), text))
}

#[cfg(test)]
mod tests;
