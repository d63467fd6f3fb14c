//! One model call against an endpoint that plays exact bytes.

use crate::Case;
use crate::ask;
use crate::endpoint::{Endpoint, Request, delta_event, event};
use crate::judge::{Rules, View, judge, list, short, text_calls};
use crate::program::Fault;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How long a silent stream may last before the client gives it up, in milliseconds.
const STALL_TIMEOUT_MS: u64 = 2000;
/// The client's first wait between two tries where the server names none, in milliseconds.
const RETRY_WAIT_MS: u64 = 50;

pub fn sse_stream(case: &Case) -> Result<Vec<String>, Fault> {
    let given = &case.input;
    let answers = match given.get("responses") {
        Some(responses) => list(responses),
        None => vec![json!({ "chunks": given["chunks"], "then": given["then"] })],
    };
    let stall = given.get("idle_timeout_s").and_then(Value::as_f64).map_or(STALL_TIMEOUT_MS, |s| (s * 1000.0) as u64);
    let (view, mut faults, requests) = call(case, answers.clone(), stall, &[])?;
    let rules = Rules::default()
        .key("min_wait_ms", |want| min_wait(want, &requests))
        .key("no_duplicate_text", |_| duplicate(&view, &answers))
        .error_may_come(|option| option.get("outcome").is_some_and(|o| o == "error" || o == "truncated"));
    faults.extend(judge(&case.expect, &view, &rules));
    Ok(faults)
}

pub fn native_tool_delta(case: &Case) -> Result<Vec<String>, Fault> {
    let given = &case.input;
    let mut chunks = vec![delta_event(&json!({ "role": "assistant", "content": null }), Value::Null)];
    let deltas = list(&given["deltas"]);
    chunks.extend(deltas.iter().map(|delta| delta_event(&json!({ "tool_calls": delta }), Value::Null)));
    if !given["finish_reason"].is_null() {
        chunks.push(delta_event(&json!({}), given["finish_reason"].clone()));
        chunks.push(event(&json!("[DONE]")));
    }
    let (view, mut faults, _) = call(case, vec![json!({ "chunks": chunks })], STALL_TIMEOUT_MS, &["tools", "schema"])?;
    let rules =
        Rules::default().key("replay_valid_json", |_| replayed(&view).err()).key("replay_has_result_for", |want| {
            let (calls, results) = match replayed(&view) {
                Ok(both) => both,
                Err(wrong) => return Some(wrong),
            };
            let once = |ids: &[Value], id: &Value| ids.iter().filter(|have| *have == id).count() == 1;
            let missing: Vec<Value> =
                list(want).into_iter().filter(|id| !once(&calls, id) || !once(&results, id)).collect();
            (!missing.is_empty()).then(|| format!("replay: want one call and one result for {missing:?}"))
        });
    faults.extend(judge(&case.expect, &view, &rules));
    Ok(faults)
}

pub fn think_filter(case: &Case) -> Result<Vec<String>, Fault> {
    let mut chunks: Vec<Value> = list(&case.input["chunks"])
        .into_iter()
        .map(|chunk| {
            let delta = match chunk {
                Value::Object(fields) => Value::Object(fields.into_iter().map(renamed).collect()),
                text => json!({ "content": text }),
            };
            delta_event(&delta, Value::Null)
        })
        .collect();
    chunks.push(delta_event(&json!({}), json!("stop")));
    chunks.push(event(&json!("[DONE]")));
    let (mut view, mut faults, _) =
        call(case, vec![json!({ "chunks": chunks })], STALL_TIMEOUT_MS, &["opener_may_be_prefilled"])?;
    view.strip(&["visible", "thinking"]);
    let calls = view.get("calls").clone();
    let rules = Rules::default().key("calls", move |want| text_calls(want, &calls));
    faults.extend(judge(&case.expect, &view, &rules));
    Ok(faults)
}

fn renamed((key, value): (String, Value)) -> (String, Value) {
    (if key == "reasoning" { "reasoning_content".to_owned() } else { key }, value)
}

