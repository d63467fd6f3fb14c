//! A session for people and for other programs: Markdown, or one JSON value. Everything that was said, also what the
//! conversation left behind (cleared, gone back from); secrets are taken out once more.

use super::log::Entry;
use crate::message::{Message, Outcome, Part, Role, ToolCall, ToolResult};
use crate::redact::Redactor;
use serde_json::{Value, json};

/// Version of the JSON form.
pub const EXPORT_VERSION: u32 = 1;

/// `{"version", "entries": […]}`, the entries as they stand in the record.
pub fn json(entries: &[Entry], redactor: &Redactor) -> Value {
    let mut value = json!({ "version": EXPORT_VERSION, "entries": entries });
    redactor.value(&mut value);
    value
}

/// Markdown. `when` spells a time in milliseconds since the UNIX epoch.
pub fn markdown(entries: &[Entry], redactor: &Redactor, when: &dyn Fn(u64) -> String) -> String {
    let mut out = String::new();
    for entry in entries {
        let text = match entry {
            Entry::Started { session, at, root, model, .. } => {
                format!("# Session {session}\n\n- Model: {model}\n- Workspace: {root}\n- Begun: {}", when(*at))
            }
            Entry::Message { message, calls, .. } => said(message, calls),
            Entry::Cleared { .. } => "*The conversation was cleared here.*".to_owned(),
            Entry::WentBack { kept, .. } => format!("*Back to before message {} here.*", kept + 1),
            Entry::Compacted { messages, .. } => {
                let stands = messages.first().map(|message| said(message, &[])).unwrap_or_default();
                format!("*The conversation was compacted here; for what came before now stands:*\n\n{stands}")
            }
            Entry::Ended { .. } => continue,
        };
        if !text.is_empty() {
            out.push_str(&text);
            out.push_str("\n\n");
        }
    }
    redactor.text(&format!("{}\n", out.trim_end())).into_owned()
}

fn said(message: &Message, calls: &[ToolCall]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in &message.parts {
        match part {
            // Words with calls in them hold tags that Markdown would swallow.
            Part::Text { text } if message.role == Role::Assistant && !calls.is_empty() => parts.push(fenced("", text)),
            Part::Text { text } => parts.push(text.trim().to_owned()),
            Part::Thinking { text } => parts.push(format!("Thinking:\n\n{}", fenced("", text))),
            Part::Image { mime, .. } => parts.push(format!("*A picture ({mime}).*")),
            Part::Call(call) => parts.push(format!("Call of `{}`:\n\n{}", call.name, arguments(call))),
            Part::Result(result) => parts.push(answered(result)),
        }
    }
    let head = match message.role {
        Role::System => {
            let bytes = message.plain_text().len();
            return format!("*The system prompt ({bytes} bytes) is in the JSON export.*");
        }
        Role::User if message.parts.iter().any(|part| matches!(part, Part::Result(_))) => "Results",
        Role::User => "Person",
        Role::Assistant => "Model",
    };
    format!("## {head}\n\n{}", parts.join("\n\n"))
}

fn arguments(call: &ToolCall) -> String {
    fenced("json", &serde_json::to_string_pretty(&call.arguments).unwrap_or_default())
}

fn answered(result: &ToolResult) -> String {
    let how = match result.outcome {
        Outcome::Done => "",
        Outcome::Failed => ", failed",
        Outcome::Refused => ", not run",
        Outcome::Interrupted => ", interrupted",
    };
    format!("`{}`{how}:\n\n{}", result.name, fenced("", &result.text))
}

/// A fence that nothing in the text can end.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Channel;

    fn entries() -> Vec<Entry> {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "view".to_owned(),
            arguments: json!({ "path": "a" }).as_object().cloned().unwrap_or_default(),
            channel: Channel::Native,
        };
        let result = ToolResult {
            id: "1".to_owned(),
            name: "view".to_owned(),
            outcome: Outcome::Failed,
            text: "```\nhunter2hunter2".to_owned(),
            detail: Value::Null,
        };
        let message = |role, parts| Entry::Message { at: 2, message: Message { role, parts }, calls: vec![] };
        vec![
            Entry::Started {
                version: 1,
                session: "s".to_owned(),
                at: 1,
                root: "/w".to_owned(),
                model: "m".to_owned(),
                channel: Channel::Native,
            },
            message(Role::System, vec![Part::Text { text: "four".to_owned() }]),
            message(Role::User, vec![Part::Text { text: "Look.".to_owned() }]),
            message(Role::Assistant, vec![Part::Text { text: "I do.".to_owned() }, Part::Call(call)]),
            message(Role::User, vec![Part::Result(result)]),
            Entry::Cleared { at: 3 },
        ]
    }

    #[test]
    fn markdown_tells_what_was_said_without_secrets() {
        let redactor = Redactor::new(["hunter2hunter2".to_owned()]);
        let text = markdown(&entries(), &redactor, &|at| format!("at {at}"));
        let wanted = "# Session s\n\n- Model: m\n- Workspace: /w\n- Begun: at 1\n\n*The system prompt (4 bytes) is in the \
                      JSON export.*\n\n## Person\n\nLook.\n\n## Model\n\nI do.\n\nCall of `view`:\n\n```json\n{\n  \"path\": \
                      \"a\"\n}\n```\n\n## Results\n\n`view`, failed:\n\n````\n```\n[redacted]\n````\n\n*The conversation was \
                      cleared here.*\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn json_holds_every_entry_and_no_secret() {
        let value = json(&entries(), &Redactor::new(["hunter2hunter2".to_owned()]));
        assert_eq!((value["version"].as_u64(), value["entries"].as_array().map(Vec::len)), (Some(1), Some(6)));
        assert!(!value.to_string().contains("hunter2"));
    }
}
