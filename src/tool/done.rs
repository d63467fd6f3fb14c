//! `done`: the model says that the work is finished. Whether it counts is decided by `turn`, never here.

use super::{Answer, Effect, Tool};
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};

/// The tool.
#[derive(Debug, Clone, Copy)]
pub struct Done;

impl Tool for Done {
    fn name(&self) -> &'static str {
        "done"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/done.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": { "summary": { "type": "string", "description": "all that the person must know" } },
            "required": [],
        })
    }

    fn body(&self) -> Option<&'static str> {
        Some("summary")
    }

    fn effect(&self) -> Effect {
        Effect::Ends
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let summary = arguments.get("summary").and_then(Value::as_str).unwrap_or_default();
        Box::pin(ready(Answer::done(summary.trim())))
    }
}
