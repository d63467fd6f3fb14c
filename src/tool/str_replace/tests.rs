//! Edits of several files in one call.

use super::*;
use crate::message::Outcome;
use crate::tool::Surroundings;
use futures::executor::block_on;
use std::fs;

struct World {
    folder: tempfile::TempDir,
    tool: StrReplace,
}

const GBK: &[u8] = b"\xd6\xd0\xce\xc4 one\r\n\xce\xc4\xbc\xfe two";

fn world() -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("work");
    fs::create_dir(&root).expect("a folder");
    fs::write(root.join("a.txt"), "one\ntwo\n").expect("a file");
    fs::write(root.join("b.txt"), b"\xef\xbb\xbfone\r\ntwo\r\n").expect("a file");
    fs::write(root.join("c.txt"), GBK).expect("a file");
    let files =
        Files::new(&Surroundings { root, journal: Some(folder.path().join("state")), ..Surroundings::default() });
    World { folder, tool: StrReplace::new(files) }
}

impl World {
    fn call(&self, arguments: Value) -> Answer {
        block_on(self.tool.call(arguments.as_object().expect("an object")))
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join("work").join(name)).expect("a file")
    }

    fn names(&self) -> usize {
        fs::read_dir(self.folder.path().join("work")).expect("a folder").count()
    }
}

fn round(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "old": old, "new": new })
}

#[test]
fn files_of_several_encodings_are_edited_in_one_call() {
    let world = world();
    let edits = [round("b.txt", "one\ntwo", "1\n2"), round("./a.txt", "two", "2"), round("c.txt", "two", "2 文")];
    let answer = world.call(json!({ "path": "a.txt", "old": "one", "new": "1", "edits": edits }));
    assert_eq!(answer.outcome, Outcome::Done, "{}", answer.text);
    assert_eq!(world.bytes("a.txt"), b"1\n2\n");
    assert_eq!(world.bytes("b.txt"), b"\xef\xbb\xbf1\r\n2\r\n");
    assert_eq!(world.bytes("c.txt"), b"\xd6\xd0\xce\xc4 one\r\n\xce\xc4\xbc\xfe 2 \xce\xc4");
    assert_eq!(answer.detail["files"], json!(["a.txt", "b.txt", "c.txt"]));
    assert!(
        answer.text.starts_with("Edited a.txt in 2 places.\n     1\t1\n     2\t2\nEdited b.txt"),
        "{}",
        answer.text
    );
    assert_eq!(world.names(), 3);
}

#[test]
fn one_edit_that_does_not_fit_leaves_every_file_as_it_was() {
    let world = world();
    for (bad, class) in [
        (round("c.txt", "none", "x"), "not_found"),
        (round("c.txt", "two", "🙂"), "bad_encoding"),
        (round("d.txt", "two", "x"), "no_such_file"),
        (round("../d.txt", "two", "x"), "outside_root"),
    ] {
        let edits = [round("b.txt", "one", "1"), bad];
        let answer = world.call(json!({ "path": "a.txt", "old": "one", "new": "1", "edits": edits }));
        assert_eq!(answer.detail["error"], class, "{}", answer.text);
        assert_eq!(world.bytes("a.txt"), b"one\ntwo\n");
        assert_eq!(world.bytes("b.txt"), b"\xef\xbb\xbfone\r\ntwo\r\n");
        assert_eq!(world.bytes("c.txt"), GBK);
    }
    let edits = [round("b.txt", "one", "1"), round("c.txt", "none", "x")];
    let answer = world.call(json!({ "path": "a.txt", "old": "one", "new": "1", "edits": edits }));
    assert!(answer.text.contains("This was edit 3 of 3; none of them was made."), "{}", answer.text);
}

#[test]
fn every_file_of_a_call_may_be_changed_by_it_and_no_other() {
    let world = world();
    let arguments = json!({ "path": "a.txt", "old": "one", "new": "1", "edits": [round("b.txt", "one", "1")] });
    let root = fs::canonicalize(world.folder.path().join("work")).expect("the root");
    let reach = world.tool.reach(arguments.as_object().expect("an object"));
    assert_eq!(reach, Some(Reach::Files(vec![root.join("a.txt"), root.join("b.txt")])));
}
