//! Cases of the kind `config`: a model call with given settings, or a settings file that is read.

use super::model_call;
use selfsmith_agent::config::{ConfigError, read_file};
use selfsmith_agent::message::{Channel, Message, Outcome, Part, Role, ToolCall, ToolResult};
use selfsmith_agent::query::client::{Client, ConnectionError};
use selfsmith_agent::query::quirks::{self, Echo};
use selfsmith_agent::query::reply;
use selfsmith_agent::query::settings::{ChannelChoice, Growth};
use selfsmith_agent::query::tape::Tape;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Read the file, or make the call.
pub fn answer(input: &Value) -> Result<Value, String> {
    match input.pointer("/config_files/yaml").and_then(Value::as_str) {
        Some(path) => Ok(file(Path::new(path))),
        None => Ok(call(input)),
    }
}

fn file(path: &Path) -> Value {
    match read_file(path) {
        Ok(values) => {
            let mut flat = serde_json::Map::new();
            flatten(&serde_json::to_value(values).unwrap_or_default(), String::new(), &mut flat);
            json!({"ok": true, "values": flat})
        }
        Err(error) => {
            let class = if matches!(error, ConfigError::UnknownKey { .. }) { "unknown_key" } else { "malformed" };
            json!({"error": class, "message": format!("could not {error}; {}", error.hint())})
        }
    }
}

fn flatten(value: &Value, path: String, out: &mut serde_json::Map<String, Value>) {
    match value {
        Value::Object(map) => {
            for (key, item) in map {
                flatten(item, if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, out);
            }
        }
        other => {
            out.insert(path, other.clone());
        }
    }
}

fn call(input: &Value) -> Value {
    let mut settings = model_call::settings(input, ChannelChoice::Auto);
    settings.provider = input.get("provider").and_then(Value::as_str).map(ToOwned::to_owned);
    let echo = settings.provider.as_deref().and_then(quirks::by_name).map_or(Echo::Never, |preset| preset.echo);
    let limit = input.get("max_output").and_then(Value::as_u64);
    let growth = limit.map_or_else(Growth::default, |limit| Growth {
        initial_max_tokens: limit,
        max_tokens_limit: limit,
        max_retries: 0,
    });
    let key = input.get("api_key").and_then(Value::as_str);
    let environment: BTreeMap<String, String> =
        key.map(|key| ("SELFSMITH_API_KEY".to_owned(), key.to_owned())).into_iter().collect();
    let client = match Client::new(settings, growth, &environment, Tape::Off, model_call::surroundings()) {
        Ok(client) => client,
        Err(error) => {
            let class = match error {
                ConnectionError::MissingKey { .. } => "missing_key",
                ConnectionError::BadKey { .. } => "bad_key",
                _ => "bad_settings",
            };
            return json!({"error": class, "message": format!("could not {error}; {}", error.hint())});
        }
    };
    let called = model_call::ask(client, conversation(input, echo), &[]);
    match called.outcome {
        Ok(_) => json!({"ok": true}),
        Err(error) => json!({"error": "not_answered", "message": format!("{error}; {}", error.hint())}),
    }
}

fn conversation(input: &Value, echo: Echo) -> Vec<Message> {
    let given = |key: &str| input.get(key).and_then(Value::as_array);
    if let Some(messages) = given("messages") {
        return messages.iter().map(|message| read(message, echo)).collect();
    }
    let Some(history) = given("history") else { return model_call::question() };
    let mut messages: Vec<Message> = history.iter().map(|message| read(message, echo)).collect();
    if messages.last().is_some_and(|message| message.role == Role::Assistant) {
        messages.push(Message::text(Role::User, "Go on."));
    }
    messages
}

/// A provider's message in the product's form.
fn read(message: &Value, echo: Echo) -> Message {
    let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("role") {
        "system" | "developer" => Message::text(Role::System, text("content")),
        "assistant" => {
            let mut parts = reply::parts(text("content"), text("reasoning_content"), echo);
            parts.extend(message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().map(read_call));
            Message { role: Role::Assistant, parts }
        }
        "tool" => {
            let result = ToolResult {
                id: text("tool_call_id").to_owned(),
                name: text("name").to_owned(),
                outcome: Outcome::Done,
                text: text("content").to_owned(),
                detail: Value::Null,
            };
            Message { role: Role::User, parts: vec![Part::Result(result)] }
        }
        _ => Message::text(Role::User, text("content")),
    }
}

fn read_call(call: &Value) -> Part {
    let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    Part::Call(ToolCall {
        id: text("/id").to_owned(),
        name: text("/function/name").to_owned(),
        arguments: serde_json::from_str(text("/function/arguments")).unwrap_or_default(),
        channel: Channel::Native,
    })
}
