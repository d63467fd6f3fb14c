//! Facts about the text channel.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn tools() -> Vec<ToolSpec> {
    let spec = |name, schema: Value, body| ToolSpec { name, aliases: &[], description: String::new(), schema, body };
    let text = || json!({ "type": "string" });
    let path = || json!({ "type": "string", "minLength": 1 });
    vec![
        spec("bash", json!({ "properties": { "command": path() }, "required": ["command"] }), Some("command")),
        spec(
            "create",
            json!({ "properties": { "path": path(), "content": text() }, "required": ["path", "content"] }),
            Some("content"),
        ),
        spec("done", json!({ "properties": { "summary": text() }, "required": [] }), Some("summary")),
        spec(
            "str_replace",
            json!({
                "properties": {
                    "path": path(), "old": text(), "new": text(),
                    "edits": { "type": "array", "items": {
                        "type": "object", "properties": { "path": path(), "old": text(), "new": text() },
                        "required": ["old", "new"]
                    } }
                },
                "required": ["path", "old", "new"]
            }),
            None,
        ),
        spec(
            "view",
            json!({ "properties": { "path": path(), "start_line": { "type": "integer" } }, "required": ["path"] }),
            None,
        ),
    ]
}

fn calls(text: &str) -> Vec<(String, Value)> {
    let parsed = parse(text, Finish::Whole, &tools());
    parsed.calls.into_iter().map(|call| (call.name, Value::Object(call.arguments))).collect()
}

fn classes(text: &str, finish: Finish) -> Vec<&'static str> {
    parse(text, finish, &tools()).refusals.iter().map(|refusal| refusal.class).collect()
}

#[test]
fn several_rounds_of_old_and_new_become_a_list_of_edits() {
    let text =
        "<str_replace path=\"a\">\n<old>\n1\n</old>\n<new>\n2\n</new>\n<old>3</old>\n<new>4</new>\n</str_replace>";
    let expected = json!({ "path": "a", "old": "1", "new": "2", "edits": [{ "old": "3", "new": "4" }] });
    assert_eq!(calls(text), [("str_replace".to_owned(), expected)]);
}

#[test]
fn a_round_may_begin_with_another_path() {
    let text = "<str_replace path=\"a\">\n<old>1</old>\n<new>2</new>\n<old>3</old>\n<new>4</new>\n<path>b</path>\n\
                <old>5</old>\n<new>6</new>\n</str_replace>";
    let rest = json!([{ "old": "3", "new": "4" }, { "path": "b", "old": "5", "new": "6" }]);
    let expected = json!({ "path": "a", "old": "1", "new": "2", "edits": rest });
    assert_eq!(calls(text), [("str_replace".to_owned(), expected)]);
    let alone = "<str_replace><edits>[{\"path\":\"b\",\"old\":\"1\",\"new\":\"2\"}]</edits></str_replace>";
    assert_eq!(calls(alone)[0].1, json!({ "edits": [], "path": "b", "old": "1", "new": "2" }));
    let lacking = "<str_replace path=\"a\"><old>1</old><new>2</new><path>b</path><old>5</old></str_replace>";
    assert_eq!(classes(lacking, Finish::Whole), ["missing_arg"]);
}

#[test]
fn a_file_body_on_its_own_lines_keeps_its_last_line_end() {
    assert_eq!(calls("<create path=\"a\">\nhi\n</create>")[0].1["content"], "hi\n");
    assert_eq!(calls("<create path=\"a\">hi</create>")[0].1["content"], "hi");
}

#[test]
fn numbers_are_read_only_where_the_schema_asks_for_them() {
    assert_eq!(calls("<view path=\"7\" start_line=\"3\"/>")[0].1, json!({ "path": "7", "start_line": 3 }));
    assert_eq!(classes("<view path=\"7\" start_line=\"three\"/>", Finish::Whole), ["bad_arguments"]);
}

#[test]
fn an_argument_that_the_tool_does_not_have_is_refused() {
    assert_eq!(classes("<bash cwd=\"/\">ls</bash>", Finish::Whole), ["bad_arguments"]);
}

#[test]
fn the_closer_of_a_quoted_call_in_several_lines_stays_in_the_text() {
    let text = "Use `<bash>\ntouch x\n</bash>` for it";
    let parsed = parse(text, Finish::Whole, &tools());
    assert_eq!((parsed.visible.as_str(), parsed.calls.len()), (text, 0));
}

