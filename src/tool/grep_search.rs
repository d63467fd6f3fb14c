//! `grep_search`: lines that match a regular expression, by ripgrep's engine, ignore files respected.
//!
//! Promises: the same order every time (by path), bounded output, nothing from guarded files; dropping the future stops the
//! search at the next file.

use super::files::{self, Files};
use super::paths::Purpose;
use super::search::{self, Glob, Stop};
use super::{Answer, Effect, Tool};
use futures::future::BoxFuture;
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Matching lines in one answer, if the model asks for no other number.
const DEFAULT_MATCHES: usize = 100;
/// And at most.
const MAX_MATCHES: usize = 1000;
/// Bytes of the answer.
const MAX_BYTES: usize = 48 * 1024;
/// Characters of one line.
const MAX_LINE: usize = 300;

/// The tool.
#[derive(Debug, Clone)]
pub struct GrepSearch {
    files: Arc<Files>,
}

impl GrepSearch {
    /// In the workspace of these files.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }
}

/// A search, typed.
struct Search {
    matcher: grep_regex::RegexMatcher,
    glob: Option<Glob>,
    context: usize,
    most: usize,
}

impl Search {
    fn of(arguments: &Map<String, Value>) -> Result<Self, Answer> {
        let pattern = arguments.get("pattern").and_then(Value::as_str).unwrap_or_default();
        let insensitive = arguments.get("ignore_case").and_then(Value::as_bool).unwrap_or(false);
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(insensitive)
            .line_terminator(Some(b'\n'))
            .build(pattern)
            .map_err(|error| {
                let hint = "write it in the syntax of Rust's regex crate, on one line; escape brackets and dots with a backslash";
                files::failed("bad_arguments", format!("the pattern cannot be read: {error}"), hint)
            })?;
        let glob = arguments
            .get("glob")
            .and_then(Value::as_str)
            .map(|pattern| search::glob(pattern, search::Case::Counts))
            .transpose()?;
        Ok(Self {
            matcher,
            glob,
            context: number("context").unwrap_or(0).min(10),
            most: number("max_matches").unwrap_or(DEFAULT_MATCHES).clamp(1, MAX_MATCHES),
        })
    }

    fn run(&self, files: &Files, start: &Path, stop: &Stop) -> Answer {
        let mut found = Found::default();
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(64 << 20))
            .build();
        for path in search::walk(files, start, self.glob.as_ref(), stop) {
            if found.matches >= self.most || found.text.len() >= MAX_BYTES {
                found.cut = true;
                break;
            }
            let name = files.workspace.relative(&path);
            let before = found.matches;
            let sink = Lines { found: &mut found, name: &name, most: self.most };
            // A file that cannot be read has no lines to show.
            if searcher.search_path(&self.matcher, &path, sink).is_ok() && found.matches > before {
                found.files += 1;
            }
        }
        found.answer()
    }
}

#[derive(Default)]
struct Found {
    text: String,
    matches: usize,
    files: usize,
    cut: bool,
}

impl Found {
    fn answer(mut self) -> Answer {
        if self.matches == 0 {
            self.text = "No matches.".to_owned();
        }
        if self.cut {
            self.text.push_str(&format!("[cut after {} matches; narrow it by path, glob or pattern]", self.matches));
        }
        let detail = json!({ "matches": self.matches, "files_with_matches": self.files, "truncated": self.cut });
        Answer::done(self.text.trim_end()).with_detail(detail)
    }
}

/// Takes the lines of one file.
struct Lines<'f> {
    found: &'f mut Found,
    name: &'f str,
    most: usize,
}

impl Lines<'_> {
    fn push(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        let cut: String = line.chars().take(MAX_LINE).collect();
        let more = if cut.len() < line.len() { "…" } else { "" };
        self.found.text.push_str(&format!("{}{mark}{}{mark}{cut}{more}\n", self.name, number.unwrap_or(0)));
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.push(found.line_number(), ':', found.bytes());
        self.found.matches += 1;
        let go_on = self.found.matches < self.most && self.found.text.len() < MAX_BYTES;
        self.found.cut |= !go_on;
        Ok(go_on)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.push(context.line_number(), '-', context.bytes());
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.found.text.push_str("--\n");
        Ok(true)
    }
}

impl Tool for GrepSearch {
    fn name(&self) -> &'static str {
        "grep_search"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/grep_search.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string", "minLength": 1, "description": "Rust's syntax, one line" },
                "path": { "type": "string", "description": "file or folder" },
                "glob": { "type": "string", "description": "only such files: **/*.rs" },
                "ignore_case": { "type": "boolean" },
                "context": { "type": "integer", "description": "lines around, at most 10" },
                "max_matches": { "type": "integer", "description": "default 100" },
            },
            "required": ["pattern"],
        })
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let files = Arc::clone(&self.files);
        let prepared = Search::of(arguments).and_then(|search| {
            let start = search::start(&files, arguments, Purpose::Look)?;
            Ok((search, start))
        });
        Box::pin(async move {
            match prepared {
                Ok((search, start)) => search::in_background(move |stop| search.run(&files, &start, stop)).await,
                Err(failed) => failed,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Surroundings;
    use crate::tool::glob_search::GlobSearch;
    use futures::executor::block_on;
    use std::fs;

    fn workspace() -> (tempfile::TempDir, Arc<Files>) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in [
            ("b.rs", "fn two() {}\n"),
            ("a/x.rs", "// one\nfn one() {}\n"),
            ("a/y.md", "fn one\n"),
            ("out/z.rs", "fn one() {}\n"),
            (".env", "fn one\n"),
            (".gitignore", "out/\n"),
            (".github/ci.rs", "fn one\n"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let files = Files::new(&Surroundings { root: folder.path().to_owned(), ..Surroundings::default() });
        (folder, files)
    }

    fn call(tool: &dyn Tool, arguments: Value) -> Answer {
        block_on(tool.call(arguments.as_object().expect("an object")))
    }

    #[test]
    fn matches_come_sorted_without_ignored_and_guarded_files() {
        let (_folder, files) = workspace();
        let grep = GrepSearch::new(files);
        let answer = call(&grep, json!({ "pattern": "fn one", "glob": "*.rs", "context": 1 }));
        assert_eq!(answer.text, ".github/ci.rs:1:fn one\na/x.rs-1-// one\na/x.rs:2:fn one() {}");
        assert_eq!(call(&grep, json!({ "pattern": "FN TWO", "ignore_case": true })).text, "b.rs:1:fn two() {}");
        let cut = call(&grep, json!({ "pattern": "fn", "path": "a", "max_matches": 1 }));
        assert_eq!((cut.detail["matches"].clone(), cut.detail["truncated"].clone()), (json!(1), json!(true)));
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_said() {
        let (_folder, files) = workspace();
        assert_eq!(call(&GrepSearch::new(files), json!({ "pattern": "fn (" })).detail["error"], "bad_arguments");
    }

    #[test]
    fn globs_are_about_names_or_about_paths() {
        let (_folder, files) = workspace();
        let glob = GlobSearch::new(files);
        assert_eq!(call(&glob, json!({ "pattern": "*.rs" })).text, ".github/ci.rs\na/x.rs\nb.rs");
        assert_eq!(call(&glob, json!({ "pattern": "a/*" })).text, "a/x.rs\na/y.md");
        assert_eq!(call(&glob, json!({ "pattern": "*", "path": "../" })).detail["error"], "outside_root");
    }
}
