//! Output as a person would see it on a screen: no colours and cursor movements, a line that was rewritten only in its
//! last state. And within a bound.

/// A text as it stands on the screen at the end.
pub(super) fn settled(raw: &str) -> String {
    let plain = without_escapes(raw);
    let mut settled = String::with_capacity(plain.len());
    for line in plain.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                settled.push_str(&last_state(line));
                settled.push('\n');
            }
            None => settled.push_str(&last_state(line)),
        }
    }
    settled
}

/// At most about `limit` bytes as they are sent, the first and the last, cut between characters; `lost` bytes were dropped
/// between head and tail before. Says whether something is missing.
pub(super) fn bounded(head: &str, lost: u64, tail: &str, limit: usize) -> (String, bool) {
    if lost == 0 && sent(head) + sent(tail) <= limit {
        return (format!("{head}{tail}"), false);
    }
    let whole;
    let (head, tail) = if lost == 0 {
        whole = format!("{head}{tail}");
        let (first, last) = split(&whole, whole.len() / 2);
        (first, last)
    } else {
        (head, tail)
    };
    let (first, dropped) = split(head, reach(head.chars(), limit / 2));
    let (skipped, last) = split(tail, tail.len() - reach(tail.chars().rev(), limit - limit / 2));
    let missing = lost + (dropped.len() + skipped.len()) as u64;
    (format!("{first}\n[… {missing} bytes left out here …]\n{last}"), true)
}

/// Bytes of a text in a request, where it is a JSON string: line ends and quotes take two.
fn sent(text: &str) -> usize {
    text.chars().map(weight).sum()
}

fn weight(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        character if character.is_ascii_control() => 6,
        character => character.len_utf8(),
    }
}

/// Bytes of the characters that come first and take no more than `limit` when they are sent.
fn reach(characters: impl Iterator<Item = char>, limit: usize) -> usize {
    let mut taken = 0;
    let fits = characters.take_while(|character| {
        taken += weight(*character);
        taken <= limit
    });
    fits.map(char::len_utf8).sum()
}

/// Both streams for the model.
pub(super) fn joined(stdout: &str, stderr: &str) -> String {
    let mut text = String::new();
    text.push_str(stdout);
    end_line(&mut text);
    if !stderr.trim().is_empty() {
        text.push_str("[stderr]\n");
        text.push_str(stderr);
        end_line(&mut text);
    }
    if text.is_empty() { "[no output]\n".to_owned() } else { text }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Splits at the last boundary of characters that is not behind `at`.
fn split(text: &str, at: usize) -> (&str, &str) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// Without terminal control (ECMA-48): sequences from ESC on, and control characters other than those that move within
/// a line or end it.
fn without_escapes(raw: &str) -> String {
    let mut plain = String::with_capacity(raw.len());
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1B}' => skip_sequence(&mut characters),
            '\u{9B}' => skip_parameters(&mut characters),
            '\n' | '\r' | '\t' | '\u{8}' => plain.push(character),
            control if control.is_control() => {}
            other => plain.push(other),
        }
    }
    plain
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// After ESC: `[` begins parameters, `]`, `P`, `X`, `^`, `_` a text up to BEL or ESC `\`; anything else is one or, with
/// intermediate characters, a few.
fn skip_sequence(characters: &mut Characters<'_>) {
    match characters.peek() {
        Some('[') => {
            characters.next();
            skip_parameters(characters);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => skip_text(characters),
        _ => {
            while characters.next_if(|character| ('\u{20}'..='\u{2F}').contains(character)).is_some() {}
            characters.next_if(|character| ('\u{30}'..='\u{7E}').contains(character));
        }
    }
}

fn skip_parameters(characters: &mut Characters<'_>) {
    while characters.next_if(|character| ('\u{20}'..='\u{3F}').contains(character)).is_some() {}
    characters.next_if(|character| ('\u{40}'..='\u{7E}').contains(character));
}

/// Up to its end, but never over the end of a line: a text that was cut off must not swallow what follows.
fn skip_text(characters: &mut Characters<'_>) {
    while let Some(character) = characters.next_if(|character| *character != '\n') {
        match character {
            '\u{7}' | '\u{9C}' => return,
            '\u{1B}' => {
                characters.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// What is left of a line after carriage returns and backspaces.
fn last_state(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let state = line.rsplit('\r').find(|state| !state.is_empty()).unwrap_or("");
    let mut shown = String::with_capacity(state.len());
    for character in state.chars() {
        if character == '\u{8}' {
            shown.pop();
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_titles_and_progress_are_gone() {
        for (raw, expected) in [
            ("10%\r55%\r100%\n\u{1B}[31mred\u{1B}[0m\n", "100%\nred\n"),
            ("\u{1B}]0;title\u{7}text", "text"),
            ("\u{1B}]8;;http://x\u{1B}\\link\u{1B}]8;;\u{1B}\\", "link"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("\u{1B}(B\u{1B}[1;32mok\u{1B}[K", "ok"),
            ("ab\u{8}c\u{7}\u{0}", "ac"),
            ("progress\r", "progress"),
            ("\u{1B}]unfinished\nnext", "\nnext"),
            ("中\u{1B}[3", "中"),
        ] {
            assert_eq!(settled(raw), expected, "{raw:?}");
        }
    }

    #[test]
    fn a_bound_cuts_between_characters_and_says_how_much() {
        let (text, cut) = bounded(&"中".repeat(10), 0, "", 12);
        assert_eq!((text.as_str(), cut), ("中中\n[… 18 bytes left out here …]\n中中", true));
        let (text, cut) = bounded("abc", 5, "xyz", 4);
        assert_eq!((text.as_str(), cut), ("ab\n[… 7 bytes left out here …]\nyz", true));
        assert_eq!(bounded("ab", 0, "cd", 4), ("abcd".to_owned(), false));
        // What counts is what is sent: a line end takes two bytes there.
        let (text, cut) = bounded("", 9, &"y\n".repeat(1000), 600);
        let sent = serde_json::to_string(&text).expect("JSON").len();
        assert!(cut && (300..700).contains(&sent), "{sent}");
    }

    #[test]
    fn both_streams_are_told_apart() {
        assert_eq!(joined("out", "err\n"), "out\n[stderr]\nerr\n");
        assert_eq!(joined("", ""), "[no output]\n");
    }
}
