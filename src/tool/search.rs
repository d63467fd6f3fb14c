//! What the two search tools share: the walk over the workspace, globs, and work that can be stopped.

use super::Answer;
use super::files::{self, Files};
use super::paths::Purpose;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Files that one search looks at.
const MAX_FILES: usize = 200_000;

/// Set when nobody waits for the answer any more.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Whether it is.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A glob: without a slash it is about the file's name, otherwise about its path from the root.
#[derive(Debug, Clone)]
pub struct Glob {
    matcher: GlobMatcher,
    of_names: bool,
}

impl Glob {
    fn fits(&self, files: &Files, path: &Path) -> bool {
        if self.of_names {
            return path.file_name().is_some_and(|name| self.matcher.is_match(name));
        }
        self.matcher.is_match(files.workspace.relative(path))
    }
}

/// Whether `a` is `A` to a glob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// It is not.
    Counts,
    /// It is.
    Ignored,
}

/// Read a glob.
pub fn glob(pattern: &str, case: Case) -> Result<Glob, Answer> {
    let pattern = pattern.trim().trim_start_matches("./");
    let mut builder = GlobBuilder::new(pattern);
    let built = builder.literal_separator(true).case_insensitive(case == Case::Ignored).build().map_err(|error| {
        files::failed("bad_arguments", format!("the glob cannot be read: {error}"), "write it like **/*.rs")
    })?;
    Ok(Glob { matcher: built.compile_matcher(), of_names: !pattern.contains('/') })
}

/// Where a search begins: the `path` of the call, or the root.
pub fn start(files: &Files, arguments: &Map<String, Value>, purpose: Purpose) -> Result<PathBuf, Answer> {
    match arguments.get("path").and_then(Value::as_str).map(str::trim) {
        None | Some("" | "." | "./") => Ok(files.workspace.root().to_owned()),
        Some(_) => Ok(files.place(arguments, purpose)?.absolute),
    }
}

/// Files in order of their paths, without ignored and guarded ones; links are not followed.
pub fn walk<'a>(
    files: &'a Files,
    start: &Path,
    glob: Option<&'a Glob>,
    stop: &'a Stop,
) -> impl Iterator<Item = PathBuf> + 'a {
    let guard = files.workspace.guard();
    ignore::WalkBuilder::new(start)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .follow_links(false)
        .sort_by_file_path(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .filter_map(Result::ok)
        .take_while(move |_| !stop.is_set())
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .take(MAX_FILES)
        .map(ignore::DirEntry::into_path)
        .filter(move |path| glob.is_none_or(|glob| glob.fits(files, path)) && files.workspace.is_readable(path, &guard))
}

/// Run the work on a thread where there is a runtime for it, so that the session stays awake.
pub async fn in_background(work: impl FnOnce(&Stop) -> Answer + Send + 'static) -> Answer {
    let stop = Stop::default();
    if tokio::runtime::Handle::try_current().is_err() {
        return work(&stop);
    }
    let guard = StopOnDrop(stop.clone());
    let answer = tokio::task::spawn_blocking(move || work(&stop)).await;
    drop(guard);
    answer.unwrap_or_else(|error| files::failed("internal", format!("the search broke off: {error}"), ""))
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
