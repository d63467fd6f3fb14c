//! The wire form of a spoken reply, as OpenAI-compatible servers send it: event stream or one JSON body.
//!
//! Source of the format: OpenAI's API reference, "Chat completions" (`chat.completion`, `chat.completion.chunk`), with
//! `reasoning_content` as DeepSeek and Qwen send it.

use crate::reply::{SpokenCall, SpokenReply, TapeUsage};
use serde_json::{Value, json};

/// `error.code` of the answer when the tape has no more turns; clients do not try again.
pub const ENDED_CODE: &str = "cassette_ended";
/// `error.code` of the answer when a request differs and that is fatal; clients do not try again.
pub const DRIFTED_CODE: &str = "cassette_drift";

/// An error body in the usual form.
pub fn error_body(code: &str, message: &str) -> String {
    json!({"error": {"message": message, "type": "selfsmith", "code": code}}).to_string()
}

/// The events of a streamed answer, each with its blank line.
pub(crate) fn events(reply: &SpokenReply, turn: usize, model: &str, with_usage: bool) -> Vec<String> {
    let mut out = Vec::new();
    let mut send = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": format!("tape-{turn}"), "object": "chat.completion.chunk", "created": 0, "model": model,
            "choices": choices,
        });
        if let (Some(map), false) = (chunk.as_object_mut(), usage.is_null()) {
            map.insert("usage".into(), usage);
        }
        out.push(format!("data: {chunk}\n\n"));
    };
    let delta = |delta: Value| json!([{"index": 0, "delta": delta, "finish_reason": null}]);
    send(delta(json!({"role": "assistant", "content": ""})), Value::Null);
    for piece in pieces(&reply.thinking) {
        send(delta(json!({"reasoning_content": piece})), Value::Null);
    }
    for piece in pieces(&reply.text) {
        send(delta(json!({"content": piece})), Value::Null);
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let head = json!({"index": index, "id": call_id(call, turn, index), "type": "function",
                          "function": {"name": call.name, "arguments": ""}});
        send(delta(json!({"tool_calls": [head]})), Value::Null);
        for piece in pieces(&arguments(call)) {
            send(delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})), Value::Null);
        }
    }
    let finish = finish(reply);
    if finish.is_empty() {
        return out;
    }
    send(json!([{"index": 0, "delta": {}, "finish_reason": finish}]), Value::Null);
    if let (true, Some(usage)) = (with_usage, reply.usage) {
        send(json!([]), usage_body(usage));
    }
    out.push("data: [DONE]\n\n".into());
    out
}

/// The body of a blocking answer.
pub(crate) fn body(reply: &SpokenReply, turn: usize, model: &str) -> String {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if let Some(map) = message.as_object_mut() {
        if !reply.thinking.is_empty() {
            map.insert("reasoning_content".into(), reply.thinking.clone().into());
        }
        if !reply.calls.is_empty() {
            let calls = reply.calls.iter().enumerate().map(|(index, call)| {
                json!({"id": call_id(call, turn, index), "type": "function",
                       "function": {"name": call.name, "arguments": arguments(call)}})
            });
            map.insert("tool_calls".into(), calls.collect());
        }
    }
    let finish = finish(reply);
    let finish = if finish.is_empty() { Value::Null } else { finish.into() };
    let mut whole = json!({
        "id": format!("tape-{turn}"), "object": "chat.completion", "created": 0, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    });
    if let (Some(map), Some(usage)) = (whole.as_object_mut(), reply.usage) {
        map.insert("usage".into(), usage_body(usage));
    }
    whole.to_string()
}

/// The list of models.
pub(crate) fn models(name: &str) -> String {
    json!({"object": "list", "data": [{"id": name, "object": "model", "owned_by": "cassette"}]}).to_string()
}

fn finish(reply: &SpokenReply) -> String {
    match &reply.finish {
        Some(said) => said.clone(),
        None if reply.calls.is_empty() => "stop".into(),
        None => "tool_calls".into(),
    }
}

fn call_id(call: &SpokenCall, turn: usize, index: usize) -> String {
    call.id.clone().unwrap_or_else(|| format!("call_{turn}_{index}"))
}

/// Arguments as the string that travels.
fn arguments(call: &SpokenCall) -> String {
    match &call.arguments {
        Value::Null => "{}".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn usage_body(usage: TapeUsage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    })
}

/// A text in a few pieces, none for an empty one.
fn pieces(text: &str) -> Vec<String> {
    const PIECES: usize = 3;
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(PIECES).max(1);
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}
