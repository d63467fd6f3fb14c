//! What the library promises to others.

#[test]
fn the_longest_word_is_found() {
    assert_eq!(counts::longest("a bbb cc"), Some("bbb"));
    assert_eq!(counts::longest(" "), None);
}
