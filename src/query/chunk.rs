//! From one JSON chunk of a stream (or one blocking body) to pieces of a reply.
//!
//! The shape is OpenAI's `chat.completion.chunk`; everything in it is optional, because servers leave out, null or move
//! nearly every field. Nothing that came is dropped in silence: an error object comes first, whatever else is there.

use crate::query::failure::{Failure, Kind};
use serde_json::Value;

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Thinking in a field of its own.
    Thinking(String),
    /// Text.
    Text(String),
    /// A part of a native call.
    Call(CallDelta),
    /// The finish reason.
    Finish(String),
    /// Tokens.
    Usage(ServerUsage),
    /// An error object in the place of an answer.
    Error(Failure),
}

/// A part of a native call, as far as the server said it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallDelta {
    /// Position among the reply's calls.
    pub index: Option<u64>,
    /// The call's id, never empty.
    pub id: Option<String>,
    /// The tool's name or a part of it, never empty.
    pub name: Option<String>,
    /// A part of the arguments' JSON text.
    pub arguments: Option<String>,
}

/// Tokens in the server's words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerUsage {
    /// Tokens sent.
    pub prompt: u64,
    /// Tokens received.
    pub completion: u64,
    /// Of those sent, those the cache held.
    pub cached: u64,
}

/// The pieces of a chunk, in order.
pub fn pieces(chunk: &Value) -> Vec<Piece> {
    let mut out = Vec::new();
    if let Some(failure) = Failure::inside(chunk) {
        out.push(Piece::Error(failure));
        return out;
    }
    let choices = chunk.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    // Only the first answer was asked for.
    for choice in choices.iter().filter(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0) {
        if let Some(failure) = Failure::inside_choice(choice) {
            out.push(Piece::Error(failure));
            return out;
        }
        let delta = ["delta", "message"].iter().find_map(|key| choice.get(*key).filter(|value| value.is_object()));
        match delta {
            Some(delta) => message_pieces(delta, &mut out),
            None => push_text(choice.get("text"), &mut out),
        }
        match choice.get("finish_reason") {
            Some(Value::String(reason)) if reason == "error" => {
                out.push(Piece::Error(Failure::new(
                    Kind::Server,
                    "the server ended the reply with finish reason `error`",
                )));
            }
            Some(Value::String(reason)) if !reason.is_empty() && reason != "null" => {
                out.push(Piece::Finish(reason.clone()))
            }
            _ => {}
        }
    }
    if let Some(usage) = chunk.get("usage").and_then(usage) {
        out.push(Piece::Usage(usage));
    }
    out
}

impl Failure {
    /// An error object inside a choice, as OpenRouter sends it.
    fn inside_choice(choice: &Value) -> Option<Self> {
        let error = choice.get("error").filter(|error| error.is_object() || error.is_string())?;
        Self::inside(&serde_json::json!({ "error": error }))
    }
}

fn message_pieces(delta: &Value, out: &mut Vec<Piece>) {
    if let Some(thinking) = thinking(delta) {
        out.push(Piece::Thinking(thinking));
    }
    push_text(delta.get("content"), out);
    push_text(delta.get("refusal"), out);
    for (position, call) in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten().enumerate() {
        out.push(Piece::Call(call_delta(call, position, delta.get("role").is_some())));
    }
    if let Some(call) = delta.get("function_call").filter(|call| call.is_object()) {
        out.push(Piece::Call(CallDelta { index: Some(0), id: None, ..function(call) }));
    }
}

/// The thinking of a delta; servers that send it twice under two names mean it once.
fn thinking(delta: &Value) -> Option<String> {
    for key in ["reasoning_content", "reasoning", "thinking"] {
        if let Some(text) = delta.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()) {
            return Some(text.to_owned());
        }
    }
    let details = delta.get("reasoning_details").and_then(Value::as_array)?;
    let text: String = details
        .iter()
        .filter_map(|detail| detail.get("text").or_else(|| detail.get("summary")).and_then(Value::as_str))
        .collect();
    (!text.is_empty()).then_some(text)
}

/// Text, given as a string or as a list of parts.
fn push_text(content: Option<&Value>, out: &mut Vec<Piece>) {
    match content {
        Some(Value::String(text)) if !text.is_empty() => out.push(Piece::Text(text.clone())),
        Some(Value::Array(parts)) => {
            for part in parts {
                match part.get("type").and_then(Value::as_str) {
                    Some("thinking" | "reasoning") => {
                        let text = part.get("thinking").or_else(|| part.get("text"));
                        let text = text.map(part_text).unwrap_or_default();
                        if !text.is_empty() {
                            out.push(Piece::Thinking(text));
                        }
                    }
                    _ => push_text(part.get("text").or_else(|| part.is_string().then_some(part)), out),
                }
            }
        }
        _ => {}
    }
}

