//! A model's window: what it leaves for the answer, and what is said where something does not fit.

use crate::support::{World, code, reply, says, stderr};
use selfsmith_cassette::Reply;
use serde_json::{Value, json};

fn refusal(words: &str) -> Reply {
    reply(json!({ "status": 400, "body": { "error": { "message": words, "type": "BadRequestError", "code": 400 } } }))
}

fn limit_of_last(world: &World) -> u64 {
    let request: Value = serde_json::from_str(&world.last_request()).expect("a request");
    request["max_tokens"].as_u64().expect("a limit")
}

#[test]
fn an_answer_is_asked_for_that_fits_beside_the_prompt_once_the_server_names_its_window() {
    let words = "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens \
                 and your request has 3402 input tokens (9000 > 8192 - 3402).";
    let world = World::new(vec![refusal(words), says("Four.")]);
    let output = world.run(&["exec", "--channel", "text", "2+2?"]);
    assert_eq!((code(&output), stderr(&output).contains("compacting")), (0, false), "{}", stderr(&output));
    assert!((1000..8192 - 2000).contains(&limit_of_last(&world)), "{}", limit_of_last(&world));
}

#[test]
fn an_answer_is_asked_for_that_fits_beside_the_prompt_where_the_window_is_set() {
    let world = World::new(vec![says("Four.")]).settings("model: { context_windows: { test-model: 8192 } }\n");
    let output = world.run(&["exec", "--channel", "text", "2+2?"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!((1000..8192 - 2000).contains(&limit_of_last(&world)), "{}", limit_of_last(&world));
}

#[test]
fn a_server_whose_window_is_too_small_for_the_instructions_is_named_with_what_to_do() {
    let words = "request (3402 tokens) exceeds the available context size (2048 tokens), try increasing it";
    let world = World::new(vec![refusal(words)]);
    let output = world.run(&["exec", "--channel", "text", "2+2?"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    for wanted in [words, "instructions and tools alone do not fit", "num_ctx"] {
        assert!(stderr(&output).contains(wanted), "{}", stderr(&output));
    }
}
