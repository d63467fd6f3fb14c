//! Comparing what is asked with what was asked when the tape was made.
//!
//! Paths, dates, times and ids differ from run to run; a [`Normaliser`] puts words in their place on both sides.

use regex::Regex;
use serde_json::Value;
use std::fmt;

/// A difference between the recorded and the actual request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// The turn, from 1.
    pub turn: usize,
    /// Where: `message 3 (user)`, `tools`.
    pub place: String,
    /// First differing line on tape; `None` where the tape has nothing there.
    pub recorded: Option<String>,
    /// First differing line now; `None` where nothing is there now.
    pub actual: Option<String>,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |line: &Option<String>| line.as_ref().map_or_else(|| "(nothing)".to_owned(), |l| format!("{l:?}"));
        write!(
            f,
            "turn {}, {}: the tape has {}, now it is {}",
            self.turn,
            self.place,
            side(&self.recorded),
            side(&self.actual)
        )
    }
}

/// Puts fixed words in the place of what differs from run to run.
#[derive(Debug, Clone)]
pub struct Normaliser {
    /// Longest first, so that a folder inside another is found first.
    paths: Vec<(String, String)>,
    patterns: Vec<(Regex, &'static str)>,
}

impl Normaliser {
    /// With folders and the words for them, such as `("/home/me/project", "$ROOT")`.
    pub fn new(mut paths: Vec<(String, String)>) -> Self {
        paths.retain(|(path, _)| path.len() > 1);
        paths.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let patterns = PATTERNS
            .iter()
            .map(|(pattern, word)| (Regex::new(pattern).expect("the patterns are constants, tested below"), *word))
            .collect();
        Self { paths, patterns }
    }

    /// One text.
    pub fn text(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (path, word) in &self.paths {
            out = out.replace(path.as_str(), word);
        }
        for (pattern, word) in &self.patterns {
            out = pattern.replace_all(&out, *word).into_owned();
        }
        out
    }

    /// Every string in a value.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(map) => {
                Value::Object(map.iter().map(|(key, item)| (key.clone(), self.value(item))).collect())
            }
            other => other.clone(),
        }
    }
}

impl Default for Normaliser {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

/// What differs between two runs of the same session: dates with and without a time, UUIDs, long hexadecimal ids,
/// durations as tools print them.
const PATTERNS: &[(&str, &str)] = &[
    (r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?", "$$DATE"),
    (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b", "$$ID"),
    (r"\b[0-9a-f]{16,64}\b", "$$ID"),
    (r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|secs|seconds)\b", "$$TIME"),
];

/// The first difference between two whole, normalised requests; only what the recorded one holds is compared.
pub(crate) fn difference(turn: usize, recorded: &Value, actual: &Value) -> Option<Drift> {
    if let Some(tools) = recorded.get("tools") {
        let now = actual.get("tools").unwrap_or(&Value::Null);
        if tools != now {
            return Some(found(turn, "tools".into(), Some(tools), Some(now)));
        }
    }
    let before = recorded.get("messages").and_then(Value::as_array)?;
    let empty = Vec::new();
    let now = actual.get("messages").and_then(Value::as_array).unwrap_or(&empty);
    (0..before.len().max(now.len())).find(|index| before.get(*index) != now.get(*index)).map(|index| {
        let (old, new) = (before.get(index), now.get(index));
        let role = new.or(old).and_then(|message| message.get("role")).and_then(Value::as_str).unwrap_or("?");
        found(turn, format!("message {index} ({role})"), old, new)
    })
}

/// The first differing line of the readable forms.
fn found(turn: usize, place: String, recorded: Option<&Value>, actual: Option<&Value>) -> Drift {
    let (old, new) = (recorded.map(readable), actual.map(readable));
    let (mut old_lines, mut new_lines) = (old.as_deref().unwrap_or("").lines(), new.as_deref().unwrap_or("").lines());
    loop {
        match (old_lines.next(), new_lines.next()) {
            (Some(a), Some(b)) if a == b => {}
            (a, b) => return Drift { turn, place, recorded: a.map(shortened), actual: b.map(shortened) },
        }
    }
}

/// A message as people read it: its text with line ends, the rest as indented JSON.
fn readable(value: &Value) -> String {
    let mut rest = value.clone();
    let text = rest.as_object_mut().and_then(|map| map.shift_remove("content"));
    let rest = serde_json::to_string_pretty(&rest).unwrap_or_default();
    match text {
        Some(Value::String(text)) => format!("{text}\n{rest}"),
        Some(other) => format!("{}\n{rest}", serde_json::to_string_pretty(&other).unwrap_or_default()),
        None => rest,
    }
}

/// A line bounded for a report.
fn shortened(line: &str) -> String {
    const MOST: usize = 200;
    match line.char_indices().nth(MOST).and_then(|(at, _)| line.get(..at)) {
        Some(head) => format!("{head}…"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_differs_from_run_to_run_is_replaced() {
        let normaliser =
            Normaliser::new(vec![("/tmp/x".into(), "$ROOT".into()), ("/tmp/x/deep".into(), "$DEEP".into())]);
        assert_eq!(
            normaliser.text(
                "in /tmp/x/deep/a and /tmp/x/b on 2026-11-30T09:53:01Z and 2026-11-30, \
                 550e8400-e29b-41d4-a716-446655440000, 78f1953aa78f1953aa78f1953aa78f1953aa7812, finished in 0.03s"
            ),
            "in $DEEP/a and $ROOT/b on $DATE and $DATE, $ID, $ID, finished in $TIME"
        );
    }

    #[test]
    fn the_first_differing_line_of_a_message_is_named() {
        let old = json!({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a\nb\nc"}]});
        let new = json!({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a\nX\nc"}]});
        let drift = difference(2, &old, &new);
        assert_eq!(
            drift.map(|drift| drift.to_string()).as_deref(),
            Some("turn 2, message 1 (user): the tape has \"b\", now it is \"X\"")
        );
    }

    #[test]
    fn a_missing_message_and_a_changed_tool_are_drift_and_equal_requests_are_not() {
        let old = json!({"messages": [{"role": "user", "content": "a"}], "tools": [{"name": "view"}]});
        assert_eq!(difference(1, &old, &old), None);
        let without = json!({"messages": [], "tools": [{"name": "view"}]});
        assert_eq!(difference(1, &old, &without).and_then(|drift| drift.actual), None);
        assert!(difference(1, &old, &without).is_some());
        let other = json!({"messages": [{"role": "user", "content": "a"}], "tools": [{"name": "bash"}]});
        assert_eq!(difference(1, &old, &other).map(|drift| drift.place).as_deref(), Some("tools"));
    }

    #[test]
    fn a_request_that_records_nothing_drifts_never() {
        assert_eq!(difference(1, &json!({"note": "by hand"}), &json!({"messages": [1]})), None);
    }
}
