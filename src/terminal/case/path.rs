//! `path`: the file tools on a path as a model wrote it.

use super::tools::{self, Desk};
use selfsmith_agent::message::Outcome;
use selfsmith_agent::tool::paths::Letters;
use serde_json::{Map, Value, json};

/// What the tool for the operation does with the path.
pub fn answer(input: &Value) -> Result<Value, String> {
    let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
    let letters = match input.get("case_insensitive").and_then(Value::as_bool) {
        Some(true) => Letters::Untold,
        _ => Letters::Told,
    };
    let desk = Desk::on_disk(text("root"), letters);
    let mut arguments = Map::from_iter([("path".to_owned(), json!(text("path")))]);
    let tool = match text("op") {
        "read" => "view",
        "create" => "create",
        "edit" => "str_replace",
        "write" => {
            // Whole files are replaced only after they were read, so read it; what comes of that does not matter here.
            desk.call("view", &arguments)?;
            "write_file"
        }
        other => return Err(format!("there is no operation {other}")),
    };
    for name in ["content", "old", "new"] {
        if let Some(value) = input.get(name).filter(|_| tool == "str_replace" || name == "content") {
            arguments.insert(name.to_owned(), value.clone());
        }
    }
    let answer = desk.call(tool, &arguments)?;
    let mut got = tools::failure(&answer);
    if answer.outcome == Outcome::Done {
        let path = answer.detail.get("path").or_else(|| answer.detail.pointer("/files/0"));
        got.insert("resolved".to_owned(), path.cloned().unwrap_or(Value::Null));
        got.insert("truncated".to_owned(), answer.detail.get("truncated").cloned().unwrap_or(Value::Null));
        got.insert("output".to_owned(), json!(answer.text));
    }
    Ok(Value::Object(got))
}
