//! What a server's error body says, in whatever spelling: message, code words, number, time to wait.

use super::{Failure, Kind};
use serde_json::Value;
use std::time::Duration;

/// Characters of a server's own words that are kept.
pub(super) const MOST_WORDS: usize = 600;

/// What an error body says.
#[derive(Debug, Default)]
pub(super) struct Said {
    message: String,
    /// `code`, `type` and `status` as words, joined, lower case.
    words: String,
    number: Option<u16>,
    wait: Option<Duration>,
}

impl Said {
    pub fn read(body: &str) -> Self {
        let trimmed = body.trim();
        if let Ok(value) = serde_json::from_str::<Value>(trimmed) {
            return Self::of_value(&value).unwrap_or_else(|| {
                let message = if matches!(&value, Value::Object(map) if map.is_empty()) { "" } else { trimmed };
                Self { message: bounded(message), ..Self::default() }
            });
        }
        let message = if trimmed.starts_with('<') { page_title(trimmed) } else { trimmed.to_owned() };
        Self { message: bounded(&message), ..Self::default() }
    }

    pub fn of_value(value: &Value) -> Option<Self> {
        let value = match value {
            Value::Array(items) => items.first()?,
            other => other,
        };
        let map = value.as_object()?;
        if let Some(error) = map.get("error").filter(|error| is_something(error)) {
            let mut said = Self::default();
            said.take(error);
            // OpenRouter and others put the number beside the object.
            said.number = said.number.or_else(|| map.get("code").and_then(number));
            return Some(said);
        }
        if let Some(base) = map.get("base_resp").and_then(Value::as_object) {
            // MiniMax: an answer of status 200 whose own status is not 0.
            let code = base.get("status_code").and_then(Value::as_i64).unwrap_or(0);
            if code == 0 {
                return None;
            }
            let message = base.get("status_msg").and_then(Value::as_str).unwrap_or("").to_owned();
            return Some(Self { message, words: minimax(code).into(), number: None, wait: None });
        }
        if map.contains_key("choices") || map.contains_key("object") {
            return None;
        }
        if map.get("type").and_then(Value::as_str) == Some("ping") {
            return None;
        }
        let telling = ["message", "detail", "errors", "msg", "error_msg", "error_message"];
        if !telling.iter().any(|key| map.get(*key).is_some_and(is_something)) {
            return None;
        }
        let mut said = Self::default();
        said.take(value);
        Some(said)
    }

    fn take(&mut self, error: &Value) {
        self.wait = named_wait(error, 0);
        match error {
            Value::String(text) => self.message = bounded(text),
            Value::Object(map) => {
                let message = ["message", "detail", "msg", "error_msg", "error_message", "errors", "error"]
                    .iter()
                    .find_map(|key| map.get(*key).filter(|value| is_something(value)));
                self.message = bounded(&message.map_or_else(|| error.to_string(), plain));
                if let Some(raw) = map.get("metadata").and_then(|metadata| metadata.get("raw")) {
                    self.message = bounded(&format!("{}: {}", self.message, plain(raw)));
                }
                for key in ["code", "type", "status"] {
                    if let Some(Value::String(word)) = map.get(key) {
                        self.words = format!("{} {}", self.words, word.to_lowercase());
                    }
                }
                self.number = ["code", "status", "status_code"].iter().find_map(|key| map.get(*key).and_then(number));
            }
            other => self.message = bounded(&other.to_string()),
        }
        if self.wait.is_none() {
            self.wait = wait_in_words(&self.message);
        }
    }

    pub fn failure(self, status: Option<u16>) -> Failure {
        let code = status.or(self.number);
        let kind = self.kind(code);
        let what = if self.message.trim().is_empty() { "(the answer gives no reason)".into() } else { self.message };
        Failure { kind, code, what, retry_after: self.wait }
    }

    fn kind(&self, code: Option<u16>) -> Kind {
        let message = self.message.to_lowercase();
        let either = |needles: &[&str]| needles.iter().any(|n| self.words.contains(n) || message.contains(n));
        if self.words.contains("cassette_") {
            return Kind::Cassette;
        }
        if either(&QUOTA) && !matches!(code, Some(500..)) && self.wait.is_none() {
            return Kind::Quota;
        }
        if either(&TOO_LONG) && !matches!(code, Some(401..=403 | 429 | 500..)) {
            return Kind::TooLong;
        }
        match code {
            Some(408 | 409 | 425 | 504 | 522 | 524) => Kind::TimedOut,
            Some(429) => Kind::Busy,
            Some(401 | 403 | 407) => Kind::Auth,
            Some(402) => Kind::Quota,
            Some(404 | 405 | 410 | 501) => Kind::NotFound,
            Some(413) => Kind::TooLong,
            Some(300..=499) => self.kind_by_words().filter(|kind| !kind.is_retryable()).unwrap_or(Kind::BadRequest),
            Some(500..) => Kind::Server,
            _ => self.kind_by_words().unwrap_or(Kind::Server),
        }
    }

