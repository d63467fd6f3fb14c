//! Tags: an opening or a closing tag at a place in the text, with its attributes.
//!
//! Promises: every answer is found in linear time, and says when more text could change it. Knows nothing of tools.

use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes that an opening tag may have, attributes included.
const LONGEST: usize = 64 * 1024;

static OPEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"^<([A-Za-z][A-Za-z0-9_.-]*)"#,
        r#"((?:\s+[A-Za-z_][A-Za-z0-9_.:-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?)*)"#,
        r#"\s*(/?)>"#
    ))
    .expect("a fixed pattern that the tests compile")
});

static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\s+([A-Za-z_][A-Za-z0-9_.:-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?"#)
        .expect("a fixed pattern that the tests compile")
});

static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^</?([A-Za-z][A-Za-z0-9_.-]*)").expect("a fixed pattern that the tests compile"));

static CLOSE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^</([A-Za-z][A-Za-z0-9_.:-]*)\s*>").expect("a fixed pattern that the tests compile"));

/// An opening tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// As written.
    pub name: String,
    /// Name and value, in order; no value for a bare name.
    pub attributes: Vec<(String, Option<String>)>,
    /// Whether it ends with `/>`.
    pub self_closed: bool,
    /// The byte after it.
    pub end: usize,
}

/// The text of a range; empty where the range is none of this text.
pub fn cut(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// The opening tag that begins exactly at `at`.
pub fn open_at(text: &str, at: usize) -> Option<Open> {
    let found = OPEN.captures(extent(text, at)?)?;
    let whole = found.get(0)?;
    let mut attributes: Vec<(String, Option<String>)> = Vec::new();
    let mut last_unquoted = false;
    for one in ATTRIBUTE.captures_iter(&found[2]) {
        last_unquoted = one.get(4).is_some();
        let double = one.get(2).map(|value| unescaped(value.as_str(), &["&quot;", "&#34;"]));
        let single = || one.get(3).map(|value| unescaped(value.as_str(), &["&apos;", "&#39;"]));
        let value = double.or_else(single).or_else(|| one.get(4).map(|value| value.as_str().to_owned()));
        attributes.push((one[1].to_owned(), value));
    }
    let mut self_closed = !found[3].is_empty();
    // `<view path=src/main.rs/>`: the last slash is syntax, although the pattern took it for a part of the path.
    if let (false, true, Some((_, Some(value)))) = (self_closed, last_unquoted, attributes.last_mut())
        && let Some(bare) = value.strip_suffix('/')
    {
        *value = bare.to_owned();
        self_closed = true;
    }
    Some(Open { name: found[1].to_owned(), attributes, self_closed, end: at + whole.end() })
}

/// An attribute's value with its entities undone, if it spells its own quote as one of these: there is no other way to
/// write that, so it was escaped. Any other value is raw, as bodies are.
fn unescaped(value: &str, own: &[&str]) -> String {
    if !own.iter().any(|entity| value.contains(entity)) {
        return value.to_owned();
    }
    let pairs = [
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        // Last, so that an escaped entity becomes that entity.
        ("&amp;", "&"),
    ];
    pairs.iter().fold(value.to_owned(), |text, (entity, c)| text.replace(entity, c))
}

/// Where an ASCII text that begins with `<` stands first, in whatever case: models write `<Bash>` and close it with `</bash>`.
pub fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    text.match_indices('<').map(|(n, _)| n).find(|n| {
        let here = text.as_bytes().get(*n..*n + needle.len());
        here.is_some_and(|here| here.eq_ignore_ascii_case(needle.as_bytes()))
    })
}

