//! Prompts: the system layers, the texts of the tools, and the notes of the loop, loaded and rendered.
//!
//! They come from a generation's folder (`prompts/`) as a whole, or from what was built in. A file that is missing, too
//! large, broken, or names an unknown placeholder is an error with file and line, never a silent gap. Templates are
//! data that the program may change about itself, so rendering has a budget of steps.

mod embedded;
pub mod project;

use project::{Notes, Voice};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, UndefinedBehavior, Value, context};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that one file may have.
const MAX_BYTES: u64 = 64 * 1024;
/// Steps that rendering one file may take.
const FUEL: u64 = 100_000;
/// Placeholders of the system layers.
const LAYER_NAMES: &[&str] = &["channel", "tools", "os", "shell", "root", "date"];
/// Placeholders of what introduces the project's notes.
const PROJECT_NAMES: &[&str] = &["path", "text", "trusted"];

/// Where prompts come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// What was built in.
    Embedded,
    /// A folder that holds `system/`, `notes/` and `tools/`.
    Folder(PathBuf),
}

/// An occasion on which the loop speaks to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// A call came after `done`.
    AfterDone,
    /// The same call with the same result, again and again; `{{ name }}`.
    Circling,
    /// What stands for the part of the conversation that was compacted.
    Compacted,
    /// The reply was cut off.
    CutOff,
    /// A person said no.
    Denied,
    /// A rule of the person forbids a command; `{{ rule }}`.
    DeniedByRule,
    /// `done` after a call that failed.
    DoneTooEarly,
    /// What a helper is told that it is; `{{ access }}` is `read` or `full`.
    Helper,
    /// A result was lost with the program.
    InterruptedLost,
    /// A call was interrupted while it ran.
    InterruptedRunning,
    /// A call was interrupted before it ran.
    InterruptedWaiting,
    /// One turn is left.
    LastTurn,
    /// A question without anybody to answer it.
    NobodyToAsk,
    /// A coding reply without calls and without an end.
    Nudge,
    /// A reply without anything.
    NudgeEmpty,
    /// A change in a session that may change nothing.
    ReadOnly,
    /// A hook of the person said no; `{{ why }}`.
    StoppedByHook,
    /// What a model is told that sums up; `{{ focus }}`.
    SumUp,
    /// A summary lacks something; `{{ what }}`.
    SummaryLacks,
}

/// What a tool looks like in the system prompt of the text channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolText {
    /// Canonical name.
    pub name: String,
    /// Rendered text of its file.
    pub description: String,
    /// How its block is written.
    pub form: String,
    /// Its arguments in words; may be empty.
    pub arguments: String,
}

/// What the layers are told of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// Operating system, such as `Linux`.
    pub os: String,
    /// Shell that runs commands, such as `bash`.
    pub shell: String,
    /// Root of the workspace.
    pub root: String,
    /// The day, `2026-11-30`: no finer, so that a provider's prompt cache stays warm.
    pub date: String,
    /// The project's notes for agents, the nearest last.
    pub notes: Vec<Notes>,
}

/// All prompts, read and checked.
#[derive(Debug, Clone)]
pub struct Prompts {
    source: Source,
    layers: Vec<(String, String)>,
    project: (String, String),
    notes: BTreeMap<Note, (String, String)>,
}

/// Why prompts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A file cannot be read.
    #[error("read the prompt {path}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// A file is larger than a prompt may be.
    #[error("use the prompt {path}: it has {bytes} bytes, more than {MAX_BYTES}")]
    TooLarge {
        /// The file.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// A file is no template, or rendering went wrong.
    #[error("render the prompt {path}, line {line}: {what}")]
    Template {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

impl PromptError {
    /// What the person can do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "restore the file, or reinstall this generation: prompts are used as a whole",
            Self::TooLarge { .. } => "shorten it: every request carries it",
            Self::Template { .. } => "correct the file; `selfsmith-agent config check` shows every fault at once",
        }
    }
}

impl Prompts {
    /// Read and check every layer and note.
    pub fn load(source: Source) -> Result<Self, PromptError> {
        let mut layers = Vec::new();
        for (path, built_in) in embedded::LAYERS {
            let (path, text) = read(&source, path, built_in)?;
            check(&path, &text, LAYER_NAMES)?;
            layers.push((path, text));
        }
        let (path, built_in) = embedded::PROJECT;
        let project = read(&source, path, built_in)?;
        check(&project.0, &project.1, PROJECT_NAMES)?;
        let mut notes = BTreeMap::new();
        for (note, path, built_in, names) in embedded::NOTES {
            let (path, text) = read(&source, path, built_in)?;
            check(&path, &text, names)?;
            notes.insert(note, (path, text));
        }
        Ok(Self { source, layers, project, notes })
    }

