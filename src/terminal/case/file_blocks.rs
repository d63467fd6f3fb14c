//! `file_blocks`: the reader of `FILE:` blocks on one whole message.

use selfsmith_agent::query::file_blocks::parse;
use selfsmith_agent::query::text_channel::Finish;
use serde_json::{Value, json};

/// The files that would be written, and those that would not.
pub fn answer(input: &Value) -> Result<Value, String> {
    let text = input.get("text").and_then(Value::as_str).ok_or("the input has no text")?;
    let finish = match input.get("finish_reason").and_then(Value::as_str) {
        Some("length") => Finish::Cut,
        _ => Finish::Whole,
    };
    let blocks = parse(text, finish);
    let files: Vec<Value> =
        blocks.files.iter().map(|file| json!({ "path": file.path, "content": file.content })).collect();
    let failed: Vec<&str> = blocks.failed.iter().map(|failed| failed.path.as_str()).collect();
    let error = blocks.failed.first().map(|failed| failed.class);
    Ok(json!({ "files": files, "failed": failed, "error": error }))
}
