//! What went wrong with one try, read from whatever the server sent: status, headers, body, an error inside a stream.
//!
//! It decides only what kind of failure it is and whether another try may cure it; how often and when is `retry`.
//! Servers spell errors in many ways, so reading is tolerant: numbers as codes, HTML pages, empty bodies, bare strings.

use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// Characters of a server's own words that are kept.
const MOST_WORDS: usize = 600;

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Too many requests.
    Busy,
    /// The server broke.
    Server,
    /// No connection.
    Connect,
    /// Nothing came for too long.
    TimedOut,
    /// The connection broke off.
    Dropped,
    /// What came makes no sense.
    Broken,
    /// The key is missing, wrong or not permitted.
    Auth,
    /// Nothing is left to spend.
    Quota,
    /// There is no such model or address.
    NotFound,
    /// The prompt does not fit.
    TooLong,
    /// The server refuses this request.
    BadRequest,
    /// A cassette ended or differs.
    Cassette,
}

impl Kind {
    /// Whether another try may cure it.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Busy | Self::Server | Self::Connect | Self::TimedOut | Self::Dropped | Self::Broken)
    }

    /// What the person can do.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Busy => "wait a little and resume, or choose another model or provider",
            Self::Server => "the provider has trouble: resume later, or choose another model or provider",
            Self::Connect => "check the base URL, the network and the proxy (`config show --origin`)",
            Self::TimedOut => "resume later, or raise model.first_token_timeout_s or model.stall_timeout_s",
            Self::Dropped => "check the network, then resume",
            Self::Broken => "check that the base URL is an OpenAI-compatible endpoint (it usually ends in /v1)",
            Self::Auth => "check the key: `config show --origin` names the variable it is read from",
            Self::Quota => "the account has nothing left: top it up, or choose another provider",
            Self::NotFound => "check model.name and model.base_url (it usually ends in /v1)",
            Self::TooLong => "start a new session or remove long outputs: the conversation exceeds the model's window",
            Self::BadRequest => "the server's words say what it does not take; model.provider picks what is sent",
            Self::Cassette => "record the cassette again, or replay without --strict",
        }
    }
}

/// One failed try.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// HTTP status, or the number the server gave in its place.
    pub code: Option<u16>,
    /// The server's own words, or ours.
    pub what: String,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "{code}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// A failure in our own words.
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, code: None, what: what.into(), retry_after: None }
    }

    /// An answer whose status is no success. `named_wait` is what its headers ask for.
    pub fn of_status(status: u16, named_wait: Option<Duration>, body: &str) -> Self {
        let said = Said::read(body);
        let mut failure = said.failure(Some(status));
        failure.retry_after = named_wait.or(failure.retry_after);
        if failure.kind == Kind::Quota && status == 429 && failure.retry_after.is_some() {
            // A provider that names a time means a limit per minute, whatever its words.
            failure.kind = Kind::Busy;
        }
        failure
    }

    /// An error object inside a stream or a 200 body; `None` where the value holds none.
    pub fn inside(value: &Value) -> Option<Self> {
        let said = Said::of_value(value)?;
        Some(said.failure(None))
    }
}

/// What an error body says.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// `code`, `type` and `status` as words, joined, lower case.
    words: String,
    number: Option<u16>,
    wait: Option<Duration>,
}

impl Said {
    fn read(body: &str) -> Self {
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

    fn of_value(value: &Value) -> Option<Self> {
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

    fn failure(self, status: Option<u16>) -> Failure {
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

const TOO_LONG: [&str; 6] = [
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "prompt is too long",
    "range of input length",
    "exceed_context_size",
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
    use serde_json::json;

    fn kind(status: u16, body: &str) -> Kind {
        Failure::of_status(status, None, body).kind
    }

    #[test]
    fn statuses_are_told_apart() {
        assert_eq!(kind(429, "{}"), Kind::Busy);
        assert_eq!(kind(503, "<html><title>Bad gateway</title></html>"), Kind::Server);
        assert_eq!(kind(401, r#"{"error":{"message":"Incorrect API key"}}"#), Kind::Auth);
        assert_eq!(kind(404, r#"{"error":{"message":"The model `x` does not exist"}}"#), Kind::NotFound);
        assert_eq!(kind(400, r#"{"error":{"message":"bad tool name"}}"#), Kind::BadRequest);
        assert_eq!(kind(400, r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#), Kind::TooLong);
        assert_eq!(kind(429, r#"{"error":{"code":"insufficient_quota","message":"x"}}"#), Kind::Quota);
        assert_eq!(kind(500, r#"{"error":{"code":"cassette_ended","message":"x"}}"#), Kind::Cassette);
    }

    #[test]
    fn a_quota_answer_that_names_a_time_is_a_rate_limit() {
        let body =
            r#"{"error":{"code":429,"message":"You exceeded your current quota","details":[{"retryDelay":"7s"}]}}"#;
        let failure = Failure::of_status(429, None, body);
        assert_eq!((failure.kind, failure.retry_after), (Kind::Busy, Some(Duration::from_secs(7))));
    }

    #[test]
    fn errors_inside_a_stream_are_found_in_many_spellings() {
        let inside = |value: Value| Failure::inside(&value).map(|failure| (failure.kind, failure.code));
        assert_eq!(inside(json!({"error": {"message": "m", "code": 429}})), Some((Kind::Busy, Some(429))));
        assert_eq!(
            inside(json!({"choices": [], "error": {"message": "m", "code": "502"}})),
            Some((Kind::Server, Some(502)))
        );
        assert_eq!(inside(json!({"error": "boom"})), Some((Kind::Server, None)));
        assert_eq!(inside(json!({"base_resp": {"status_code": 1008, "status_msg": "no"}})), Some((Kind::Quota, None)));
        assert_eq!(inside(json!({"base_resp": {"status_code": 0}, "choices": []})), None);
        assert_eq!(inside(json!({"type": "ping"})), None);
        assert_eq!(inside(json!({"choices": [], "error": null})), None);
    }

    #[test]
    fn the_servers_words_survive_html_and_are_bounded() {
        let page = Failure::of_status(502, None, "<html><head><title>Bad gateway</title></head><body>x</body></html>");
        assert_eq!(page.to_string(), "502: a web page: Bad gateway");
        let long = Failure::of_status(400, None, &"é".repeat(5000));
        assert_eq!(long.what.chars().count(), MOST_WORDS + 1);
        assert_eq!(Failure::of_status(502, None, "").what, "(the answer gives no reason)");
    }

    #[test]
    fn a_wait_in_words_is_read() {
        assert_eq!(wait_in_words("Please try again in 1.5s."), Some(Duration::from_millis(1500)));
        assert_eq!(wait_in_words("try again in 20ms"), Some(Duration::from_millis(20)));
        assert_eq!(wait_in_words("try again in a while"), None);
    }
}
