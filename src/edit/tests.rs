//! Facts about the edit engine.

use super::encoding::{Text, read, readings};
use super::*;
use proptest::prelude::*;

fn edited(text: &str, old: &str, new: &str) -> Result<(String, How), &'static str> {
    let edit = Edit { old: old.to_owned(), new: new.to_owned() };
    match apply(text, &[edit], Occurrences::One) {
        Ok(applied) => Ok((applied.text, applied.how)),
        Err(failed) => Err(failed.error.class()),
    }
}

#[test]
fn lines_that_an_edit_keeps_stay_as_the_file_has_them() {
    let file = "say “a”  \n\tfoo();\nend\n";
    let (text, how) = edited(file, "say \"a\"\n    foo();\nend", "say \"a\"\n    bar();\nend").expect("an edit");
    assert_eq!((text.as_str(), how), ("say “a”  \n\tbar();\nend\n", How::Tolerant));
}

#[test]
fn new_lines_take_the_line_ends_of_their_place() {
    let (text, _) = edited("a\r\nb\r\n", "b", "b\nc").expect("an edit");
    assert_eq!(text, "a\r\nb\r\nc\r\n");
    let (text, _) = edited("a\r\nb\nc\r\nd\n", "c\n", "C\n").expect("an edit");
    assert_eq!(text, "a\r\nb\nC\r\nd\n");
}

#[test]
fn line_numbers_of_a_listing_are_never_written() {
    let (text, how) = edited("alpha\nbeta\n", "     2\tbeta", "     2\tBETA").expect("an edit");
    assert_eq!((text.as_str(), how), ("alpha\nBETA\n", How::Tolerant));
}

#[test]
fn every_occurrence_is_replaced_on_request_and_only_then() {
    let edit = [Edit { old: "x".to_owned(), new: "xx".to_owned() }];
    assert_eq!(edited("x x x", "x", "xx"), Err("ambiguous"));
    assert_eq!(apply("x x x", &edit, Occurrences::All).expect("edits").text, "xx xx xx");
}

#[test]
fn several_edits_happen_all_or_none() {
    let edit = |old: &str, new: &str| Edit { old: old.to_owned(), new: new.to_owned() };
    let failed = apply("a\nb\n", &[edit("a", "A"), edit("zzz", "y")], Occurrences::One).expect_err("no such text");
    assert_eq!((failed.index, failed.error.class()), (1, "not_found"));
    assert_eq!(apply("a\nb\n", &[edit("a", "A"), edit("A\nb", "c")], Occurrences::One).expect("edits").text, "c\n");
}

#[test]
fn a_miss_shows_the_nearest_line_and_what_cannot_be_seen() {
    let edit = [Edit { old: "    let total = sum(a, c);".to_owned(), new: "x".to_owned() }];
    let failed = apply("fn f() {\n\tlet total = sum(a, b); \n}\n", &edit, Occurrences::One).expect_err("a miss");
    assert!(failed.error.to_string().contains("*    2 →let total = sum(a, b);·"), "{}", failed.error);
    let failed = apply("const c = 1;\n", &edit, Occurrences::One).expect_err("a miss");
    assert!(!failed.error.to_string().contains("nearest"), "{}", failed.error);
}

#[test]
fn a_miss_of_few_lines_shows_their_neighbours() {
    let text = "a();\nb();\nout()\n    .write(all)\n    .or(fail)\n}\nend\n";
    let edit = [Edit { old: "out().write(all).or(fail)\n".to_owned(), new: "x\n".to_owned() }];
    let said = apply(text, &edit, Occurrences::One).expect_err("a miss").error.to_string();
    assert!(said.contains("    3 out()\n") && said.contains("    5 ····.or(fail)"), "{said}");
}

#[test]
fn lines_are_counted_in_the_text_that_all_edits_leave() {
    let edit = |old: &str, new: &str| Edit { old: old.to_owned(), new: new.to_owned() };
    let edits = [edit("d\n", "D\n"), edit("a\n", "a\nb\nc\n"), edit("e\n", "")];
    let applied = apply("a\nd\ne\nf\n", &edits, Occurrences::One).expect("they fit");
    assert_eq!((applied.text.as_str(), applied.lines), ("a\nb\nc\nD\nf\n", vec![4..5, 1..4, 5..6]));
    let applied = apply("x\nx\n", &[edit("x\n", "y\nz\n")], Occurrences::All).expect("they fit");
    assert_eq!(applied.lines, [3..5, 1..3]);
}

#[test]
fn legacy_files_keep_every_byte_outside_the_span() {
    let gbk: &[u8] = b"// \xd6\xd0\xce\xc4\r\nint a;\r\n";
    let text = readings(gbk).expect("text").find(|text| text.body.contains("中文")).expect("GBK");
    let edit = [Edit { old: "// 中文\nint a;".to_owned(), new: "// 中文\nint b;".to_owned() }];
    let applied = apply(&text.body, &edit, Occurrences::One).expect("an edit");
    let expected: &[u8] = b"// \xd6\xd0\xce\xc4\r\nint b;\r\n";
    assert_eq!(text.splice(gbk, &applied.splices).expect("bytes"), expected);
    let utf16 = b"\xff\xfea\0 \0=\0";
    let text = read(utf16).expect("text");
    assert_eq!(text.splice(utf16, &[(0..1, "é".to_owned())]).expect("bytes"), b"\xff\xfe\xe9\0 \0=\0");
}

#[test]
fn a_character_that_the_encoding_lacks_is_refused() {
    let text = read(b"x caf\xe9\n").expect("text");
    assert_eq!(text.splice(b"x caf\xe9\n", &[(0..1, "→".to_owned())]).map_err(|e| e.class()), Err("bad_encoding"));
    assert_eq!(read(b"a\0b").map_err(|e| e.class()), Err("binary"));
}

fn trouble() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("a"),
        Just("foo();"),
        Just("\n"),
        Just("\r\n"),
        Just("\t"),
        Just("    "),
        Just(" "),
        Just("“你”"),
        Just("\""),
        Just("}"),
        Just("1\t"),
        Just("..."),
    ];
    prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_outside_the_spans_changes(text in trouble(), old in trouble(), new in trouble()) {
        let edit = [Edit { old, new }];
        if let Ok(applied) = apply(&text, &edit, Occurrences::One) {
            let (span, replacement) = &applied.splices[0];
            let outside = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default().to_owned();
            let rebuilt = outside(0..span.start) + replacement + &outside(span.end..text.len());
            prop_assert_eq!(&applied.text, &rebuilt);
            let bytes = Text::utf8(&text).splice(text.as_bytes(), &applied.splices).expect("UTF-8 takes everything");
            prop_assert_eq!(bytes, rebuilt.into_bytes());
        }
    }

    #[test]
    fn a_unique_literal_hit_is_edited_literally(head in trouble(), tail in trouble(), new in "[a-z]{1,9}") {
        let text = format!("{head}<unique mark>{tail}");
        let applied = edited(&text, "<unique mark>", &new);
        prop_assert_eq!(applied, Ok((format!("{head}{new}{tail}"), How::Exact)));
    }

    #[test]
    fn any_bytes_are_read_or_refused_and_come_back_the_same(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = read(&bytes) {
            prop_assert_eq!(text.spell(&bytes, &text.body).expect("its own text"), bytes);
        }
    }
}
