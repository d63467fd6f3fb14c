//! The two standard streams: data on stdout, words for people on stderr.
//!
//! Promises that a reader who closes the pipe is a normal end and never a panic: Rust ignores SIGPIPE, so a failed
//! write is looked at here and the rest of the output is dropped. Any other failure (a full disk) means that data was
//! lost: that is remembered, so that the program does not end as if it had told everything.

use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// Why data was lost.
static LOST: OnceLock<String> = OnceLock::new();

/// Whether the reader is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// It took what was written.
    There,
    /// It closed the pipe, its disk is full, or there never was one.
    Gone,
}

/// Write data to stdout and flush.
pub fn data(text: &str) -> Reader {
    if selfsmith_sandbox::stdout_was_closed() {
        LOST.get_or_init(|| "it was closed from the beginning".to_owned());
        return Reader::Gone;
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Reader::There,
        Err(error) => {
            if error.kind() != ErrorKind::BrokenPipe {
                // The first failure says why; those after it follow from it.
                LOST.get_or_init(|| error.to_string());
            }
            Reader::Gone
        }
    }
}

/// Why some of the data could not be written, where that happened and nobody had closed the pipe.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Write a line for people to stderr.
pub fn tell(text: &str) {
    let mut stderr = io::stderr().lock();
    // Nobody is left to be told that stderr is closed.
    let _ = writeln!(stderr, "{text}");
}
