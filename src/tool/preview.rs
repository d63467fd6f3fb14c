//! What a call would change, told before it runs: for the person who is asked.
//!
//! Reads files and writes none. Promises the difference that the tool would make on the files as they are now; nothing is
//! promised of a call that would fail, nor of tools that run programs.

use super::edit_symbol;
use super::files;
use super::paths::{Place, Purpose, Workspace};
use super::rounds::{self, Rounds};
use super::whole;
use crate::edit::{Edit, Occurrences, apply, encoding};
use serde_json::{Map, Value};
use std::path::Path;

/// The difference that a call would make below this root; nothing where it cannot be told.
pub fn preview(root: &Path, tool: &str, arguments: &Map<String, Value>) -> Option<String> {
    let workspace = Workspace::new(root);
    match tool {
        "create" | "write_file" => {
            let place = workspace.resolve(text(arguments, "path")?, Purpose::Write).ok()?;
            let before = match std::fs::symlink_metadata(&place.absolute) {
                Ok(metadata) if metadata.len() > 0 && tool == "create" => return None,
                Ok(_) => read(&place)?.into_iter().next()?,
                Err(_) => String::new(),
            };
            let after = whole::with_ends_of(&before, text(arguments, "content")?);
            Some(files::whole_difference(&place.relative, &before, &after))
        }
        "str_replace" => replaced(&workspace, arguments),
        "edit_symbol" => defined(&workspace, arguments),
        _ => None,
    }
}

/// Edits of one or several files.
fn replaced(workspace: &Workspace, arguments: &Map<String, Value>) -> Option<String> {
    let occurrences = rounds::occurrences(arguments);
    let mut differences = String::new();
    for Rounds { path, edits } in rounds::read(arguments)? {
        let edits: Vec<Edit> = edits.into_iter().map(|(_, edit)| edit).collect();
        differences.push_str(&edited(workspace, &path, &edits, occurrences)?);
    }
    (!differences.is_empty()).then_some(differences)
}

/// A definition's new text.
fn defined(workspace: &Workspace, arguments: &Map<String, Value>) -> Option<String> {
    let place = workspace.resolve(text(arguments, "path")?, Purpose::Edit).ok()?;
    let before = read(&place)?.into_iter().next()?;
    let after = edit_symbol::replaced(&place, &before, text(arguments, "name")?, text(arguments, "new")?).ok()?;
    Some(files::whole_difference(&place.relative, &before, &after.text))
}

fn edited(workspace: &Workspace, path: &str, edits: &[Edit], occurrences: Occurrences) -> Option<String> {
    if let [Edit { old, new }] = edits
        && old.is_empty()
    {
        let place = workspace.resolve(path, Purpose::Write).ok()?;
        let there = std::fs::symlink_metadata(&place.absolute).is_ok_and(|metadata| metadata.len() > 0);
        return (!there).then(|| files::whole_difference(&place.relative, "", new));
    }
    let place = workspace.resolve(path, Purpose::Edit).ok()?;
    let readings = read(&place)?;
    let fitting = readings.iter().find_map(|before| Some((before, apply(before, edits, occurrences).ok()?.text)));
    fitting.map(|(before, after)| files::whole_difference(&place.relative, before, &after))
}

/// A file's text in each encoding that it may have.
fn read(place: &Place) -> Option<Vec<String>> {
    let bytes = files::load(place).ok()?;
    Some(encoding::readings(&bytes).ok()?.map(|text| text.body).collect())
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn previewed(tool: &str, arguments: Value) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.txt"), "one\ntwo\nthree\n").expect("a file");
        std::fs::write(folder.path().join("a.py"), "def f():\n    return 1\n").expect("a file");
        let shown = preview(folder.path(), tool, arguments.as_object().expect("an object"));
        let left = std::fs::read_to_string(folder.path().join("a.txt")).expect("the file");
        assert_eq!(left, "one\ntwo\nthree\n");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
        shown
    }

    #[test]
    fn the_difference_of_an_edit_is_told_and_nothing_is_written() {
        let edit = json!({ "path": "a.txt", "old": "two", "new": "2", "edits": [{ "old": "three", "new": "3" }] });
        let shown = previewed("str_replace", edit).expect("a difference");
        assert!(shown.contains("-two\n-three\n+2\n+3\n"), "{shown}");
        let whole = previewed("write_file", json!({ "path": "a.txt", "content": "one\ntwo\n" })).expect("a difference");
        assert!(whole.contains("-three\n") && !whole.contains("-one"), "{whole}");
        let symbol = json!({ "path": "a.py", "name": "f", "new": "def f():\n    return 2\n" });
        let symbol = previewed("edit_symbol", symbol).expect("a difference");
        assert!(symbol.contains("-    return 1\n+    return 2\n"), "{symbol}");
        let new = previewed("create", json!({ "path": "b/c.txt", "content": "x\n" })).expect("a difference");
        assert!(new.contains("+++ b/b/c.txt") && new.contains("+x\n"), "{new}");
    }

    #[test]
    fn line_ends_that_a_whole_new_text_would_take_over_are_no_difference() {
        let folder = tempfile::tempdir().expect("a folder");
        let shown = |before: &str, content: &str| {
            std::fs::write(folder.path().join("a.txt"), before).expect("a file");
            let arguments = json!({ "path": "a.txt", "content": content });
            preview(folder.path(), "write_file", arguments.as_object().expect("an object")).expect("a difference")
        };
        assert!(shown("one\r\ntwo\r\n", "one\n2\n").contains("-two\r\n+2\r\n"));
        // Where the ends differ the text is written as it is.
        assert!(shown("one\r\ntwo\n", "one\n2\n").contains("-one\r\n-two\n+one\n+2\n"));
    }

    #[test]
    fn what_would_fail_has_no_difference() {
        assert_eq!(previewed("str_replace", json!({ "path": "a.txt", "old": "none", "new": "x" })), None);
        assert_eq!(previewed("create", json!({ "path": "a.txt", "content": "x" })), None);
        assert_eq!(previewed("create", json!({ "path": "../x", "content": "x" })), None);
        assert_eq!(previewed("bash", json!({ "command": "rm a.txt" })), None);
    }
}
