//! What went wrong in the agent's own sessions, as goals for the next cycles: a session that did not end well, and tools whose
//! calls kept failing.
//!
//! Pure. It reads what `selfsmith-agent export --json` writes (docs/contract.md), tolerantly: what it does not know says nothing.
//! What models and tools said is untrusted: made harmless, bounded, and left out where it holds a key.

use crate::bounds::secret_in;
use crate::cycle::sanitize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Calls of one tool that must have failed before it is worth a goal.
const OFTEN: usize = 3;
/// Messages of a failing tool that are quoted.
const QUOTED: usize = 3;
/// Characters of a quoted line.
const WIDTH: usize = 200;
/// Endings that are nobody's failure: done, interrupted, wrong usage or settings, a model that refuses.
const NO_FAILURE: [&str; 7] =
    ["done", "interrupted", "usage", "config", "model_refused", "model_unavailable", "cassette_drift"];

/// The goal that a session's failures make; none where it went well.
pub fn goal(session: &str, export: &Value) -> Option<String> {
    let entries = export.get("entries")?.as_array()?;
    let ending = entries.iter().rev().find(|entry| is(entry, "entry", "ended"));
    let ending = ending.and_then(|entry| entry.get("ending")?.as_str()).filter(|word| !NO_FAILURE.contains(word));
    let failing = failing(entries);
    let mut wrong: Vec<String> =
        ending.map(|word| format!("it ended with `{}`", sanitize::line(word, 40))).into_iter().collect();
    wrong.extend(failing.iter().map(|(tool, said)| format!("`{tool}` failed {} times", said.len())));
    if wrong.is_empty() {
        return None;
    }
    let mut goal = format!(
        "Make the agent do better where its session {} went wrong: {}\n\nWhat was asked there: {}\n",
        sanitize::line(session, 60),
        wrong.join(", "),
        asked(entries).unwrap_or_else(|| "nothing".to_owned())
    );
    for (tool, said) in &failing {
        goal.push_str(&format!("\nWhat `{tool}` said:\n"));
        for line in said.iter().take(QUOTED) {
            goal.push_str(&format!("- {line}\n"));
        }
    }
    goal.push_str("\nFind the cause in the agent itself and mend that; show it by a scenario that fails before.\n");
    Some(goal)
}

/// Tools whose calls failed often, with the first lines of what they said.
fn failing(entries: &[Value]) -> BTreeMap<String, Vec<String>> {
    let mut failed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in
        entries.iter().flat_map(parts).filter(|part| is(part, "part", "result") && is(part, "outcome", "failed"))
    {
        let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default();
        let first = text("text").lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        failed.entry(sanitize::line(text("name"), 40)).or_default().push(quoted(first));
    }
    failed.retain(|_, said| said.len() >= OFTEN);
    failed
}

/// The first thing that a person said.
fn asked(entries: &[Value]) -> Option<String> {
    let message = entries.iter().filter_map(|entry| entry.get("message")).find(|m| is(m, "role", "user"))?;
    let text = message.get("parts")?.as_array()?.iter().find_map(|part| part.get("text")?.as_str())?;
    Some(quoted(text.trim().lines().next()?))
}

fn parts(entry: &Value) -> Vec<&Value> {
    let parts = entry.pointer("/message/parts").and_then(Value::as_array);
    parts.map(|parts| parts.iter().collect()).unwrap_or_default()
}

fn is(value: &Value, key: &str, word: &str) -> bool {
    value.get(key).and_then(Value::as_str) == Some(word)
}

fn quoted(line: &str) -> String {
    match secret_in(line.as_bytes(), b"") {
        Some(what) => format!("(a line with {what} is left out)"),
        None => sanitize::line(line, WIDTH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn session(ending: &str, failures: usize) -> Value {
        let said = |n: usize| json!({"part": "result", "id": "1", "name": "edit", "outcome": "failed", "text": format!("no such text {n}\nmore")});
        let mut entries = vec![
            json!({"entry": "started", "session": "s"}),
            json!({"entry": "message", "message": {"role": "user", "parts": [{"part": "text", "text": "Rename it.\nAll of it."}]}}),
        ];
        entries.extend(
            (0..failures).map(|n| json!({"entry": "message", "message": {"role": "tool", "parts": [said(n)]}})),
        );
        entries.push(json!({"entry": "ended", "ending": ending}));
        json!({"version": 1, "entries": entries})
    }

    #[test]
    fn a_session_that_went_well_makes_no_goal() {
        for (ending, failures) in [("done", 0), ("done", 2), ("interrupted", 1), ("model_refused", 0)] {
            assert_eq!(goal("s", &session(ending, failures)), None, "{ending}");
        }
        assert_eq!(goal("s", &json!({})), None);
    }

    #[test]
    fn a_bad_ending_and_a_tool_that_keeps_failing_make_one_with_what_was_said() {
        let text = goal("s-1", &session("looping", 4)).expect("is one");
        let first = "Make the agent do better where its session s-1 went wrong: it ended with `looping`, `edit` failed 4 times\n";
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains("What was asked there: Rename it.\n") && text.contains("- no such text 0\n"), "{text}");
        assert!(!text.contains("no such text 3") && !text.contains("more"), "{text}");
        assert!(goal("s", &session("done", 3)).is_some());
    }

    #[test]
    fn what_models_and_tools_said_gives_no_orders_and_no_keys() {
        let key = format!("{}{}", "AKIA", "ABCDEFGHIJKLMNOP");
        let mut value = session("looping", 0);
        let hostile = format!("\u{1b}[2J@friend Fixes #7 {key}");
        value["entries"][1]["message"]["parts"][0]["text"] = json!(hostile);
        let text = goal("s", &value).expect("is one");
        assert!(!text.contains(&key) && !text.contains('\u{1b}') && !text.contains("@friend"), "{text}");
    }
}
