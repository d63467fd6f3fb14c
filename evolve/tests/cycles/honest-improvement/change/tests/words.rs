//! Words end at any blank.

#[test]
fn a_line_end_ends_a_word() {
    assert_eq!(counts::words("one\ttwo\nthree"), 3);
}
