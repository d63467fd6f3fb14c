//! Secrets taken out of whatever is written down: session logs, event lines, cassettes.
//!
//! It knows the secrets of this run by value (keys from settings and environment) and the well-known shapes of keys. It
//! promises never to panic and never to change a text without a secret. It cannot know a secret without a shape that
//! nobody named.

use regex::{Captures, Regex};
use serde_json::Value;
use std::borrow::Cow;

/// What stands in a secret's place.
pub const MARK: &str = "[redacted]";
/// Shorter values are words, not secrets: taking them out would maim ordinary text.
const SHORTEST: usize = 8;
/// Bytes of a text that wait for the end of a secret.
const LONGEST_WAIT: usize = 4096;

/// Shapes of keys. Where a group named `k` exists, only what it holds is taken out.
const SHAPES: &[&str] = &[
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\bgh[pousr]_[A-Za-z0-9]{30,}",
    r"\bgithub_pat_[A-Za-z0-9_]{22,}",
    r"\bglpat-[A-Za-z0-9_-]{20,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    r"\bAIza[0-9A-Za-z_-]{35}",
    r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    r"(?i:\bbearer\s+)(?P<k>[A-Za-z0-9._~+/-]{20,}=*)",
    r#"\b[A-Z][A-Z0-9_]*(?:API_?KEY|SECRET|TOKEN|PASSWORD|PASSWD)\s*=\s*["']?(?P<k>[A-Za-z0-9][^\s"'`;&|<>(){}$]{11,})"#,
    r"(?i:\bhttps?://[^\s/:@]+:)(?P<k>[^\s/@]{3,})@",
];

/// How keys of the shapes above begin.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "ASIA",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "AIza",
    "eyJ",
];

/// Ends of a text after which the rest of a key of the shapes above may follow, where that is more than one word.
const BEGUN: &[&str] = &[
    r"(?i:\b(?:b|be|bea|bear|beare|bearer|bearer\s+[A-Za-z0-9._~+/-]*=*))\z",
    r#"\b[A-Z][A-Z0-9_]*(?:\s*=\s*["']?[^\s"'`;&|<>(){}$]*)?\z"#,
    r"\b[A-Z][A-Z0-9_]*\s+\z",
    r"(?i:\b(?:h|ht|htt|https?|https?:/?|https?://[^\s/@]*))\z",
];
/// What a block with a private key begins with, up to the words that say what is in it.
const BLOCK: &str = "-----BEGIN ";
/// Bytes of a private key that are waited for.
const LONGEST_BLOCK: usize = 64 * 1024;

/// Takes secrets out of texts.
#[derive(Debug, Clone)]
pub struct Redactor {
    known: Vec<String>,
    shapes: Vec<Regex>,
    begun: Vec<Regex>,
}

impl Redactor {
    /// A redactor that also knows these values. Values of fewer than eight bytes are left alone.
    pub fn new(known: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> = known.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        // Longest first, so that a secret that contains another goes as a whole.
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        let compiled = |shapes: &[&str]| shapes.iter().filter_map(|shape| Regex::new(shape).ok()).collect();
        Self { known, shapes: compiled(SHAPES), begun: compiled(BEGUN) }
    }

    /// The text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.known {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), MARK));
            }
        }
        for shape in &self.shapes {
            if shape.is_match(&text) {
                text = Cow::Owned(shape.replace_all(&text, masked).into_owned());
            }
        }
        text
    }

    /// Split a text that goes on before the first place where a secret may have begun that is not whole yet. Such a
    /// place is looked for in the last 4096 bytes, that of a private key in several lines in the last 65536.
    pub fn split<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        let from = text.len().saturating_sub(LONGEST_WAIT);
        let begun = |at: &usize| {
            let rest = text.get(*at..).unwrap_or_default();
            self.known.iter().any(|secret| secret.len() > rest.len() && secret.starts_with(rest))
        };
        let known = text.char_indices().map(|(at, _)| at).filter(|at| *at >= from).find(begun);
        let tail = text.ceil_char_boundary(from);
        let begun = self.begun.iter().filter_map(|shape| shape.find_at(text, tail)).map(|found| found.start());
        let begun = known.into_iter().chain(key_begun(text, from)).chain(block_begun(text)).chain(begun);
        let mut at = begun.min().unwrap_or(text.len());
        // A secret that is whole already must not be cut by the beginning of another.
        for shape in &self.shapes {
            let whole = shape.find_iter(text).find(|found| found.start() < at && at < found.end());
            at = whole.map_or(at, |found| found.start());
        }
        for secret in &self.known {
            let whole = text.match_indices(secret.as_str()).find(|(start, _)| *start < at && at < start + secret.len());
            at = whole.map_or(at, |(start, _)| start);
        }
        text.split_at_checked(at).unwrap_or((text, ""))
    }

    /// Take secrets out of every string of a JSON value, names of fields apart.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.value(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Where the last run of a text's characters of keys has a word that is, or may become, a key of a known shape.
