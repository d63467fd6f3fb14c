//! Whether a tag stands in prose, or is quoted: in marks of quotation, in inline code, in a quoted line.
//!
//! Decides by what stands near on the same line, in bounded time.

use super::tag;

/// Whether a backtick stands right before a place.
pub fn backtick_before(text: &str, at: usize) -> bool {
    at > 0 && text.as_bytes().get(at - 1) == Some(&b'`')
}

/// A line of a quotation in Markdown.
pub fn is_quotation_line(text: &str, at: usize) -> bool {
    tag::line_head(text, at, 0).trim_start().starts_with('>')
}

/// Whether an opening tag stands in quotation marks, in backticks that were not closed, or in a quoted line.
pub fn is_quoted(text: &str, at: usize, line_end: usize) -> bool {
    let head = tag::line_head(text, at, 0);
    if head.ends_with(['`', '"', '\'', '“', '‘', '「', '『', '«', '„']) || is_quotation_line(text, at) {
        return true;
    }
    let odd = |mark: char| head.matches(mark).count() % 2 == 1;
    let rest = tag::cut(text, at..line_end.min(at.saturating_add(4096)));
    (odd('"') && rest.matches('"').count() % 2 == 1) || (head.matches('“').count() > head.matches('”').count())
}

/// The byte after inline code that begins a line's rest with this many backticks.
pub fn inline_code_end(line: &str, run: usize) -> Option<usize> {
    let mut at = run;
    loop {
        at += line.get(at..)?.find('`')?;
        let tail = line.get(at..)?;
        let length = tail.len() - tail.trim_start_matches('`').len();
        if length == run {
            return Some(at + length);
        }
        at += length;
    }
}
