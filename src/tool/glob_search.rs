//! `glob_search`: names of files that match a glob, ignore files respected, sorted by path. Where none does, upper and lower
//! case stop to count, and the answer says so.

use super::files::Files;
use super::paths::Purpose;
use super::search::{self, Case};
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
        let prepared = search::glob(pattern, Case::Counts).and_then(|exact| {
            let loose = search::glob(pattern, Case::Ignored)?;
            Ok((exact, loose, search::start(&files, arguments, Purpose::Look)?))
        });
        Box::pin(async move {
            let (exact, loose, start) = match prepared {
                Ok(prepared) => prepared,
                Err(failed) => return failed,
            };
            search::in_background(move |stop| {
                let found = |glob: &search::Glob| -> Vec<String> {
                    search::walk(&files, &start, Some(glob), stop)
                        .map(|path| files.workspace.relative(&path))
                        .take(MAX_NAMES + 1)
                        .collect()
                };
                let mut names = found(&exact);
                let mut text = String::new();
                if names.is_empty() {
                    names = found(&loose);
                    text.push_str("No files match");
                    text.push_str(if names.is_empty() { "." } else { " in that case; in another:\n" });
                }
                let cut = names.len() > MAX_NAMES;
                names.truncate(MAX_NAMES);
                text.push_str(&names.join("\n"));
                if cut {
                    text.push_str(&format!("\n[cut after {MAX_NAMES} names; narrow the pattern]"));
                }
                Answer::done(text).with_detail(json!({ "matches": names.len(), "truncated": cut }))
            })
            .await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Surroundings;

    #[tokio::test]
    async fn case_counts_unless_nothing_matches() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["Readme.md", "readme.txt", "other.rs"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let files = Files::new(&Surroundings { root: folder.path().to_owned(), ..Surroundings::default() });
        let tool = GlobSearch::new(files);
        let found = async |pattern: &str| {
            let arguments = json!({ "pattern": pattern });
            tool.call(arguments.as_object().expect("an object")).await.text
        };
        assert_eq!(found("readme*").await, "readme.txt");
        assert_eq!(found("README*").await, "No files match in that case; in another:\nReadme.md\nreadme.txt");
        assert_eq!(found("*.py").await, "No files match.");
    }
}
