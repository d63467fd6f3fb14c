//! What every request begins with, and what is kept out of records.

use super::*;
use crate::query::text_channel::{Finish, parse};

fn all_specs() -> Vec<ToolSpec> {
    let prompts = Prompts::load(prompt::Source::Embedded).expect("the built-in prompts are sound");
    specs(&tool::table(&tool::Surroundings::default()), &prompts).expect("every tool has its text")
}

#[test]
fn every_form_that_the_prompt_shows_is_a_call_that_the_parser_takes() {
    let specs = all_specs();
    assert!(specs.len() >= 5, "{} tools", specs.len());
    for spec in &specs {
        let form = text_channel::form(spec).replace('…', "x");
        let parsed = parse(&form, Finish::Whole, &specs);
        let names: Vec<&str> = parsed.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!((names, parsed.refusals.len()), (vec![spec.name], 0), "{form}");
    }
}

#[test]
fn tools_are_sorted_and_their_names_and_aliases_are_unique() {
    let specs = all_specs();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let mut all: Vec<&str> = specs.iter().flat_map(|spec| [&[spec.name], spec.aliases].concat()).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn the_fixed_beginning_of_every_request_stays_small() {
    let prompts = Prompts::load(prompt::Source::Embedded).expect("the built-in prompts are sound");
    let told = prompt::Surroundings {
        os: "Linux".to_owned(),
        shell: "bash".to_owned(),
        root: "/home/me/project".to_owned(),
        date: "2026-11-30".to_owned(),
        notes: Vec::new(),
    };
    let specs = all_specs();
    let size = |channel| prompts.system(channel, &tool_texts(&specs), &told).expect("it renders").len();
    // About four bytes a token: 2,500 tokens, sent with every request.
    let tools = serde_json::to_string(&crate::query::spell::tools(&specs)).expect("it is JSON").len();
    assert!(size("native") + tools < 9_800, "{} and {tools} bytes", size("native"));
    assert!(size("text") < 9_800, "{} bytes", size("text"));
}

#[test]
fn secrets_are_found_by_the_names_of_their_variables() {
    let environment = [("OPENAI_API_KEY", "abcdefgh1"), ("MONKEY", "not-a-secret"), ("SSH_KEY_PATH", "/home/me/key")];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let redactor = redactor(&environment);
    assert_eq!(redactor.text("abcdefgh1 not-a-secret /home/me/key"), "[redacted] not-a-secret /home/me/key");
}
