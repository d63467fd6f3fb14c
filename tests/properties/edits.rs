//! Edits on disk, through the tool: every byte outside of the span stays.

use proptest::prelude::*;
use selfsmith_agent::message::Outcome;
use selfsmith_agent::tool::{self, Surroundings};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// How a text is put on disk.
#[derive(Debug, Clone, Copy)]
enum Spelling {
    Utf8,
    Marked,
    Gbk,
    Utf16Le,
    Utf16Be,
}

impl Spelling {
    fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 | Self::Gbk => b"",
            Self::Marked => b"\xef\xbb\xbf",
            Self::Utf16Le => b"\xff\xfe",
            Self::Utf16Be => b"\xfe\xff",
        }
    }

    fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf8 | Self::Marked => text.as_bytes().to_vec(),
            Self::Gbk => encoding_rs::GBK.encode(text).0.into_owned(),
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        }
    }

    fn file(self, text: &str) -> Vec<u8> {
        [self.mark(), &self.bytes(text)].concat()
    }
}

fn spelling() -> impl Strategy<Value = Spelling> {
    prop_oneof![
        Just(Spelling::Utf8),
        Just(Spelling::Marked),
        Just(Spelling::Gbk),
        Just(Spelling::Utf16Le),
        Just(Spelling::Utf16Be),
    ]
}

/// Lines with ends of either kind, the last one perhaps without.
fn text() -> impl Strategy<Value = String> {
    let line = "[ \ta-z(){};\"中文件编辑]{0,24}";
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    (proptest::collection::vec((line, end), 0..12), line)
        .prop_map(|(lines, last)| lines.into_iter().map(|(line, end)| format!("{line}{end}")).chain([last]).collect())
}

fn call(root: &Path, arguments: &Value) -> (Outcome, String) {
    let tools = tool::table(&Surroundings { root: root.to_owned(), ..Surroundings::default() });
    let tool = tools.iter().find(|tool| tool.name() == "str_replace").expect("a tool");
    let answer = futures::executor::block_on(tool.call(arguments.as_object().expect("an object")));
    (answer.outcome, answer.text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_byte_outside_of_an_edit_stays(
        spelling in spelling(), head in text(), tail in text(), old in "OLD[a-z中]{0,8}", new in "NEW[a-z文]{0,8}",
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        // Enough of the encoding's own letters that it is recognised.
        let head = format!("编辑文件的内容，每一个字节都要保留。\r\n{head}");
        fs::write(folder.path().join("a"), spelling.file(&format!("{head}{old}{tail}"))).expect("a file");
        let (outcome, text) = call(folder.path(), &json!({ "path": "a", "old": old, "new": new }));
        prop_assert_eq!(outcome, Outcome::Done, "{}", text);
        prop_assert_eq!(fs::read(folder.path().join("a")).expect("a file"), spelling.file(&format!("{head}{new}{tail}")));
    }

    #[test]
    fn lines_that_are_found_by_their_layout_are_all_that_changes(
        spelling in spelling(), head in text(), tail in text(), indent in "[ ]{1,8}",
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let head = format!("编辑文件的内容，每一个字节都要保留。\r\n{head}\n");
        let whole = |word: &str| spelling.file(&format!("{head}{indent}BEGIN {{  \r\n{indent}  {word}\t\r\n{indent}}} END\n{tail}"));
        fs::write(folder.path().join("a"), whole("old")).expect("a file");
        let arguments = json!({ "path": "a", "old": "BEGIN {\n  old\n} END", "new": "BEGIN {\n  new\n} END" });
        let (outcome, text) = call(folder.path(), &arguments);
        prop_assert_eq!(outcome, Outcome::Done, "{}", text);
        let after = fs::read(folder.path().join("a")).expect("a file");
        let head = spelling.file(&head);
        let tail = spelling.bytes(&format!("\n{tail}"));
        prop_assert!(after.starts_with(&head) && after.ends_with(&tail));
    }

    #[test]
    fn a_set_of_edits_is_made_in_every_file_or_in_none(texts in proptest::collection::vec(text(), 2..5), fails in any::<bool>()) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |n: usize| folder.path().join(format!("f{n}"));
        for (n, text) in texts.iter().enumerate() {
            fs::write(file(n), format!("{text}OLD")).expect("a file");
        }
        let last = texts.len() - 1;
        let old = |n: usize| if fails && n == last { "ABSENT" } else { "OLD" };
        let edits: Vec<Value> =
            (0..texts.len()).map(|n| json!({ "path": format!("f{n}"), "old": old(n), "new": "NEW" })).collect();
        let (outcome, said) = call(folder.path(), &json!({ "edits": edits }));
        prop_assert_eq!(outcome == Outcome::Done, !fails, "{}", said);
        for (n, text) in texts.iter().enumerate() {
            let want = format!("{text}{}", if fails { "OLD" } else { "NEW" });
            prop_assert_eq!(fs::read_to_string(file(n)).expect("a file"), want);
        }
    }
}
