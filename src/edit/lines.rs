//! Lines with their places and their ends.

use std::ops::Range;

/// One line of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'t> {
    /// Without its end.
    pub text: &'t str,
    /// Where `text` stands.
    pub span: Range<usize>,
    /// The byte after the line's end.
    pub next: usize,
}

impl Line<'_> {
    /// Whether it ends with a line break.
    pub fn is_ended(&self) -> bool {
        self.next > self.span.end
    }
}

/// The lines of a text. A last line break ends the last line and begins none.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|whole| {
            let content = whole.strip_suffix('\n').unwrap_or(whole);
            let content =
                if content.len() < whole.len() { content.strip_suffix('\r').unwrap_or(content) } else { content };
            let line = Line { text: content, span: at..at + content.len(), next: at + whole.len() };
            at += whole.len();
            line
        })
        .collect()
}

/// The number from 1 on of the line that holds a byte.
pub fn number_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// The line ends of a stretch, then the one that further breaks there should have.
pub fn ends<'t>(text: &'t str, span: &Range<usize>) -> (Vec<&'t str>, &'t str) {
    let inside = text.get(span.clone()).unwrap_or_default();
    let own: Vec<&str> = breaks(inside).collect();
    let after = || text.get(span.end..).and_then(|tail| breaks(tail).next());
    let before = || {
        let head = text.get(..span.start)?;
        let (line, _) = head.rsplit_once('\n')?;
        Some(if line.ends_with('\r') { "\r\n" } else { "\n" })
    };
    let further = own.last().copied().or_else(after).or_else(before).unwrap_or("\n");
    (own, further)
}

fn breaks(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(|line| if line.ends_with("\r\n") { "\r\n" } else { "\n" })
}

/// The new text with the line ends of the place where it goes: break by break those of the old, then the further one.
pub fn with_ends(new: &str, own: &[&str], further: &str) -> String {
    let mut own = own.iter();
    let mut result = String::with_capacity(new.len());
    for line in new.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(content) => {
                result.push_str(content.strip_suffix('\r').unwrap_or(content));
                result.push_str(own.next().unwrap_or(&further));
            }
            None => result.push_str(line),
        }
    }
    result
}
