//! Counts what is in a text.

mod text;

pub use text::words;

/// Lines.
pub fn lines(text: &str) -> usize {
    text.lines().count()
}

/// The longest word.
pub fn longest(text: &str) -> Option<&str> {
    text.split_whitespace().max_by_key(|word| word.len())
}