/// One call of the program's client; the last answer is repeated.
fn call(
    case: &Case,
    answers: Vec<Value>,
    stall_ms: u64,
    extra: &[&str],
) -> Result<(View, Vec<String>, Vec<Request>), Fault> {
    let endpoint = Endpoint::start(Arc::new(move |number, request: &Request| {
        if request.plain_path() != "/v1/chat/completions" {
            return json!({ "status": 404, "body": "{}" });
        }
        answers.get(number.min(answers.len() - 1)).cloned().unwrap_or(Value::Null)
    }));
    let mut input = json!({
        "base_url": format!("http://127.0.0.1:{}/v1", endpoint.port),
        "stall_timeout_ms": stall_ms,
        "retry_wait_ms": RETRY_WAIT_MS,
    });
    for key in extra {
        if let Some(value) = case.input.get(key) {
            input[*key] = value.clone();
        }
    }
    let mut view = ask(case, &input)?;
    let requests = endpoint.requests();
    let mut faults = Vec::new();
    if requests.is_empty() {
        faults.push("no model call reached the endpoint".to_owned());
    }
    for request in &requests {
        if request.plain_path() != "/v1/chat/completions" {
            faults.push(format!("POST to {} instead of /v1/chat/completions", request.path));
        } else if request.json["stream"] != json!(true) || list(&request.json["messages"]).is_empty() {
            faults.push("the request has no messages or does not ask for a stream".to_owned());
        }
    }
    faults.truncate(1);
    view.got.insert("attempts".to_owned(), json!(requests.len()));
    Ok((view, faults, requests))
}

fn min_wait(want: &Value, requests: &[Request]) -> Option<String> {
    let waited = match requests {
        [first, second, ..] => first.ended.map(|ended| second.at.saturating_duration_since(ended).as_millis() as f64),
        _ => None,
    };
    let Some(waited) = waited else { return Some("min_wait_ms: there was no second try".to_owned()) };
    (waited < want.as_f64().unwrap_or(0.0) - 20.0).then(|| format!("min_wait_ms: want {want}, waited {waited}"))
}

fn duplicate(view: &View, answers: &[Value]) -> Option<String> {
    let text = view.text("text").unwrap_or_default();
    let shown = view.text("visible").or(view.text("text")).unwrap_or_default();
    if text.is_empty() || shown.matches(text).count() != 1 {
        return Some(format!("no_duplicate_text: visible {shown:?} does not hold text {text:?} just once"));
    }
    let attempts = view.get("attempts").as_u64().unwrap_or(1) as usize;
    let void = answers.iter().take(attempts.saturating_sub(1)).flat_map(|answer| list(&answer["chunks"]));
    let piece = Regex::new(r#""content": "([^"]*)""#).expect("a pattern");
    let lost: String = void
        .filter_map(|chunk| chunk.as_str().map(str::to_owned))
        .map(|chunk| {
            piece.captures_iter(&chunk).filter_map(|c| Some(c.get(1)?.as_str().to_owned())).collect::<String>()
        })
        .collect();
    let still = !lost.is_empty() && format!("{shown}{text}").contains(&lost);
    still.then(|| format!("no_duplicate_text: {lost:?} is still shown"))
}

/// Ids of calls and of results in what goes back into the history.
fn replayed(view: &View) -> Result<(Vec<Value>, Vec<Value>), String> {
    let messages: Vec<Map<String, Value>> = match view.get("replay") {
        Value::Array(messages) => messages.iter().map(crate::judge::object).collect(),
        other => return Err(format!("replay: want the messages of the next request, got {}", short(other))),
    };
    let of_role = |role: &str| {
        let role = json!(role);
        messages.iter().filter(move |message| message.get("role") == Some(&role))
    };
    let calls: Vec<Value> =
        of_role("assistant").flat_map(|message| message.get("tool_calls").map(list).unwrap_or_default()).collect();
    for call in &calls {
        let arguments = call["function"]["arguments"].as_str().map(serde_json::from_str::<Value>);
        if !matches!(arguments, Some(Ok(Value::Object(_)))) {
            return Err(format!("replay: arguments are not a JSON object in text form: {}", short(call)));
        }
    }
    let ids: Vec<Value> = calls.iter().map(|call| call["id"].clone()).collect();
    let results: Vec<Value> = of_role("tool").filter_map(|message| message.get("tool_call_id").cloned()).collect();
    match results.iter().find(|id| !ids.contains(id)) {
        Some(id) => Err(format!("replay: a result for no call: {id}")),
        None => Ok((ids, results)),
    }
}