    /// Where they came from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The text of a tool, from `tools/<name>.md` or what it carries itself.
    pub fn tool(&self, name: &str, built_in: &str) -> Result<String, PromptError> {
        let (path, text) = read(&self.source, &format!("tools/{name}.md"), built_in)?;
        check(&path, &text, &[])?;
        render(&path, &text, context! {})
    }

    /// What a person's command says to the model, from `commands/<name>.md` or what was built in.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn command(&self, name: &str, built_in: &str, values: &[(&str, &str)]) -> Result<String, PromptError> {
        let (path, text) = read(&self.source, &format!("commands/{name}.md"), built_in)?;
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        check(&path, &text, &names)?;
        let values: BTreeMap<&str, &str> = values.iter().copied().collect();
        Ok(render(&path, &text, Value::from(Serde(&values)))?.trim().to_owned())
    }

    /// The whole system prompt. `channel` is `text` or `native`; on `text` the tools are described in it.
    pub fn system(&self, channel: &str, tools: &[ToolText], around: &Surroundings) -> Result<String, PromptError> {
        let Surroundings { os, shell, root, date, notes } = around;
        let values = context! {
            channel, tools => Value::from(Serde(tools)), os => os.as_str(), shell => shell.as_str(),
            root => root.as_str(), date => date.as_str(),
        };
        let layers = self.layers.iter().map(|(path, text)| render(path, text, values.clone()));
        let (path, text) = &self.project;
        let own = |notes: &Notes| {
            let trusted = notes.voice == Voice::Trusted;
            render(path, text, context! { path => notes.path.as_str(), text => notes.text.as_str(), trusted })
        };
        let rendered: Result<Vec<String>, PromptError> = layers.chain(notes.iter().map(own)).collect();
        Ok(rendered?.iter().map(|text| text.trim()).collect::<Vec<_>>().join("\n\n"))
    }

    /// What the loop says on an occasion. A placeholder that this occasion has no value for is empty.
    pub fn note(&self, note: Note, values: &[(&str, &str)]) -> String {
        let Some((path, text)) = self.notes.get(&note) else { return String::new() };
        let mut all: BTreeMap<&str, &str> =
            embedded::NOTES.iter().filter(|row| row.0 == note).flat_map(|row| row.3.iter().map(|n| (*n, ""))).collect();
        all.extend(values.iter().copied());
        // The file was checked when it was loaded; should rendering still fail, the raw words beat silence.
        render(path, text, Value::from(Serde(&all))).unwrap_or_else(|_| text.clone()).trim().to_owned()
    }
}

fn read(source: &Source, path: &str, built_in: &str) -> Result<(String, String), PromptError> {
    let Source::Folder(folder) = source else { return Ok((format!("prompts/{path}"), built_in.to_owned())) };
    let full = folder.join(path);
    let shown = full.display().to_string();
    let failed = |cause| PromptError::Read { path: shown.clone(), cause };
    let bytes = fs::metadata(&full).map_err(failed)?.len();
    if bytes > MAX_BYTES {
        return Err(PromptError::TooLarge { path: shown, bytes });
    }
    let text = fs::read_to_string(&full).map_err(failed)?;
    Ok((shown, text.replace("\r\n", "\n")))
}

fn engine() -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        engine.set_syntax(syntax);
    }
    engine.set_fuel(Some(FUEL));
    engine
}

fn check(path: &str, text: &str, known: &[&str]) -> Result<(), PromptError> {
    let engine = engine();
    let template = engine.template_from_named_str(path, text).map_err(|error| fault(path, &error))?;
    let unknown = template.undeclared_variables(false).into_iter().find(|name| !known.contains(&name.as_str()));
    match unknown {
        None => Ok(()),
        Some(name) => Err(PromptError::Template {
            path: path.to_owned(),
            line: line_of(text, &name),
            what: format!("unknown placeholder `{name}`; known here: {}", known.join(", ")),
        }),
    }
}

fn render(path: &str, text: &str, values: Value) -> Result<String, PromptError> {
    engine().render_named_str(path, text, values).map_err(|error| fault(path, &error))
}

fn fault(path: &str, error: &Error) -> PromptError {
    let what = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    PromptError::Template { path: path.to_owned(), line: error.line().unwrap_or(1), what }
}

/// The first line on which a name stands inside a tag.
fn line_of(text: &str, name: &str) -> usize {
    let inside = |line: &str| (line.contains("{{") || line.contains("{%")) && line.contains(name);
    text.lines().position(inside).map_or(1, |n| n + 1)
}

