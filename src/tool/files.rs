//! What the file tools share: the workspace, what was seen of which file, and how they say that something failed.

use super::compiler::Compiler;
use super::guard::own_folders;
use super::past::Past;
use super::paths::{Letters, PathError, Place, Purpose, Workspace};
use super::{Answer, Surroundings};
use crate::edit::encoding::Unreadable;
use crate::edit::set::{self, Settled};
use crate::edit::write::{WriteError, Written};
use crate::edit::{EditError, pin};
use crate::snapshot::Reach;
use crate::syntax;
use crate::texts::{Texts, fill};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use similar::TextDiff;
use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of a file that can be edited.
pub const MAX_EDITED: u64 = 64 << 20;
/// Bytes of a file that is compared with what was seen of it after a command.
const MAX_COMPARED: u64 = 1 << 20;
/// Files that are listed by name.
const MAX_LISTED: usize = 5;
/// Characters of a difference that people are shown.
const MAX_DIFF: usize = 16 * 1024;

/// Shared by the file tools of one session.
#[derive(Debug)]
pub struct Files {
    /// Where they work.
    pub workspace: Workspace,
    /// Where a set of edits is written down before it is made.
    journal: Option<PathBuf>,
    seen: Mutex<HashMap<PathBuf, Sight>>,
    past: Mutex<Past>,
    compiler: Option<Compiler>,
}

/// What was seen of a file.
#[derive(Debug, Clone)]
struct Sight {
    /// Of the whole file at that time.
    digest: [u8; 32],
    /// Lines shown, from 1 on, sorted and apart.
    shown: Vec<Range<usize>>,
    /// Lines of the file; none where all of it is known without having been shown.
    lines: usize,
    /// The other text that was last told of.
    told: Option<[u8; 32]>,
}

/// What the session knows of a file as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// It was never looked at.
    Unseen,
    /// It is not what was looked at.
    Changed,
    /// A part of it was looked at.
    Part,
    /// All of it was.
    Whole,
}

impl Files {
    /// For one session.
    pub fn new(surroundings: &Surroundings) -> Arc<Self> {
        Self::of(Workspace::new(&surroundings.root).with_more(&surroundings.more), surroundings)
    }

    /// The same for a disk of this kind.
    pub fn on_disk(surroundings: &Surroundings, letters: Letters) -> Arc<Self> {
        Self::of(Workspace::new(&surroundings.root).with_more(&surroundings.more).with_letters(letters), surroundings)
    }

    fn of(workspace: Workspace, surroundings: &Surroundings) -> Arc<Self> {
        let workspace = workspace.with_own(own_folders(&surroundings.environment));
        let journal = surroundings.journal.clone();
        let (seen, past) = (Mutex::default(), Mutex::default());
        let compiler = Compiler::new(surroundings);
        Arc::new(Self { workspace, journal, seen, past, compiler })
    }

    /// Where a set of edits is written down before it is made.
    pub fn journal(&self) -> Option<&Path> {
        self.journal.as_deref()
    }

    /// Who is asked after edits.
    pub fn compiler(&self) -> Option<&Compiler> {
        self.compiler.as_ref()
    }

    /// What was done to files.
    pub fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place that a call names.
    pub fn place(&self, arguments: &Map<String, Value>, purpose: Purpose) -> Result<Place, Answer> {
        self.place_at(arguments.get("path").and_then(Value::as_str).unwrap_or_default(), purpose)
    }

    /// The place that a written path means.
    pub fn place_at(&self, written: &str, purpose: Purpose) -> Result<Place, Answer> {
        self.workspace.resolve(written, purpose).map_err(|error| path_failed(&error))
    }

    /// The file that a call will change, and no other; where that is not plain, everything.
    pub fn reach(&self, arguments: &Map<String, Value>) -> Option<Reach> {
        self.reach_of(std::iter::once(arguments.get("path").and_then(Value::as_str)?))
    }

    /// The same for a call of several paths.
    pub fn reach_of<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Option<Reach> {
        let places = paths.map(|path| Some(self.workspace.resolve(path, Purpose::Write).ok()?.absolute));
        Some(places.collect::<Option<Vec<PathBuf>>>().map_or(Reach::Everything, Reach::Files))
    }

