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

/// The shortest word.
pub fn shortest(text: &str) -> Option<&str> {
    text.split_whitespace().min_by_key(|word| word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        assert_eq!(lines("a\nb\n"), 2);
    }

    #[test]
    fn the_shortest_word_is_found() {
        assert_eq!(shortest("aa b"), Some("b"));
    }

    #[test]
    fn words_are_counted() {
        assert_eq!(words("one  two three"), 3);
        assert_eq!(words(""), 0);
    }
}
