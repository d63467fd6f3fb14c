//! `create`: a new file, with the folders above it. A file that holds anything is never overwritten.

use super::files::{self, Files};
use super::paths::Purpose;
use super::{Answer, Effect, Tool};
use crate::edit::write;
use crate::snapshot::Reach;
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The tool.
#[derive(Debug, Clone)]
pub struct Create {
    files: Arc<Files>,
}

impl Create {
    /// Sharing what was seen with the other file tools.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }

    fn answer(&self, arguments: &Map<String, Value>) -> Result<Answer, Answer> {
        let place = self.files.place(arguments, Purpose::Create)?;
        let content = arguments.get("content").and_then(Value::as_str).unwrap_or_default();
        made(&self.files, &place, content)
    }
}

/// Make the file, or fill one that is empty.
pub(super) fn made(files: &Files, place: &super::paths::Place, content: &str) -> Result<Answer, Answer> {
    let written = match std::fs::symlink_metadata(&place.absolute) {
        Ok(metadata) if metadata.len() > 0 => {
            let hint = "view it, then change it with str_replace or write_file";
            return Err(files::failed("exists", format!("{} exists and is not empty", place.relative), hint));
        }
        Ok(_) => write::replace(&place.absolute, b"", content.as_bytes()),
        Err(_) => write::create(&place.absolute, content.as_bytes()).map(|()| write::Written::Plainly),
    };
    let written = written.map_err(|error| files::unwritten(&error))?;
    files.wrote(place, content.as_bytes());
    let lines = content.lines().count();
    let remark = files::remark(written);
    Ok(Answer::done(format!("Created {} ({lines} lines).{remark}", place.relative)).with_detail(json!({
        "files": [place.relative], "diff": files::difference(&place.relative, "", content),
    })))
}

impl Tool for Create {
    fn name(&self) -> &'static str {
        "create"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/create.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1, "description": "the new file, relative to the root" },
                "content": { "type": "string", "description": "its whole text" },
            },
            "required": ["path", "content"],
        })
    }

    fn body(&self) -> Option<&'static str> {
        Some("content")
    }

    fn effect(&self) -> Effect {
        Effect::Writes
    }

    fn reach(&self, arguments: &Map<String, Value>) -> Option<Reach> {
        self.files.reach(arguments)
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        Box::pin(ready(self.answer(arguments).unwrap_or_else(|failed| failed)))
    }
}
