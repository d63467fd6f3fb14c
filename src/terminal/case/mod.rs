//! `selfsmith-agent case <kind>`: the product's own functions, asked one case at a time without a model.
//!
//! Reads `{"id", "input"}` a line on stdin, answers `{"id", "got"}` or `{"id", "unsupported"}` a line on stdout, flushed
//! before the next is read. Each kind is one file that turns an input into the arguments of public functions and their
//! results into the words of tests/cases/README.md. Nothing here holds a rule of its own.

mod bash;
mod config;
mod edit;
mod file_blocks;
mod git;
mod model_call;
mod native_tool_delta;
mod path;
mod retrieval;
mod skill;
mod sse_stream;
mod think_filter;
mod tools;
mod xml_parse;

use crate::streams::{self, Reader};
use selfsmith_agent::ending::Ending;
use selfsmith_agent::texts::{EN, fill};
use serde_json::{Value, json};
use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Answers one input; `Err` says why the product cannot do it yet.
type Answerer = fn(&Value) -> Result<Value, String>;

/// The kinds, sorted.
const KINDS: &[(&str, Answerer)] = &[
    ("bash", bash::answer),
    ("config", config::answer),
    ("edit", edit::answer),
    ("file_blocks", file_blocks::answer),
    ("git", git::answer),
    ("native_tool_delta", native_tool_delta::answer),
    ("path", path::answer),
    ("retrieval", retrieval::answer),
    ("skill", skill::answer),
    ("sse_stream", sse_stream::answer),
    ("think_filter", think_filter::answer),
    ("xml_parse", xml_parse::answer),
];

/// Answer every line of stdin.
pub fn serve(kind: &str) -> Ending {
    let Some((_, answerer)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let known: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        streams::tell(&fill(EN.unknown_case_kind, &[("kind", kind), ("known", &known.join(", "))]));
        return Ending::Usage;
    };
    for line in std::io::stdin().lock().lines() {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                streams::tell(&fill(EN.unreadable_stdin, &[("error", &error.to_string())]));
                return Ending::Failed;
            }
        };
        if line.trim().is_empty() {
            continue;
        }
        if streams::data(&format!("{}\n", answer_line(&line, *answerer))) == Reader::Gone {
            break;
        }
    }
    Ending::Done
}

fn answer_line(line: &str, answerer: Answerer) -> Value {
    let case: Value = match serde_json::from_str(line) {
        Ok(case) => case,
        Err(error) => return json!({ "id": null, "unsupported": format!("could not read the case as JSON: {error}") }),
    };
    let id = case.get("id").cloned().unwrap_or(Value::Null);
    let input = case.get("input").cloned().unwrap_or(Value::Null);
    // A panic is a fault of the product: it is reported as one, and the next case still gets its answer.
    match catch_unwind(AssertUnwindSafe(|| answerer(&input))) {
        Ok(Ok(got)) => json!({ "id": id, "got": got }),
        Ok(Err(why)) => json!({ "id": id, "unsupported": why }),
        Err(payload) => json!({ "id": id, "got": { "panic": panic_text(payload.as_ref()) } }),
    }
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
