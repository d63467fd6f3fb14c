//! Counts what is in a text.

/// Lines.
pub fn lines(text: &str) -> usize {
    text.lines().count()
}

/// Words: what stands between spaces.
pub fn words(text: &str) -> usize {
    text.split(' ').filter(|word| !word.is_empty()).count()
}

/// The longest word.
pub fn longest(text: &str) -> Option<&str> {
    text.split_whitespace().max_by_key(|word| word.len())
}

#[cfg(test)]
mod tests;
