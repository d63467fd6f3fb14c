//! Checked by cargo as a test of its own.

fn main() {}
