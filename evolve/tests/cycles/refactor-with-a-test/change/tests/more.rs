//! More of what the library promises.

#[test]
fn an_empty_text_has_no_line() {
    assert_eq!(counts::lines(""), 0);
}