/// Whether a folder looks like a generation's prompts.
pub fn is_prompt_folder(folder: &Path) -> bool {
    folder.join("system").is_dir() && folder.join("notes").is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around() -> Surroundings {
        Surroundings {
            os: "Linux".to_owned(),
            shell: "bash".to_owned(),
            root: "/w".to_owned(),
            date: "2026-11-30".to_owned(),
            notes: Vec::new(),
        }
    }

    fn view() -> ToolText {
        let form = "<view path=\"…\"/>".to_owned();
        let arguments = "Optional: `start_line` (integer).".to_owned();
        ToolText { name: "view".to_owned(), description: "Show a file.".to_owned(), form, arguments }
    }

    fn folder_with(change: impl Fn(&Path)) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layers = embedded::LAYERS.iter().map(|(p, t)| (*p, *t)).chain([embedded::PROJECT]);
        let all = layers.chain(embedded::NOTES.iter().map(|n| (n.1, n.2)));
        for (path, text) in all {
            let full = folder.path().join(path);
            fs::create_dir_all(full.parent().expect("a parent")).expect("a folder");
            fs::write(full, text).expect("a file");
        }
        change(folder.path());
        folder
    }

    #[test]
    fn six_layers_stand_in_order_and_the_text_channel_describes_its_tools() {
        let prompts = Prompts::load(Source::Embedded).expect("the built-in prompts are sound");
        let text = prompts.system("text", &[view()], &around()).expect("it renders");
        let places: Vec<usize> =
            (1..=6).map(|n| text.find(&format!("# {n}. ")).unwrap_or_else(|| panic!("no layer {n}"))).collect();
        assert!(places.is_sorted());
        assert!(text.contains("### view\nShow a file.\n<view path=\"…\"/>"), "{text}");
        let native = prompts.system("native", &[view()], &around()).expect("it renders");
        assert!(!native.contains("<view"), "{native}");
    }

    #[test]
    fn notes_of_the_project_stand_at_the_end_as_what_they_are() {
        let prompts = Prompts::load(Source::Embedded).expect("the built-in prompts are sound");
        let notes =
            |path: &str, text: &str, voice| Notes { path: path.to_owned(), text: text.to_owned(), voice, left_out: 0 };
        let bare = prompts.system("native", &[], &around()).expect("it renders");
        let mut with = around();
        with.notes =
            vec![notes("AGENTS.md", "> {{ root }}", Voice::Quoted), notes("a/AGENTS.md", "be good", Voice::Trusted)];
        let text = prompts.system("native", &[], &with).expect("it renders");
        let added = text.strip_prefix(&bare).expect("nothing before them changes");
        let (quoted, trusted) = added.split_once("project: a/AGENTS.md").expect("both");
        assert!(quoted.contains("nobody has trusted") && quoted.contains("> {{ root }}"), "{quoted}");
        assert!(trusted.contains("own rules") && trusted.ends_with("\n\nbe good"), "{trusted}");
    }

    #[test]
    fn every_note_renders_without_a_placeholder_left() {
        let prompts = Prompts::load(Source::Embedded).expect("the built-in prompts are sound");
        for row in embedded::NOTES {
            let text = prompts.note(row.0, &[]);
            assert!(!text.is_empty() && !text.contains("{{"), "{}: {text}", row.1);
        }
        assert!(prompts.note(Note::LastTurn, &[("channel", "text")]).contains("`done`"));
    }

    #[test]
    fn an_unknown_placeholder_is_named_with_file_and_line() {
        let folder = folder_with(|f| fs::write(f.join("system/4-code-style.md"), "a\nb {{ mood }}\n").expect("a file"));
        let error = Prompts::load(Source::Folder(folder.path().to_owned())).expect_err("unknown placeholder");
        let text = error.to_string();
        assert!(text.contains("4-code-style.md, line 2") && text.contains("`mood`"), "{text}");
    }

    #[test]
    fn a_broken_template_is_named_with_file_and_line() {
        let folder = folder_with(|f| fs::write(f.join("notes/nudge.md"), "one\n{% if x %}\nthree\n").expect("a file"));
        let text = Prompts::load(Source::Folder(folder.path().to_owned())).expect_err("it is broken").to_string();
        assert!(text.contains("nudge.md, line "), "{text}");
    }

    #[test]
    fn a_missing_file_of_a_folder_is_an_error_and_not_the_built_in_text() {
        let folder = folder_with(|f| fs::remove_file(f.join("system/5-ending.md")).expect("it was there"));
        let text = Prompts::load(Source::Folder(folder.path().to_owned())).expect_err("it is gone").to_string();
        assert!(text.contains("5-ending.md"), "{text}");
    }

    #[test]
    fn an_endless_template_runs_out_of_steps() {
        let text = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
        assert!(render("prompts/x.md", text, context! {}).is_err());
    }
}
