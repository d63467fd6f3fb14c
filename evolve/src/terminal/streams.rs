//! The two streams: data on stdout, words for people on stderr. A closed pipe is a normal end.
//!
//! What others wrote (models, programs, repositories) is made harmless before it is shown.

use selfsmith::cycle::sanitize::shown;
use selfsmith::texts::{EN, fill};
use std::io::{self, Write};

/// Words for people, a line.
pub fn tell(text: &str) {
    // Nobody reads it: there is nobody to be told.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Data, a line. False once nobody reads it any more.
pub fn print(text: &str) -> bool {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).is_ok()
}

/// A value as one JSON line.
pub fn print_json(value: &impl serde::Serialize) -> bool {
    print(&serde_json::to_string(value).unwrap_or_default())
}

/// What is wrong, a sentence, and what to do next.
pub fn fail(what: &str, hint: &str) {
    tell(&shown(what));
    if !hint.is_empty() {
        tell(&fill(EN.hint, &[("hint", &shown(hint))]));
    }
}

/// A whole error chain as one line: each cause behind a colon, unless the text before it says so already.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = next.source();
    }
    text
}
