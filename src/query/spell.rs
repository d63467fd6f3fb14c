//! From the conversation to a provider's JSON.
//!
//! Pure and deterministic: the same messages give the same bytes, and a longer conversation begins with the bytes of the
//! shorter one (B7; tested below). The limit on tokens stands outside of the messages, so growing it keeps caches warm.

use crate::message::{Channel, Message, Outcome, Part, Role, ToolResult};
use crate::query::ToolSpec;
use crate::query::adapt::Roles;
use crate::query::quirks::Echo;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The messages of a request.
pub fn messages(messages: &[Message], echo: Echo) -> Vec<Value> {
    let mut speller = Speller::default();
    let mut out = Vec::with_capacity(messages.len());
    messages.iter().for_each(|message| speller.push(message, echo, &mut out));
    out
}

/// Spells a conversation message by message.
#[derive(Debug, Default)]
pub struct Speller {
    /// Ids of native calls: results go back the way their call came.
    native: BTreeSet<String>,
}

impl Speller {
    /// The next message, as one or several of a request.
    pub fn push(&mut self, message: &Message, echo: Echo, out: &mut Vec<Value>) {
        let native = message.calls().filter(|call| call.channel == Channel::Native);
        self.native.extend(native.map(|call| call.id.clone()));
        match message.role {
            Role::System => out.push(json!({"role": "system", "content": message.plain_text()})),
            Role::User => user(message, &self.native, out),
            Role::Assistant => out.push(assistant(message, echo)),
        }
    }
}

/// The messages as a template takes them that wants turns: the system's words stand before the first of the person's, and
/// what one side said in a row is one message. Calls and their results stay as they are.
pub fn folded(messages: Vec<Value>, roles: Roles) -> Vec<Value> {
    if roles == Roles::Any {
        return messages;
    }
    let mut out: Vec<Value> = Vec::new();
    for mut message in messages {
        if message["role"] == "system" {
            message["role"] = "user".into();
        }
        let plain = |value: &Value| value["content"].is_string() && value.get("tool_calls").is_none();
        match out.last_mut().filter(|last| last["role"] == message["role"] && plain(last) && plain(&message)) {
            Some(last) => {
                let text = [&*last, &message].map(|value| value["content"].as_str().unwrap_or_default()).join("\n\n");
                last["content"] = text.into();
            }
            None => out.push(message),
        }
    }
    out
}

/// The tools of a request on the native channel.
pub fn tools(tools: &[ToolSpec]) -> Vec<Value> {
    tools
        .iter()
        .map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": said(&tool.schema)}})
        })
        .collect()
}

/// A schema as the model reads it: that a path or a command is not empty goes without saying, and every byte is sent with
/// every request.
fn said(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let nothing = schema.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty);
    if let Some(whole) = schema.as_object_mut().filter(|_| nothing) {
        whole.remove("required");
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|all| all.values_mut()) {
        if let Some(property) = property.as_object_mut() {
            property.remove("minLength");
        }
    }
    schema
}

/// The estimate's text of a message: everything that costs tokens.
pub fn countable(message: &Value) -> String {
    let mut text = String::new();
    collect(message, &mut text);
    text
}

fn collect(value: &Value, out: &mut String) {
    match value {
        // An image costs by its size in pixels, not by its base64.
        Value::String(data) if data.starts_with("data:image/") => {}
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, out)),
        Value::Object(map) => map.values().for_each(|item| collect(item, out)),
        _ => {}
    }
}

/// Results of native calls are messages of their own and come first; the rest is one user message.
fn user(message: &Message, native: &BTreeSet<String>, out: &mut Vec<Value>) {
    let mut text = String::new();
    let mut images = Vec::new();
    for part in &message.parts {
        match part {
            Part::Result(result) if native.contains(&result.id) => {
                out.push(json!({"role": "tool", "tool_call_id": result.id, "content": result_text(result)}));
            }
            Part::Result(result) => paragraph(&mut text, &text_result(result)),
            Part::Text { text: words } => paragraph(&mut text, words),
            Part::Image { mime, base64 } => {
                images.push(json!({"type": "image_url", "image_url": {"url": format!("data:{mime};base64,{base64}")}}))
            }
            Part::Thinking { .. } | Part::Call(_) => {}
        }
    }
    if !images.is_empty() {
        let mut parts = Vec::new();
        if !text.is_empty() {
            parts.push(json!({"type": "text", "text": text}));
        }
        parts.extend(images);
        out.push(json!({"role": "user", "content": parts}));
    } else if !text.is_empty() {
        out.push(json!({"role": "user", "content": text}));
    }
}

fn paragraph(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// A result on the text channel (A8).
fn text_result(result: &ToolResult) -> String {
    // A call that was announced and never came has no name.
    let name = if result.name.trim().is_empty() { "call" } else { result.name.as_str() };
    match result.outcome {
        Outcome::Done => format!("[{name}] result: {}", result.text),
        outcome => format!("[{name}] result ({}): {}", word(outcome), result.text),
    }
}

fn result_text(result: &ToolResult) -> String {
    match result.outcome {
        Outcome::Done if result.text.is_empty() => "(done, without output)".into(),
        Outcome::Done => result.text.clone(),
        outcome => format!("({}) {}", word(outcome), result.text),
    }
}

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Failed => "failed",
        Outcome::Refused => "not run",
        Outcome::Interrupted => "interrupted",
    }
}

