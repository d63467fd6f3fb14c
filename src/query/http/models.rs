//! The names of the models that a server says it has, for a person to choose from.

use super::Client;
use futures::StreamExt;
use serde_json::Value;
use std::time::Duration;

/// Bytes of a list that are read: the longest known has some hundred kilobytes.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Names that are taken.
const MAX_NAMES: usize = 5000;

/// Why there is no list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoList {
    /// In words.
    pub why: String,
    /// Whether there is a server at all: else nothing listens there, or the address is wrong.
    pub reached: bool,
}

impl From<String> for NoList {
    fn from(why: String) -> Self {
        Self { why, reached: true }
    }
}

/// Ask at an address; the names, sorted.
///
/// # Errors
/// The server does not answer in time, says no, or says something else.
pub async fn names(client: &Client, url: &str, key: Option<&str>, time: Duration) -> Result<Vec<String>, NoList> {
    let mut request = client.inner().get(url).timeout(time);
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let response = request.send().await.map_err(|error| NoList { why: told(&error), reached: !error.is_connect() })?;
    if !response.status().is_success() {
        return Err(format!("it answered {}", response.status()).into());
    }
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(piece) = body.next().await {
        bytes.extend_from_slice(&piece.map_err(|error| told(&error))?);
        if bytes.len() > MAX_BYTES {
            return Err("its list is too long".to_owned().into());
        }
    }
    let list: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    Ok(listed(&list))
}

/// The innermost cause, which is what says something: a refused connection, an unknown name, the time.
fn told(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// `{"data": [{"id": …}]}`, as OpenAI's API has it.
fn listed(list: &Value) -> Vec<String> {
    let rows = list.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |row: &Value| row.get("id").and_then(Value::as_str).map(str::trim).map(str::to_owned);
    let sound = |name: &String| !name.is_empty() && !name.contains(char::is_control);
    let mut names: Vec<String> = rows.iter().filter_map(name).filter(sound).take(MAX_NAMES).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_sorted_and_what_is_none_is_left_out() {
        let rows =
            json!({ "data": [{ "id": "b" }, { "id": "a" }, { "id": "b" }, { "id": 3 }, { "id": "x\u{1b}" }, {}] });
        assert_eq!(listed(&rows), ["a", "b"]);
        assert_eq!(listed(&json!({ "error": "no" })), Vec::<String>::new());
    }
}
