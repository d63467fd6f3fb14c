//! Pure comparisons: what was expected against what came, as sentences that name the difference.

use crate::case::Expected;
use crate::tree::{Node, Tree};
use similar::TextDiff;

/// Differences between a text and what it must be.
pub(crate) fn text(name: &str, expected: &Expected, got: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(whole) = &expected.is
        && whole.trim_end_matches('\n') != got.trim_end_matches('\n')
    {
        faults.push(format!("{name} differs:\n{}", diff(whole, got)));
    }
    for piece in expected.has.iter().filter(|p| !got.contains(p.as_str())) {
        faults.push(format!("{name} lacks {piece:?}; it is:\n{}", bounded(got)));
    }
    for piece in expected.lacks.iter().filter(|p| got.contains(p.as_str())) {
        faults.push(format!("{name} must not hold {piece:?}; it is:\n{}", bounded(got)));
    }
    for pattern in &expected.matches {
        match regex::RegexBuilder::new(pattern).multi_line(true).build() {
            Ok(regex) if regex.is_match(got) => {}
            Ok(_) => faults.push(format!("{name} does not match {pattern:?}; it is:\n{}", bounded(got))),
            Err(e) => faults.push(format!("case.yaml: {pattern:?} is no regular expression: {e}")),
        }
    }
    faults
}

/// Differences between two trees.
pub(crate) fn trees(expected: &Tree, got: &Tree) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, want) in expected {
        match got.get(name) {
            None => faults.push(format!("{name} is missing")),
            Some(have) if have == want => {}
            Some(have) => faults.push(node(name, want, have)),
        }
    }
    for name in got.keys().filter(|name| !expected.contains_key(*name)) {
        faults.push(format!("{name} should not be there"));
    }
    faults
}

fn node(name: &str, want: &Node, have: &Node) -> String {
    match (want, have) {
        (Node::File { bytes: want, executable: x }, Node::File { bytes: have, executable: y }) => {
            if want == have {
                format!("{name} should have executable = {x}, has {y}")
            } else {
                format!("{name} differs:\n{}", diff(&String::from_utf8_lossy(want), &String::from_utf8_lossy(have)))
            }
        }
        _ => format!("{name} should be {want:?}, is {have:?}"),
    }
}

/// A unified diff, bounded.
pub(crate) fn diff(want: &str, have: &str) -> String {
    let diff = TextDiff::from_lines(want, have);
    bounded(&diff.unified_diff().context_radius(2).header("expected", "got").to_string())
}

fn bounded(text: &str) -> String {
    const MOST: usize = 4000;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let kept: String = text.chars().take(MOST).collect();
    format!("{kept}\n[… {} characters more]", text.chars().count() - MOST)
}
