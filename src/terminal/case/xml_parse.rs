//! `xml_parse`: the text channel's parser on one whole message.

use selfsmith_agent::query::ToolSpec;
use selfsmith_agent::query::text_channel::{Finish, Parsed, Shown, TextCall, parse};
use selfsmith_agent::tool::{self, Surroundings};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// What the parser makes of the message.
pub fn answer(input: &Value) -> Result<Value, String> {
    let text = input.get("text").and_then(Value::as_str).ok_or("the input has no text")?;
    let finish = match input.get("finish_reason").and_then(Value::as_str) {
        Some("length") => Finish::Cut,
        _ => Finish::Whole,
    };
    let names: Vec<&str> =
        input.get("tools").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let specs = specs(&names);
    let parsed = parse(text, finish, &specs);
    if input.get("chunking").and_then(Value::as_str) == Some("every_char") {
        chunks_agree(text, finish, &specs)?;
    }
    Ok(report(&parsed, &specs))
}

/// The product's own tools of these names.
pub fn specs(names: &[&str]) -> Vec<ToolSpec> {
    tool::table(&Surroundings { root: PathBuf::from("."), ..Surroundings::default() })
        .iter()
        .filter(|tool| names.contains(&tool.name()))
        .map(|tool| ToolSpec {
            name: tool.name(),
            aliases: tool.aliases(),
            description: String::new(),
            schema: tool.schema(),
            body: tool.body(),
        })
        .collect()
}

/// Calls, prose and errors in the words of the cases.
pub fn report(parsed: &Parsed, specs: &[ToolSpec]) -> Value {
    let calls: Vec<Value> = parsed.calls.iter().map(|call| call_words(call, specs)).collect();
    let mut got = json!({ "calls": calls, "text": parsed.visible, "unclosed": parsed.unclosed });
    if let (Some(refusal), Some(fields)) = (parsed.refusals.first(), got.as_object_mut()) {
        fields.insert("error".to_owned(), json!(refusal.class));
        fields.insert("message".to_owned(), json!(refusal.why));
    }
    got
}

/// One call: the cases call `done`'s words `text`.
pub fn call_words(call: &TextCall, specs: &[ToolSpec]) -> Value {
    let mut words: Map<String, Value> = call.arguments.clone();
    words.insert("tool".to_owned(), json!(call.name));
    if call.name == "done" {
        let body = specs.iter().find(|spec| spec.name == "done").and_then(|spec| spec.body).unwrap_or_default();
        words.insert("text".to_owned(), words.get(body).cloned().unwrap_or_else(|| json!("")));
    }
    Value::Object(words)
}

/// Feeding character by character shows the same prose as feeding at once.
fn chunks_agree(text: &str, finish: Finish, specs: &[ToolSpec]) -> Result<(), String> {
    use selfsmith_agent::query::text_channel::Holder;
    let show = |pieces: Vec<String>| {
        let mut holder = Holder::new(specs.to_vec());
        let mut shown: Vec<Shown> = pieces.iter().flat_map(|piece| holder.push(piece)).collect();
        shown.extend(holder.finish(finish));
        shown.into_iter().fold(String::new(), |all, one| match one {
            Shown::Text(text) => all + &text,
            Shown::Thinking(_) => all,
            Shown::Recant => String::new(),
        })
    };
    let by_char = show(text.chars().map(String::from).collect());
    let whole = show(vec![text.to_owned()]);
    if by_char == whole { Ok(()) } else { Err(format!("the pieces changed what is shown: {by_char:?}, {whole:?}")) }
}
