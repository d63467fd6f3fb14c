//! `exec` from outside: real HTTP, the built program, each exit code of docs/contract.md.

use crate::support::{World, code, events, reply, says, stderr};
use selfsmith_cassette::Reply;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// A model that cannot be reached is given up after its first try.
const ONE_TRY: &str = "model: { retry: { max_tries: 1 } }\n";

fn stdout(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn native(name: &str, arguments: Value) -> Reply {
    reply(json!({ "text": "", "calls": [{ "name": name, "arguments": arguments }] }))
}

#[test]
fn exit_0_a_plain_question_is_answered_on_stdout_alone() {
    let output = World::new(vec![says("Four.")]).run(&["exec", "2+2?"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "Four.\n"), "{}", stderr(&output));
}

#[test]
fn exit_0_work_on_the_text_channel_ends_with_done_and_its_summary() {
    let create = "On it.\n<create path=\"a/b.txt\">\nhello\n</create>";
    let world = World::new(vec![says(create), says("<done>\nMade a/b.txt.\n</done>")]);
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "make a/b.txt"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "Made a/b.txt.\n"), "{}", stderr(&output));
    let made = std::fs::read_to_string(world.work().join("a/b.txt")).expect("it was made");
    assert_eq!(made.trim_end(), "hello");
    assert!(stderr(&output).contains("create a/b.txt"), "{}", stderr(&output));
}

#[test]
fn quiet_leaves_the_answer_and_what_went_wrong() {
    let world = World::new(vec![says("<bash>\ntrue\n</bash>"), says("<done>Done.</done>")]).settings(ONE_TRY);
    let output = world.run(&["exec", "-q", "--channel", "text", "--approval", "auto", "go"]);
    assert_eq!((code(&output), stdout(&output).as_str(), stderr(&output).as_str()), (0, "Done.\n", ""));
    let output = world.run(&["exec", "-q", "--base-url", "http://127.0.0.1:9/v1", "go"]);
    assert!(code(&output) == 5 && stderr(&output).contains("127.0.0.1:9"), "{}", stderr(&output));
}

#[test]
fn exit_0_work_on_the_native_channel_ends_with_a_final_message() {
    let world = World::new(vec![native("create", json!({ "path": "n.txt", "content": "x\n" })), says("Made it.")]);
    let output = world.run(&["exec", "--channel", "native", "--approval", "auto", "make n.txt"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "Made it.\n"), "{}", stderr(&output));
    assert!(world.work().join("n.txt").is_file());
}

#[test]
fn events_are_lines_of_json_without_gaps_that_end_with_ended() {
    let world = World::new(vec![says("<create path=\"x.txt\">\nx\n</create>"), says("<done>Did it.</done>")]);
    let output = world.run(&["exec", "--json", "--channel", "text", "--approval", "auto", "go"]);
    let events = events(&output);
    let seqs: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>());
    assert_eq!(events.first().map(|event| &event["type"]), Some(&json!("session_started")));
    let last = events.last().expect("there are events");
    let told = [&last["type"], &last["ending"], &last["exit_code"], &last["summary"], &last["files"], &last["turns"]];
    let wanted = [json!("ended"), json!("done"), json!(0), json!("Did it."), json!(["x.txt"]), json!(2)];
    assert_eq!(told.map(Value::clone), wanted);
}

#[test]
fn exit_1_a_record_that_cannot_be_written_ends_the_work() {
    let world = World::new(vec![says(&"many words ".repeat(2000))]);
    // A file may not grow beyond 16 KiB here, and the signal that says so is ignored.
    let line = r#"trap '' XFSZ; ulimit -f 16; exec "$0" "$@""#;
    let mut command = Command::new("bash");
    command.args(["-c", line, env!("CARGO_BIN_EXE_selfsmith-agent"), "exec", "hello"]);
    world.fit(&mut command);
    let output = command.output().expect("it starts");
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("could not write"), "{}", stderr(&output));
}

