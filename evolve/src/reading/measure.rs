//! How much text there is in a change, whatever its lines: words and marks that are there more or less often than before.
//!
//! Nine hundred statements on one line are nine hundred statements. Documentation and comments of Rust do not count, texts in
//! quotes count once. Pure.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::HashMap;

/// Words and marks of a usual line, twice over: well-laid-out code has some eight.
const OF_A_LINE: u64 = 16;

/// Lines that the change amounts to by its words and marks. `is_rust` says how they are told apart.
pub fn lines(before: &str, after: &str, is_rust: bool) -> u64 {
    let mut counts: HashMap<String, i64> = HashMap::new();
    for (text, one) in [(before, -1), (after, 1)] {
        let found = if is_rust { rust(text) } else { None };
        for token in found.unwrap_or_else(|| plain(text)) {
            *counts.entry(token).or_default() += one;
        }
    }
    counts.values().map(|count| count.unsigned_abs()).sum::<u64>() / OF_A_LINE
}

/// Tokens without documentation; none where it is no Rust.
fn rust(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    // Without recursion: a candidate chooses how deep brackets are nested.
    let mut open = vec![text.parse::<TokenStream>().ok()?.into_iter()];
    while let Some(level) = open.last_mut() {
        match level.next() {
            Some(TokenTree::Group(group)) => {
                let is_doc = group.delimiter() == Delimiter::Bracket
                    && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc");
                if is_doc {
                    // The mark in front of it goes with it.
                    let inner = found.last().is_some_and(|mark| mark == "!");
                    found.truncate(found.len().saturating_sub(if inner { 2 } else { 1 }));
                } else {
                    found.push(format!("{:?}", group.delimiter()));
                    open.push(group.stream().into_iter());
                }
            }
            Some(token) => found.push(token.to_string()),
            None => {
                open.pop();
            }
        }
    }
    Some(found)
}

/// Words, and marks between them.
fn plain(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() {
            found.push(c.to_string());
        }
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_count_whatever_their_lines() {
        let many = format!("fn f() {{ {} }}", "let a = 1;".repeat(900));
        assert!(lines("", &many, true) > 200, "{}", lines("", &many, true));
        assert!(lines("", &many, false) > 200);
    }

    #[test]
    fn usual_code_counts_less_than_its_lines_and_documentation_not_at_all() {
        let own = include_str!("measure.rs");
        assert!(lines("", own, true) < own.lines().count() as u64, "{}", lines("", own, true));
        let words = "/// A long sentence of documentation that goes on and on.\n".repeat(500);
        assert_eq!(lines("", &format!("{words}fn f() {{}}\n"), true), 0);
    }

    #[test]
    fn what_moves_is_no_more_than_its_lines() {
        let (a, b) = ("fn a() { one(); two(); }\n", "fn b() { three(); }\n");
        assert_eq!(lines(&format!("{a}{b}"), &format!("{b}{a}"), true), 0);
    }
}