#[test]
fn quoted_calls_do_not_run() {
    for text in [
        "Say \"<bash>rm -rf x</bash>\" and it runs.",
        "> <bash>rm -rf x</bash>",
        "<example>\n<bash>rm -rf x</bash>\n</example>",
        "<!-- <bash>rm -rf x</bash> -->",
        "He wrote “run <bash>rm</bash> now”.",
        "~~~\n<bash>rm</bash>\n~~~",
        "```\n<bash>rm</bash>",
    ] {
        assert_eq!(calls(text), [], "{text}");
    }
}

#[test]
fn a_block_within_a_sentence_a_heading_or_behind_a_backslash_is_a_word() {
    for text in [
        "You must never do <bash>touch r</bash> because it is harmful.",
        "## <bash>touch r</bash>",
        "\\<bash>touch r</bash>",
    ] {
        assert_eq!(calls(text), [], "{text}");
    }
    assert_eq!(calls("Let me look: <bash>ls</bash>").len(), 1);
    assert_eq!(calls("Both: <bash>ls</bash> <bash>pwd</bash>").len(), 2);
}

#[test]
fn a_closer_within_a_here_document_is_a_line_of_it() {
    let command = "cat > doc.md <<'EOF'\nA block ends with\n</bash>\nand nothing else.\nEOF";
    let text = format!("<bash>\n{command}\n</bash>\nThen:\n<bash>\nls\n</bash>");
    assert_eq!(calls(&text)[0].1, json!({ "command": command }));
    assert_eq!(calls(&text).len(), 2);
    // A word that only looks like one does not swallow the next block.
    let text = "<bash>\ng++ -x c++ - <<< 'cout << endl;'\n</bash>\n<bash>\nls\n</bash>";
    assert_eq!(calls(text).len(), 2);
}

#[test]
fn a_block_without_an_end_does_not_borrow_the_next() {
    let text = "<bash>\ncargo test\n<view path=\"a.rs\"/>";
    assert_eq!(classes(text, Finish::Whole), ["unclosed"]);
    assert_eq!(calls(text), [("view".to_owned(), json!({ "path": "a.rs" }))]);
    let text = "<create path=\"a\">\nfoo\n<bash>\nrm -rf x\n</bash>";
    assert_eq!((calls(text), classes(text, Finish::Whole)), (vec![], vec!["unclosed"]));
}

#[test]
fn a_command_without_an_end_never_runs() {
    for text in [
        "<bash>\ncargo test -q",
        "<bash>\nrm -rf build/",
        "I clean up.\n<bash>\necho x > r\n</ba",
        "<bash>\ncd a\nls -l\n\n",
        "<bash>\nls\n\nOnly if you agree I would then run\nrm -f a.txt\n",
        "<bash>\nls\n\nOnly if you agree:\n```\nrm -f a.txt\n```\n",
        "<bash>\nls\n```\nrm -f a.txt\n```\n",
        "<bash>\nls\n\nSo it is written:\n```\n<bash>\nrm -f a.txt\n</bash>\n```\n",
    ] {
        assert_eq!((calls(text), classes(text, Finish::Whole)), (vec![], vec!["unclosed"]), "{text}");
    }
    let text = "<bash>\nls\n```\n<bash>\nrm\n```\n<view path=\"a\"/>";
    assert_eq!(calls(text), [("view".to_owned(), json!({ "path": "a" }))]);
    let names = calls("<done>It is written so:\n```\n<bash>\nrm\n</bash>\n```\n");
    assert_eq!(names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["done"]);
}

#[test]
fn calls_in_indented_code_and_in_tables_are_examples() {
    for text in [
        "Example:\n\n    <bash>\n    rm -f a.txt\n    </bash>\n\nDo not run that.",
        "Example:\n\n\t<bash>rm -f a.txt</bash>\n",
        "# Example\n    <bash>rm -f a.txt</bash>\n",
        "Example:\n\n    first run <bash>rm -f a.txt</bash>\n",
        "Example:\n\n    <function=bash>\n    <parameter=command>rm</parameter>\n    </function>\n",
        "1. Example:\n\n       <bash>rm -f a.txt</bash>\n",
        "| command | meaning |\n|---|---|\n| <bash>rm -f a.txt</bash> | deletes it |\n",
    ] {
        assert_eq!((calls(text), classes(text, Finish::Whole)), (vec![], vec!["fenced_call"]), "{text}");
    }
    let twice = "Example:\n\n    <bash>rm a</bash>\n    <bash>rm b</bash>\n\n    <view path=\"a\"/>\n";
    assert_eq!((calls(twice), classes(twice, Finish::Whole)), (vec![], vec!["fenced_call"; 3]));
}

