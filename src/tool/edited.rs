//! Edited files on their way to the disk: written together, remembered for `undo_edit`, told to the model.

use super::Answer;
use super::files::{self, Files, Knowledge};
use super::paths::Place;
use crate::edit::encoding::Text;
use crate::edit::set::{self, Change};
use crate::edit::write::Written;
use crate::edit::{Applied, How};
use serde_json::json;

/// Lines of the result that are shown of each file, and of all.
const MAX_SHOWN: usize = 14;
const MAX_SHOWN_IN_ALL: usize = 60;

/// A file as it will be.
pub struct Edited {
    /// The file.
    pub place: Place,
    /// Its bytes as they were read.
    pub before: Vec<u8>,
    /// Its new bytes.
    pub after: Vec<u8>,
    /// The text that was edited.
    pub text: Text,
    /// What was done to it.
    pub applied: Applied,
    /// Whether it is not what was viewed.
    pub changed: bool,
}

impl Edited {
    /// The file after what was done to its text.
    ///
    /// # Errors
    /// The answer for the model: its encoding lacks a character of the new text.
    pub fn new(files: &Files, place: Place, before: Vec<u8>, text: Text, applied: Applied) -> Result<Self, Answer> {
        let after = text.splice(&before, &applied.splices).map_err(|error| files::unedited(&place, &error))?;
        let changed = files.knowledge(&place, &before) == Knowledge::Changed;
        Ok(Self { place, before, after, text, applied, changed })
    }
}

/// Write them, all or none.
///
/// # Errors
/// The answer for the model: one has changed since it was read, or could not be written.
pub fn write(files: &Files, edited: &[Edited]) -> Result<Answer, Answer> {
    let changes: Vec<Change<'_>> =
        edited.iter().map(|one| Change { path: &one.place.absolute, old: &one.before, new: &one.after }).collect();
    let written = set::replace(&changes, files.journal()).map_err(|error| files::unwritten(&error))?;
    for one in edited {
        files.edited(&one.place, &one.before, &one.after);
    }
    files.past().add(edited.iter().map(|one| (&one.place, Some(one.before.clone()), one.after.as_slice())));
    let mut answer = success(edited, &written);
    for one in edited {
        answer.text.push_str(&files::syntax_remark(&one.place, &one.text.body, &one.applied.text));
    }
    for left in files.left() {
        answer.text.push_str(&format!("\n[{left}]"));
    }
    Ok(answer)
}

fn success(edited: &[Edited], written: &[Written]) -> Answer {
    let mut text = String::new();
    let shown_each = (MAX_SHOWN_IN_ALL / edited.len().max(1)).clamp(3, MAX_SHOWN);
    for (one, written) in edited.iter().zip(written) {
        text.push_str(&told(one, *written));
        text.push('\n');
        text.push_str(&shown(&one.applied, shown_each));
    }
    let tolerant = edited.iter().any(|one| one.applied.how == How::Tolerant);
    let names: Vec<&str> = edited.iter().map(|one| one.place.relative.as_str()).collect();
    let difference = |one: &Edited| files::difference(&one.place.relative, &one.text.body, &one.applied.text);
    Answer::done(text).with_detail(json!({
        "files": names, "match": if tolerant { "tolerant" } else { "exact" },
        "diff": edited.iter().map(difference).collect::<String>(),
    }))
}

fn told(one: &Edited, written: Written) -> String {
    let places = one.applied.lines.len();
    let mut told = format!("Edited {} in {places} place{}.", one.place.relative, if places == 1 { "" } else { "s" });
    if one.applied.how == How::Tolerant {
        told.push_str(
            " The old text was not found as written: blanks, indentation or look-alike characters differed. The new \
             text was fitted to the file; check it:",
        );
    }
    if one.changed {
        told.push_str(" The file had changed since you viewed it.");
    }
    told.push_str(files::remark(written));
    told
}

/// The changed lines with one more on each side, as they stand now.
fn shown(applied: &Applied, most: usize) -> String {
    let Some(first) = applied.lines.iter().map(|range| range.start).min() else { return String::new() };
    let last = applied.lines.iter().map(|range| range.end).max().unwrap_or(first);
    let from = first.saturating_sub(1).max(1);
    let wanted = last + 1 - from;
    let mut result = String::new();
    for (n, line) in applied.text.lines().enumerate().skip(from - 1).take(wanted.min(most)) {
        let line: String = line.chars().take(200).collect();
        result.push_str(&format!("{:>6}\t{line}\n", n + 1));
    }
    if wanted > most {
        result.push_str("     …\n");
    }
    result
}
