//! The REPL while the model works: streaming, Ctrl-C, questions with a difference, typing ahead, another size.

use crate::support::{World, reply, says};
use crate::terminal::Terminal;
use selfsmith_cassette::Reply;
use serde_json::json;

const TERM: &str = "xterm-256color";
const SIZE: (u16, u16) = (80, 24);

fn started(world: &World, arguments: &[&str]) -> Terminal {
    let mut terminal = Terminal::start(world, TERM, SIZE, arguments);
    terminal.fresh();
    terminal
}

/// Words that come one after the other, and then nothing more.
fn hanging(words: &[&str]) -> Reply {
    let chunk = |word: &&str| {
        let choice = json!({ "index": 0, "delta": { "content": word }, "finish_reason": null });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let chunks: Vec<String> = words.iter().map(chunk).collect();
    let headers = json!({ "content-type": "text/event-stream" });
    reply(json!({ "status": 200, "headers": headers, "chunks": chunks, "then": "stall" }))
}

#[test]
fn an_answer_is_seen_while_it_streams_and_is_final_block_by_block() {
    let world = World::new(vec![hanging(&["# Title\n\nA whole *para", "graph*.\n\nAnd one that ", "goes on"])]);
    let mut terminal = started(&world, &[]);
    terminal.press("go\r");
    terminal.shows("streaming", "goes on");
    terminal.press("\u{3}");
    terminal.sees("stopped");
    terminal.leave();
}

#[test]
fn ctrl_c_while_an_answer_streams_stops_it_and_the_session_goes_on() {
    let world = World::new(vec![hanging(&["I begin\n\n"]), says("Still here.")]);
    let mut terminal = started(&world, &[]);
    terminal.press("first\r");
    terminal.sees_row("I begin");
    terminal.press("\u{3}");
    terminal.sees("stopped");
    terminal.idle();
    terminal.shows("stopped-while-streaming", "stopped");
    terminal.press("second\r");
    terminal.sees_row("Still here.");
    terminal.leave();
}

#[test]
fn ctrl_c_while_a_tool_runs_ends_its_processes() {
    let world = World::new(vec![says("<bash>sleep 600; touch ended</bash>")]);
    let mut terminal = started(&world, &["--channel", "text", "--approval", "auto"]);
    terminal.press("run it\r");
    terminal.sees("bash… N s");
    terminal.press("\u{3}");
    terminal.sees("stopped");
    terminal.idle();
    terminal.shows("stopped-in-a-tool", "stopped");
    terminal.leave();
    assert!(!world.work().join("ended").exists());
}

#[test]
fn ctrl_c_twice_while_it_works_leaves() {
    // A server that never answers, and a tool that cannot be stopped at once, look the same from here.
    let world = World::new(vec![hanging(&["I begin\n\n"])]);
    let mut terminal = started(&world, &[]);
    terminal.press("first\r");
    terminal.sees_row("I begin");
    terminal.press("\u{3}\u{3}\u{3}");
    let code = terminal.any_end();
    assert!([0, 130].contains(&code), "{code}");
    // The terminal is given back.
    terminal.writes("\u{1b}[?2004l");
}

#[test]
fn a_change_is_asked_for_with_its_difference() {
    let world = World::new(vec![
        says("<str_replace path=\"a.txt\"><old>two</old><new>2 zwei</new></str_replace>"),
        says("<bash>touch ran</bash>"),
        says("<done>One of two.</done>"),
    ]);
    std::fs::write(world.work().join("a.txt"), "one\ntwo\nthree\n").expect("a file");
    let mut terminal = started(&world, &["--channel", "text"]);
    terminal.press("change it\r");
    terminal.shows("asked-with-a-difference", "may str_replace");
    terminal.press("y\r");
    terminal.sees("may bash run?");
    terminal.press("rather not\r");
    terminal.sees("was not run");
    terminal.sees_row("One of two.");
    assert_eq!(std::fs::read_to_string(world.work().join("a.txt")).expect("the file"), "one\n2 zwei\nthree\n");
    assert!(!world.work().join("ran").exists());
    terminal.leave();
}

#[test]
fn a_question_is_answered_by_a_choice() {
    let world = World::new(vec![says("<bash>touch ran</bash>"), says("<done>Asked.</done>")]);
    let mut terminal = started(&world, &["--channel", "text"]);
    terminal.press("go\r");
    terminal.sees("may bash run?");
    terminal.press("\u{1b}[B\u{1b}[B");
    terminal.shows("question-with-a-choice", "› no");
    terminal.press("\r");
    terminal.sees_row("Asked.");
    assert!(!world.work().join("ran").exists());
    terminal.leave();
}

#[test]
fn what_is_typed_while_it_works_is_sent_afterwards_or_taken_back() {
    let world = World::new(vec![
        says("<bash>while [ ! -e go ]; do :; done</bash>"),
        says("<done>First.</done>"),
        says("Second answer."),
    ]);
    let mut terminal = started(&world, &["--channel", "text", "--approval", "auto"]);
    terminal.press("first\r");
    terminal.sees("bash… N s");
    terminal.press("second\rthird\r");
    terminal.shows("typed-ahead", "next: third");
    terminal.press("\u{1b}[A");
    terminal.sees_row("> third");
    std::fs::write(world.work().join("go"), "").expect("a file");
    terminal.sees_row("Second answer.");
    terminal.sees_row("> third");
    assert_eq!(world.prompts(), ["first", "second"]);
    // Ctrl-U, for a Ctrl-C might still meet the end of the work.
    terminal.press("\u{15}");
    terminal.leave();
}

#[test]
fn what_waited_comes_back_to_the_prompt_when_the_work_is_stopped() {
    let world = World::new(vec![hanging(&["I begin\n\n"])]);
    let mut terminal = started(&world, &[]);
    terminal.press("first\r");
    terminal.sees_row("I begin");
    terminal.press("second\r");
    terminal.sees("next: second");
    terminal.press("\u{3}");
    terminal.sees_row("> second");
    terminal.press("\u{3}");
    terminal.leave();
}

#[test]
fn another_size_in_the_middle_of_an_answer_leaves_what_is_final_alone() {
    let lines: Vec<String> = (1..=40).map(|n| format!("- item {n}\n")).collect();
    let mut words: Vec<&str> = lines.iter().map(String::as_str).collect();
    words.push("\nunfinished");
    let world = World::new(vec![hanging(&words)]);
    let mut terminal = started(&world, &[]);
    terminal.press("go\r");
    terminal.sees("unfinished");
    terminal.resize(60, 24);
    terminal.until("the prompt", |screen| screen.lines().last() == Some(">"));
    terminal.press("draft");
    terminal.sees_row("> draft");
    let everything = terminal.everything();
    for n in 1..=40 {
        let item = format!("• item {n}");
        let count = everything.lines().filter(|line| line.trim() == item).count();
        assert_eq!(count, 1, "{item} in\n{everything}");
    }
    terminal.press("\u{3}");
    terminal.sees("stopped");
}

#[test]
fn escape_codes_and_keys_of_a_model_reach_nobodys_terminal() {
    let key = format!("sk-{}", "aB1".repeat(10));
    let text = format!("a\u{1b}]0;title\u{7}\u{1b}[2Jb {key} c\n\n<bash>printf '\\033[2J'; echo {key}</bash>");
    let world = World::new(vec![says(&text), says("<done>x\u{9b}2Jy</done>")]);
    let mut terminal = started(&world, &["--channel", "text", "--approval", "auto"]);
    terminal.press("go\r");
    terminal.sees_row("a␛]0;title␇␛[2Jb [redacted] c");
    terminal.sees_row("x␡2Jy");
    let raw = terminal.raw();
    assert!(!raw.contains("]0;title\u{7}") && !raw.contains(&key), "{raw:?}");
    terminal.leave();
}

#[test]
fn without_colours_nothing_is_coloured_and_everything_works() {
    let world = World::new(vec![says("Some **bold** words.")]);
    let mut terminal = Terminal::with(&world, TERM, SIZE, &[], &[("NO_COLOR", "1")]);
    terminal.fresh();
    terminal.press("hello\r");
    terminal.sees_row("Some **bold** words.");
    terminal.press("/he");
    terminal.sees("› /help");
    assert!(!terminal.raw().contains('m') || !has_style(&terminal.raw()), "a style in {:?}", terminal.raw());
    terminal.press("\u{3}");
    terminal.leave();
}

fn has_style(raw: &str) -> bool {
    regex::Regex::new("\u{1b}\\[[0-9;]*m").expect("a pattern").is_match(raw)
}

#[test]
fn what_was_being_typed_does_not_answer_a_question_and_comes_back() {
    let world = World::new(vec![
        says("<bash>while [ ! -e go ]; do :; done</bash><bash>touch ran</bash>"),
        says("<done>Asked.</done>"),
    ]);
    let mut terminal = started(&world, &["--channel", "text"]);
    terminal.press("start\r");
    terminal.sees("may bash run?");
    terminal.press("y\r");
    terminal.sees("bash… N s");
    terminal.press("yes and ");
    terminal.sees_row("> yes and");
    std::fs::write(world.work().join("go"), "").expect("a file");
    terminal.sees("may bash run?");
    terminal.sees_row(">");
    terminal.press("no\r");
    terminal.sees_row("Asked.");
    terminal.sees_row("> yes and");
    assert!(!world.work().join("ran").exists());
    terminal.press("\u{3}");
    terminal.leave();
}
