//! A new text in the place of bytes that are known: fitted to the indentation and the line ends of where it goes.

use super::apply::{Applied, How};
use super::error::EditError;
use super::lines;
use super::placeholder::placeholder;
use std::ops::Range;

/// What tells where a block ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// Signs.
    BySigns,
    /// Indentation, so that what stands in a block is deeper than what begins it.
    ByIndentation,
}

/// Replace a span that begins after its line's indentation.
///
/// # Errors
/// The new text is empty or the same, or leaves code out in words.
pub fn replace_span(text: &str, span: Range<usize>, new: &str, blocks: Blocks) -> Result<Applied, EditError> {
    let old = text.get(span.clone()).unwrap_or_default();
    if new.trim().is_empty() {
        return Err(EditError::Empty);
    }
    if let Some(line) = placeholder(old, new) {
        return Err(EditError::Placeholder { line });
    }
    let head = text.get(..span.start).unwrap_or_default();
    let indent = head.rsplit('\n').next().filter(|line| line.trim().is_empty()).unwrap_or_default();
    let (own, further) = lines::ends(text, &span);
    let new = lines::with_ends(&fitted(new, indent, blocks), &own, further);
    if new == old {
        return Err(EditError::NoChange);
    }
    let mut whole = text.to_owned();
    whole.replace_range(span.clone(), &new);
    let first = lines::number_of(text, span.start);
    let last = first + new.lines().count().max(1);
    Ok(Applied {
        splices: vec![(span, new)],
        text: whole,
        how: How::Exact,
        lines: std::iter::once(first..last).collect(),
    })
}

/// Without blank lines at its edges and without the first line's indentation; further lines that were written as if they
/// stood at the left edge are moved in.
fn fitted(new: &str, indent: &str, blocks: Blocks) -> String {
    let new = new.trim_end();
    let first = new.lines().take_while(|line| line.trim().is_empty()).count();
    let mut lines = new.lines().skip(first);
    let head = lines.next().unwrap_or_default().trim_start();
    let rest: Vec<&str> = lines.collect();
    let depth = |line: &&str| line.len() - line.trim_start().len();
    let least = rest.iter().filter(|line| !line.trim().is_empty()).map(depth).min();
    let is_left = least.is_some_and(|least| match blocks {
        Blocks::BySigns => least < indent.len(),
        Blocks::ByIndentation => least <= indent.len(),
    });
    let mut result = head.to_owned();
    for line in rest {
        result.push('\n');
        if is_left && !line.trim().is_empty() {
            result.push_str(indent);
        }
        result.push_str(line);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, old: &str, new: &str, blocks: Blocks) -> String {
        let start = text.find(old).expect("it stands there");
        replace_span(text, start..start + old.len(), new, blocks).expect("it is replaced").text
    }

    #[test]
    fn the_new_text_takes_indentation_and_line_ends_of_its_place() {
        let text = "impl A {\r\n    fn f() {\r\n    }\r\n}\r\n";
        let want = "impl A {\r\n    fn g() {\r\n        1\r\n    }\r\n}\r\n";
        for new in ["fn g() {\n    1\n}\n", "    fn g() {\n        1\n    }", "\nfn g() {\n        1\n    }\n\n"] {
            assert_eq!(replaced(text, "fn f() {\r\n    }", new, Blocks::BySigns), want, "{new}");
        }
    }

    #[test]
    fn where_indentation_ends_blocks_a_body_is_deeper_than_its_head() {
        let text = "class A:\n    def f(self):\n        pass\n";
        let want = "class A:\n    def f(self):\n        return 1\n";
        for new in ["def f(self):\n    return 1", "    def f(self):\n        return 1\n"] {
            assert_eq!(replaced(text, "def f(self):\n        pass", new, Blocks::ByIndentation), want, "{new}");
        }
    }

    #[test]
    fn nothing_and_the_same_are_no_edit() {
        let error = |new| replace_span("fn f() {}\n", 0..9, new, Blocks::BySigns).expect_err("it is refused");
        assert_eq!((error(" \n"), error("fn f() {}")), (EditError::Empty, EditError::NoChange));
    }
}
