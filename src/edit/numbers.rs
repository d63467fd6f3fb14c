//! Line numbers of a listing that came along with the old text.

use regex::Regex;
use std::sync::LazyLock;

static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(\d{1,7})(?:\t|\s*[|│→:] ?)(.*)$").expect("a fixed pattern that the tests compile")
});

/// The text without its numbers; None where not every line carries one, or they do not count up by one.
pub fn without_numbers(text: &str) -> Option<String> {
    let mut expected: Option<u64> = None;
    strip(text, |number| {
        let right = expected.is_none_or(|expected| expected == number);
        expected = Some(number + 1);
        right
    })
}

/// The text without the numbers of those lines that carry one.
pub fn without_some_numbers(text: &str) -> String {
    text.split_inclusive('\n').map(|line| stripped(line).map_or_else(|| line.to_owned(), |(_, line)| line)).collect()
}

fn strip(text: &str, mut right: impl FnMut(u64) -> bool) -> Option<String> {
    let mut result = String::new();
    for line in text.split_inclusive('\n') {
        let (number, content) = stripped(line)?;
        if !right(number) {
            return None;
        }
        result.push_str(&content);
    }
    (!result.is_empty()).then_some(result)
}

fn stripped(line: &str) -> Option<(u64, String)> {
    let content = line.trim_end_matches(['\n', '\r']);
    let found = NUMBERED.captures(content)?;
    let end = line.get(content.len()..).unwrap_or_default();
    Some((found[1].parse().ok()?, format!("{}{end}", &found[2])))
}
