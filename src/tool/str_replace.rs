//! `str_replace`: one or several replacements in one or several files, all or none.
//!
//! Promises: what `crate::edit` promises, and that the answer says when a place was found only by its layout. A file may
//! have changed since it was viewed: then a miss says so.

use super::edited::{self, Edited};
use super::files::{self, Files, Knowledge};
use super::paths::{Place, Purpose};
use super::rounds::{self, Rounds};
use super::{Answer, Effect, Tool, compiler, whole};
use crate::edit::encoding::{self, Text};
use crate::edit::{Applied, Edit, EditError, Failed, Occurrences, apply};
use crate::snapshot::Reach;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The tool.
#[derive(Debug, Clone)]
pub struct StrReplace {
    files: Arc<Files>,
}

/// The rounds of one file, each with its number in the call.
type Placed = (Place, Vec<(usize, Edit)>);

impl StrReplace {
    /// Sharing what was seen with the other file tools.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }

    fn answer(&self, arguments: &Map<String, Value>) -> Result<Answer, Answer> {
        let rounds = rounds::read(arguments).ok_or_else(|| {
            files::failed("missing_arg", "every replacement needs `path`, `old` and `new`, all texts", "")
        })?;
        if let [Rounds { path, edits }] = rounds.as_slice()
            && let [(_, Edit { old, new })] = edits.as_slice()
            && old.is_empty()
            && !new.is_empty()
        {
            // An empty old text makes a file; one that holds anything is refused there.
            return whole::made(&self.files, &self.files.place_at(path, Purpose::Write)?, new);
        }
        let occurrences = rounds::occurrences(arguments);
        let count: usize = rounds.iter().map(|one| one.edits.len()).sum();
        let mut edited: Vec<Edited> = Vec::new();
        for (place, edits) in self.placed(rounds)? {
            edited.push(self.edited(place, &edits, occurrences, count)?);
        }
        edited::write(&self.files, &edited)
    }

    /// The rounds by the files that they are really about: one may have been named in two ways.
    fn placed(&self, rounds: Vec<Rounds>) -> Result<Vec<Placed>, Answer> {
        let mut placed: Vec<Placed> = Vec::new();
        for Rounds { path, edits } in rounds {
            let place = self.files.place_at(&path, Purpose::Edit)?;
            match placed.iter_mut().find(|(other, _)| other.absolute == place.absolute) {
                Some((_, same)) => {
                    same.extend(edits);
                    same.sort_by_key(|(n, _)| *n);
                }
                None => placed.push((place, edits)),
            }
        }
        Ok(placed)
    }

    fn edited(
        &self,
        place: Place,
        edits: &[(usize, Edit)],
        occurrences: Occurrences,
        count: usize,
    ) -> Result<Edited, Answer> {
        let before = files::load(&place)?;
        let (numbers, edits): (Vec<usize>, Vec<Edit>) = edits.iter().cloned().unzip();
        let of_all = |mut failed: Failed| {
            failed.index = numbers.get(failed.index).copied().unwrap_or(failed.index);
            self.explained(&place, &before, count, &failed)
        };
        let (text, applied) = match fitting(&before, &edits, occurrences) {
            Ok(Ok(fitting)) => fitting,
            Ok(Err(failed)) => return Err(of_all(failed)),
            Err(error) => return Err(files::unreadable(&place, error)),
        };
        Edited::new(&self.files, place, before, text, applied)
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

/// The edits in the first reading of the file in which they fit: an encoding that was guessed wrong shows by text that is
/// not found. Otherwise what is said of the likeliest reading.
fn fitting(
    before: &[u8],
    edits: &[Edit],
    occurrences: Occurrences,
) -> Result<Result<(Text, Applied), Failed>, encoding::Unreadable> {
    let mut failed: Option<Failed> = None;
    for text in encoding::readings(before)? {
        match apply(&text.body, edits, occurrences) {
            Ok(applied) => return Ok(Ok((text, applied))),
            Err(error) => {
                let final_word = !matches!(error.error, EditError::NotFound { .. });
                failed.get_or_insert(error);
                if final_word {
                    break;
                }
            }
        }
    }
    failed.map(Err).ok_or(encoding::Unreadable::Encoding)
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
        let text = json!({ "type": "string" });
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1 },
                "old": old,
                "new": text,
                "replace_all": { "type": "boolean", "description": "every occurrence, not just one" },
                "edits": {
                    "type": "array",
                    "description": "further ones in order, in another file where `path` is given; all or none",
                    "items": {
                        "type": "object",
                        "properties": { "path": text, "old": text, "new": text },
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
        let rounds = rounds::read(arguments)?;
        self.files.reach_of(rounds.iter().map(|one| one.path.as_str()))
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let answer = self.answer(arguments).unwrap_or_else(|failed| failed);
        Box::pin(compiler::checked(&self.files, answer))
    }
}

#[cfg(test)]
mod tests;