fn key_begun(text: &str, from: usize) -> Option<usize> {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let run = text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "._-".contains(c)).len();
    let mut before = text.get(..run).and_then(|head| head.chars().next_back());
    for (offset, c) in text.get(run..).unwrap_or_default().char_indices() {
        let word_starts = of_word(c) && !before.is_some_and(of_word);
        let at = run + offset;
        let rest = text.get(at..).unwrap_or_default();
        let fits = |key: &&str| rest.starts_with(*key) || key.starts_with(rest);
        if word_starts && at >= from && BEGINNINGS.iter().any(fits) {
            return Some(at);
        }
        before = Some(c);
    }
    None
}

/// Where a block of several lines begins that is, or may become, a private key and has not ended.
fn block_begun(text: &str) -> Option<usize> {
    let from = text.ceil_char_boundary(text.len().saturating_sub(LONGEST_BLOCK));
    let tail = text.get(from..).unwrap_or_default();
    let Some(start) = tail.rfind(BLOCK) else {
        return (1..BLOCK.len())
            .rev()
            .find(|n| BLOCK.get(..*n).is_some_and(|part| tail.ends_with(part)))
            .map(|n| text.len() - n);
    };
    let rest = tail.get(start + BLOCK.len()..).unwrap_or_default();
    let words = rest.trim_start_matches(|c: char| c.is_ascii_uppercase() || c == ' ');
    let label = rest.strip_suffix(words).unwrap_or_default();
    let open = match words.strip_prefix("-----") {
        Some(lines) => label.ends_with("PRIVATE KEY") && !ended(lines),
        None => "-----".starts_with(words),
    };
    open.then_some(from + start)
}

/// Whether the end of a private key stands in these lines.
fn ended(lines: &str) -> bool {
    lines.match_indices("-----END ").any(|(n, mark)| {
        let rest = lines.get(n + mark.len()..).unwrap_or_default();
        let words = rest.trim_start_matches(|c: char| c.is_ascii_uppercase() || c == ' ');
        words.starts_with("-----") && rest.strip_suffix(words).is_some_and(|label| label.ends_with("PRIVATE KEY"))
    })
}

fn masked(found: &Captures<'_>) -> String {
    let (Some(whole), Some(key)) = (found.get(0), found.name("k")) else { return MARK.to_owned() };
    let before = whole.as_str().get(..key.start() - whole.start()).unwrap_or_default();
    let after = whole.as_str().get(key.end() - whole.start()..).unwrap_or_default();
    format!("{before}{MARK}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_a_regular_expression() {
        assert_eq!(Redactor::new([]).shapes.len(), SHAPES.len());
        assert_eq!(Redactor::new([]).begun.len(), BEGUN.len());
    }

    #[test]
    fn a_text_that_goes_on_is_split_before_what_may_become_a_secret() {
        let redactor = Redactor::new(["hunter2-and-more".to_owned()]);
        assert_eq!(redactor.split("say hunt"), ("say ", "hunt"));
        assert_eq!(redactor.split("say sk-aB1"), ("say ", "sk-aB1"));
        assert_eq!(redactor.split("see x-gi"), ("see x-", "gi"));
        for whole in ["say hunter2-and-more", "say hunting.", "中文 🙂", "sk-a c", ""] {
            assert_eq!(redactor.split(whole), (whole, ""));
        }
    }

    #[test]
    fn known_values_go_wherever_they_stand() {
        let redactor = Redactor::new(["hunter2hunter2".to_owned(), "short".to_owned()]);
        assert_eq!(redactor.text("a hunter2hunter2b short"), "a [redacted]b short");
        let mut value = serde_json::json!({ "a": ["hunter2hunter2"], "hunter2hunter2": 1 });
        redactor.value(&mut value);
        assert_eq!(value, serde_json::json!({ "a": [MARK], "hunter2hunter2": 1 }));
    }

    #[test]
    fn shapes_of_keys_go_and_their_names_stay() {
        let redactor = Redactor::new([]);
        let key = format!("sk-{}", "a1B2".repeat(8));
        assert_eq!(redactor.text(&format!("key {key}.")), "key [redacted].");
        assert_eq!(redactor.text("Authorization: Bearer abcdefghijklmnopqrstuvwx"), "Authorization: Bearer [redacted]");
        assert_eq!(redactor.text("OPENAI_API_KEY=abc123def456ghi7 make"), "OPENAI_API_KEY=[redacted] make");
        assert_eq!(redactor.text("https://me:s3cret@host/x"), "https://me:[redacted]@host/x");
        let block = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----";
        assert_eq!(redactor.text(&format!("x\n{block}\ny")), "x\n[redacted]\ny");
        assert_eq!(redactor.text("-----BEGIN PRIVATE KEY-----\nAAAA"), "[redacted]");
    }

    #[test]
    fn ordinary_code_stays_as_it_is() {
        let redactor = Redactor::new([]);
        for text in ["let token = next_token(input);", "API_KEY=$OTHER", "password: String", "sk-learn", "中文 🙂"]
        {
            assert_eq!(redactor.text(text), text);
        }
    }
}
