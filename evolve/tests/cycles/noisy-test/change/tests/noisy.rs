//! Prints past the harness.

use std::io::Write;

#[test]
fn it_is_loud() {
    let line = [b'x'; 1 << 20];
    let mut out = std::io::stdout().lock();
    for _ in 0..40 {
        out.write_all(&line).unwrap();
        out.write_all(b"\n").unwrap();
    }
}