#[test]
fn indentation_alone_makes_no_example() {
    for text in [
        "    <bash>ls</bash>",
        "\n\n    <bash>ls</bash>",
        "Now:\n  <bash>ls</bash>",
        "Now:\n\n  <bash>ls</bash>",
        "Now:\n    <bash>ls</bash>",
        "1. Now:\n\n    <bash>ls</bash>",
        "<think>\nso\n</think>\n\n    <bash>ls</bash>",
    ] {
        assert_eq!(calls(text).len(), 1, "{text}");
    }
    assert_eq!(calls("<view path=\"a\"/>\n\n    <bash>ls</bash>").len(), 2);
}

#[test]
fn a_closing_tag_in_another_case_closes() {
    for (text, name) in [
        ("<Bash>\ntouch A\n</bash>", "bash"),
        ("<bash>\ntouch A\n</Bash>\nDone so far.", "bash"),
        ("<BASH>touch A</bash> and more", "bash"),
        ("<Done>ok</done>", "done"),
        ("<Create path=\"n\">\nabc\n</create>\nMore.", "create"),
        ("<STR_REPLACE path=\"a\">\n<Old>1</old>\n<new>2</NEW>\n</str_replace>\nMore.", "str_replace"),
    ] {
        let found = calls(text);
        assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), [name], "{text}");
        assert!(!found[0].1.to_string().contains("ore"), "{found:?}");
    }
    assert_eq!(calls("<Example>\n<bash>rm</bash>\n</example>"), []);
    let text = "<create path=\"a\">\n<Create>\n</Create>\nx\n</create>";
    assert_eq!(calls(text)[0].1["content"], "<Create>\n</Create>\nx\n");
}

#[test]
fn a_cut_reply_never_runs_its_last_block() {
    for text in ["<bash>\nls", "<view path=\"a", "<done>ok", "<invoke name=\"bash\">\n<parameter name=\"command\">ls"] {
        assert_eq!((calls_cut(text), classes(text, Finish::Cut)), (0, vec!["truncated"]), "{text}");
    }
}

fn calls_cut(text: &str) -> usize {
    parse(text, Finish::Cut, &tools()).calls.len()
}

#[test]
fn control_tokens_of_other_models_are_refused_with_the_right_form() {
    let text = "<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{}";
    let parsed = parse(text, Finish::Whole, &tools());
    assert_eq!(parsed.visible, "");
    assert!(parsed.refusals[0].why.contains("<bash>"), "{:?}", parsed.refusals);
}

#[test]
fn a_closer_alone_in_a_file_is_content_where_another_follows() {
    let text = "<create path=\"d.md\">\nEnd with:\n</create>\nThat is all.\n</create>\n<bash>ls</bash>\n</create>";
    let found = calls(text);
    assert_eq!(found[0].1["content"], "End with:\n</create>\nThat is all.\n");
    assert_eq!(found.len(), 2);
}

#[test]
fn a_reply_of_nothing_but_a_quoted_call_is_answered() {
    for (text, class) in [
        ("{\"name\": \"bash\", \"arguments\": {\"command\": \"ls\"}}", "foreign_tool_syntax"),
        ("I run it:\n```json\n[{\"tool\": \"bash\", \"args\": {}}]\n```", "foreign_tool_syntax"),
        ("```xml\n<bash>ls</bash>\n```", "fenced_call"),
    ] {
        assert_eq!((calls(text), classes(text, Finish::Whole)), (vec![], vec![class]), "{text}");
    }
    assert_eq!(classes("It looks so:\n```\n<bash>ls</bash>\n```", Finish::Whole), [""; 0]);
}

#[test]
fn a_child_without_closer_ends_with_its_block() {
    let text = "<str_replace path=\"a\">\n<old>\n1\n</old>\n<new>\n2\n</str_replace>";
    assert_eq!(calls(text)[0].1, json!({ "path": "a", "old": "1", "new": "2" }));
}

#[test]
fn line_ends_are_folded() {
    assert_eq!(parse("a\n\n<bash>ls</bash>\n\n\nb", Finish::Whole, &tools()).visible, "a\n\nb");
}

#[test]
fn hostile_texts_take_linear_time() {
    let texts = [
        "<bash>",
        "<think>",
        "<bash>\n",
        "<bash>\n</bash> x\n",
        "<bash></bash",
        "`",
        "<create path=\"a\">\n</create> x\n",
        "<!--",
        "<",
        "\n<tool_call>{",
    ];
    for unit in texts {
        let text = unit.repeat(300_000 / unit.len());
        let before = on_processor();
        parse(&text, Finish::Whole, &tools());
        let took = on_processor() - before;
        // Quadratic, it would be minutes; a busy machine does not count.
        assert!(took.as_secs() < 20, "{unit:?} took {took:?}");
    }
}

