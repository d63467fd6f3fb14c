//! What a real model server said on the wire (llama.cpp's, with SmolLM2-135M-Instruct; `real/record.py` records it again), in the
//! pieces in which it came. Far too small a model to work, but a real peer: role first, a comment, tokens one by one, usage after
//! the end, a cache that knows the prefix again, an overflow, a connection that breaks.

use crate::support::{World, code, events, stderr};
use selfsmith_cassette::{Reply, Tape};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

const GREETING: &str = "Hello, I'm a developer working on a project that involves using a tool called \"git\". It's not for everyone \
                        and has many limitations; however, it is very helpful to have someone who can help you understand the \
                        basics of how things work.";

fn recorded(name: &str) -> Vec<Reply> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agent/real").join(name).with_extension("jsonl");
    Tape::read(&path).expect("a recording").entries.into_iter().map(|entry| entry.reply).collect()
}

fn of_type<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

fn streamed(events: &[Value]) -> String {
    of_type(events, "text_delta").iter().filter_map(|event| event["text"].as_str()).collect()
}

#[test]
fn a_chat_streams_and_its_usage_is_the_servers() {
    let world = World::new(recorded("chat"));
    let output = world.run(&["exec", "--json", "--channel", "text", "Say hello in one short sentence."]);
    let events = events(&output);
    assert_eq!((code(&output), streamed(&events).as_str()), (0, GREETING), "{}", stderr(&output));
    // Tokens that came together are shown together; how many do, the machine's load decides.
    let first = events.iter().position(|event| event["type"] == "text_delta").expect("a piece");
    assert!(first < events.iter().position(|event| event["type"] == "replied").expect("the reply"));
    let ended = of_type(&events, "ended")[0];
    let usage = json!({ "prompt": 2270, "completion": 51, "cached": 0, "measured": true });
    assert_eq!((&ended["usage"], &ended["summary"], &ended["ending"]), (&usage, &json!(GREETING), &json!("done")));
}

#[test]
fn the_repl_counts_both_answers_and_what_the_server_still_knew() {
    let world = World::new(recorded("chat"));
    let mut command = world.command(&["--channel", "text"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let lines = b"Say hello in one short sentence.\nWhat is a mutex? One short sentence.\n/tokens\n";
    child.stdin.take().expect("piped").write_all(lines).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for wanted in [GREETING, "A mutex (shortened from \"mutual exclusion lock\")", "4,611 in", "134 out", "2,320"] {
        assert!(text.contains(wanted), "{wanted:?} is missing in\n{text}");
    }
}

#[test]
fn an_overflow_is_told_in_the_servers_words_with_what_to_do_and_is_not_asked_twice() {
    let world = World::new(recorded("overflow"));
    let output = world.run(&["exec", "--channel", "text", "Say hello."]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    for wanted in [
        "400: request (2266 tokens) exceeds the available context size (2048 tokens)",
        "instructions and tools alone",
        "-c",
    ] {
        assert!(stderr(&output).contains(wanted), "{wanted:?} is missing in\n{}", stderr(&output));
    }
}

#[test]
fn what_was_streamed_before_the_server_was_killed_is_void_and_asked_for_again() {
    let world = World::new(recorded("cut"));
    let output = world.run(&["exec", "--json", "--channel", "text", "Say hello in one short sentence."]);
    let events = events(&output);
    let void = events.iter().position(|event| event["type"] == "superseded").expect("it is said to be void");
    let (before, after) = events.split_at(void);
    let half = streamed(before);
    assert!(half.len() > 5 && GREETING.starts_with(&half) && half != GREETING, "{half:?}");
    assert_eq!((code(&output), streamed(after).as_str()), (0, GREETING), "{}", stderr(&output));
    assert_eq!(of_type(&events, "retrying").len(), 1);
    assert_eq!(of_type(&events, "replied").len(), 1);
}

#[test]
fn where_it_is_not_asked_again_the_half_is_kept_and_said_to_be_one() {
    let world = World::new(recorded("cut")).settings("model: { retry: { max_tries_midway: 1 } }\n");
    let output = world.run(&["exec", "--channel", "text", "Say hello in one short sentence."]);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
    assert_ne!(code(&output), 0, "{said}");
    assert!(said.contains("cut off"), "{said}");
}
