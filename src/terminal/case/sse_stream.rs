//! Cases of the kind `sse_stream`: one model call, streamed, with its tries.

use super::model_call;
use selfsmith_agent::message::Part;
use selfsmith_agent::query::settings::ChannelChoice;
use selfsmith_agent::query::{QueryError, Reply, State};
use serde_json::{Value, json};

/// Make the call and say what came of it.
pub fn answer(input: &Value) -> Result<Value, String> {
    let settings = model_call::settings(input, ChannelChoice::Text);
    let called = model_call::call(settings, None, model_call::question(), &[])?;
    let mut got = match &called.outcome {
        Ok(reply) => replied(reply),
        Err(error) => failed(error),
    };
    got["visible"] = called.visible.into();
    Ok(got)
}

fn replied(reply: &Reply) -> Value {
    let mut got = json!({
        "outcome": "complete",
        "text": reply.message.plain_text(),
        "reasoning": thinking(reply),
        "finish": if reply.finish.is_empty() { "unknown" } else { &reply.finish },
        "empty": reply.visible.is_empty() && reply.message.parts.is_empty(),
    });
    if reply.usage.measured {
        got["usage"] = json!({"prompt_tokens": reply.usage.prompt, "completion_tokens": reply.usage.completion,
            "total_tokens": reply.usage.prompt.saturating_add(reply.usage.completion), "cached_tokens": reply.usage.cached});
    }
    if let State::Truncated { why } = &reply.state {
        got["outcome"] = "truncated".into();
        got["reason"] = if why.contains("idle_timeout") { "idle_timeout" } else { why }.into();
        got["retryable"] = true.into();
        got["message"] = why.clone().into();
    }
    got
}

/// The thinking of a reply.
pub fn thinking(reply: &Reply) -> String {
    let parts = reply.message.parts.iter();
    parts.filter_map(|part| if let Part::Thinking { text } = part { Some(text.as_str()) } else { None }).collect()
}

/// An error in the words of the cases.
pub fn failed(error: &QueryError) -> Value {
    let (retryable, code) = match error {
        QueryError::Refused { code, .. } | QueryError::TooLong { code, .. } => (false, *code),
        QueryError::Unavailable { code, .. } => (true, *code),
        QueryError::Cassette { .. } => (false, None),
    };
    let message = format!("{error}; {}", error.hint());
    json!({"outcome": "error", "retryable": retryable, "code": code, "message": message})
}
