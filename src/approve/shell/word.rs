//! One word: the texts that it may stand for.

use std::collections::HashMap;
use tree_sitter::Node;

/// Texts of one word.
const MOST: usize = 32;

/// A word after quotes are taken off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// What it may be: several where braces or a loop's variable stand in it. An expansion that is not known stands as it is
    /// written.
    pub texts: Vec<String>,
    /// Whether these are all.
    pub known: bool,
}

/// Values of variables that the line itself gives; none: it cannot be known.
pub(super) type Variables = HashMap<String, Option<Vec<String>>>;

impl Word {
    /// A word that is exactly this.
    pub fn plain(text: &str) -> Self {
        Self { texts: vec![text.to_owned()], known: true }
    }

    /// Its first text.
    pub fn text(&self) -> &str {
        self.texts.first().map_or("", String::as_str)
    }

    fn unknown(text: &str) -> Self {
        Self { texts: vec![text.to_owned()], known: false }
    }

    fn of(texts: Vec<String>) -> Self {
        Self { texts, known: true }
    }

    fn then(self, other: &Self) -> Self {
        let pairs = self.texts.iter().flat_map(|a| other.texts.iter().map(move |b| format!("{a}{b}")));
        let texts: Vec<String> = pairs.take(MOST).collect();
        let known = self.known && other.known && self.texts.len() * other.texts.len() <= MOST;
        Self { texts, known }
    }
}

/// What a node stands for.
pub(super) fn word(node: Node<'_>, source: &str, variables: &Variables) -> Word {
    let text = source.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        "word" | "number" | "variable_name" | "test_operator" | "extglob_pattern" | "regex" => braces(text),
        "command_name" => node.named_child(0).map_or_else(|| braces(text), |inner| word(inner, source, variables)),
        "raw_string" => Word::plain(text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text)),
        "ansi_c_string" => {
            let inner = text.strip_prefix("$'").and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
            Word::plain(&ansi(inner))
        }
        "string" | "translated_string" => quoted(node, source, variables),
        "string_content" => Word::plain(&unescaped(text, Quotes::Double)),
        "simple_expansion" | "expansion" => expansion(text, variables),
        "concatenation" => spread(joined(node, source, variables)),
        // The temporary folder is somewhere that may be written anyway.
        "command_substitution" if text.trim_start_matches(['$', '(', '`', ' ']).starts_with("mktemp") => {
            Word::plain("/tmp/mktemp")
        }
        _ => Word::unknown(text),
    }
}

/// The pieces of a node one after the other, with what lies between them.
fn joined(node: Node<'_>, source: &str, variables: &Variables) -> Word {
    let mut whole = Word::plain("");
    let mut at = node.start_byte();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let between = source.get(at..child.start_byte()).unwrap_or_default();
        whole = whole.then(&Word::plain(&unescaped(between, Quotes::Double)));
        whole = if child.is_named() {
            whole.then(&word(child, source, variables))
        } else {
            whole.then(&braces(source.get(child.byte_range()).unwrap_or_default()))
        };
        at = child.end_byte();
    }
    whole
}

fn quoted(node: Node<'_>, source: &str, variables: &Variables) -> Word {
    let mut whole = Word::plain("");
    let text = source.get(node.byte_range()).unwrap_or_default();
    // Without the quotes at both ends; pieces between its children belong to it.
    let open = if text.starts_with('$') { 2 } else { 1 };
    let (mut at, end) = (node.start_byte() + open, node.end_byte().saturating_sub(1));
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        let between = source.get(at..child.start_byte()).unwrap_or_default();
        whole = whole.then(&Word::plain(&unescaped(between, Quotes::Double)));
        whole = whole.then(&word(child, source, variables));
        at = child.end_byte();
    }
    whole.then(&Word::plain(&unescaped(source.get(at..end).unwrap_or_default(), Quotes::Double)))
}

fn expansion(text: &str, variables: &Variables) -> Word {
    let name = text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
    if name == "HOME" {
        return Word::plain("~");
    }
    if name == "PWD" {
        return Word::plain(".");
    }
    match variables.get(name) {
        Some(Some(values)) => Word::of(values.clone()),
        Some(None) | None => Word::unknown(text),
    }
}

/// A bare word: backslashes taken off, lists in braces spread out.
fn braces(text: &str) -> Word {
    let word = spread(Word::plain(text));
    Word { texts: word.texts.iter().map(|text| unescaped(text, Quotes::None)).collect(), known: word.known }
}

/// Lists in braces spread out.
fn spread(word: Word) -> Word {
    let mut texts = word.texts;
    // Each round takes one pair of braces off.
    for _ in 0..4 {
        if texts.len() > MOST || !texts.iter().any(|text| list(text).is_some()) {
            break;
        }
        texts = texts.iter().flat_map(|text| list(text).unwrap_or_else(|| vec![text.clone()])).collect();
    }
    let known = word.known && texts.len() <= MOST && !texts.iter().any(|text| list(text).is_some());
    texts.truncate(MOST);
    Word { texts, known }
}

/// The texts that the first list in braces stands for.
fn list(text: &str) -> Option<Vec<String>> {
    let (before, rest) = text.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    let plain = !before.ends_with(['$', '\\']) && inside.contains(',') && !inside.contains('{');
    plain.then(|| inside.split(',').take(MOST + 1).map(|item| format!("{before}{item}{after}")).collect())
}

#[derive(Clone, Copy, PartialEq)]
enum Quotes {
    None,
    Double,
}

/// Without the backslashes that the shell takes off.
fn unescaped(text: &str, quotes: Quotes) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.peek().copied() {
            Some('\n') => {
                characters.next();
            }
            Some(next) if quotes == Quotes::None || matches!(next, '$' | '`' | '"' | '\\') => {
                out.push(next);
                characters.next();
            }
            _ => out.push('\\'),
        }
    }
    out
}

/// The inside of `$'…'` (bash, "ANSI-C Quoting").
fn ansi(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut push = |character: char| out.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
    while let Some(character) = characters.next() {
        if character != '\\' {
            push(character);
            continue;
        }
        let mut digits = |radix: u32, most: usize| {
            let mut value = 0_u32;
            let mut count = 0;
            while let Some(digit) = characters.peek().and_then(|c| c.to_digit(radix)).filter(|_| count < most) {
                value = value.wrapping_mul(radix).wrapping_add(digit);
                characters.next();
                count += 1;
            }
            value
        };
        let octal = digits(8, 3);
        if octal > 0 {
            push(char::from_u32(octal & 0xFF).unwrap_or('\u{FFFD}'));
            continue;
        }
        match characters.next() {
            Some('n') => push('\n'),
            Some('t') => push('\t'),
            Some('r') => push('\r'),
            Some(kind @ ('x' | 'u' | 'U')) => {
                let most = match kind {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let mut value = 0_u32;
                for _ in 0..most {
                    let Some(digit) = characters.peek().and_then(|c| c.to_digit(16)) else { break };
                    value = value.wrapping_mul(16).wrapping_add(digit);
                    characters.next();
                }
                push(char::from_u32(value).unwrap_or('\u{FFFD}'));
            }
            Some(other) => push(other),
            None => push('\\'),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