    fn kind_by_words(&self) -> Option<Kind> {
        let has = |needles: &[&str]| needles.iter().any(|needle| self.words.contains(needle));
        if has(&["rate_limit", "too_many", "throttl", "resource_exhausted", "ratelimit"]) {
            Some(Kind::Busy)
        } else if has(&["invalid_api_key", "authentication", "unauthorized", "permission", "invalidapikey"]) {
            Some(Kind::Auth)
        } else if has(&["model_not_found", "not_found"]) {
            Some(Kind::NotFound)
        } else if has(&["invalid_request", "bad_request", "invalid_argument", "invalidparameter"]) {
            Some(Kind::BadRequest)
        } else if has(&["overloaded", "server_error", "internal", "unavailable", "timeout"]) {
            Some(Kind::Server)
        } else {
            None
        }
    }
}

const QUOTA: [&str; 6] = [
    "insufficient_quota",
    "billing_hard_limit",
    "exceeded your current quota",
    "insufficient balance",
    "arrearage",
    "credit balance is too low",
];

const TOO_LONG: [&str; 7] = [
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "prompt is too long",
    "range of input length",
    "exceed_context_size",
    "available context size",
];

/// MiniMax's own status numbers (its API reference, "Error codes") in the usual words.
const fn minimax(code: i64) -> &'static str {
    match code {
        1002 | 1039 | 2056 => "rate_limit",
        1004 | 2049 => "authentication",
        1008 => "insufficient_quota",
        2013 | 1026 | 1027 => "invalid_request",
        _ => "server_error",
    }
}

fn is_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    }
}

/// An HTTP-like number, given as a number or as digits.
fn number(value: &Value) -> Option<u16> {
    let number = match value {
        Value::Number(number) => number.as_u64()?,
        Value::String(digits) => digits.trim().parse().ok()?,
        _ => return None,
    };
    u16::try_from(number).ok().filter(|number| (300..=599).contains(number))
}

/// A text without JSON around it where it is one.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(MOST_WORDS).and_then(|(at, _)| text.get(..at)) {
        Some(head) => format!("{head}…"),
        None => text.to_owned(),
    }
}

/// The title of an HTML page, or its words.
fn page_title(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|at| {
        let from = at + "<title>".len();
        let to = lower.get(from..)?.find("</title>")?;
        page.get(from..from + to)
    });
    let mut words = String::new();
    let mut inside = false;
    for c in title.unwrap_or(page).chars().take(20_000) {
        match c {
            '<' => inside = true,
            '>' => {
                inside = false;
                words.push(' ');
            }
            _ if !inside => words.push(c),
            _ => {}
        }
    }
    let words: Vec<&str> = words.split_whitespace().collect();
    format!("a web page: {}", words.join(" "))
}

/// The seconds to wait that an error object names, wherever it keeps them.
fn named_wait(value: &Value, depth: u8) -> Option<Duration> {
    if depth > 4 {
        return None;
    }
    match value {
        Value::Object(map) => map.iter().find_map(|(key, item)| {
            let key = key.to_ascii_lowercase().replace(['-', '_'], "");
            match key.as_str() {
                "retryafterseconds" | "retryafter" | "retrydelay" => seconds(item),
                "retryafterms" => seconds(item).map(|wait| wait / 1000),
                _ => named_wait(item, depth + 1),
            }
        }),
        Value::Array(items) => items.iter().find_map(|item| named_wait(item, depth + 1)),
        _ => None,
    }
}

fn seconds(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().trim_end_matches('s').parse().ok()?,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// "Please try again in 1.5s", as OpenAI says it.
fn wait_in_words(message: &str) -> Option<Duration> {
    let lower = message.to_lowercase();
    let (_, after) = lower.split_once("try again in ")?;
    let end = after.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(after.len());
    let (digits, unit) = after.split_at_checked(end)?;
    let amount: f64 = digits.trim_end_matches('.').parse().ok()?;
    let unit = unit.trim_start();
    let seconds = if unit.starts_with("ms") || unit.starts_with("milli") {
        amount / 1000.0
    } else if unit.starts_with('m') {
        amount * 60.0
    } else if unit.starts_with('h') {
        amount * 3600.0
    } else {
        amount
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_in_words_is_read() {
        assert_eq!(wait_in_words("Please try again in 1.5s."), Some(Duration::from_millis(1500)));
        assert_eq!(wait_in_words("try again in 20ms"), Some(Duration::from_millis(20)));
        assert_eq!(wait_in_words("try again in a while"), None);
    }
}
