//! Words.

/// Words: what stands between spaces.
pub fn words(text: &str) -> usize {
    text.split(' ').filter(|word| !word.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted() {
        assert_eq!(words("one  two three"), 3);
        assert_eq!(words(""), 0);
    }
}
