//! `glob_search`: names of files that match a glob, ignore files respected, sorted by path.

use super::files::Files;
use super::paths::Purpose;
use super::search;
use super::{Answer, Effect, Tool};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Names in one answer.
const MAX_NAMES: usize = 500;

/// The tool.
#[derive(Debug, Clone)]
pub struct GlobSearch {
    files: Arc<Files>,
}

impl GlobSearch {
    /// In the workspace of these files.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }
}

impl Tool for GlobSearch {
    fn name(&self) -> &'static str {
        "glob_search"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/glob_search.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string", "minLength": 1, "description": "glob such as src/**/*.rs; without a slash it is about the name alone, in any folder" },
                "path": { "type": "string", "description": "folder" },
            },
            "required": ["pattern"],
        })
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let files = Arc::clone(&self.files);
        let pattern = arguments.get("pattern").and_then(Value::as_str).unwrap_or_default();
        let prepared =
            search::glob(pattern).and_then(|glob| Ok((glob, search::start(&files, arguments, Purpose::Look)?)));
        Box::pin(async move {
            let (glob, start) = match prepared {
                Ok(prepared) => prepared,
                Err(failed) => return failed,
            };
            search::in_background(move |stop| {
                let mut names: Vec<String> = search::walk(&files, &start, Some(&glob), stop)
                    .map(|path| files.workspace.relative(&path))
                    .take(MAX_NAMES + 1)
                    .collect();
                let cut = names.len() > MAX_NAMES;
                names.truncate(MAX_NAMES);
                let mut text = if names.is_empty() { "No files match.".to_owned() } else { names.join("\n") };
                if cut {
                    text.push_str(&format!("\n[cut after {MAX_NAMES} names; narrow the pattern]"));
                }
                Answer::done(text).with_detail(json!({ "matches": names.len(), "truncated": cut }))
            })
            .await
        })
    }
}