#[test]
fn exit_2_a_wrong_command_line() {
    let world = World::new(vec![]);
    for arguments in [
        vec!["exec"],
        vec!["exec", " "],
        vec!["exec", "--no-such-flag", "x"],
        vec!["exec", "--cassette", "rewind", "f", "x"],
        vec!["exec", "--cassette", "replay", "missing.jsonl", "x"],
        vec!["-C", "no-such-folder", "exec", "x"],
        vec!["-C", "/dev/null", "exec", "x"],
        vec!["exec", "--strict", "x"],
        vec!["exec", "--strict", "--cassette", "record", "f", "x"],
        vec!["resume", "no-such-session"],
        vec!["case", "no-such-kind"],
    ] {
        let output = world.run(&arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(!output.stderr.is_empty(), "{arguments:?} says nothing");
    }
}

#[test]
fn what_is_piped_in_stands_beside_the_prompt_bounded_and_the_cut_is_told() {
    let world = World::new(vec![says("One."), says("Two."), says("Three.")]);
    let piped = |text: &str| {
        let mut command = world.command(&["exec", "why?"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it is read");
        child.wait_with_output().expect("it ends")
    };
    let output = piped("error: no such file\n");
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "One.\n"), "{}", stderr(&output));
    let prompt = world.prompts().pop().expect("a prompt");
    assert!(prompt.starts_with("why?\n") && prompt.ends_with("error: no such file"), "{prompt}");
    let log: String = (0..40_000).map(|n| format!("line {n}\n")).collect();
    let output = piped(&log);
    let prompt = world.prompts().pop().expect("a prompt");
    assert!(
        prompt.contains("line 0\n") && prompt.ends_with("line 39999") && prompt.len() < 110_000,
        "{}",
        prompt.len()
    );
    assert!(stderr(&output).contains("bytes in its middle"), "{}", stderr(&output));
    assert_eq!(code(&piped(" \n")), 0);
    assert_eq!(world.prompts().pop().as_deref(), Some("why?"));
    assert_eq!(code(&piped("a\0b")), 2);
}

#[test]
fn the_newest_session_goes_on_a_copy_goes_its_own_way_and_both_are_exported() {
    let world = World::new(vec![says("One."), says("Two."), says("Three.")]);
    assert_eq!(code(&world.run(&["exec", "--continue", "a"])), 2);
    world.run(&["exec", "first sk-test-0123456789abcdef0123"]);
    let output = world.run(&["exec", "--continue", "second"]);
    assert_eq!((code(&output), world.records().len()), (0, 1), "{}", stderr(&output));
    assert_eq!(world.prompts().len(), 2);
    let mut fork = world.command(&["fork"]);
    let mut child = fork.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(b"third\n").expect("it is read");
    assert_eq!(code(&child.wait_with_output().expect("it ends")), 0);
    assert_eq!((world.records().len(), world.prompts().len()), (2, 3));
    let exported = stdout(&world.run(&["export"]));
    for piece in ["# Session ", "first [redacted]", "Two.", "third", "Three."] {
        assert!(exported.contains(piece), "{piece}: {exported}");
    }
    let first = world.records()[0].file_stem().expect("a name").to_string_lossy().into_owned();
    let json: Value = serde_json::from_slice(&world.run(&["export", &first, "--json"]).stdout).expect("JSON");
    assert!(json["version"] == 1 && !json.to_string().contains("third"), "{json}");
    assert_eq!(code(&world.run(&["export", "-o", "talk.md"])), 0);
    assert_eq!(std::fs::read_to_string(world.work().join("talk.md")).expect("the file"), exported);
    assert_eq!(code(&world.run(&["export", "-o", "talk.md"])), 2);
}

const CHECKED: &str = "checks: { command: 'echo looked; grep -q good a.txt', rounds: 1 }\n";

#[test]
fn a_check_that_fails_goes_back_to_the_model_until_it_is_green() {
    let write = |text: &str| says(&format!("<create path=\"{text}.txt\">\n{text}\n</create>"));
    let mend = says("<bash>\necho good > a.txt\n</bash>\n<create path=\"b.txt\">\nb\n</create>");
    let world =
        World::new(vec![write("a"), says("<done>One.</done>"), mend, says("<done>Two.</done>")]).settings(CHECKED);
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "go"]);
    assert_eq!((code(&output), stdout(&output).trim()), (0, "Two."), "{}", stderr(&output));
    let request = world.last_request();
    assert!(request.contains("fails after your edits (round 1 of 1)") && request.contains("looked"), "{request}");
    assert!(stderr(&output).contains("holds after the edits"), "{}", stderr(&output));
}

#[test]
fn a_check_that_stays_red_ends_the_work_unfinished_and_off_runs_none() {
    let write = |name: &str| says(&format!("<create path=\"{name}\">\nbad\n</create>"));
    let done = || says("<done>Done.</done>");
    let world = World::new(vec![write("a.txt"), done(), write("b.txt"), done()]).settings(CHECKED);
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "go"]);
    assert_eq!(code(&output), 6, "{}", stderr(&output));
    assert!(stderr(&output).contains("still fails"), "{}", stderr(&output));
    let world = World::new(vec![write("a.txt"), done()]).settings("checks: { command: off }\n");
    assert_eq!(code(&world.run(&["exec", "--channel", "text", "--approval", "auto", "go"])), 0);
}

