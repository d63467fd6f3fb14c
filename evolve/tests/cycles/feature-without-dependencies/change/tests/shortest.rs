//! What the library promises to others.

#[test]
fn no_word_is_the_shortest_of_none() {
    assert_eq!(counts::shortest(" "), None);
}
