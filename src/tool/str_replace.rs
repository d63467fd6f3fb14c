//! `str_replace`: one or several replacements in a file, all or none.
//!
//! Promises: what `crate::edit` promises, and that the answer says when a place was found only by its layout. The file may
//! have changed since it was viewed: then a miss says so.

use super::files::{self, Files, Knowledge};
use super::paths::{Place, Purpose};
use super::{Answer, Effect, Tool, whole};
use crate::edit::encoding::{self, Text};
use crate::edit::{Applied, Edit, EditError, Failed, How, Occurrences, apply, write};
use crate::snapshot::Reach;
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Lines of the result that are shown.
const MAX_SHOWN: usize = 14;

/// The tool.
#[derive(Debug, Clone)]
pub struct StrReplace {
    files: Arc<Files>,
}

impl StrReplace {
    /// Sharing what was seen with the other file tools.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }

    fn answer(&self, arguments: &Map<String, Value>) -> Result<Answer, Answer> {
        let edits = edits_of(arguments)?;
        let occurrences = match arguments.get("replace_all").and_then(Value::as_bool) {
            Some(true) => Occurrences::All,
            _ => Occurrences::One,
        };
        if let [Edit { old, new }] = edits.as_slice()
            && old.is_empty()
            && !new.is_empty()
        {
            // An empty old text makes a file; one that holds anything is refused there.
            return whole::made(&self.files, &self.files.place(arguments, Purpose::Write)?, new);
        }
        let place = self.files.place(arguments, Purpose::Edit)?;
        let before = files::load(&place)?;
        let (text, applied) = self.applied(&place, &before, &edits, occurrences)?;
        let after = text.splice(&before, &applied.splices).map_err(|error| files::unedited(&place, &error))?;
        let changed = self.files.knowledge(&place, &before) == Knowledge::Changed;
        let written = write::replace(&place.absolute, &before, &after).map_err(|error| files::unwritten(&error))?;
        self.files.edited(&place, &before, &after);
        Ok(success(&place, &text, &applied, changed, written))
    }

    /// The edits in the first reading of the file in which they fit.
    fn applied(
        &self,
        place: &Place,
        before: &[u8],
        edits: &[Edit],
        occurrences: Occurrences,
    ) -> Result<(Text, Applied), Answer> {
        let mut failed: Option<Failed> = None;
        // An encoding that was guessed wrong shows by text that is not found.
        for text in encoding::readings(before).map_err(|error| files::unreadable(place, error))? {
            match apply(&text.body, edits, occurrences) {
                Ok(applied) => return Ok((text, applied)),
                Err(error) => {
                    let final_word = !matches!(error.error, EditError::NotFound { .. });
                    failed.get_or_insert(error);
                    if final_word {
                        break;
                    }
                }
            }
        }
        let Some(failed) = failed else { return Err(files::unreadable(place, encoding::Unreadable::Encoding)) };
        Err(self.explained(place, before, edits.len(), &failed))
    }

    fn explained(&self, place: &Place, before: &[u8], edits: usize, failed: &Failed) -> Answer {
        let mut answer = files::unedited(place, &failed.error);
        if edits > 1 {
            answer.text.push_str(&format!("\nThis was edit {} of {edits}; none of them was made.", failed.index + 1));
        }
        let missed = matches!(failed.error, EditError::NotFound { .. });
        if missed && self.files.knowledge(place, before) == Knowledge::Changed {
            answer.text.push_str("\nThe file has changed since you last viewed it; view it again.");
        }
        if let Some(detail) = answer.detail.as_object_mut() {
            detail.insert("failed_index".to_owned(), json!(failed.index));
        }
        answer
    }
}

fn edits_of(arguments: &Map<String, Value>) -> Result<Vec<Edit>, Answer> {
    let text = |from: &Map<String, Value>, name: &str| from.get(name).and_then(Value::as_str).map(str::to_owned);
    let pair = |from: &Map<String, Value>| Some(Edit { old: text(from, "old")?, new: text(from, "new")? });
    let mut edits: Vec<Edit> = pair(arguments).into_iter().collect();
    for one in arguments.get("edits").and_then(Value::as_array).into_iter().flatten() {
        let edit = one.as_object().and_then(pair).ok_or_else(|| {
            files::failed("missing_arg", "every one of `edits` needs `old` and `new`, both texts", "")
        })?;
        edits.push(edit);
    }
    if edits.is_empty() {
        return Err(files::failed("missing_arg", "there is nothing to replace: give `old` and `new`", ""));
    }
    Ok(edits)
}

fn success(place: &Place, text: &Text, applied: &Applied, changed: bool, written: write::Written) -> Answer {
    let how = match applied.how {
        How::Exact => "exact",
        How::Tolerant => "tolerant",
    };
    let places = applied.lines.len();
    let mut answer = format!("Edited {} in {places} place{}.", place.relative, if places == 1 { "" } else { "s" });
    if applied.how == How::Tolerant {
        answer.push_str(
            " The old text was not found as written: blanks, indentation or look-alike characters differed. The new \
             text was fitted to the file; check it:",
        );
    }
    if changed {
        answer.push_str(" The file had changed since you viewed it.");
    }
    answer.push_str(files::remark(written));
    answer.push('\n');
    answer.push_str(&shown(applied));
    Answer::done(answer).with_detail(json!({
        "files": [place.relative], "match": how,
        "diff": files::difference(&place.relative, &text.body, &applied.text),
    }))
}

/// The changed lines with one more on each side, as they stand now.
fn shown(applied: &Applied) -> String {
    let Some(first) = applied.lines.iter().map(|range| range.start).min() else { return String::new() };
    let last = applied.lines.iter().map(|range| range.end).max().unwrap_or(first);
    let from = first.saturating_sub(1).max(1);
    let wanted = last + 1 - from;
    let mut result = String::new();
    for (n, line) in applied.text.lines().enumerate().skip(from - 1).take(wanted.min(MAX_SHOWN)) {
        let line: String = line.chars().take(200).collect();
        result.push_str(&format!("{:>6}\t{line}\n", n + 1));
    }
    if wanted > MAX_SHOWN {
        result.push_str("     …\n");
    }
    result
}

impl Tool for StrReplace {
    fn name(&self) -> &'static str {
        "str_replace"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/str_replace.md")
    }

    fn schema(&self) -> Value {
        let old = json!({ "type": "string", "description": "stands in the file exactly once" });
        let new = json!({ "type": "string" });
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1 },
                "old": old,
                "new": new,
                "replace_all": { "type": "boolean", "description": "every occurrence" },
                "edits": {
                    "type": "array",
                    "description": "further ones in the same file, each made after the one before; all or none",
                    "items": {
                        "type": "object",
                        "properties": { "old": old, "new": new },
                        "required": ["old", "new"],
                    },
                },
            },
            "required": ["path", "old", "new"],
        })
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
