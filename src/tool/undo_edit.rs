//! `undo_edit`: takes back the last edit of a file by the tools of this session, byte for byte, and only where the file still
//! is what that edit left. A file that a tool made is removed again.

use super::files::{self, Files};
use super::paths::Purpose;
use super::{Answer, Effect, Tool};
use crate::edit::{encoding, write};
use crate::snapshot::Reach;
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The tool.
#[derive(Debug, Clone)]
pub struct UndoEdit {
    files: Arc<Files>,
}

impl UndoEdit {
    /// Knowing what the other file tools did.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }

    fn answer(&self, arguments: &Map<String, Value>) -> Result<Answer, Answer> {
        let place = self.files.place(arguments, Purpose::Edit)?;
        let Some((step, others)) = self.files.past().last(&place.absolute) else {
            let message = format!("no tool has edited {} in this session", place.relative);
            return Err(files::failed("no_change", message, "what a command changed is not known here"));
        };
        let now = files::load(&place)?;
        if !step.left(&now) {
            let message = format!("{} is not what its last edit left, so nothing was taken back", place.relative);
            return Err(files::failed("changed", message, "view it, then change it with str_replace"));
        }
        let mut text = match &step.before {
            Some(before) => {
                let written =
                    write::replace(&place.absolute, &now, before).map_err(|error| files::unwritten(&error))?;
                self.files.edited(&place, &now, before);
                format!("Took back the last edit of {}.{}", place.relative, files::remark(written))
            }
            None => {
                write::remove(&place.absolute, &now).map_err(|error| files::unwritten(&error))?;
                format!("Removed {}, which had been made by its last edit.", place.relative)
            }
        };
        self.files.past().forget(&place.absolute);
        if !others.is_empty() {
            text.push_str(&format!(" The same call had changed {}: that stays.", others.join(", ")));
        }
        let shown = |bytes: &[u8]| encoding::read(bytes).map(|text| text.body).unwrap_or_default();
        let before = step.before.as_deref().map(shown).unwrap_or_default();
        let diff = files::difference(&place.relative, &shown(&now), &before);
        Ok(Answer::done(text).with_detail(json!({ "files": [place.relative], "diff": diff })))
    }
}

impl Tool for UndoEdit {
    fn name(&self) -> &'static str {
        "undo_edit"
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/undo_edit.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": { "path": { "type": "string", "minLength": 1 } },
            "required": ["path"],
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Outcome;
    use crate::tool::{self, Surroundings};
    use futures::executor::block_on;
    use std::fs;
    use std::path::PathBuf;

    struct World {
        folder: tempfile::TempDir,
        tools: Vec<Box<dyn Tool>>,
    }

    const MIXED: &[u8] = b"\xef\xbb\xbfone\r\ntwo\nthree";

    fn world() -> World {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a.txt"), MIXED).expect("a file");
        fs::write(folder.path().join("b.txt"), "one\n").expect("a file");
        let surroundings = Surroundings { root: folder.path().to_owned(), ..Surroundings::default() };
        World { tools: tool::table(&surroundings), folder }
    }

    impl World {
        fn call(&self, name: &str, arguments: Value) -> Answer {
            let tool = self.tools.iter().find(|tool| tool.name() == name).expect("a tool");
            block_on(tool.call(arguments.as_object().expect("an object")))
        }

        fn undo(&self, path: &str) -> Answer {
            self.call("undo_edit", json!({ "path": path }))
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }
    }

    #[test]
    fn edits_go_back_one_by_one_to_the_very_bytes() {
        let world = world();
        let other = json!({ "path": "b.txt", "old": "one", "new": "1" });
        world.call("str_replace", json!({ "path": "a.txt", "old": "one", "new": "1", "edits": [other] }));
        let middle = fs::read(world.path("a.txt")).expect("a file");
        world.call("view", json!({ "path": "a.txt" }));
        world.call("write_file", json!({ "path": "a.txt", "content": "new\n" }));
        assert_eq!(world.undo("a.txt").text, "Took back the last edit of a.txt.");
        assert_eq!(fs::read(world.path("a.txt")).expect("a file"), middle);
        let answer = world.undo("a.txt");
        assert!(answer.text.ends_with("The same call had changed b.txt: that stays."), "{}", answer.text);
        assert_eq!(fs::read(world.path("a.txt")).expect("a file"), MIXED);
        assert_eq!(world.undo("a.txt").detail["error"], "no_change");
    }

    #[test]
    fn a_file_that_is_not_what_the_edit_left_stays() {
        let world = world();
        world.call("str_replace", json!({ "path": "b.txt", "old": "one", "new": "1" }));
        fs::write(world.path("b.txt"), "1\nand by hand\n").expect("a file");
        assert_eq!(world.undo("b.txt").detail["error"], "changed");
        assert_eq!(fs::read(world.path("b.txt")).expect("a file"), b"1\nand by hand\n");
    }

    #[test]
    fn a_file_that_was_made_is_removed_again() {
        let world = world();
        world.call("create", json!({ "path": "c/d.txt", "content": "x\n" }));
        let answer = world.undo("c/d.txt");
        assert_eq!(answer.outcome, Outcome::Done, "{}", answer.text);
        assert!(!world.path("c/d.txt").exists());
        assert_eq!(world.undo("c/d.txt").detail["error"], "no_such_file");
    }
}
