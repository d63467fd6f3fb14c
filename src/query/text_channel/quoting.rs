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

/// A row of a table in Markdown.
pub fn is_table_row(text: &str, at: usize) -> bool {
    tag::line_head(text, at, 0).trim_start().starts_with('|')
}

/// Bytes looked at to find the prose before an indented line.
const LOOK_BACK: usize = 16 * 1024;

/// A line of a code block that Markdown knows by its indentation: four columns further in than the prose before it (in a
/// list: than its words), a blank line between. What stands before the byte `prose` is none: it was a block or thinking.
pub fn is_indented_code(text: &str, at: usize, prose: usize) -> bool {
    let head = tag::line_head(text, at, 0);
    let start = at - head.len();
    let columns = indentation(head);
    if columns < CODE || start < prose {
        return false;
    }
    let mut from = prose.max(start.saturating_sub(LOOK_BACK));
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let mut blank = false;
    for line in tag::cut(text, from..start).lines().rev() {
        if line.trim().is_empty() {
            blank = true;
        } else if indentation(line) < CODE {
            let heading = line.trim_start().starts_with('#');
            return (blank || heading) && columns >= words_of_list_item(line) + CODE;
        }
    }
    // All of it is indented: code so long that its prose is out of sight.
    blank && from > prose
}

/// Columns of indentation that make code.
const CODE: usize = 4;

fn indentation(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).fold(0, |columns, c| match c {
        '\t' => (columns / 4 + 1) * 4,
        _ => columns + 1,
    })
}

/// The column at which the words of a list item begin; 0 for a line that is none.
fn words_of_list_item(line: &str) -> usize {
    let inner = line.trim_start();
    let digits = inner.chars().take_while(char::is_ascii_digit).count();
    let marked = match inner.get(digits..).and_then(|tail| tail.chars().next()) {
        Some('.' | ')') => (1..=9).contains(&digits),
        Some('-' | '*' | '+') => digits == 0,
        _ => false,
    };
    match inner.get(digits + 1..) {
        Some(words) if marked && words.starts_with([' ', '\t']) => {
            indentation(line) + digits + 1 + indentation(words).min(CODE)
        }
        _ => 0,
    }
}

/// Whether an opening tag stands in quotation marks, in backticks that were not closed, or in a quoted line.
pub fn is_quoted(text: &str, at: usize, line_end: usize) -> bool {
    let head = tag::line_head(text, at, 0);
    // A backslash or a heading's marks are Markdown's ways to say that it is a text.
    let marked = ['`', '"', '\'', '“', '‘', '「', '『', '«', '„', '\\'];
    if head.ends_with(marked) || head.trim_start().starts_with('#') || is_quotation_line(text, at) {
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
