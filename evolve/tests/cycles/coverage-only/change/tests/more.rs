//! More of what the library promises.

#[test]
fn an_empty_text_has_no_line() {
    assert_eq!(counts::lines(""), 0);
}

#[test]
fn the_last_of_two_equal_words_is_the_longest() {
    assert_eq!(counts::longest("aa bb"), Some("bb"));
}
