//! `edit`: `str_replace` on the file that the runner made.

use super::tools;
use selfsmith_agent::message::Outcome;
use serde_json::{Map, Value, json};

/// What the tool says of the edit.
pub fn answer(input: &Value) -> Result<Value, String> {
    let root = input.get("root").and_then(Value::as_str).ok_or("the input has no root")?;
    let mut arguments: Map<String, Value> = input.as_object().cloned().unwrap_or_default();
    arguments.remove("root");
    // The tool's own arguments are the first pair; further ones are its list.
    if let Some(Value::Array(edits)) = arguments.remove("edits") {
        let mut edits = edits.into_iter();
        for (name, value) in edits.next().and_then(|first| first.as_object().cloned()).into_iter().flatten() {
            arguments.insert(name, value);
        }
        arguments.insert("edits".to_owned(), Value::Array(edits.collect()));
    }
    let answer = tools::Desk::at(root).call("str_replace", &arguments)?;
    let mut got = tools::failure(&answer);
    if answer.outcome == Outcome::Done {
        got.insert("match".to_owned(), answer.detail.get("match").cloned().unwrap_or_else(|| json!("exact")));
    }
    Ok(Value::Object(got))
}
