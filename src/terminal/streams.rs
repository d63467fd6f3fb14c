//! The two standard streams: data on stdout, words for people on stderr.
//!
//! Promises that a reader who closes the pipe is a normal end and never a panic: Rust ignores SIGPIPE, so a failed
//! write is looked at here and the rest of the output is dropped.

use std::io::{self, Write};

/// Whether the reader is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// It took what was written.
    There,
    /// It closed the pipe.
    Gone,
}

/// Write data to stdout and flush.
pub fn data(text: &str) -> Reader {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Reader::There,
        Err(_) => Reader::Gone,
    }
}

/// Write a line for people to stderr.
pub fn tell(text: &str) {
    let mut stderr = io::stderr().lock();
    // Nobody is left to be told that stderr is closed.
    let _ = writeln!(stderr, "{text}");
}
