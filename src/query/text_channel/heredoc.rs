//! Whether a command breaks off within a here-document: then a closer that stands there is a line of the document.

use regex::Regex;
use std::sync::LazyLock;

static BEGINS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(^|[^<])<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_][A-Za-z0-9_]*))"#)
        .expect("a fixed pattern that the tests compile")
});

/// A document's last line, and whether tabs may stand before it.
struct End<'a> {
    word: &'a str,
    tabs: bool,
}

/// Whether a document that the command begins has no end in it.
pub fn is_open(command: &str) -> bool {
    let mut ends: std::collections::VecDeque<End<'_>> = std::collections::VecDeque::new();
    for line in command.lines() {
        let closes = |end: &End<'_>| if end.tabs { line.trim_start_matches('\t') } else { line } == end.word;
        match ends.front() {
            Some(end) if closes(end) => drop(ends.pop_front()),
            Some(_) => {}
            None => ends.extend(BEGINS.captures_iter(line).filter_map(|found| {
                let word = found.get(3).or(found.get(4)).or(found.get(5))?.as_str();
                Some(End { word, tabs: !found[2].is_empty() })
            })),
        }
    }
    !ends.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_from_what_looks_like_them() {
        for open in ["cat <<EOF", "cat <<'E O F' >a\nx\nEOF", "a <<-X; b <<Y\n\tX\nX", "cat <<\"A\"\n A\n"] {
            assert!(is_open(open), "{open}");
        }
        for closed in ["cat <<EOF\nx\nEOF", "a <<-X; b <<Y\n\tX\nY", "cat <<<EOF", "echo $((1<<2))", "x << 3"] {
            assert!(!is_open(closed), "{closed}");
        }
    }
}
