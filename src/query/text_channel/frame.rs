//! The frame round a body: the line breaks next to the tags, and a fence that only wraps it.
//!
//! Promises: beyond one line break and the closer's own indentation, nothing is trimmed, decoded or guessed.

/// What becomes of the line break before the closer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// It ends the last line of a file, so it is kept.
    Kept,
    /// It is part of the frame.
    Dropped,
}

/// The body without its frame.
pub fn unframed(body: &str, last: Last) -> String {
    let inner = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n')).unwrap_or(body);
    let Some((lines, indent)) = inner.rsplit_once('\n') else {
        // One line; after an opener that ended its line, blanks alone are the closer's indentation.
        return if inner.len() != body.len() && inner.trim().is_empty() { String::new() } else { inner.to_owned() };
    };
    if !indent.chars().all(|c| c == ' ' || c == '\t') {
        return inner.to_owned();
    }
    match last {
        Last::Kept => format!("{lines}\n"),
        Last::Dropped => lines.strip_suffix('\r').unwrap_or(lines).to_owned(),
    }
}

/// The inside of a fence that is the whole of a body; None where it is not, or where the file may well hold fences.
pub fn out_of_fence(path: &str, body: &str) -> Option<String> {
    if holds_fences(path) {
        return None;
    }
    let trimmed = body.trim_matches(|c| c == '\n' || c == '\r');
    let (first, rest) = trimmed.split_once('\n')?;
    let marks = fence_marks(first)?;
    let (inner, last) = match rest.rsplit_once('\n') {
        Some((inner, last)) => (format!("{inner}\n"), last),
        None => (String::new(), rest),
    };
    let closes = |line: &str| line.trim().len() >= marks.len() && line.trim().chars().all(|c| marks.starts_with(c));
    (closes(last) && !inner.lines().any(closes)).then_some(inner)
}

/// The marks with which a line opens a fence.
pub fn fence_marks(line: &str) -> Option<String> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| *c == '`' || *c == '~')?;
    let marks: String = line.chars().take_while(|c| *c == mark).collect();
    let info = line.trim_start_matches(mark);
    (marks.len() >= 3 && !(mark == '`' && info.contains('`'))).then_some(marks)
}

fn holds_fences(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    match name.rsplit_once('.') {
        Some((_, ending)) => {
            matches!(ending, "md" | "markdown" | "mdx" | "mdc" | "qmd" | "rmd" | "txt" | "rst" | "adoc")
        }
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_one_line_break_goes_at_each_end() {
        let body = "\n    def f(self):\n\treturn 1   \n\n";
        assert_eq!(unframed(body, Last::Dropped), "    def f(self):\n\treturn 1   \n");
        assert_eq!(unframed(body, Last::Kept), "    def f(self):\n\treturn 1   \n\n");
        assert_eq!(unframed("\nhi\n  ", Last::Kept), "hi\n");
        assert_eq!(unframed("true", Last::Kept), "true");
        assert_eq!(unframed("\r\na\r\n", Last::Dropped), "a");
    }

    #[test]
    fn only_a_fence_round_the_whole_of_a_program_goes() {
        assert_eq!(out_of_fence("a.py", "```python\nprint(1)\n```\n").as_deref(), Some("print(1)\n"));
        assert_eq!(out_of_fence("a.md", "```python\nprint(1)\n```\n"), None);
        assert_eq!(out_of_fence("a.py", "```\na\n```\nb\n```\n"), None);
        assert_eq!(out_of_fence("a.py", "x\n```\na\n```\n"), None);
    }
}
