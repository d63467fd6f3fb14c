//! The scripted model of a scenario: replies in order over real HTTP, with what each request must and must not hold.

use crate::case::Turn;
use selfsmith_cassette::{Answer, Answering, Call, Handler, play};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

/// Answers the turns of `model.yaml` and remembers what was wrong with the requests.
#[derive(Debug)]
pub(crate) struct ScriptedModel {
    turns: Vec<Turn>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    asked: usize,
    faults: Vec<String>,
}

impl ScriptedModel {
    pub(crate) fn new(turns: Vec<Turn>) -> Self {
        Self { turns, state: Mutex::default() }
    }

    /// What was wrong, turns that were never asked for included.
    pub(crate) fn faults(&self) -> Vec<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut faults = state.faults.clone();
        if state.asked < self.turns.len() {
            faults.push(format!("the model was asked {} times, {} turns are scripted", state.asked, self.turns.len()));
        }
        faults
    }

    fn turn(&self, request: &Value) -> Answer {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked += 1;
        let number = state.asked;
        let Some(turn) = self.turns.get(number - 1) else {
            let fault = format!("the model was asked a turn {number}, only {} are scripted", self.turns.len());
            state.faults.push(fault.clone());
            return Answer::error(400, "scenario_ended", &fault);
        };
        let words = words(request);
        for piece in turn.sees.iter().filter(|p| !words.contains(p.as_str())) {
            state.faults.push(format!("turn {number}: the request does not hold {piece:?}; it ends:\n{}", end(&words)));
        }
        for piece in turn.lacks.iter().filter(|p| words.contains(p.as_str())) {
            state.faults.push(format!("turn {number}: the request must not hold {piece:?}"));
        }
        play(&turn.reply, number, request)
    }
}

impl Handler for ScriptedModel {
    fn answer(&self, call: Call) -> Answering<'_> {
        Box::pin(async move {
            if call.method == "GET" && call.path.ends_with("/models") {
                return Answer::json(
                    200,
                    r#"{"object":"list","data":[{"id":"scripted","object":"model"}]}"#.to_owned(),
                );
            }
            if call.method != "POST" || !call.path.ends_with("/chat/completions") {
                return Answer::error(404, "not_found", "only chat completions are served here");
            }
            match serde_json::from_slice::<Value>(&call.body) {
                Ok(request) => self.turn(&request),
                Err(e) => Answer::error(400, "bad_request", &format!("the request is not JSON: {e}")),
            }
        })
    }
}

/// All strings of the messages and tools, joined: what the model reads.
fn words(request: &Value) -> String {
    fn gather(value: &Value, out: &mut String) {
        match value {
            Value::String(text) => {
                out.push_str(text);
                out.push('\n');
            }
            Value::Array(items) => items.iter().for_each(|item| gather(item, out)),
            Value::Object(fields) => fields.values().for_each(|item| gather(item, out)),
            _ => {}
        }
    }
    let mut out = String::new();
    for part in ["tools", "messages"] {
        if let Some(part) = request.get(part) {
            gather(part, &mut out);
        }
    }
    out
}

fn end(words: &str) -> String {
    let skipped = words.chars().count().saturating_sub(1500);
    words.chars().skip(skipped).collect()
}
