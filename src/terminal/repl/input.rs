//! Where prompts come from: a line editor on a terminal, plain lines from a pipe or a dumb terminal.

use super::ask::Interrupt;
use super::palette::{self, Choices};
use reedline::{DefaultPrompt, DefaultPromptSegment, FileBackedHistory, Reedline, Signal, ValidationResult, Validator};
use std::io::BufRead;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Lines that the history file keeps.
const HISTORY: usize = 2000;

/// How often a wait for a line looks whether the program is asked to end.
const PATIENCE: Duration = Duration::from_millis(250);

/// Whether the line editor paints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colouring {
    /// It does.
    On,
    /// It does not.
    Off,
}

/// What the person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A line, or several.
    Line(String),
    /// Ctrl-C on the prompt.
    Interrupt,
    /// The end: Ctrl-D, or the pipe is empty.
    End,
}

/// A source of prompts.
pub enum Input {
    /// The line editor.
    Editor(Box<Reedline>, palette::Empty),
    /// Plain lines.
    Lines(Lines),
}

impl Input {
    /// A line editor with history, and a menu of these commands that opens on `/`.
    pub fn editor(history: Option<&Path>, choices: Choices, colours: Colouring, interrupt: &Interrupt) -> Self {
        let empty = palette::Empty::default();
        let mut editor = palette::fit(Reedline::create(), choices, &empty)
            .with_ansi_colors(colours == Colouring::On)
            .with_break_signal(interrupt.wake())
            .with_validator(Box::new(Continued));
        let history = history.and_then(|path| {
            std::fs::create_dir_all(path.parent()?).ok()?;
            FileBackedHistory::with_file(HISTORY, path.to_owned()).ok()
        });
        if let Some(history) = history {
            // A line that begins with a blank is not kept.
            editor = editor.with_history(Box::new(history)).with_history_exclusion_prefix(Some(" ".to_owned()));
        }
        Self::Editor(Box::new(editor), empty)
    }

    /// The next prompt.
    pub fn next(&mut self, interrupt: &Interrupt) -> Typed {
        if interrupt.is_leaving() {
            return Typed::End;
        }
        match self {
            Self::Editor(editor, empty) => {
                empty.set(true);
                let prompt = DefaultPrompt::new(DefaultPromptSegment::Empty, DefaultPromptSegment::Empty);
                interrupt.set_idle(true);
                let read = editor.read_line(&prompt);
                interrupt.set_idle(false);
                // A terminal that goes away may leave no time for it later.
                let _ = editor.sync_history();
                match read {
                    Ok(Signal::Success(line)) => Typed::Line(line.replace("\\\n", "\n")),
                    Ok(Signal::CtrlC) => Typed::Interrupt,
                    Ok(_) | Err(_) => Typed::End,
                }
            }
            Self::Lines(lines) => loop {
                match lines.next(PATIENCE) {
                    Some(Some(line)) => break Typed::Line(line),
                    Some(None) => break Typed::End,
                    None if interrupt.is_leaving() => break Typed::End,
                    None => {}
                }
            },
        }
    }
}

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

/// A line that ends with a backslash goes on.
struct Continued;

impl Validator for Continued {
    fn validate(&self, line: &str) -> ValidationResult {
        if line.ends_with('\\') { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
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
