//! What is in the files: keys, text that reads otherwise than it is, sizes. Only what the base's file does not hold already.

use super::{Cure, Differs, Findings, Side};
use crate::judgement::candidate::BlobId;
use crate::judgement::defence::{Defence, Defences};
use regex::bytes::Regex;
use selfsmith_repo::Mode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The largest file that a candidate may bring, in bytes.
pub const MAX_FILE: u64 = 512 * 1024;

/// What keys and tokens look like: the prefixes that their makers publish for scanners.
const SECRETS: &[(&str, &str)] = &[
    ("a private key", r"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----"),
    ("an access key of AWS", r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a token of GitHub", r"\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})"),
    ("a token of GitLab", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a token of Slack", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("a key of Google", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a token of Hugging Face", r"\bhf_[A-Za-z0-9]{30,}"),
    ("a token of npm", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a token of crates.io", r"\bcio[A-Za-z0-9]{32}\b"),
    ("a key of a model provider", r"\bsk-(ant-|proj-|or-)?[A-Za-z0-9_-]{24,}"),
    ("a signed token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
];

static PATTERNS: LazyLock<Option<Vec<Regex>>> =
    LazyLock::new(|| SECRETS.iter().map(|(_, pattern)| Regex::new(pattern).ok()).collect());

/// What kind of key or token these bytes hold that `before` does not; none if there is none.
pub fn secret_in(bytes: &[u8], before: &[u8]) -> Option<&'static str> {
    let Some(patterns) = PATTERNS.as_ref() else { return Some("something that could not be looked for") };
    SECRETS.iter().zip(patterns).find_map(|((what, _), pattern)| {
        let known: BTreeSet<&[u8]> = pattern.find_iter(before).map(|m| m.as_bytes()).collect();
        pattern.find_iter(bytes).any(|m| !known.contains(m.as_bytes())).then_some(*what)
    })
}

/// Characters that make text read otherwise than a compiler reads it: direction marks and invisible ones.
pub(super) const fn deceives(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{061c}' | '\u{feff}'
        | '\u{00ad}' | '\u{e0000}'..='\u{e007f}')
}

pub(super) fn check(differs: &Differs, blobs: &BTreeMap<BlobId, Vec<u8>>, defences: Defences, findings: &mut Findings) {
    let Some(new) = &differs.new else { return };
    if !matches!(new.mode, Mode::File | Mode::Executable) {
        return;
    }
    let path = &differs.path;
    if new.size > MAX_FILE {
        if defences.up(Defence::Text) {
            findings.refuse(format!("{path} has {} bytes, more than {MAX_FILE}", new.size), Cure::None);
        }
        return;
    }
    let Some(bytes) = blobs.get(&new.blob) else {
        findings.unknown(format!("{path} could not be read"));
        return;
    };
    let before = differs.old.as_ref().and_then(|old: &Side| blobs.get(&old.blob)).map_or(&[][..], Vec::as_slice);
    if defences.up(Defence::Secrets)
        && let Some(what) = secret_in(bytes, before)
    {
        findings.refuse(format!("{path} holds {what}"), Cure::None);
    }
    if defences.up(Defence::Text) {
        text(differs, bytes, before, findings);
    }
}

fn text(differs: &Differs, bytes: &[u8], before: &[u8], findings: &mut Findings) {
    let path = &differs.path;
    let Ok(text) = std::str::from_utf8(bytes) else {
        findings.refuse(format!("{path} is not UTF-8 text"), Cure::None);
        return;
    };
    if text.contains('\0') {
        findings.refuse(format!("{path} is not text"), Cure::None);
        return;
    }
    let count = |text: &str| {
        let hidden = text.chars().filter(|c| deceives(*c)).count();
        let controls = text.chars().filter(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')).count();
        (hidden, controls)
    };
    let (hidden, controls) = count(text);
    let (had_hidden, had_controls) = count(std::str::from_utf8(before).unwrap_or_default());
    if hidden > had_hidden {
        findings
            .refuse(format!("{path} brings characters that are not seen or turn the direction of text"), Cure::None);
    }
    if controls > had_controls {
        findings.refuse(format!("{path} brings control characters"), Cure::Repair);
    }
}
