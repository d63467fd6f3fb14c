//! Tools: what the model can do. A tool is one file here, one text in `prompts/tools/`, one line in [`table`].
//!
//! A tool that cannot do what was asked returns a [`Answer`] with `Outcome::Failed`: that is feedback, not an error.

pub mod bash;
pub mod commit;
pub mod compiler;
mod create;
mod done;
mod edit_symbol;
mod edited;
pub mod fetch_url;
pub mod files;
mod glob_search;
mod grep_search;
mod guard;
mod job;
mod past;
pub mod paths;
mod picture;
pub mod preview;
mod repo_map;
mod rounds;
mod search;
mod str_replace;
mod task;
mod todo;
mod undo_edit;
mod view;
mod whole;
mod write_file;

pub use guard::is_secret as looks_secret;
pub use task::Access;

use crate::message::Outcome;
use crate::snapshot::{Job, Reach};
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// What a call may touch; decides whether a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Reads only.
    Reads,
    /// Writes files in the workspace.
    Writes,
    /// Runs programs.
    Runs,
    /// Ends the work.
    Ends,
    /// Has somebody else do it, who asks for what is asked for.
    Delegates,
}

/// Whether a tool's programs stay behind walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walled {
    /// They do, as far as the settings want walls.
    Yes,
    /// They run as the person's own.
    No,
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Done or failed.
    pub outcome: Outcome,
    /// For the model.
    pub text: String,
    /// For people: `{"files": […]}`, `{"exit": 0}`, `{"diff": "…"}`.
    pub detail: Value,
    /// Handed to a model that takes them.
    pub picture: Option<Box<Picture>>,
}

/// A picture that a tool looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// MIME type.
    pub mime: &'static str,
    /// The bytes in base64.
    pub base64: String,
}

impl Answer {
    /// A success.
    pub fn done(text: impl Into<String>) -> Self {
        Self { outcome: Outcome::Done, text: text.into(), detail: Value::Null, picture: None }
    }

    /// A failure that the model should read.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { outcome: Outcome::Failed, text: text.into(), detail: Value::Null, picture: None }
    }

    /// The same answer with facts for people.
    #[must_use]
    pub fn with_detail(mut self, detail: Value) -> Self {
        self.detail = detail;
        self
    }
}

/// One tool. It owns its settings and whatever it remembers of the session (what was read, which jobs run).
pub trait Tool: Send + Sync {
    /// Canonical name: the file's name here and in `prompts/tools/`.
    fn name(&self) -> &'static str;
    /// Other names a model may use.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }
    /// Text of `prompts/tools/<name>.md` as it was built in (`include_str!`); a generation's own file wins over it.
    fn prompt(&self) -> &'static str;
    /// JSON schema of the arguments, an object.
    fn schema(&self) -> Value;
    /// The argument that is the body of a text block.
    fn body(&self) -> Option<&'static str> {
        None
    }
    /// What a call may touch.
    fn effect(&self) -> Effect;
    /// Which files a call may change; none where it changes nothing. Whoever does not know says everything.
    fn reach(&self, _arguments: &Map<String, Value>) -> Option<Reach> {
        match self.effect() {
            Effect::Reads | Effect::Ends | Effect::Delegates => None,
            Effect::Writes | Effect::Runs => Some(Reach::Everything),
        }
    }
    /// Whether what it runs stays behind walls; what does not is asked about in every mode.
    fn walled(&self) -> Walled {
        Walled::Yes
    }
    /// The host that a call reaches, where a person did not allow it once and for all: then they are asked, in every mode.
    fn asks(&self, _arguments: &Map<String, Value>) -> Option<fetch_url::Host> {
        None
    }
    /// Whether something that it started goes on in the background.
    fn job(&self) -> Job {
        Job::None
    }
    /// Do it. Arguments were checked against the schema's `required` and types. Dropping the future cancels: the tool's
    /// child processes end with it.
    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer>;
}

/// What every tool may know of its surroundings, passed in when the table is made.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Root of the workspace, links resolved.
    pub root: PathBuf,
    /// The environment of this program; commands get a part of it.
    pub environment: Vec<(OsString, OsString)>,
    /// Settings of `bash`.
    pub bash: bash::Settings,
    /// Folders beside the root that the person opened.
    pub more: paths::More,
    /// Folder outside of the workspace where a set of edits is written down before it is made; without one, a set survives
    /// errors but not the death of the process.
    pub journal: Option<PathBuf>,
    /// Settings of `fetch_url`.
    pub fetch: fetch_url::Settings,
    /// The way to the web, where there is one.
    pub door: Option<Arc<dyn fetch_url::Door>>,
    /// Whether the compiler is asked after edits: what the settings say, where the person trusts the project.
    pub check_edits: compiler::CheckEdits,
}

/// Every tool, sorted by name: what the model is offered, in this order.
pub fn table(surroundings: &Surroundings) -> Vec<Box<dyn Tool>> {
    table_with(surroundings, &files::Files::new(surroundings))
}

/// The same with the session's memory of files made beforehand.
pub fn table_with(surroundings: &Surroundings, files: &Arc<files::Files>) -> Vec<Box<dyn Tool>> {
    let files = || Arc::clone(files);
    let bash = bash::Bash::new(surroundings).telling(files());
    let jobs = bash.jobs();
    vec![
        Box::new(bash),
        Box::new(commit::Commit::new(surroundings)),
        Box::new(create::Create::new(files())),
        Box::new(done::Done),
        Box::new(edit_symbol::EditSymbol::new(files())),
        Box::new(fetch_url::FetchUrl::new(surroundings)),
        Box::new(glob_search::GlobSearch::new(files())),
        Box::new(grep_search::GrepSearch::new(files())),
        Box::new(job::Job::new(jobs)),
        Box::new(repo_map::RepoMap::new(files())),
        Box::new(str_replace::StrReplace::new(files())),
        Box::new(task::Task),
        Box::new(todo::Todo),
        Box::new(undo_edit::UndoEdit::new(files())),
        Box::new(view::View::new(files())),
        Box::new(write_file::WriteFile::new(files())),
    ]
}
