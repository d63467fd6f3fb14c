//! Records turns to a new file, one line a turn, each on disk before the call returns.
//!
//! Requests grow at their end, so a line holds only what is new against the turn before (`kept` and the rest).

use crate::drift::Normaliser;
use crate::error::CassetteError;
use crate::reply::Reply;
use crate::tape::{Entry, Header};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// An open recording.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: File,
    normaliser: Normaliser,
    turns: usize,
    before: Vec<Value>,
    tools: Option<Value>,
}

impl Recorder {
    /// Start a recording in a new file.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn create(path: &Path, header: &Header, normaliser: Normaliser) -> Result<Self, CassetteError> {
        let file = File::options().append(true).create_new(true).open(path).map_err(|source| {
            if source.kind() == std::io::ErrorKind::AlreadyExists {
                CassetteError::Exists { path: path.to_owned() }
            } else {
                CassetteError::Write { path: path.to_owned(), source }
            }
        })?;
        let mut recorder = Self { path: path.to_owned(), file, normaliser, turns: 0, before: Vec::new(), tools: None };
        recorder.line(header)?;
        Ok(recorder)
    }

    /// Add a turn. `request` is the body as sent; its credentials travel in headers and so never get here.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, request: &Value, reply: &Reply) -> Result<(), CassetteError> {
        let request = Some(self.shortened(&self.normaliser.value(request)));
        self.turns += 1;
        self.line(&Entry { turn: Some(self.turns), request, reply: reply.clone() })
    }

    /// Only what is new: messages after those that the turn before had, tools only when they changed.
    fn shortened(&mut self, request: &Value) -> Value {
        let messages = request.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
        let kept = messages.iter().zip(&self.before).take_while(|(now, before)| now == before).count();
        let mut short = Map::new();
        if let Some(model) = request.get("model") {
            short.insert("model".into(), model.clone());
        }
        if kept > 0 {
            short.insert("kept".into(), kept.into());
        }
        short.insert("messages".into(), Value::Array(messages.iter().skip(kept).cloned().collect()));
        let tools = request.get("tools").cloned();
        if tools.is_some() && (kept == 0 || tools != self.tools) {
            short.insert("tools".into(), tools.clone().unwrap_or_default());
        }
        self.before = messages;
        self.tools = tools;
        Value::Object(short)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), CassetteError> {
        let path = self.path.clone();
        let write = |source| CassetteError::Write { path, source };
        let mut line = serde_json::to_vec(value).map_err(|why| write.clone()(why.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).map_err(write)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::player::Player;
    use crate::reply::SpokenReply;
    use crate::tape::Tape;
    use serde_json::json;

    fn said(text: &str) -> Reply {
        Reply::Spoken(SpokenReply { text: text.into(), ..SpokenReply::default() })
    }

    fn asked(root: &str, texts: &[&str]) -> Value {
        let messages: Vec<Value> =
            texts.iter().map(|text| json!({"role": "user", "content": format!("{root}: {text}")})).collect();
        json!({"model": "m", "messages": messages, "tools": [{"name": "view"}]})
    }

    #[test]
    fn a_recording_replays_elsewhere_without_drift_and_names_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let at = |root: &str| Normaliser::new(vec![(root.into(), "$ROOT".into())]);
        let mut recorder = Recorder::create(&path, &Header::new(Some("m".into()), None), at("/here")).unwrap();
        recorder.append(&asked("/here", &["a"]), &said("1")).unwrap();
        recorder.append(&asked("/here", &["a", "b"]), &said("2")).unwrap();

        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("/here"), "{text}");
        assert_eq!(text.matches("\"tools\"").count(), 1, "{text}");

        let mut player = Player::new(Tape::read(&path).unwrap(), at("/there"));
        assert_eq!(player.take(&asked("/there", &["a"])).unwrap().drift, None);
        let second = player.take(&asked("/there", &["a", "X"])).unwrap();
        assert_eq!(second.reply, said("2"));
        assert_eq!(
            second.drift.unwrap().to_string(),
            "turn 2, message 1 (user): the tape has \"$ROOT: b\", now it is \"$ROOT: X\""
        );
        let end = player.take(&asked("/there", &[])).unwrap_err().to_string();
        assert!(end.starts_with("answer turn 3: the cassette ") && end.ends_with("ends after 2 turns"), "{end}");
    }

    #[test]
    fn a_recording_never_overwrites_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "mine").unwrap();
        let error = Recorder::create(&path, &Header::new(None, None), Normaliser::default()).unwrap_err();
        assert!(matches!(error, CassetteError::Exists { .. }));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }
}
