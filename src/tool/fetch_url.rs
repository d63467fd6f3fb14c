//! `fetch_url`: a page of the web as text. A person is asked for each host that the settings do not allow, in every mode.
//!
//! It opens no connection itself: the door to the network is handed in. What a page says is material for the model.

use super::{Answer, Effect, Surroundings, Tool};
use futures::future::BoxFuture;
use globset::Glob;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a page that are taken; what is read of it is less.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Columns that text of a page is broken at.
const COLUMNS: usize = 120;

/// What people can set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Hosts that are fetched without a question, as patterns such as `*.python.org`.
    pub allow: Vec<String>,
    /// Seconds that a page may take.
    pub timeout_s: u64,
    /// Bytes of text that the model is given.
    pub output_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { allow: Vec::new(), timeout_s: 30, output_bytes: 24_000 }
    }
}

impl Settings {
    /// The first pattern that cannot be read.
    pub fn fault(&self) -> Option<String> {
        self.allow.iter().find_map(|host| Glob::new(host).err().map(|error| format!("`{host}`: {error}")))
    }

    fn allows(&self, host: &str) -> bool {
        self.allow.iter().any(|allowed| {
            Glob::new(&allowed.to_ascii_lowercase()).is_ok_and(|glob| glob.compile_matcher().is_match(host))
        })
    }
}

/// A way to the web.
pub trait Door: Send + Sync + fmt::Debug {
    /// The host that an address leads to, and a word where that is a private one; `Err` says why there is none.
    fn host(&self, url: &str) -> Result<Host, String>;
    /// Fetch it; `Err` completes "could not …".
    fn fetch<'a>(&'a self, url: &'a str, time: Duration, bytes: usize) -> BoxFuture<'a, Result<Page, String>>;
}

/// Where an address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// To this host.
    Public(String),
    /// To this host, on this machine or in a private network.
    Private(String),
}

