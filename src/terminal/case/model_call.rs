//! One model call with the product's real client, for the kinds that ask one.

use selfsmith_agent::message::{Message, Role};
use selfsmith_agent::query::client::{Client, Surroundings};
use selfsmith_agent::query::settings::{ChannelChoice, Growth, Settings};
use selfsmith_agent::query::tape::Tape;
use selfsmith_agent::query::{Delta, Model, QueryError, Reply, Request, ToolSpec};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::SystemTime;

/// What came of the call, and what a person has before their eyes in the end.
pub struct Called {
    /// The client, for what it spells next.
    pub client: Client,
    /// The messages that were sent.
    pub history: Vec<Message>,
    /// The reply or the error.
    pub outcome: Result<Reply, QueryError>,
    /// The text shown.
    pub visible: String,
}

/// Settings from the input's address and times.
pub fn settings(input: &Value, channel: ChannelChoice) -> Settings {
    let milliseconds = |key: &str, default: u64| input.get(key).and_then(Value::as_u64).unwrap_or(default);
    let silence = milliseconds("stall_timeout_ms", 2000) as f64 / 1000.0;
    let mut settings = Settings {
        base_url: input.get("base_url").and_then(Value::as_str).map(ToOwned::to_owned),
        name: Some("test-model".into()),
        channel,
        first_token_timeout_s: silence,
        stall_timeout_s: silence,
        ..Settings::default()
    };
    settings.retry.first_wait_ms = milliseconds("retry_wait_ms", 50);
    settings
}

/// Ask once.
pub fn call(
    settings: Settings,
    key: Option<&str>,
    history: Vec<Message>,
    tools: &[ToolSpec],
) -> Result<Called, String> {
    let environment: BTreeMap<String, String> =
        key.map(|key| ("SELFSMITH_API_KEY".to_owned(), key.to_owned())).into_iter().collect();
    let client = Client::new(settings, Growth::default(), &environment, Tape::Off, surroundings())
        .map_err(|error| format!("could not {error}; {}", error.hint()))?;
    Ok(ask(client, history, tools))
}

/// Ask this client.
pub fn ask(client: Client, history: Vec<Message>, tools: &[ToolSpec]) -> Called {
    let shown = Mutex::new(String::new());
    let outcome = {
        let on = |delta: Delta| show(&shown, delta);
        let asking = client.ask(Request { messages: &history, tools, model: None, tokens_left: None }, &on);
        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(asking),
            Err(error) => Err(QueryError::Unavailable { what: error.to_string(), hint: String::new(), code: None }),
        }
    };
    let visible = shown.into_inner().unwrap_or_default();
    Called { client, history, outcome, visible }
}

fn show(shown: &Mutex<String>, delta: Delta) {
    let Ok(mut shown) = shown.lock() else { return };
    match delta {
        Delta::Text(text) => shown.push_str(&text),
        Delta::Superseded { .. } => shown.clear(),
        Delta::Thinking(_) | Delta::Retrying { .. } | Delta::Notice(_) => {}
    }
}

/// A short conversation.
pub fn question() -> Vec<Message> {
    vec![Message::text(Role::System, "You are a test."), Message::text(Role::User, "Go.")]
}

/// The real clock; waits in cases are not spread.
pub const fn surroundings() -> Surroundings {
    Surroundings { now: SystemTime::now, dice: || 0.5 }
}

/// The five tools as the protocol lists them, and further ones of the case (`tools`, `schema`).
pub fn tools(input: &Value) -> Vec<ToolSpec> {
    let mut specs: Vec<ToolSpec> = FIVE
        .iter()
        .map(|(name, arguments, body)| {
            let types = arguments.iter().map(|argument| ((*argument).to_owned(), json!({"type": "string"})));
            let required: &[&str] = if *name == "done" { &[] } else { arguments };
            spec(name, types.collect(), required, *body)
        })
        .collect();
    for name in input.get("tools").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        let types = input.pointer(&format!("/schema/{name}")).and_then(Value::as_object);
        let types = types.into_iter().flatten().map(|(argument, kind)| (argument.clone(), json!({"type": kind})));
        // A specification names its tool for good; a case brings a handful of them.
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        specs.push(spec(name, types.collect(), &[], None));
    }
    specs
}

const FIVE: &[(&str, &[&str], Option<&str>)] = &[
    ("view", &["path"], None),
    ("create", &["path", "content"], Some("content")),
    ("str_replace", &["path", "old", "new"], None),
    ("bash", &["command"], Some("command")),
    ("done", &["text"], Some("text")),
];

fn spec(
    name: &'static str,
    properties: serde_json::Map<String, Value>,
    required: &[&str],
    body: Option<&'static str>,
) -> ToolSpec {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    ToolSpec { name, aliases: &[], description: format!("The tool {name}."), schema, body }
}
