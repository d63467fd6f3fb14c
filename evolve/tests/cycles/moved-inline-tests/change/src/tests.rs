//! Tests of the library.

use super::*;

#[test]
fn lines_are_counted() {
    assert_eq!(lines("a\nb\n"), 2);
}

#[test]
fn words_are_counted() {
    assert_eq!(words("one  two three"), 3);
    assert_eq!(words(""), 0);
}