    /// Remember that lines of a file were shown.
    pub fn saw(&self, place: &Place, bytes: &[u8], shown: Range<usize>, lines: usize) {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let sight = seen.entry(place.absolute.clone()).or_insert_with(|| Sight {
            digest,
            shown: Vec::new(),
            lines,
            told: None,
        });
        if sight.digest != digest {
            *sight = Sight { digest, shown: Vec::new(), lines, told: None };
        }
        sight.shown.push(shown);
        sight.shown = merged(std::mem::take(&mut sight.shown));
    }

    /// Remember a file that the session wrote itself, and so knows.
    pub fn wrote(&self, place: &Place, bytes: &[u8]) {
        let sight = Sight { digest: Sha256::digest(bytes).into(), shown: Vec::new(), lines: 0, told: None };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(place.absolute.clone(), sight);
    }

    /// Remember an edit: what was known before is known after, if it was not outdated.
    pub fn edited(&self, place: &Place, before: &[u8], after: &[u8]) {
        match self.knowledge(place, before) {
            Knowledge::Whole => self.wrote(place, after),
            Knowledge::Unseen | Knowledge::Changed | Knowledge::Part => {
                self.seen.lock().unwrap_or_else(PoisonError::into_inner).remove(&place.absolute);
            }
        }
    }

    /// Files that are not what was seen of them, sorted; each is told once for each text that it gets.
    pub fn outdated(&self) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names = Vec::new();
        for (path, sight) in seen.iter_mut() {
            let small = std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= MAX_COMPARED);
            let Some(bytes) = small.then(|| std::fs::read(path).ok()).flatten() else { continue };
            let digest: [u8; 32] = Sha256::digest(bytes).into();
            if digest != sight.digest && sight.told != Some(digest) {
                sight.told = Some(digest);
                names.push(self.workspace.relative(path));
            }
        }
        names.sort();
        names
    }

    /// What is known of a file with these bytes.
    pub fn knowledge(&self, place: &Place, bytes: &[u8]) -> Knowledge {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&place.absolute).map_or(Knowledge::Unseen, |sight| sight.knowledge(bytes))
    }
}

impl Sight {
    fn knowledge(&self, bytes: &[u8]) -> Knowledge {
        if self.digest != <[u8; 32]>::from(Sha256::digest(bytes)) {
            return Knowledge::Changed;
        }
        let whole = self.shown.first().is_some_and(|first| first.start <= 1 && first.end > self.lines);
        if whole || self.lines == 0 { Knowledge::Whole } else { Knowledge::Part }
    }
}

/// Take back what an earlier process began and did not make whole; what a person is to know of it.
pub fn settled(journal: &Path, texts: &Texts) -> Vec<String> {
    match set::settle(journal) {
        Ok(settled) => told(&settled, texts),
        Err(error) => vec![fill(texts.edits_not_settled, &[("why", &error.to_string())])],
    }
}

/// What a person is to know of edits that an earlier process did not make whole, where nothing may be done about them.
pub fn cut_off(journal: &Path, texts: &Texts) -> Vec<String> {
    match set::cut_off(journal) {
        Ok(files) if files.is_empty() => Vec::new(),
        Ok(files) => vec![fill(texts.edits_cut_off, &[("files", &listed(&files))])],
        Err(error) => vec![fill(texts.edits_not_settled, &[("why", &error.to_string())])],
    }
}

fn told(settled: &Settled, texts: &Texts) -> Vec<String> {
    let left = settled.left.iter().map(|(path, kept)| {
        let (path, kept) = (path.display().to_string(), kept.display().to_string());
        fill(texts.edits_left, &[("path", &path), ("kept", &kept)])
    });
    let back = (!settled.back.is_empty()).then(|| fill(texts.edits_taken_back, &[("files", &listed(&settled.back))]));
    back.into_iter().chain(left).collect()
}

