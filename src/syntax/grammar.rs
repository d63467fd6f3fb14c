//! The grammars, and how a text is read by one.

use super::shape::Shape;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};
use tree_sitter::{Language, ParseOptions, ParseState, Parser, Point, Tree};

/// Bytes of a text that is read.
const MOST: usize = 1 << 20;

/// What may stand in a text outside of its strings and comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// Words only: a typographic quote in code is an error.
    Words,
    /// Any character.
    Anything,
}

/// A language.
#[derive(Debug)]
pub struct Grammar {
    /// What people call it.
    pub name: &'static str,
    /// Ends of file names, without their dot; whole names begin with `/`.
    endings: &'static [&'static str],
    language: fn() -> Language,
    beyond: Beyond,
    pub(super) shape: &'static Shape,
}

/// A grammar's line in the table.
macro_rules! grammar {
    ($name:literal, $endings:expr, $language:expr, $beyond:ident, $shape:ident) => {
        Grammar {
            name: $name,
            endings: &$endings,
            language: || $language.into(),
            beyond: Beyond::$beyond,
            shape: &Shape::$shape,
        }
    };
}

static GRAMMARS: [Grammar; 16] = [
    grammar!("Bash", ["sh", "bash"], tree_sitter_bash::LANGUAGE, Anything, BASH),
    grammar!("C", ["c"], tree_sitter_c::LANGUAGE, Words, C),
    // What ends in .h may be either, and C++ reads most of C.
    grammar!("C++", ["cpp", "cc", "cxx", "hpp", "hh", "hxx", "h"], tree_sitter_cpp::LANGUAGE, Words, CPP),
    grammar!("CSS", ["css"], tree_sitter_css::LANGUAGE, Anything, NONE),
    grammar!("Go", ["go"], tree_sitter_go::LANGUAGE, Words, GO),
    grammar!("HTML", ["html", "htm"], tree_sitter_html::LANGUAGE, Anything, NONE),
    grammar!("Java", ["java"], tree_sitter_java::LANGUAGE, Words, JAVA),
    grammar!("JavaScript", ["js", "mjs", "cjs", "jsx"], tree_sitter_javascript::LANGUAGE, Words, JAVASCRIPT),
    grammar!("JSON", ["json"], tree_sitter_json::LANGUAGE, Words, NONE),
    grammar!("Python", ["py", "pyi"], tree_sitter_python::LANGUAGE, Words, PYTHON),
    grammar!("Ruby", ["rb", "/Gemfile", "/Rakefile"], tree_sitter_ruby::LANGUAGE, Words, RUBY),
    grammar!("Rust", ["rs"], tree_sitter_rust::LANGUAGE, Words, RUST),
    grammar!("TOML", ["toml", "/Cargo.lock"], tree_sitter_toml_ng::LANGUAGE, Words, NONE),
    grammar!("TSX", ["tsx"], tree_sitter_typescript::LANGUAGE_TSX, Words, JAVASCRIPT),
    grammar!("TypeScript", ["ts", "mts", "cts"], tree_sitter_typescript::LANGUAGE_TYPESCRIPT, Words, JAVASCRIPT),
    grammar!("YAML", ["yaml", "yml"], tree_sitter_yaml::LANGUAGE, Anything, NONE),
];

impl Grammar {
    /// The grammar for a file of this name; none where none is known.
    pub fn of(path: &Path) -> Option<&'static Self> {
        let name = path.file_name()?.to_str()?;
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
        GRAMMARS.iter().find(|grammar| {
            grammar.endings.iter().any(|known| match known.strip_prefix('/') {
                Some(whole) => whole == name,
                None => *known == ending,
            })
        })
    }

    /// Whether it tells symbols.
    pub fn has_symbols(&self) -> bool {
        !self.shape.definitions.is_empty()
    }

    /// Read a text; none where it is too long or takes too long.
    pub(super) fn read(&self, text: &str, patience: Duration) -> Option<Tree> {
        if text.len() > MOST {
            return None;
        }
        let mut parser = Parser::new();
        parser.set_language(&(self.language)()).ok()?;
        let began = Instant::now();
        let mut progress = |_: &ParseState| {
            if began.elapsed() > patience { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let plain = plain(text, self.beyond);
        let mut rest = |at: usize, _: Point| plain.get(at..).unwrap_or_default();
        parser.parse_with_options(&mut rest, None, Some(options))
    }
}

/// The text in ASCII, as many bytes: scanners of grammars ask tables of the C library about characters that those do not
/// hold, and crash. Letters and digits become letters; other characters a sign that is an error in code and none in a
/// string, or a letter where they may stand anywhere.
fn plain(text: &str, beyond: Beyond) -> Vec<u8> {
    if text.is_ascii() {
        return text.as_bytes().to_vec();
    }
    let mut plain = Vec::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            plain.push(c as u8);
            continue;
        }
        // Marks that begin a text, and blanks, separate.
        let sign = match c {
            '\u{feff}' => b' ',
            _ if beyond == Beyond::Anything || c.is_alphanumeric() => b'z',
            _ if c.is_whitespace() => b' ',
            // Marks and joiners belong to the letter before them.
            _ if is_joined(c) => b'z',
            _ => 1,
        };
        plain.extend(std::iter::repeat_n(sign, c.len_utf8()));
    }
    plain
}

/// Combining marks, joiners and variation selectors, as far as they come in words.
fn is_joined(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{900}'..='\u{dff}')
}
