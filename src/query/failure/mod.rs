//! What went wrong with one try, read from whatever the server sent: status, headers, body, an error inside a stream.
//!
//! It decides only what kind of failure it is and whether another try may cure it; how often and when is `retry`.
//! Servers spell errors in many ways, so reading is tolerant: numbers as codes, HTML pages, empty bodies, bare strings.

mod said;
mod window;

use said::Said;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

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
        assert_eq!(long.what.chars().count(), said::MOST_WORDS + 1);
        assert_eq!(Failure::of_status(502, None, "").what, "(the answer gives no reason)");
    }
}
