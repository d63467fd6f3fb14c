//! `write_file`: the whole text of a file anew, if all of it was read in this session and is unchanged since.

use super::files::{self, Files, Knowledge};
use super::paths::{Place, Purpose};
use super::{Answer, Effect, Tool, compiler, whole};
use crate::edit::{EditError, encoding, placeholder};
use crate::snapshot::Reach;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The tool.
#[derive(Debug, Clone)]
pub struct WriteFile {
    files: Arc<Files>,
}

impl WriteFile {
    /// Sharing what was seen with the other file tools.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }

    fn answer(&self, arguments: &Map<String, Value>) -> Result<Answer, Answer> {
        let place = self.files.place(arguments, Purpose::Write)?;
        let content = whole::content(arguments);
        match std::fs::symlink_metadata(&place.absolute) {
            Ok(metadata) if metadata.len() > 0 => self.rewritten(&place, content),
            _ => whole::made(&self.files, &place, content),
        }
    }

    fn rewritten(&self, place: &Place, content: &str) -> Result<Answer, Answer> {
        let before = files::load(place)?;
        let why = match self.files.knowledge(place, &before) {
            Knowledge::Whole => None,
            Knowledge::Unseen => Some("was not read in this session"),
            Knowledge::Changed => Some("has changed since it was read"),
            Knowledge::Part => Some("was read only in part"),
        };
        if let Some(why) = why {
            let message = format!("{} {why}, so it is not overwritten", place.relative);
            return Err(files::failed("unread", message, "view all of it first"));
        }
        let text = encoding::read(&before).map_err(|error| files::unreadable(place, error))?;
        if let Some(line) = placeholder(&text.body, content) {
            return Err(files::unedited(place, &EditError::Placeholder { line }));
        }
        let content = whole::with_ends_of(&text.body, content);
        if content == text.body {
            return Err(files::unedited(place, &EditError::NoChange));
        }
        let after = text.spell(&before, &content).map_err(|error| files::unedited(place, &error))?;
        let written = whole::put(&self.files, place, Some(before), &after)?;
        Ok(whole::told("Wrote", place, &text.body, &content, written))
    }
}

impl Tool for WriteFile {
    fn name(&self) -> &'static str {
        "write_file"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/write_file.md")
    }

    fn schema(&self) -> Value {
        whole::schema()
    }

    fn body(&self) -> Option<&'static str> {
        Some(whole::CONTENT)
    }

    fn effect(&self) -> Effect {
        Effect::Writes
    }

    fn reach(&self, arguments: &Map<String, Value>) -> Option<Reach> {
        self.files.reach(arguments)
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let answer = self.answer(arguments).unwrap_or_else(|failed| failed);
        Box::pin(compiler::checked(&self.files, answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Outcome;
    use crate::tool::Surroundings;
    use crate::tool::view::View;
    use futures::executor::block_on;
    use serde_json::json;
    use std::fs;

    struct Session {
        folder: tempfile::TempDir,
        view: View,
        write: WriteFile,
    }

    fn session() -> Session {
        let folder = tempfile::tempdir().expect("a folder");
        let files = Files::new(&Surroundings { root: folder.path().to_owned(), ..Surroundings::default() });
        Session { folder, view: View::new(Arc::clone(&files)), write: WriteFile::new(files) }
    }

    impl Session {
        fn view(&self, more: Value) -> Answer {
            self.call(&self.view, more)
        }

        fn write(&self, content: &str) -> Answer {
            self.call(&self.write, json!({ "content": content }))
        }

        fn call(&self, tool: &dyn Tool, more: Value) -> Answer {
            let mut arguments = more.as_object().cloned().unwrap_or_default();
            arguments.insert("path".to_owned(), json!("a.txt"));
            block_on(tool.call(&arguments))
        }

        fn file(&self) -> std::path::PathBuf {
            self.folder.path().join("a.txt")
        }
    }

    #[test]
    fn a_file_is_replaced_only_when_all_of_it_was_read_and_it_is_unchanged() {
        let session = session();
        fs::write(session.file(), "one\r\ntwo\r\n").expect("a file");
        assert_eq!(session.write("x\n").detail["error"], "unread");
        session.view(json!({ "start_line": 2 }));
        assert_eq!(session.write("x\n").detail["error"], "unread");
        session.view(json!({ "end_line": 1 }));
        fs::write(session.file(), "other\r\n").expect("a file");
        assert_eq!(session.write("x\n").detail["error"], "unread");
        session.view(json!({}));
        assert_eq!(session.write("x\ny\n").outcome, Outcome::Done);
        assert_eq!(fs::read(session.file()).expect("the file"), b"x\r\ny\r\n");
        assert_eq!(session.write("z\n").outcome, Outcome::Done);
    }

    #[test]
    fn a_comment_in_place_of_code_is_refused() {
        let session = session();
        fs::write(session.file(), "fn a() {}\nfn b() {}\n").expect("a file");
        session.view(json!({}));
        assert_eq!(session.write("fn a() {}\n// ... rest of the code\n").detail["error"], "placeholder");
        assert_eq!(fs::read(session.file()).expect("the file"), b"fn a() {}\nfn b() {}\n");
    }

    #[test]
    fn a_file_that_is_not_there_is_made() {
        let session = session();
        assert_eq!(session.write("x\n").outcome, Outcome::Done);
        assert_eq!(session.write("y\n").outcome, Outcome::Done);
        assert_eq!(fs::read(session.file()).expect("the file"), b"y\n");
    }
}
