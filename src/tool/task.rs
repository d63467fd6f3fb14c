//! `task`: a job for a helper with a context of its own. What it is called with stands here; the session runs the helper.

use super::{Answer, Effect, Tool};
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};

/// The tool.
#[derive(Debug, Clone, Copy)]
pub struct Task;

/// What a helper may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Tools that only look.
    Read,
    /// All of them.
    Full,
}

impl Access {
    /// What a call asks for; `Err` names what there is.
    pub fn of(arguments: &Map<String, Value>) -> Result<Self, String> {
        match arguments.get("access").and_then(Value::as_str).map(str::trim) {
            None | Some("" | "read") => Ok(Self::Read),
            Some("full") => Ok(Self::Full),
            Some(other) => Err(format!("access is read or full, not `{other}`")),
        }
    }

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Full => "full",
        }
    }

    /// Whether such a helper has this tool. None has helpers of its own.
    pub fn has(self, tool: &dyn Tool) -> bool {
        match tool.effect() {
            Effect::Reads | Effect::Ends => true,
            Effect::Writes | Effect::Runs => self == Self::Full,
            Effect::Delegates => false,
        }
    }
}

impl Tool for Task {
    fn name(&self) -> &'static str {
        "task"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/task.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "prompt": { "type": "string" },
                "access": { "type": "string" },
            },
            "required": ["prompt"],
        })
    }

    fn body(&self) -> Option<&'static str> {
        Some("prompt")
    }

    fn effect(&self) -> Effect {
        Effect::Delegates
    }

    /// Whoever has no helpers to send says so.
    fn call<'a>(&'a self, _arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        Box::pin(ready(Answer::failed("there are no helpers here: do it yourself")))
    }
}
