//! Edited files on their way to the disk: written together, remembered for `undo_edit`, told to the model.

use super::Answer;
use super::files::{self, Files, Knowledge};
use super::paths::Place;
use crate::edit::encoding::Text;
use crate::edit::set::{self, Change};
use crate::edit::write::Written;
use crate::edit::{Applied, How};
use serde_json::json;
use std::ops::Range;

/// Lines of the result that are shown of each file, and of all.
const MAX_SHOWN: usize = 14;
const MAX_SHOWN_IN_ALL: usize = 60;
/// Places up to which each is shown with its neighbours.
const FEW: usize = 8;

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

/// The changed lines of every place with one more on each side, as they stand now; of many places, each less.
fn shown(applied: &Applied, most: usize) -> String {
    let around = usize::from(applied.lines.len() <= FEW);
    let mut places = applied.lines.clone();
    places.sort_by_key(|lines| lines.start);
    let mut parts: Vec<Range<usize>> = Vec::new();
    for lines in places {
        let part = lines.start.saturating_sub(around).max(1)..lines.end + around;
        match parts.last_mut() {
            Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
            _ => parts.push(part),
        }
    }
    let text: Vec<&str> = applied.text.lines().collect();
    let each = (most / parts.len().max(1)).max(1 + 2 * around);
    let mut result = String::new();
    let mut left = most.max(each);
    for (n, part) in parts.iter().enumerate() {
        let wanted = part.len().min(each);
        if wanted > left {
            result.push_str(&format!("     … and {} more places\n", parts.len() - n));
            return result;
        }
        left -= wanted;
        if n > 0 {
            result.push_str("     …\n");
        }
        for (at, line) in text.iter().enumerate().skip(part.start - 1).take(wanted) {
            let line: String = line.chars().take(200).collect();
            result.push_str(&format!("{:>6}\t{line}\n", at + 1));
        }
        if part.len() > wanted && n + 1 == parts.len() {
            result.push_str("     …\n");
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Edit, Occurrences, apply};

    fn after(text: &str, edits: &[(&str, &str)], occurrences: Occurrences) -> String {
        let edits: Vec<Edit> =
            edits.iter().map(|(old, new)| Edit { old: (*old).to_owned(), new: (*new).to_owned() }).collect();
        shown(&apply(text, &edits, occurrences).expect("they fit"), MAX_SHOWN)
    }

    #[test]
    fn places_far_apart_are_all_shown_and_the_lines_between_them_are_not() {
        let text: String = (1..=60).map(|n| format!("line {n}\n")).collect();
        let shown = after(&text, &[("line 50\n", "fifty\n"), ("line 2\n", "two\nand\n")], Occurrences::One);
        let want = "     1\tline 1\n     2\ttwo\n     3\tand\n     4\tline 3\n     …\n    50\tline 49\n    51\tfifty\n    52\tline 51\n";
        assert_eq!(shown, want);
    }

    #[test]
    fn of_many_places_the_first_are_shown_and_the_others_counted() {
        let text = "x\n\n\n".repeat(40);
        let shown = after(&text, &[("x", "y")], Occurrences::All);
        assert!(shown.starts_with("     1\ty\n     …\n     4\ty\n"), "{shown}");
        assert!(shown.ends_with("… and 26 more places\n"), "{shown}");
    }

    #[test]
    fn a_long_place_is_cut() {
        let shown = after("a\nb\n", &[("a\n", &"n\n".repeat(50))], Occurrences::One);
        assert_eq!((shown.lines().count(), shown.ends_with("    14\tn\n     …\n")), (15, true), "{shown}");
    }
}
