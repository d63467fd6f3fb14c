//! Checked by cargo as a test of its own.

fn main() {
    assert_eq!(counts::words("one  two three"), 3);
    assert_eq!(counts::lines("a\nb\n"), 2);
}