fn part_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        _ => String::new(),
    }
}

/// In a whole message (it has a role and each call is whole) the position stands in for a missing index and id.
fn call_delta(call: &Value, position: usize, whole: bool) -> CallDelta {
    let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()).map(ToOwned::to_owned);
    let index = call.get("index").and_then(Value::as_u64);
    let index = index.or_else(|| (whole && id.is_none()).then_some(position as u64));
    CallDelta { index, id, ..function(call.get("function").unwrap_or(call)) }
}

fn function(function: &Value) -> CallDelta {
    let name = function.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()).map(ToOwned::to_owned);
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) | None => None,
        Some(other) => Some(other.to_string()),
    };
    CallDelta { index: None, id: None, name, arguments }
}

/// Tokens; an empty object and one of zeros say nothing.
fn usage(usage: &Value) -> Option<ServerUsage> {
    let count = |value: Option<&Value>| {
        value.and_then(|v| v.as_u64().or_else(|| v.as_f64().filter(|f| *f >= 0.0).map(|f| f as u64))).unwrap_or(0)
    };
    let details = usage.get("prompt_tokens_details").and_then(|details| details.get("cached_tokens"));
    let cached = details.or_else(|| usage.get("prompt_cache_hit_tokens")).or_else(|| usage.get("cached_tokens"));
    let prompt = count(usage.get("prompt_tokens").or_else(|| usage.get("input_tokens")));
    let completion = count(usage.get("completion_tokens").or_else(|| usage.get("output_tokens")));
    (prompt > 0 || completion > 0).then(|| ServerUsage { prompt, completion, cached: count(cached).min(prompt) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_thinking_and_finish_are_told_apart() {
        let chunk = json!({"choices": [{"delta": {"reasoning_content": "hm", "reasoning": "hm", "content": "a"},
                                        "finish_reason": "stop"}]});
        let want = vec![Piece::Thinking("hm".into()), Piece::Text("a".into()), Piece::Finish("stop".into())];
        assert_eq!(pieces(&chunk), want);
    }

    #[test]
    fn empty_nulled_and_missing_fields_say_nothing() {
        for chunk in [
            json!({}),
            json!({"choices": null, "usage": {}}),
            json!({"choices": [{"delta": null, "finish_reason": null}]}),
            json!({"choices": [{"index": 0, "delta": {"role": "", "content": "", "tool_calls": null}, "finish_reason": ""}]}),
            json!({"choices": [{"index": 1, "delta": {"content": "another answer"}}]}),
        ] {
            assert_eq!(pieces(&chunk), Vec::new(), "{chunk}");
        }
    }

    #[test]
    fn content_in_parts_is_joined_in_order() {
        let chunk = json!({"choices": [{"delta": {"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}, {"type": "text", "text": "a"}]}}]});
        assert_eq!(pieces(&chunk), vec![Piece::Thinking("t".into()), Piece::Text("a".into())]);
    }

    #[test]
    fn cached_tokens_are_read_in_both_spellings() {
        for usage in [
            json!({"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}),
            json!({"prompt_tokens": 5, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}),
        ] {
            let want = ServerUsage { prompt: 5, completion: 1, cached: 4 };
            assert_eq!(pieces(&json!({"choices": [], "usage": usage})), vec![Piece::Usage(want)]);
        }
    }

    #[test]
    fn absurd_token_figures_are_read_without_a_panic() {
        for (prompt, completion) in [(1_u64 << 63, 1_u64 << 63), (u64::MAX, u64::MAX), (u64::MAX, 0)] {
            let usage = json!({"prompt_tokens": prompt, "completion_tokens": completion});
            let want = ServerUsage { prompt, completion, cached: 0 };
            assert_eq!(pieces(&json!({ "usage": usage })), vec![Piece::Usage(want)]);
        }
    }

    #[test]
    fn a_whole_message_reads_like_a_stream() {
        let body = json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "", "function": {"name": "view", "arguments": {"path": "a"}}}]}, "finish_reason": "tool_calls"}]});
        let call = CallDelta {
            index: Some(0),
            id: None,
            name: Some("view".into()),
            arguments: Some("{\"path\":\"a\"}".into()),
        };
        assert_eq!(pieces(&body), vec![Piece::Call(call), Piece::Finish("tool_calls".into())]);
    }
}
