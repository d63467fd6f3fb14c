//! Whether the work moves: the same call with the same result in the same workspace, again and again, is no progress.
//!
//! Pure. A call counts again only if nothing that it could have changed has changed: not its words, not its result, not
//! the files. So polling a job whose output grows, or running tests between edits, never counts.

use crate::message::{ToolCall, ToolResult};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Calls that are looked back at: a circle of a few calls is found as well as one call.
const LOOKED_BACK: usize = 40;
/// The same for the third time: the model is told.
const NUDGE: usize = 3;
/// The fifth time: a person is asked.
const ASK: usize = 5;
/// The seventh time: it ends.
const STOP: usize = 7;

/// What a call shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// It moves, as far as one can tell.
    On,
    /// The model should know.
    Nudge,
    /// A person should decide.
    Ask,
    /// Enough.
    Stop,
}

/// The last calls.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    seen: VecDeque<u64>,
}

impl Progress {
    /// A call had this result; `workspace` tells states of the files apart, as they were before it. A call that was not
    /// admitted has none.
    pub fn see(&mut self, call: Option<&ToolCall>, result: &ToolResult, workspace: u64) -> Step {
        // Waiting is not going in a circle: time passes, and it has bounds of its own.
        let waits = |call: &ToolCall| call.arguments.get("action").is_some_and(|action| action == "wait");
        if call.is_some_and(waits) {
            return Step::On;
        }
        let mut hasher = DefaultHasher::new();
        let arguments = call.map(|call| serde_json::Value::Object(call.arguments.clone()).to_string());
        (&result.name, arguments, format!("{:?}", result.outcome), timeless(&result.text), workspace).hash(&mut hasher);
        let own = hasher.finish();
        self.seen.push_back(own);
        if self.seen.len() > LOOKED_BACK {
            self.seen.pop_front();
        }
        match self.seen.iter().filter(|seen| **seen == own).count() {
            NUDGE => Step::Nudge,
            ASK => Step::Ask,
            count if count >= STOP => Step::Stop,
            _ => Step::On,
        }
    }

    /// A person wants it to go on.
    pub fn forget(&mut self) {
        self.seen.clear();
    }
}

/// A text without how long things took: `0.53s`, `12 ms`.
fn timeless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        let word: String = after.trim_start_matches(' ').chars().take_while(|c| c.is_alphabetic()).collect();
        let is_time = ["s", "ms", "µs", "us", "ns", "sec", "secs", "second", "seconds"].contains(&word.as_str());
        out.push_str(if is_time { "#" } else { number });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Channel, Outcome};
    use serde_json::{Map, Value, json};

    fn call(arguments: Value) -> ToolCall {
        let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
        ToolCall { id: String::new(), name: "bash".into(), arguments, channel: Channel::Text }
    }

    fn result(text: &str) -> ToolResult {
        let (id, name) = (String::new(), "bash".to_owned());
        ToolResult { id, name, outcome: Outcome::Failed, text: text.into(), detail: Value::Null }
    }

    fn steps(of: impl Fn(usize) -> (Value, String, u64)) -> Vec<Step> {
        let mut progress = Progress::default();
        let step = |n: usize| {
            let (arguments, text, workspace) = of(n);
            progress.see(Some(&call(arguments)), &result(&text), workspace)
        };
        (0..8).map(step).collect()
    }

    #[test]
    fn the_same_again_and_again_is_told_asked_about_and_stopped() {
        use Step::{Ask, Nudge, On, Stop};
        let same = steps(|_| (json!({ "command": "make" }), "error".to_owned(), 1));
        assert_eq!(same, [On, On, Nudge, On, Ask, On, Stop, Stop]);
    }

    #[test]
    fn a_circle_of_two_calls_is_found_and_times_do_not_hide_it() {
        let two = steps(|n| (json!({ "command": n % 2 }), format!("failed in {n}.5s"), 1));
        assert_eq!(two.iter().filter(|step| **step == Step::Nudge).count(), 2);
    }

    #[test]
    fn another_output_another_state_of_the_files_or_waiting_is_progress() {
        let on = vec![Step::On; 8];
        assert_eq!(steps(|n| (json!({ "command": "t" }), format!("{n} passed"), 1)), on);
        assert_eq!(steps(|n| (json!({ "command": "t" }), "failed".to_owned(), n as u64)), on);
        assert_eq!(steps(|_| (json!({ "job": "1", "action": "wait" }), "running".to_owned(), 1)), on);
    }

    #[test]
    fn times_are_taken_out_and_other_numbers_stay() {
        assert_eq!(timeless("12 tests in 0.53s, 3 ms"), "12 tests in #s, # ms");
        assert_eq!(timeless("line 12: 1.2.3"), "line 12: 1.2.3");
    }
}
