//! Settings: what one model call made with them looks like, and how a settings file is read.

use crate::Case;
use crate::ask;
use crate::endpoint::{Endpoint, Request, delta_event, event};
use crate::judge::{Rules, differs, judge, list, object, short};
use crate::program::Fault;
use crate::world;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let given = &case.input;
    if let Some(files) = given.get("config_files") {
        return files_of(case, files);
    }
    let base_url = given.get("base_url").and_then(Value::as_str).unwrap_or("https://llm.example/v1");
    let shape = Regex::new(r"(?s)^(\s*)(https?://([^/:\s]+)(?::\d+)?)(.*)$").expect("a pattern");
    let parts = shape.captures(base_url).expect("a case's URL is one");
    let part = |n: usize| parts.get(n).map_or("", |m| m.as_str());
    let (before, origin, host, rest) = (part(1), part(2), part(3), part(4));
    let local = host == "localhost" || host == "127.0.0.1";
    let loopback = local || given.get("api_key") != Some(&Value::Null);
    let probe: Map<String, Value> =
        object(&given["probe"]).into_iter().map(|(url, status)| (url.replacen(origin, "", 1), status)).collect();
    let probed = !probe.is_empty();
    let endpoint = Endpoint::start(Arc::new(move |_, request: &Request| answer(request, &probe)));
    let own = format!("http://{}:{}", if local { host } else { "127.0.0.1" }, endpoint.port);
    let mut input = given.clone();
    object(&input).keys().filter(|key| *key == "probe").for_each(|key| {
        if let Some(fields) = input.as_object_mut() {
            fields.shift_remove(key);
        }
    });
    input["base_url"] = json!(if loopback { format!("{before}{own}{rest}") } else { base_url.to_owned() });
    if input.get("api_key").is_none() {
        input["api_key"] = json!("sk-test");
    }
    let view = ask(case, &input)?;
    let requests = endpoint.requests();
    let last = requests.last();
    let body = last.map(|request| request.json.clone()).unwrap_or_else(|| json!({}));
    let sent: Vec<Value> = list(&body["messages"]).into_iter().filter(Value::is_object).collect();
    let offset = offset(given, &sent);
    let variable = Regex::new(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b").expect("a pattern");
    let rules = Rules::default()
        .key("request_url", |want| {
            let have = last.map(|request| json!(format!("{origin}{}", request.path)));
            (have.as_ref() != Some(want)).then(|| format!("request_url: want {want}, got {have:?}"))
        })
        .key("auth_header", |want| {
            let have = last.map_or(Value::Null, |request| request.header("authorization"));
            differs(want, &have, "auth_header")
        })
        .key("body_has", |want| differs(want, &body, "body"))
        .key("body_lacks", |want| {
            list(want)
                .iter()
                .find_map(|key| body.get(key.as_str().unwrap_or_default()).map(|_| format!("body: has {key}")))
        })
        .key("roles", |want| {
            let roles: Vec<&Value> = sent.iter().map(|message| &message["role"]).collect();
            differs(want, &json!(roles), "roles")
        })
        .key("sent_message", |want| sent_message(want, &sent, offset))
        .key("no_partial_tags", |_| {
            let count = |message: &Value, tag| message["content"].to_string().matches(tag).count();
            let half = sent.iter().find(|message| count(message, "<think>") != count(message, "</think>"));
            half.map(|message| format!("half a tag was sent: {}", short(message)))
        })
        .key("message_names_variable", |_| {
            let named = view.text("message").is_some_and(|message| variable.is_match(message));
            (!named).then(|| format!("message: names no variable: {}", short(view.get("message"))))
        })
        .whole(|option| {
            let called = !option.contains_key("error") || probed;
            let missing = loopback && called && requests.is_empty();
            if missing { vec!["no request reached the endpoint".to_owned()] } else { Vec::new() }
        });
    Ok(judge(&case.expect, &view, &rules))
}

fn files_of(case: &Case, files: &Value) -> Result<Vec<String>, Fault> {
    let world = world::fresh();
    let mut paths = Map::new();
    for (form, text) in object(files) {
        let path = world.path().join(format!("settings/config.{form}"));
        world::write(&path, &world::blob(&text), 0o644);
        paths.insert(form, json!(path));
    }
    let view = ask(case, &json!({ "config_files": paths }))?;
    Ok(judge(&case.expect, &view, &Rules::default()))
}

fn answer(request: &Request, probe: &Map<String, Value>) -> Value {
    let path = request.plain_path();
    let found = if path.ends_with("/chat/completions") { 200 } else { 404 };
    let status = if probe.is_empty() { found } else { probe.get(path).and_then(Value::as_u64).unwrap_or(404) };
    if status != 200 {
        return json!({ "status": status, "body": r#"{"error":{"message":"no such path"}}"# });
    }
    let message = json!({ "role": "assistant", "content": "fine" });
    if request.json["stream"] == json!(true) {
        let end = delta_event(&json!({}), json!("stop"));
        return json!({ "chunks": [delta_event(&message, Value::Null), end, event(&json!("[DONE]"))] });
    }
    let reply = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
    json!({ "body": reply.to_string(), "headers": { "content-type": "application/json" } })
}

/// How many guiding messages of the product's own stand before the given history.
fn offset(given: &Value, sent: &[Value]) -> usize {
    let guides = |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
    match list(&given["history"]).first() {
        Some(first) if !guides(&first) => sent.iter().take_while(guides).count(),
        _ => 0,
    }
}

fn sent_message(want: &Value, sent: &[Value], offset: usize) -> Option<String> {
    let at = offset + want["index"].as_u64().unwrap_or(0) as usize;
    let Some(message) = sent.get(at) else {
        return Some(format!("sent_message: there is no message {at} in {}", short(&json!(sent))));
    };
    for key in list(&want["lacks"]) {
        if message.get(key.as_str().unwrap_or_default()).is_some() {
            return Some(format!("sent_message: has {key}: {}", short(message)));
        }
    }
    if let Some(choices) = want.get("content_in")
        && !list(choices).contains(&message["content"])
    {
        return Some(format!("sent_message: content is {}", short(&message["content"])));
    }
    differs(want.get("has").unwrap_or(&json!({})), message, "sent_message")
}