fn assistant(message: &Message, echo: Echo) -> Value {
    let mut text = message.plain_text();
    let thinking: String = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Thinking { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let calls: Vec<Value> = message
        .calls()
        .filter(|call| call.channel == Channel::Native)
        .map(|call| {
            let arguments = Value::Object(call.arguments.clone()).to_string();
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        })
        .collect();
    if echo == Echo::Inline && !thinking.is_empty() {
        text = format!("<think>\n{thinking}\n</think>\n\n{text}");
    }
    if text.is_empty() && calls.is_empty() {
        // Several servers refuse an empty message.
        text = "(no answer)".into();
    }
    let mut spelled = json!({"role": "assistant", "content": text});
    if let Some(map) = spelled.as_object_mut() {
        if echo == Echo::BesideCalls && !calls.is_empty() && !thinking.is_empty() {
            map.insert("reasoning_content".into(), thinking.into());
        }
        if !calls.is_empty() {
            map.insert("tool_calls".into(), calls.into());
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolCall;
    use serde_json::Map;

    fn call(id: &str, channel: Channel) -> Part {
        Part::Call(ToolCall { id: id.into(), name: "view".into(), arguments: Map::new(), channel })
    }

    fn result(id: &str, outcome: Outcome) -> Part {
        Part::Result(ToolResult {
            id: id.into(),
            name: "view".into(),
            outcome,
            text: "text".into(),
            detail: Value::Null,
        })
    }

    fn conversation() -> Vec<Message> {
        vec![
            Message::text(Role::System, "s"),
            Message::text(Role::User, "q"),
            Message {
                role: Role::Assistant,
                parts: vec![
                    Part::Thinking { text: "t".into() },
                    Part::Text { text: "a".into() },
                    call("n", Channel::Native),
                ],
            },
            Message { role: Role::User, parts: vec![result("n", Outcome::Done)] },
            Message { role: Role::Assistant, parts: vec![Part::Text { text: "<view path=\"x\"/>".into() }] },
            Message { role: Role::User, parts: vec![result("x", Outcome::Done), result("y", Outcome::Failed)] },
            Message::text(Role::Assistant, ""),
        ]
    }

    #[test]
    fn each_result_goes_back_the_way_its_call_came() {
        let want = json!([
            {"role": "system", "content": "s"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a",
             "tool_calls": [{"id": "n", "type": "function", "function": {"name": "view", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "n", "content": "text"},
            {"role": "assistant", "content": "<view path=\"x\"/>"},
            {"role": "user", "content": "[view] result: text\n\n[view] result (failed): text"},
            {"role": "assistant", "content": "(no answer)"},
        ]);
        assert_eq!(Value::from(messages(&conversation(), Echo::Never)), want);
    }

    #[test]
    fn a_result_of_a_call_without_a_name_is_named_a_call() {
        let Part::Result(result) = result("x", Outcome::Refused) else { panic!("a result") };
        let message =
            Message { role: Role::User, parts: vec![Part::Result(ToolResult { name: String::new(), ..result })] };
        let want = json!([{"role": "user", "content": "[call] result (not run): text"}]);
        assert_eq!(Value::from(messages(&[message], Echo::Never)), want);
    }

    #[test]
    fn thinking_goes_back_only_where_the_provider_needs_it() {
        let spelled = messages(&conversation(), Echo::BesideCalls);
        assert_eq!(spelled.iter().filter(|message| message.get("reasoning_content").is_some()).count(), 1);
        let spelled = messages(&conversation(), Echo::Inline);
        assert_eq!(spelled[2]["content"], "<think>\nt\n</think>\n\na");
    }

    #[test]
    fn a_longer_conversation_begins_with_the_bytes_of_the_shorter_one() {
        let whole = conversation();
        for echo in [Echo::Never, Echo::BesideCalls, Echo::Inline] {
            let mut before = String::new();
            for length in 1..=whole.len() {
                let now: String =
                    messages(&whole[..length], echo).iter().map(|message| format!("{message},")).collect();
                assert!(now.starts_with(&before) && now.len() > before.len(), "{before}\n{now}");
                before = now;
            }
        }
    }

    #[test]
    fn turns_have_no_system_message_and_nobody_speaks_twice() {
        let said = |role: &str, text: &str| json!({ "role": role, "content": text });
        let all = vec![said("system", "s"), said("user", "a"), said("user", "b"), said("assistant", "c")];
        assert_eq!(folded(all.clone(), Roles::Any), all);
        assert_eq!(folded(all, Roles::Turns), [said("user", "s\n\na\n\nb"), said("assistant", "c")]);
    }

    #[test]
    fn images_travel_as_parts_beside_the_text() {
        let message = Message {
            role: Role::User,
            parts: vec![
                Part::Text { text: "look".into() },
                Part::Image { mime: "image/png".into(), base64: "AA==".into() },
            ],
        };
        let want = json!([{"role": "user", "content": [{"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}]);
        assert_eq!(Value::from(messages(&[message], Echo::Never)), want);
    }
}