fn listed(files: &[PathBuf]) -> String {
    let mut listed: Vec<String> = files.iter().take(MAX_LISTED).map(|path| path.display().to_string()).collect();
    if files.len() > MAX_LISTED {
        listed.push(format!("{} more", files.len() - MAX_LISTED));
    }
    listed.join(", ")
}

fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The bytes of a file that is to be changed.
pub fn load(place: &Place) -> Result<Vec<u8>, Answer> {
    let unreadable = |why: String| failed("no_such_file", format!("could not read {}: {why}", place.relative), "");
    let file = pin::open(&place.absolute).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(MAX_EDITED + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MAX_EDITED {
        let message = format!("{} has more than {} MiB", place.relative, MAX_EDITED >> 20);
        return Err(failed("too_large", message, "change it with a command"));
    }
    Ok(bytes)
}

/// A failure: its class for people and tests, its sentence and what to do next for the model.
pub fn failed(class: &'static str, message: impl Into<String>, hint: &str) -> Answer {
    let message = message.into();
    let text = if hint.is_empty() { message } else { format!("{message}\n{hint}") };
    Answer::failed(text).with_detail(json!({ "error": class }))
}

/// A path that could not be used.
pub fn path_failed(error: &PathError) -> Answer {
    failed(error.class(), error.to_string(), error.hint())
}

/// A file that is no text.
pub fn unreadable(place: &Place, error: Unreadable) -> Answer {
    failed(error.class(), format!("{} cannot be handled as text: {error}", place.relative), "use a command for it")
}

/// A file that could not be written.
pub fn unwritten(error: &WriteError) -> Answer {
    let (class, hint) = match error {
        WriteError::Changed { .. } => ("changed", "view it again, then decide again"),
        WriteError::Exists { .. } => ("exists", "view it, then change it with str_replace or write_file"),
        WriteError::ReadOnly { .. } => ("protected", "leave it alone, and tell the person if it has to change"),
        WriteError::Torn { .. } => ("disk", "stop, and tell the person where the old bytes are"),
        WriteError::Partly { .. } => ("disk", "it is taken back at the next edit; tell the person"),
        WriteError::Disk { .. } => ("disk", ""),
    };
    failed(class, error.to_string(), hint)
}

/// What is said of a file that was written, after a sentence.
pub const fn remark(written: Written) -> &'static str {
    match written {
        Written::Plainly => "",
        Written::ApartFromOtherNames => " The file had other hard links; they keep the old text.",
    }
}

/// What is said of a text that an edit made worse to its grammar; empty where it did not. `before` is empty for a new file.
pub fn syntax_remark(place: &Place, before: &str, after: &str) -> String {
    let Some(found) = syntax::worse(&place.absolute, before, after) else { return String::new() };
    let line = found.line.map(|line| format!(", see line {line}")).unwrap_or_default();
    let (language, path) = (found.language, &place.relative);
    match (before.is_empty(), found.before) {
        (true, _) => format!("\n[{path} does not parse as {language}{line}]"),
        (false, 0) => format!("\n[{path} no longer parses as {language}{line}]"),
        (false, _) => format!("\n[{path} parses worse as {language} than before{line}]"),
    }
}

/// An edit that could not be made.
pub fn unedited(place: &Place, error: &EditError) -> Answer {
    let mut answer = failed(error.class(), format!("{}: {error}", place.relative), error.hint());
    if let Some(detail) = answer.detail.as_object_mut() {
        if let EditError::Ambiguous { count, .. } = error {
            detail.insert("count".to_owned(), json!(count));
        }
        if let Some(about) = error.about() {
            detail.insert("hint".to_owned(), json!(about));
        }
    }
    answer
}

/// What people are shown of a change.
pub fn difference(path: &str, before: &str, after: &str) -> String {
    let text = whole_difference(path, before, after);
    if text.chars().count() <= MAX_DIFF {
        return text;
    }
    text.chars().take(MAX_DIFF).chain("\n… (the difference is longer)\n".chars()).collect()
}

/// The same however long it is, for whoever is asked about it.
pub fn whole_difference(path: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure().timeout(Duration::from_millis(500)).diff_lines(before, after);
    diff.unified_diff().context_radius(3).header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}
