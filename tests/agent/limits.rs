//! What one prompt may take, and work that goes in circles: each end with its own exit code.

use crate::support::{World, code, events, reply, says, stderr};
use selfsmith_cassette::Reply;
use serde_json::json;

const PRICED: &str = "model: { prices: { test-model: { input: 1.0, output: 1.0 } } }\n";

fn again(count: usize, text: &str) -> Vec<Reply> {
    (0..count).map(|_| says(text)).collect()
}

/// A call, a thousand tokens long.
fn costly() -> Reply {
    let usage = json!({ "prompt_tokens": 900, "completion_tokens": 100 });
    reply(json!({ "text": "<bash>true</bash>", "usage": usage }))
}

fn exec(world: &World, arguments: &[&str]) -> std::process::Output {
    let fixed = ["exec", "--json", "--channel", "text", "--approval", "auto"];
    world.run(&fixed.into_iter().chain(arguments.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn exit_11_the_same_call_with_the_same_result_is_told_and_then_stopped() {
    let world = World::new(again(9, "<bash>false</bash>"));
    let output = exec(&world, &["go"]);
    let last = events(&output).pop().expect("there are events");
    assert_eq!((code(&output), &last["ending"], &last["turns"]), (11, &json!("looping"), &json!(7)));
    let told = world.last_request().matches("several times with the same result").count();
    assert_eq!(told, 2, "the model is told at the third and, as nobody can be asked, at the fifth");
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn another_output_or_another_state_of_the_files_is_no_circle() {
    for call in ["<bash>date +%s%N</bash>", "<bash>echo x >> log</bash>", "<bash>printf x >> log; false</bash>"] {
        let world = World::new(again(8, call).into_iter().chain([says("<done>Enough.</done>")]).collect());
        let output = exec(&world, &["go"]);
        assert_eq!(code(&output), 0, "{call}: {}", stderr(&output));
        assert!(!world.last_request().contains("several times with the same result"), "{call}");
    }
}

#[test]
fn exit_7_the_turns_of_the_command_line_run_out() {
    let output = exec(&World::new(again(3, "<bash>true</bash>")), &["--max-turns", "2", "go"]);
    assert_eq!(code(&output), 7, "{}", stderr(&output));
}

#[test]
fn exit_12_the_tokens_run_out_after_the_calls_that_were_paid_for() {
    let world = World::new(vec![costly(), costly(), costly()]);
    let output = exec(&world, &["--max-tokens-total", "2000", "go"]);
    let events = events(&output);
    let last = events.last().expect("there are events");
    assert_eq!((code(&output), &last["ending"], &last["commands"]), (12, &json!("max_tokens"), &json!(2)));
    assert!(events.iter().any(|event| event["type"] == "notice" && event["text"].to_string().contains("2000 tokens")));
}

#[test]
fn exit_13_the_money_runs_out() {
    let world = World::new(vec![costly(), costly()]).settings(PRICED);
    let output = exec(&world, &["--max-cost", "0.0015", "go"]);
    let last = events(&output).pop().expect("there are events");
    assert_eq!((code(&output), &last["ending"], &last["turns"]), (13, &json!("max_cost"), &json!(2)));
}

#[test]
fn exit_3_a_limit_of_money_without_a_price() {
    let output = World::new(vec![]).run(&["exec", "--max-cost", "1", "go"]);
    assert_eq!(code(&output), 3);
    assert!(stderr(&output).contains("no price of test-model is known"), "{}", stderr(&output));
}

#[test]
fn exit_14_the_time_runs_out_and_what_runs_is_ended() {
    let world = World::new(vec![says("<bash timeout_s=\"500\">tail -f /dev/null</bash>")]);
    let output = exec(&world, &["--max-time", "0.7", "go"]);
    let events = events(&output);
    let last = events.last().expect("there are events");
    assert_eq!((code(&output), &last["ending"]), (14, &json!("max_time")));
    let result = events.iter().find(|event| event["type"] == "call_ended").expect("the call has its result");
    assert_eq!(result["result"]["outcome"], "interrupted");
}

#[test]
fn limits_hold_over_the_whole_conversation_until_the_settings_give_more() {
    let world = World::new(vec![costly(), says("Hello.")]).settings("limits:\n  tokens: 1000\n");
    let mut command = world.command(&["--channel", "text", "--approval", "auto"]);
    let mut child =
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, b"one\nsecondly\n/config limits.tokens 100000\nthree\n").expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("all 1000 tokens of this run are used up").count(), 2, "{text}");
    assert!(text.contains("Hello."), "{text}");
    assert!(!world.last_request().contains("secondly"), "what nothing is left for is not sent");
}
