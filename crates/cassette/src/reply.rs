//! One reply of a model as it stands on tape or in a scenario: spoken (what the model said) or raw (what the wire carried).
//!
//! Both are written as one flat object; fields of the two kinds do not mix, and an unknown field is an error.

use base64::Engine as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub enum Reply {
    /// What the model said; the wire form is made from it, streamed or blocking as the request asks.
    Spoken(SpokenReply),
    /// Status, headers and body as they travel, for failures and odd servers.
    Raw(RawReply),
}

/// What the model said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpokenReply {
    /// The text, tool blocks of the text channel included.
    pub text: String,
    /// The thinking, sent in a field of its own.
    pub thinking: String,
    /// Native tool calls.
    pub calls: Vec<SpokenCall>,
    /// The finish reason. `None`: `tool_calls` where there are calls, else `stop`. Empty: the stream just ends, without
    /// a reason and without an end mark.
    pub finish: Option<String>,
    /// Tokens, where the server gave them.
    pub usage: Option<TapeUsage>,
}

/// A native tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpokenCall {
    /// The provider's id; made from turn and position where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name of the tool.
    pub name: String,
    /// An object, or a string that is sent as it stands (for arguments that are no JSON).
    #[serde(default)]
    pub arguments: Value,
}

/// Tokens of a reply, in the server's words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TapeUsage {
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
    /// Of those sent, those the provider's cache held.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
}

/// What the wire carried.
#[derive(Debug, Clone, PartialEq)]
pub struct RawReply {
    /// HTTP status.
    pub status: u16,
    /// Headers; `content-type` is guessed from the body where absent.
    pub headers: BTreeMap<String, String>,
    /// The body in the pieces in which it is sent.
    pub chunks: Vec<Chunk>,
    /// What happens after the last piece.
    pub then: Then,
}

/// A piece of a raw body: text, or bytes that are no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Chunk {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Bytes {
        /// The base64 form.
        b64: String,
    },
}

impl Chunk {
    /// The bytes that travel. Base64 was checked when the reply was read; what is still broken travels as nothing.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Bytes { b64 } => base64::engine::general_purpose::STANDARD.decode(b64).unwrap_or_default(),
        }
    }
}

/// How a raw reply ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Properly.
    #[default]
    Close,
    /// The connection is torn down.
    Reset,
    /// Silence until the client gives up.
    Stall,
}

/// The flat form that people write.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thinking: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calls: Option<Vec<SpokenCall>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<TapeUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chunks: Option<Vec<Chunk>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    then: Option<Then>,
}

impl Form {
    fn is_raw(&self) -> bool {
        self.status.is_some()
            || self.headers.is_some()
            || self.body.is_some()
            || self.chunks.is_some()
            || self.then.is_some()
    }

    fn is_spoken(&self) -> bool {
        self.text.is_some()
            || self.thinking.is_some()
            || self.calls.is_some()
            || self.finish.is_some()
            || self.usage.is_some()
    }

    fn into_raw(self) -> Result<RawReply, String> {
        let chunks = match (self.body, self.chunks) {
            (Some(_), Some(_)) => return Err("a raw reply has `body` or `chunks`, not both".into()),
            (Some(Value::String(text)), None) => vec![Chunk::Text(text)],
            (Some(body), None) => vec![Chunk::Text(body.to_string())],
            (None, chunks) => chunks.unwrap_or_default(),
        };
        for (index, chunk) in chunks.iter().enumerate() {
            if let Chunk::Bytes { b64 } = chunk {
                let decoded = base64::engine::general_purpose::STANDARD.decode(b64);
                decoded.map_err(|why| format!("chunk {index} is no base64: {why}"))?;
            }
        }
        let status = self.status.unwrap_or(200);
        if !(100..=599).contains(&status) {
            return Err(format!("{status} is no HTTP status"));
        }
        Ok(RawReply { status, headers: self.headers.unwrap_or_default(), chunks, then: self.then.unwrap_or_default() })
    }
}

impl TryFrom<Form> for Reply {
    type Error = String;

    fn try_from(form: Form) -> Result<Self, String> {
        match (form.is_spoken(), form.is_raw()) {
            (true, true) => Err("a reply is spoken (text, thinking, calls, finish, usage) or raw (status, headers, \
                                 body, chunks, then), not both"
                .into()),
            (_, true) => form.into_raw().map(Self::Raw),
            (true, false) => Ok(Self::Spoken(SpokenReply {
                text: form.text.unwrap_or_default(),
                thinking: form.thinking.unwrap_or_default(),
                calls: form.calls.unwrap_or_default(),
                finish: form.finish,
                usage: form.usage,
            })),
            (false, false) => Err("a reply needs `text`, `calls`, `finish`, or a raw `status` or `body`".into()),
        }
    }
}

impl From<Reply> for Form {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Spoken(spoken) => Self {
                text: Some(spoken.text),
                thinking: (!spoken.thinking.is_empty()).then_some(spoken.thinking),
                calls: (!spoken.calls.is_empty()).then_some(spoken.calls),
                finish: spoken.finish,
                usage: spoken.usage,
                ..Self::default()
            },
            Reply::Raw(raw) => Self {
                status: Some(raw.status),
                headers: (!raw.headers.is_empty()).then_some(raw.headers),
                chunks: (!raw.chunks.is_empty()).then_some(raw.chunks),
                then: (raw.then != Then::Close).then_some(raw.then),
                ..Self::default()
            },
        }
    }
}

/// For serde, which passes a reference.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_spoken_reply_reads_from_yaml_and_json_alike() {
        let yaml: Reply =
            serde_yaml::from_str("text: hi\ncalls:\n  - name: view\n    arguments: {path: a.rs}\n").unwrap();
        let json: Reply =
            serde_json::from_str(r#"{"text":"hi","calls":[{"name":"view","arguments":{"path":"a.rs"}}]}"#).unwrap();
        assert_eq!(yaml, json);
    }

    #[test]
    fn mixing_spoken_and_raw_fields_is_an_error() {
        let error = serde_json::from_str::<Reply>(r#"{"text":"hi","status":500}"#).unwrap_err();
        assert!(error.to_string().contains("not both"), "{error}");
    }

    #[test]
    fn an_unknown_field_is_an_error_that_names_it() {
        let error = serde_json::from_str::<Reply>(r#"{"txet":"hi"}"#).unwrap_err();
        assert!(error.to_string().contains("txet"), "{error}");
    }

    #[test]
    fn what_is_written_reads_back_equal() {
        for text in [
            r#"{"text":"a","thinking":"t","finish":"length","usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
            r#"{"status":429,"headers":{"retry-after":"2"},"chunks":["x",{"b64":"5pU="}],"then":"reset"}"#,
        ] {
            let reply: Reply = serde_json::from_str(text).unwrap();
            let again: Reply = serde_json::from_str(&serde_json::to_string(&reply).unwrap()).unwrap();
            assert_eq!(reply, again);
        }
    }
}
