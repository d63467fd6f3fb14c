//! Cases of the kind `think_filter`: one model call whose text holds thinking.

use super::{model_call, sse_stream};
use selfsmith_agent::query::State;
use selfsmith_agent::query::reply::THINKING_UNCLOSED;
use selfsmith_agent::query::settings::ChannelChoice;
use serde_json::{Value, json};

/// Make the call and say what is visible, what was thought, and what is called.
pub fn answer(input: &Value) -> Result<Value, String> {
    let tools = model_call::tools(input);
    let settings = model_call::settings(input, ChannelChoice::Text);
    let called = model_call::call(settings, None, model_call::question(), &tools)?;
    let reply = match &called.outcome {
        Ok(reply) => reply,
        Err(error) => return Ok(sse_stream::failed(error)),
    };
    let calls = reply.calls.iter().map(|call| {
        let mut words = call.arguments.clone();
        words.insert("tool".into(), call.name.clone().into());
        Value::Object(words)
    });
    let mut got = json!({
        "visible": called.visible.trim(),
        "thinking": sse_stream::thinking(reply),
        "calls": calls.collect::<Vec<Value>>(),
        "unclosed": reply.state == State::Truncated { why: THINKING_UNCLOSED.into() },
    });
    if let Some(refusal) = reply.refusals.first() {
        got["error"] = refusal.class.into();
        got["message"] = refusal.why.clone().into();
    }
    Ok(got)
}