impl Host {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Public(name) | Self::Private(name) => name,
        }
    }
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Where it came from in the end.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`, lower case.
    pub kind: String,
    /// The body, as far as it was taken.
    pub bytes: Vec<u8>,
    /// A word where there is more of it.
    pub more: &'static str,
}

/// The tool.
#[derive(Debug)]
pub struct FetchUrl {
    settings: Settings,
    door: Option<Arc<dyn Door>>,
}

impl FetchUrl {
    /// Through the door of these surroundings.
    pub fn new(surroundings: &Surroundings) -> Self {
        Self { settings: surroundings.fetch.clone(), door: surroundings.door.clone() }
    }

    async fn fetched(&self, url: &str) -> Result<Answer, String> {
        let door = self.door.as_ref().ok_or("fetch anything: there is no way to the network here")?;
        let page = door.fetch(url, Duration::from_secs(self.settings.timeout_s), MAX_BYTES).await?;
        let most = self.settings.output_bytes;
        let read = tokio::task::spawn_blocking(move || read(page, most)).await;
        read.map_err(|error| format!("read {url}: {error}"))?
    }
}

impl Tool for FetchUrl {
    fn name(&self) -> &'static str {
        "fetch_url"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["fetch", "web_fetch"]
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/fetch_url.md")
    }

    fn schema(&self) -> Value {
        json!({ "type": "object", "properties": { "url": { "type": "string", "minLength": 1 } }, "required": ["url"] })
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn asks(&self, arguments: &Map<String, Value>) -> Option<Host> {
        let url = arguments.get("url").and_then(Value::as_str).unwrap_or_default();
        // What leads nowhere is not fetched either.
        self.door.as_ref()?.host(url).ok().filter(|host| !self.settings.allows(host.name()))
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let url = arguments.get("url").and_then(Value::as_str).unwrap_or_default();
        Box::pin(
            async move { self.fetched(url).await.unwrap_or_else(|why| Answer::failed(format!("could not {why}"))) },
        )
    }
}

/// A page as text, bounded.
fn read(page: Page, most: usize) -> Result<Answer, String> {
    let Page { url, status, kind, bytes, more } = page;
    let mime = kind.split(';').next().unwrap_or_default().trim();
    let is_html = mime.contains("html") || (mime.is_empty() && bytes.trim_ascii_start().starts_with(b"<"));
    let is_text = mime.is_empty()
        || mime.starts_with("text/")
        || ["json", "xml", "yaml", "javascript", "toml"].iter().any(|word| mime.contains(word));
    if !is_html && (!is_text || bytes.contains(&0)) {
        return Ok(Answer::failed(format!("{url} is no text but {mime} ({} bytes{more})", bytes.len())));
    }
    let text = decoded(&bytes, &kind);
    let text = if is_html {
        let config = html2text::config::plain();
        config.string_from_read(text.as_bytes(), COLUMNS).map_err(|error| format!("read {url}: {error}"))?
    } else {
        text
    };
    let text = text.trim();
    let kept = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
    let mut out = format!("[{url}, status {status}]\n{kept}");
    if kept.len() < text.len() || !more.is_empty() {
        out.push_str(&format!("\n[{} bytes of text are left out{more}]", text.len() - kept.len()));
    }
    let detail = json!({ "url": url, "status": status, "bytes": bytes.len() });
    let answer = if (200..300).contains(&status) { Answer::done(out) } else { Answer::failed(out) };
    Ok(answer.with_detail(detail))
}

/// By the charset of the header, of the page's own beginning, else as UTF-8.
fn decoded(bytes: &[u8], kind: &str) -> String {
    let label = |text: &str| {
        let rest = text.split_once("charset=")?.1.trim_start_matches(['"', '\'']);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
        encoding_rs::Encoding::for_label(rest.get(..end)?.as_bytes())
    };
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(2048)).unwrap_or_default()).to_ascii_lowercase();
    let encoding = label(kind).or_else(|| label(&head)).unwrap_or(encoding_rs::UTF_8);
    encoding.decode(bytes).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Outcome;

    fn page(kind: &str, bytes: &[u8]) -> Page {
        Page { url: "http://x/".to_owned(), status: 200, kind: kind.to_owned(), bytes: bytes.to_vec(), more: "" }
    }

    #[test]
    fn html_becomes_text_without_scripts_and_with_its_links() {
        let html = b"<html><head><title>T</title><script>evil()</script><style>p{}</style></head><body><h1>Head</h1>\
                     <p>One <a href=\"/two\">two</a>.<ul><li>a<li>b</ul></body></html>";
        let answer = read(page("text/html", html), 1000).expect("it is read");
        assert_eq!(answer.outcome, Outcome::Done);
        for piece in ["Head", "One", "/two", "* a"] {
            assert!(answer.text.contains(piece), "{piece}: {}", answer.text);
        }
        assert!(!answer.text.contains("evil") && !answer.text.contains("p{}"), "{}", answer.text);
    }

    #[test]
    fn other_encodings_are_read_and_long_pages_are_cut_where_it_is_said() {
        let answer = read(page("text/plain; charset=gbk", &[0xd6, 0xd0, 0xce, 0xc4]), 1000).expect("it is read");
        assert!(answer.text.contains("中文"), "{}", answer.text);
        let answer = read(page("text/plain", "界".repeat(100).as_bytes()), 10).expect("it is read");
        assert!(answer.text.ends_with("界界界\n[291 bytes of text are left out]"), "{}", answer.text);
    }

    #[test]
    fn what_is_no_text_is_not_shown() {
        let answer = read(page("application/pdf", b"%PDF"), 1000).expect("it is read");
        assert!(answer.outcome == Outcome::Failed && answer.text.contains("application/pdf"), "{}", answer.text);
    }

    #[test]
    fn allowed_hosts_are_whole_names() {
        let settings = Settings { allow: vec!["docs.rs".to_owned(), "*.Python.org".to_owned()], ..Settings::default() };
        assert!(settings.allows("docs.rs") && settings.allows("docs.python.org"));
        assert!(!settings.allows("evil-docs.rs") && !settings.allows("python.org.evil.example"));
    }
}
