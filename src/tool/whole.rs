//! What `create` and `write_file` share: a path and the whole text of a file as arguments, and how a new file is made.

use super::Answer;
use super::files::{self, Files};
use super::paths::Place;
use crate::edit::write::{self, Written};
use serde_json::{Map, Value, json};

/// Name of the argument with the text; the body of the tag on the text channel.
pub const CONTENT: &str = "content";

/// The schema of such a tool; the names of the two arguments say all.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            CONTENT: { "type": "string" },
        },
        "required": ["path", CONTENT],
    })
}

/// The text of a call; empty where there is none.
pub fn content(arguments: &Map<String, Value>) -> &str {
    arguments.get(CONTENT).and_then(Value::as_str).unwrap_or_default()
}

/// Make the file, or fill one that is empty.
///
/// # Errors
/// The answer for the model: it holds something, or could not be written.
pub fn made(files: &Files, place: &Place, content: &str) -> Result<Answer, Answer> {
    let before = match std::fs::symlink_metadata(&place.absolute) {
        Ok(metadata) if metadata.len() > 0 => {
            let hint = "view it, then change it with str_replace or write_file";
            return Err(files::failed("exists", format!("{} exists and is not empty", place.relative), hint));
        }
        Ok(_) => Some(Vec::new()),
        Err(_) => None,
    };
    let written = put(files, place, before, content.as_bytes())?;
    Ok(told("Created", place, "", content, written))
}

/// Write all bytes of a file in the place of those that were there, if there was one; remembered for `undo_edit`.
///
/// # Errors
/// The answer for the model: it has changed since it was read, or could not be written.
pub fn put(files: &Files, place: &Place, before: Option<Vec<u8>>, after: &[u8]) -> Result<Written, Answer> {
    let written = match &before {
        Some(before) => write::replace(&place.absolute, before, after),
        None => write::create(&place.absolute, after).map(|()| Written::Plainly),
    };
    let written = written.map_err(|error| files::unwritten(&error))?;
    files.wrote(place, after);
    files.past().add(std::iter::once((place, before, after)));
    Ok(written)
}

/// The new text with the line ends of a file that has only CRLF.
pub fn with_ends_of(before: &str, content: &str) -> String {
    let only_crlf = before.contains("\r\n") && before.matches('\n').count() == before.matches("\r\n").count();
    if only_crlf && !content.contains('\r') { content.replace('\n', "\r\n") } else { content.to_owned() }
}

/// The answer after the whole text of a file was written; `did` begins its sentence.
pub fn told(did: &str, place: &Place, before: &str, after: &str, written: Written) -> Answer {
    let lines = after.lines().count();
    let (remark, syntax) = (files::remark(written), files::syntax_remark(place, before, after));
    Answer::done(format!("{did} {} ({lines} lines).{remark}{syntax}", place.relative)).with_detail(json!({
        "files": [place.relative], "diff": files::difference(&place.relative, before, after),
    }))
}
