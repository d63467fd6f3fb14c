//! A patch for people: lines that are new or gone in colour, and of lines that were changed the words that differ.
//!
//! What a line holds is made harmless first. Without colours it is the patch as git writes it.

use crate::terminal::display::Look;
use selfsmith::cycle::sanitize::shown;
use similar::{Algorithm, ChangeTag, capture_diff_slices};

/// Words of a block at most; a longer one is shown by lines alone.
const MOST_WORDS: usize = 4000;

/// The lines of a patch.
pub fn lines(patch: &[u8], look: Look) -> Vec<String> {
    let text = String::from_utf8_lossy(patch);
    let all: Vec<String> = text.lines().map(shown).collect();
    let mut out = Vec::new();
    let mut rest = all.as_slice();
    let mut in_hunk = false;
    while let Some(line) = rest.first() {
        if line.starts_with("@@") {
            in_hunk = true;
        } else if line.starts_with("diff --git") {
            in_hunk = false;
        }
        let gone = if in_hunk { run(rest, '-') } else { 0 };
        let after = rest.get(gone..).unwrap_or_default();
        let new = if in_hunk { run(after, '+') } else { 0 };
        if gone + new == 0 {
            out.push(if line.starts_with("@@") || !in_hunk { look.dim(line) } else { line.clone() });
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        block((rest.get(..gone).unwrap_or_default(), after.get(..new).unwrap_or_default()), look, &mut out);
        rest = after.get(new..).unwrap_or_default();
    }
    out
}

/// How many lines from here on begin like this.
fn run(lines: &[String], mark: char) -> usize {
    lines.iter().take_while(|line| line.starts_with(mark)).count()
}

/// Lines that are gone, and those that came in their place.
fn block((gone, new): (&[String], &[String]), look: Look, out: &mut Vec<String>) {
    let body =
        |lines: &[String]| lines.iter().map(|line| line.chars().skip(1).collect::<String>() + "\n").collect::<String>();
    let (before, after) = (body(gone), body(new));
    let (before, after) = (words(&before), words(&after));
    let together = !gone.is_empty() && !new.is_empty() && before.len().max(after.len()) <= MOST_WORDS;
    if !look.is_coloured() || !together {
        out.extend(gone.iter().map(|line| look.bad(line)));
        out.extend(new.iter().map(|line| look.good(line)));
        return;
    }
    let ops = capture_diff_slices(Algorithm::Patience, &before, &after);
    let (mut old, mut changed) = (Painter::new('-', look), Painter::new('+', look));
    for change in ops.iter().flat_map(|op| op.iter_changes(&before, &after)) {
        match change.tag() {
            ChangeTag::Equal => {
                old.push(change.value(), Word::Same);
                changed.push(change.value(), Word::Same);
            }
            ChangeTag::Delete => old.push(change.value(), Word::Differs),
            ChangeTag::Insert => changed.push(change.value(), Word::Differs),
        }
    }
    out.extend(old.lines);
    out.extend(changed.lines);
}

/// Words, and everything else by the character.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Same,
    Differs,
}

/// Puts words together to lines of one side.
struct Painter {
    mark: char,
    look: Look,
    lines: Vec<String>,
    line: String,
    piece: (Word, String),
}

impl Painter {
    fn new(mark: char, look: Look) -> Self {
        Self { mark, look, lines: Vec::new(), line: String::new(), piece: (Word::Same, mark.to_string()) }
    }

    fn push(&mut self, word: &str, how: Word) {
        if word == "\n" {
            self.paint();
            self.lines.push(std::mem::take(&mut self.line));
            self.piece = (Word::Same, self.mark.to_string());
            return;
        }
        if self.piece.0 != how {
            self.paint();
            self.piece.0 = how;
        }
        self.piece.1.push_str(word);
    }

    fn paint(&mut self) {
        let text = std::mem::take(&mut self.piece.1);
        if text.is_empty() {
            return;
        }
        let painted = match (self.mark, self.piece.0) {
            ('-', Word::Same) => self.look.bad(&text),
            ('-', Word::Differs) => self.look.bad_word(&text),
            (_, Word::Same) => self.look.good(&text),
            (_, Word::Differs) => self.look.good_word(&text),
        };
        self.line.push_str(&painted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &[u8] =
        b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n fn f() {\n-    let sum = one + two;\n+    let sum = one + three;\n }\n";

    #[test]
    fn without_colours_it_is_the_patch() {
        let plain = lines(PATCH, Look::plain());
        assert_eq!(plain.join("\n") + "\n", String::from_utf8_lossy(PATCH));
    }

    #[test]
    fn of_a_changed_line_the_words_that_differ_are_marked_and_all_is_there() {
        let coloured = lines(PATCH, Look::coloured());
        let line = |mark: &str| coloured.iter().find(|line| line.contains(mark)).cloned().unwrap_or_default();
        assert!(line("two").contains("\u{1b}[31m\u{1b}[7mtwo\u{1b}[0m"), "{:?}", line("two"));
        assert!(line("three").contains("\u{1b}[32m\u{1b}[7mthree\u{1b}[0m"), "{:?}", line("three"));
        let bare: Vec<String> = coloured.iter().map(|line| console::strip_ansi_codes(line).into_owned()).collect();
        assert_eq!(bare.join("\n") + "\n", String::from_utf8_lossy(PATCH));
    }

    #[test]
    fn what_would_move_the_cursor_is_written_out() {
        let hostile = lines(b"@@ -1 +1 @@\n-a\n+a\x1b[2J\n", Look::coloured());
        assert!(hostile.iter().any(|line| line.contains("u{1b}")), "{hostile:?}");
    }
}
