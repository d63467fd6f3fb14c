//! Cases of the kind `native_tool_delta`: one model call whose calls come as `tool_calls` deltas.

use super::{model_call, sse_stream};
use selfsmith_agent::message::{Message, Outcome, Part, Role, ToolResult};
use selfsmith_agent::query::settings::ChannelChoice;
use selfsmith_agent::query::{Refusal, Reply, spell};
use serde_json::{Value, json};

/// Make the call and say which calls were admitted and what goes back.
pub fn answer(input: &Value) -> Result<Value, String> {
    let tools = model_call::tools(input);
    let settings = model_call::settings(input, ChannelChoice::Native);
    let called = model_call::call(settings, None, model_call::question(), &tools)?;
    let reply = match &called.outcome {
        Ok(reply) => reply,
        Err(error) => return Ok(sse_stream::failed(error)),
    };
    let calls = reply.calls.iter().map(|call| json!({"id": call.id, "name": call.name, "arguments": call.arguments}));
    let mut got = json!({
        "calls": calls.collect::<Vec<Value>>(),
        "finish": reply.finish,
        "finish_mismatch": reply.refusals.iter().any(|refusal| refusal.class == "no_call"),
    });
    if let Some(refusal) = reply.refusals.first() {
        got["error"] = refusal.class.into();
        got["message"] = refusal.why.clone().into();
    }
    let mut after = called.history.clone();
    let before = spell::messages(&after, called.client.preset().echo).len();
    after.extend(added(reply));
    let spelled = spell::messages(&after, called.client.preset().echo);
    got["replay"] = spelled.into_iter().skip(before).collect();
    Ok(got)
}

/// What the turn adds at once: the reply, and a result for each call that was not admitted.
fn added(reply: &Reply) -> Vec<Message> {
    let results: Vec<Part> = reply.refusals.iter().filter_map(result).collect();
    let mut added = vec![reply.message.clone()];
    if !results.is_empty() {
        added.push(Message { role: Role::User, parts: results });
    }
    added
}

fn result(refusal: &Refusal) -> Option<Part> {
    Some(Part::Result(ToolResult {
        id: refusal.id.clone()?,
        name: refusal.name.clone(),
        outcome: Outcome::Refused,
        text: refusal.why.clone(),
        detail: Value::Null,
    }))
}