/// The text of one tag, from its `<` to the `>` outside quotes; None where another `<` comes first. The patterns see only
/// this much, because what a search costs can depend on all that it is shown.
pub fn extent(text: &str, at: usize) -> Option<&str> {
    let tail = text.get(at..)?.strip_prefix('<')?;
    let mut quote = None;
    for (n, byte) in tail.bytes().enumerate().take(LONGEST) {
        match (quote, byte) {
            (None, b'>') => return text.get(at..at + n + 2),
            (None, b'<') => return None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// The first bytes from `at` on, enough for a name.
fn head(text: &str, at: usize) -> &str {
    let mut end = at.saturating_add(128).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(at..end).unwrap_or_default()
}

/// The name of the tag that begins at `at`, whether or not the rest of it is right.
pub fn name_at(text: &str, at: usize) -> Option<&str> {
    NAME.captures(head(text, at))?.get(1).map(|name| name.as_str())
}

/// The closing tag that begins exactly at `at`: its name and the byte after it.
pub fn close_at(text: &str, at: usize) -> Option<(&str, usize)> {
    let found = CLOSE.captures(head(text, at))?;
    Some((found.get(1)?.as_str(), at + found.get(0)?.end()))
}

/// Whether more text could still make a tag of what begins at `at`.
pub fn unfinished(text: &str, at: usize) -> bool {
    let tail = text.get(at..).unwrap_or_default();
    tail.len() < LONGEST && open_at(text, at).is_none() && close_at(text, at).is_none() && {
        let name_end = tail.find(|c: char| !(c.is_alphanumeric() || "</_.:-|▁｜!".contains(c)));
        match name_end {
            None => tail.len() <= 64,
            // An attribute's value may hold `>` only inside quotes.
            Some(_) => balanced_quotes_until_end(tail),
        }
    }
}

/// Whether the tail has no `>` outside quotes, so that the tag may still go on.
fn balanced_quotes_until_end(tail: &str) -> bool {
    let mut quote = None;
    for c in tail.chars() {
        match (quote, c) {
            (None, '>') => return false,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    true
}

/// Bytes looked at to find out what stands before a place on its line.
const LOOK_BACK: usize = 512;

/// What stands on the line before `at`, no further back than `floor` or [`LOOK_BACK`] bytes.
pub fn line_head(text: &str, at: usize, floor: usize) -> &str {
    let mut start = floor.max(at.saturating_sub(LOOK_BACK)).min(at);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let head = cut(text, start..at);
    head.rsplit_once('\n').map_or(head, |(_, last)| last)
}

/// Whether only blanks stand before `at` on its line, counted from `floor`.
pub fn starts_line(text: &str, at: usize, floor: usize) -> bool {
    let head = line_head(text, at, floor);
    head.len() < LOOK_BACK - 4 && head.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\u{feff}'))
}

/// The byte of the line end at or after `at`: of `\n`, or the length of the text.
pub fn line_end(text: &str, at: usize) -> usize {
    text.as_bytes().iter().skip(at).position(|byte| *byte == b'\n').map_or(text.len(), |n| at + n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_come_in_every_spelling() {
        let tag = open_at("<view a='x y' b = \"1>2\"\n c=src/ d />", 0).expect("a tag");
        let get = |n: &str| tag.attributes.iter().find(|(name, _)| name == n).map(|(_, value)| value.as_deref());
        assert_eq!(get("a"), Some(Some("x y")));
        assert_eq!(get("b"), Some(Some("1>2")));
        assert_eq!(get("c"), Some(Some("src/")));
        assert_eq!(get("d"), Some(None));
        assert!(tag.self_closed);
    }

    #[test]
    fn entities_are_undone_only_where_the_quote_itself_is_one() {
        let value = |text: &str| open_at(text, 0).expect("a tag").attributes[0].1.clone().expect("a value");
        assert_eq!(value("<bash command=\"echo &quot;a&quot; &amp;&amp; b\"/>"), "echo \"a\" && b");
        assert_eq!(value("<bash command='echo &#39;a&#39;'/>"), "echo 'a'");
        assert_eq!(value("<bash command=\"grep '&lt;b&gt; &amp;'\"/>"), "grep '&lt;b&gt; &amp;'");
        assert_eq!(value("<bash command=\"echo &apos;a\"/>"), "echo &apos;a");
    }

    #[test]
    fn the_slash_of_an_unquoted_self_close_is_syntax() {
        let tag = open_at("<view path=src/main.rs/>", 0).expect("a tag");
        assert_eq!(tag.attributes, [("path".to_owned(), Some("src/main.rs".to_owned()))]);
        assert!(tag.self_closed);
    }

    #[test]
    fn an_unfinished_tag_is_told_from_text() {
        assert!(unfinished("<vie", 0));
        assert!(unfinished("<view path=\"a>b", 0));
        assert!(!unfinished("<view>", 0));
        assert!(!unfinished("< b && c > d", 0));
    }
}