#[test]
fn event_lines_end_with_ended_even_where_the_work_cannot_begin() {
    let world = World::new(vec![]);
    for arguments in [
        &["-C", "no-such-folder", "exec", "--json", "x"][..],
        &["-C", "/dev/null", "exec", "--json", "x"],
        &["exec", "--json", " "],
        &["exec", "--json", "--strict", "x"],
        &["exec", "--json", "--cassette", "replay", "missing.jsonl", "x"],
    ] {
        let output = world.run(arguments);
        let told: Vec<Value> = events(&output).iter().map(|event| json!([event["seq"], event["type"]])).collect();
        assert_eq!((code(&output), told), (2, vec![json!([1, "problem"]), json!([2, "ended"])]), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_while_the_prompt_is_read_is_told_in_event_lines() {
    let world = World::new(vec![]);
    let mut command = world.command(&["exec", "--json", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let pid = child.id();
    // SIGHUP is the last that it learns to catch; of SIGINT it may lose one while it is still learning that.
    let caught = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim).unwrap_or_default();
        u64::from_str_radix(mask, 16).is_ok_and(|mask| mask & 0b1 != 0)
    };
    while !caught() {
        assert!(child.try_wait().expect("its state").is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    let pid = nix::unistd::Pid::from_raw(pid.try_into().expect("a pid"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it is alive");
    let keyboard = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    drop(keyboard);
    let last = events(&output).pop().expect("there are events");
    assert_eq!((code(&output), &last["type"], &last["ending"]), (130, &json!("ended"), &json!("interrupted")));
}

#[test]
fn exit_3_wrong_settings_with_their_place_and_as_an_event_too() {
    let world = World::new(vec![]).settings("model_chat:\n  max_turs: 3\n");
    let output = world.run(&["exec", "hello"]);
    assert_eq!(code(&output), 3);
    let text = stderr(&output);
    assert!(text.contains("config.yaml") && text.contains("max_turs") && text.contains("max_turns"), "{text}");
    let output = world.run(&["exec", "--json", "hello"]);
    let kinds: Vec<Value> = events(&output).iter().map(|event| event["type"].clone()).collect();
    assert_eq!((code(&output), kinds), (3, vec![json!("problem"), json!("ended")]));
}

#[test]
fn exit_3_no_key_for_a_server_elsewhere() {
    let world = World::new(vec![]);
    let mut command = world.command(&["exec", "--base-url", "https://llm.example.invalid/v1", "x"]);
    let output = command.env_remove("SELFSMITH_API_KEY").output().expect("it starts");
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("SELFSMITH_API_KEY"), "{}", stderr(&output));
}

#[test]
fn exit_4_a_model_that_refuses_for_good() {
    let body = json!({ "error": { "message": "bad key", "code": "invalid_api_key" } });
    let output = World::new(vec![reply(json!({ "status": 401, "body": body }))]).run(&["exec", "x"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("401"), "{}", stderr(&output));
}

#[test]
fn exit_5_a_model_that_cannot_be_reached() {
    let world = World::new(vec![]).settings(ONE_TRY);
    // Bound and dropped: a port where nobody listens.
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|l| l.local_addr()).expect("a port");
    let output = world.run(&["exec", "--base-url", &format!("http://{free}/v1"), "x"]);
    assert_eq!(code(&output), 5, "{}", stderr(&output));
}

#[test]
fn exit_6_work_that_stops_without_done() {
    let world = World::new(vec![says("<bash>true</bash>"), says("I think it is fine."), says("Yes.")]);
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "x"]);
    assert_eq!(code(&output), 6, "{}", stderr(&output));
    assert!(stderr(&output).contains("may be unfinished"), "{}", stderr(&output));
}

#[test]
fn exit_7_turns_that_run_out() {
    let again = || says("<bash>true</bash>");
    let world = World::new(vec![again(), again(), again()]).settings("model_chat: { max_turns: 2 }\n");
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "x"]);
    assert_eq!(code(&output), 7, "{}", stderr(&output));
}

#[test]
fn exit_8_an_answer_that_is_cut_off_is_shown_and_marked() {
    let cut = reply(json!({ "text": "and th", "finish": "length" }));
    let world = World::new(vec![cut]).settings("model_chat: { max_retries: 0 }\n");
    let output = world.run(&["exec", "x"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (8, "and th\n"), "{}", stderr(&output));
}

#[test]
fn exit_9_a_replay_that_differs_is_told_and_under_strict_ends() {
    let world = World::new(vec![says("Four.")]);
    assert_eq!(code(&world.run(&["exec", "--cassette", "record", "tape.jsonl", "2+2?"])), 0);
    let same = world.run(&["exec", "--cassette", "replay", "tape.jsonl", "--strict", "2+2?"]);
    assert_eq!((code(&same), stdout(&same).as_str()), (0, "Four.\n"), "{}", stderr(&same));
    let other = world.run(&["exec", "--cassette", "replay", "tape.jsonl", "3+3?"]);
    assert_eq!(code(&other), 0);
    assert!(stderr(&other).contains("3+3?"), "{}", stderr(&other));
    let strict = world.run(&["exec", "--cassette", "replay", "tape.jsonl", "--strict", "3+3?"]);
    assert_eq!(code(&strict), 9, "{}", stderr(&strict));
}

#[test]
fn exit_10_what_is_not_built_yet() {
    let output = World::new(vec![]).run(&["run", "a program that prints 1"]);
    assert_eq!(code(&output), 10);
    assert!(stderr(&output).contains("not built yet"), "{}", stderr(&output));
}

#[test]
fn exit_130_an_interrupt_ends_the_work_and_leaves_a_session_that_can_be_resumed() {
    let world = World::new(vec![says("<bash>echo started > started; sleep 600</bash>"), says("Good.")]);
    let mut command = world.command(&["exec", "--json", "--channel", "text", "--approval", "auto", "x"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().expect("a pid"));
    let mut last = Value::Null;
    for line in lines {
        last = serde_json::from_str(&line).expect("an event");
        if last["type"] == "call_started" {
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it is alive");
        }
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(last["ending"], json!("interrupted"));
    let mut command = world.command(&["resume", "--channel", "text"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(b"how is it?\n").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("Good."), "{}", stdout(&output));
}

#[test]
fn without_permission_nothing_is_changed_and_both_sides_are_told_why() {
    let world = World::new(vec![says("<create path=\"x\">\nx\n</create>"), says("<done>I may not.</done>")]);
    let output = world.run(&["exec", "--channel", "text", "make x"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(!world.work().join("x").exists());
    assert!(stderr(&output).contains("--approval"), "{}", stderr(&output));
    let read_only = World::new(vec![says("<create path=\"x\">\nx\n</create>"), says("<done>No.</done>")]);
    read_only.run(&["exec", "--channel", "text", "--approval", "read-only", "make x"]);
    assert!(!read_only.work().join("x").exists());
}

#[test]
fn the_key_is_never_written_down() {
    let key = "sk-test-0123456789abcdef0123";
    let world = World::new(vec![says(&format!("Your key is {key}."))]);
    let output = world.run(&["exec", "--json", "--cassette", "record", "tape.jsonl", "x"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(!stdout(&output).contains(key));
    let records = world.records();
    assert_eq!(records.len(), 1);
    for path in records {
        assert!(!std::fs::read_to_string(&path).expect("a record").contains(key), "{}", path.display());
    }
}

#[test]
fn a_prompt_can_come_on_stdin() {
    let world = World::new(vec![says("Read.")]);
    let mut command = world.command(&["exec", "--json", "sum this up:", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all("line one\n行二\n".as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let taken = events(&output).into_iter().find(|event| event["type"] == "prompt_taken").expect("it was taken");
    assert_eq!(taken["text"], json!("sum this up:\n\nline one\n行二\n"));
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let world = World::new(vec![says("Hello.")]);
    let mut child =
        world.command(&["exec", "x"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_a_full_disk_did_not_take_is_no_success() {
    for more in [&[][..], &["--json"]] {
        let world = World::new(vec![says("Hello.")]);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
        let mut command = world.command(&[&["exec"], more, &["x"]].concat());
        let output = command.stdout(full).output().expect("it runs");
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        assert!(stderr(&output).contains("could not write to standard output"), "{}", stderr(&output));
    }
}

#[test]
fn an_answer_to_a_closed_stdout_is_no_success() {
    for more in ["", "--json"] {
        let world = World::new(vec![says("Hello.")]);
        let mut command = Command::new("bash");
        command.args(["-c", &format!("exec \"$0\" exec {more} x >&-"), env!("CARGO_BIN_EXE_selfsmith-agent")]);
        world.fit(&mut command);
        let output = command.output().expect("it runs");
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        assert!(stderr(&output).contains("could not write to standard output"), "{}", stderr(&output));
    }
}

#[test]
fn a_record_that_cannot_be_kept_is_told_with_its_cause() {
    let world = World::new(vec![says("Hello.")]);
    let output = world.command(&["exec", "x"]).env("XDG_STATE_HOME", "/dev/null").output().expect("it runs");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("Not a directory"), "{}", stderr(&output));
}

#[test]
fn a_key_in_the_words_of_a_provider_is_not_printed() {
    let key = "sk-test-0123456789abcdef0123";
    let refusal = reply(json!({ "status": 401, "body": { "error": { "message": format!("no such key: {key}") } } }));
    let output = World::new(vec![refusal]).run(&["exec", "x"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("no such key: [redacted]"), "{}", stderr(&output));
}