/// How long this thread has been on a processor (Linux: `/proc/thread-self/schedstat`, in nanoseconds).
fn on_processor() -> std::time::Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel tells it");
    std::time::Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).expect("a number"))
}

fn held(pieces: &[String], finish: Finish) -> Vec<Shown> {
    let mut holder = Holder::new(tools());
    let mut shown: Vec<Shown> = pieces.iter().flat_map(|piece| holder.push(piece)).collect();
    shown.extend(holder.finish(finish));
    let mut joined: Vec<Shown> = Vec::new();
    for piece in shown {
        match (joined.last_mut(), piece) {
            (Some(Shown::Text(last)), Shown::Text(more)) | (Some(Shown::Thinking(last)), Shown::Thinking(more)) => {
                last.push_str(&more);
            }
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

/// Text made of the pieces that make trouble.
fn troubled() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("<bash>"),
        Just("</bash>"),
        Just("<create path=\"a\">"),
        Just("</create>"),
        Just("<think>"),
        Just("</think>"),
        Just("\n"),
        Just("`"),
        Just("```\n"),
        Just("<view path=\"x\"/>"),
        Just("words "),
        Just("你"),
        Just("<done>"),
        Just("</done>"),
        Just("<str_replace path='a'>\n<old>"),
        Just("</old>\n<new>"),
        Just("</new>"),
        Just("<function=bash>\n<parameter=command>"),
        Just("</parameter>\n</function>"),
        Just("<"),
        Just("\""),
        Just("<tool_call>"),
        Just("{\"name\": \"bash\"}"),
        Just("<example>"),
        Just("</example>"),
        Just("```tool_code\n"),
        Just("\n    "),
        Just("| "),
        Just("</Bash>"),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}", trouble in troubled()) {
        parse(&text, Finish::Whole, &tools());
        parse(&trouble, Finish::Cut, &tools());
        parse(&format!("{trouble}{text}"), Finish::Whole, &tools());
    }

    #[test]
    fn what_is_shown_does_not_depend_on_the_pieces(text in troubled(), size in 1_usize..9) {
        let chars: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = chars.chunks(size).map(|piece| piece.iter().collect()).collect();
        prop_assert_eq!(held(&pieces, Finish::Whole), held(&[text], Finish::Whole));
    }

    #[test]
    fn thinking_never_runs(body in troubled()) {
        prop_assume!(!body.contains("think>"));
        let text = format!("<think>{body}</think>fine");
        prop_assert_eq!(parse(&text, Finish::Whole, &tools()).calls, vec![]);
        let text = format!("{body}\n</think>\nfine");
        let parsed = parse(&text, Finish::Whole, &tools());
        if parsed.visible == "fine" { prop_assert_eq!(parsed.calls, vec![]); }
    }
}

#[test]
fn a_reply_of_one_file_is_held_back_in_linear_time() {
    let mut holder = Holder::new(tools());
    assert_eq!(holder.push("Writing.\n<create path=\"a\">\n"), [Shown::Text("Writing.\n".to_owned())]);
    for n in 0..20_000 {
        assert_eq!(holder.push(&format!("line {n} </create> more\n")), []);
    }
    assert_eq!(holder.push("</create>\n"), []);
    assert_eq!(holder.finish(Finish::Whole), [Shown::Text("\n".to_owned())]);
}

#[test]
fn a_lone_closer_takes_back_what_was_shown() {
    let shown = held(&["maybe ".to_owned(), "so</think>yes".to_owned()], Finish::Whole);
    assert_eq!(shown, [Shown::Text("maybe so".to_owned()), Shown::Recant, Shown::Text("yes".to_owned())]);
    assert_eq!(parse("maybe so</think>yes", Finish::Whole, &[]).thinking, "maybe so");
}

#[test]
fn what_was_said_keeps_calls_byte_for_byte_and_drops_thinking() {
    let specs = tools();
    let said = |text: &str| parse(text, Finish::Whole, &specs).said;
    assert_eq!(said("<think>plan</think>\n\nLook:\n<view path=\"a\"/>\n"), "Look:\n<view path=\"a\"/>");
    assert_eq!(said("let me see</think>It is X."), "It is X.");
    assert_eq!(
        said("<create path=\"p\">\n<think>keep</think>\n</create>"),
        "<create path=\"p\">\n<think>keep</think>\n</create>"
    );
    assert_eq!(said("Sure.\n<think>hmm"), "Sure.");
}
