//! Plain lines from a pipe or a dumb terminal.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Lines of standard input, read by one thread and shared by whoever needs the next.
#[derive(Clone)]
pub struct Lines(Arc<Mutex<Receiver<String>>>);

impl Lines {
    /// Start to read standard input.
    pub fn stdin() -> Self {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut stdin = std::io::stdin().lock();
            while line(&mut stdin).is_some_and(|line| sender.send(line).is_ok()) {}
        });
        Self(Arc::new(Mutex::new(receiver)))
    }

    /// The next line; `Some(None)` at the end, `None` where none came in time.
    pub fn next(&self, patience: Duration) -> Option<Option<String>> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(patience) {
            Ok(line) => Some(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Some(None),
            Err(RecvTimeoutError::Timeout) => None,
        }
    }
}

/// The next line without its end; what is no text in it is replaced, so that one odd byte does not end everything.
fn line(from: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    if from.read_until(b'\n', &mut bytes).ok()? == 0 {
        return None;
    }
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Some(String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_text_does_not_end_the_lines() {
        let mut from: &[u8] = b"caf\xe9\r\n\nlast";
        let lines: Vec<String> = std::iter::from_fn(|| line(&mut from)).collect();
        assert_eq!(lines, ["caf\u{fffd}", "", "last"]);
    }
}
