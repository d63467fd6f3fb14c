//! Text from elsewhere made harmless for a terminal: no control characters, no bidirectional tricks.

use unicode_width::UnicodeWidthChar;

/// The text with every control character shown as a symbol; line ends and tabs stay.
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
            '\u{7f}'..='\u{9f}' => '\u{2421}',
            // Embeddings, overrides and isolates of text direction can make a line read as another.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            _ => c,
        })
        .collect()
}

/// The first line that says something, cut to a width of so many columns.
pub fn one_line(text: &str, columns: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = clean(&line.replace('\t', " "));
    let mut out = String::new();
    let mut width = 0;
    for c in line.chars() {
        width += c.width().unwrap_or(0);
        if width > columns.saturating_sub(1) {
            out.push('…');
            return out;
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_direction_marks_cannot_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\r\n\u{202e}c\u{9b}"), "a␛[2Jb␍\n\u{fffd}c␡");
    }

    #[test]
    fn a_line_is_cut_by_columns_and_not_by_bytes() {
        assert_eq!(one_line("\n  中文字符 and more", 8), "中文字…");
        assert_eq!(one_line("short", 80), "short");
    }
}
