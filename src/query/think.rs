//! Thinking tags: what counts as one, and where a stretch of thinking ends.
//!
//! Promises: linear search, no tag is believed inside backticks, nested pairs are counted. Does not know tool calls, so
//! it is `text_channel` that decides whether a tag stands in prose or in the body of a call. A provider's separate
//! field for thinking needs none of this.

use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

static TAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection)\s*>")
        .expect("a fixed pattern that the tests compile")
});

/// The longest text that can still become a thinking tag by more characters; a longer tail is no tag.
pub const LONGEST_TAG: usize = 64;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `<think>`
    Open,
    /// `</think>`
    Close,
}

/// A thinking tag that begins exactly at `at`: which one, and the byte after it. None inside backticks.
pub fn tag_at(text: &str, at: usize) -> Option<(Side, usize)> {
    let tail = text.get(at..)?;
    let found = TAG.captures(bounded(tail))?;
    let whole = found.get(0)?;
    if whole.start() != 0 || in_backticks(text, at..at + whole.end()) {
        return None;
    }
    let side = if found.get(1).is_some_and(|slash| !slash.is_empty()) { Side::Close } else { Side::Open };
    Some((side, at + whole.end()))
}

/// Where thinking that began before `from` ends: the range of its closing tag. Nested pairs are counted.
pub fn closer(text: &str, from: usize) -> Option<Range<usize>> {
    let mut depth = 1_usize;
    for whole in TAG.find_iter(text.get(from..)?) {
        let range = from + whole.start()..from + whole.end();
        if in_backticks(text, range.clone()) {
            continue;
        }
        if !whole.as_str().starts_with("</") {
            depth += 1;
        } else {
            depth -= 1;
            if depth == 0 {
                return Some(range);
            }
        }
    }
    None
}

fn in_backticks(text: &str, range: Range<usize>) -> bool {
    let bytes = text.as_bytes();
    range.start > 0 && bytes.get(range.start - 1) == Some(&b'`') && bytes.get(range.end) == Some(&b'`')
}

fn bounded(tail: &str) -> &str {
    let mut end = tail.len().min(LONGEST_TAG);
    while !tail.is_char_boundary(end) {
        end -= 1;
    }
    tail.get(..end).unwrap_or(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_in_backticks_is_quoted() {
        assert_eq!(tag_at("`</think>`", 1), None);
        assert_eq!(tag_at("x</think>", 1), Some((Side::Close, 9)));
        assert_eq!(tag_at("<THINKING >", 0), Some((Side::Open, 11)));
    }

    #[test]
    fn nested_pairs_are_counted() {
        assert_eq!(closer("<think>a<think>b</think>c</think>d", 7), Some(25..33));
        assert_eq!(closer("<thinking>p</thinking>q", 0), None);
    }
}
