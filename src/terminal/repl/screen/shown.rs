//! What a call would do, as a person is shown it before it runs: nothing of it can hide behind blanks, or in a middle that
//! is left out without a word. Pure.

use crate::clean::clean;
use selfsmith_agent::texts::{Texts, fill};

/// Blanks in a row, within a line and at its beginning, that are shown as they are.
const BLANKS: usize = 24;
const INDENT: usize = 80;
/// Empty lines in a row that are shown as they are.
const EMPTY: usize = 4;
/// Lines and characters that are shown at once: of the beginning and of the end of what is longer.
const HEAD: Bound = Bound { lines: 100, chars: 5000 };
const TAIL: Bound = Bound { lines: 60, chars: 3000 };

struct Bound {
    lines: usize,
    chars: usize,
}

/// A text in two forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// All of it, harmless for a terminal, in lines.
    pub all: Vec<String>,
    /// Its beginning and end with a word about the middle, where it is too long to be shown at once.
    pub short: Option<Vec<String>>,
}

impl Shown {
    /// Of a text.
    pub fn new(texts: &Texts, text: &str) -> Self {
        let all = visible(texts, text);
        let chars = |lines: &[String]| lines.iter().map(|line| line.chars().count() + 1).sum::<usize>();
        if all.len() <= HEAD.lines + TAIL.lines && chars(&all) <= HEAD.chars + TAIL.chars {
            return Self { all, short: None };
        }
        let mut head = bounded(all.iter(), &HEAD, |line, room| line.chars().take(room).collect());
        let mut tail = bounded(all.iter().rev(), &TAIL, |line, room| {
            line.chars().skip(line.chars().count().saturating_sub(room)).collect()
        });
        tail.reverse();
        let hidden = chars(&all).saturating_sub(chars(&head) + chars(&tail));
        head.push(fill(texts.not_shown, &[("chars", &hidden.to_string()), ("lines", &all.len().to_string())]));
        head.extend(tail);
        Self { all, short: Some(head) }
    }

    /// What is shown at once.
    pub fn at_once(&self) -> &[String] {
        self.short.as_deref().unwrap_or(&self.all)
    }
}

fn bounded<'a>(
    lines: impl Iterator<Item = &'a String>,
    bound: &Bound,
    cut: impl Fn(&str, usize) -> String,
) -> Vec<String> {
    let mut left = bound.chars;
    let mut taken = Vec::new();
    for line in lines.take(bound.lines) {
        let count = line.chars().count();
        if count > left {
            taken.extend((left > 0).then(|| cut(line, left)));
            break;
        }
        left = left.saturating_sub(count + 1);
        taken.push(line.clone());
    }
    taken
}

fn visible(texts: &Texts, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut empty: Vec<String> = Vec::new();
    let flush = |empty: &mut Vec<String>, lines: &mut Vec<String>| {
        if empty.len() > EMPTY {
            lines.push(fill(texts.empty_lines, &[("count", &empty.len().to_string())]));
        } else {
            lines.append(empty);
        }
        empty.clear();
    };
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        // A difference has a mark before each line.
        let bare = line.strip_prefix(['+', '-', ' ']).unwrap_or(line);
        if bare.chars().all(is_blank) && bare.chars().count() < INDENT {
            empty.push(line.to_owned());
            continue;
        }
        flush(&mut empty, &mut lines);
        lines.push(counted(&clean(line)));
    }
    flush(&mut empty, &mut lines);
    lines
}

/// The line with long runs of blanks counted.
fn counted(line: &str) -> String {
    let mut out = String::new();
    let mut run = String::new();
    let mut begun = false;
    for c in line.chars() {
        if is_blank(c) {
            run.push(c);
            continue;
        }
        push_run(&mut out, &run, if begun { BLANKS } else { INDENT });
        run.clear();
        // The mark of a difference is no beginning of words.
        begun |= !(out.is_empty() && matches!(c, '+' | '-'));
        out.push(c);
    }
    push_run(&mut out, &run, BLANKS);
    out
}

fn push_run(out: &mut String, run: &str, most: usize) {
    let count = run.chars().map(|c| if c == '\t' { 8 } else { 1 }).sum::<usize>();
    if count > most {
        out.push_str(&format!("␣×{}", run.chars().count()));
    } else {
        out.push_str(run);
    }
}

/// What takes room, or none, and shows nothing.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}')
        || matches!(c, '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfsmith_agent::texts::EN;

    fn shown(text: &str) -> Shown {
        Shown::new(&EN, text)
    }

    #[test]
    fn nothing_hides_behind_blanks_or_empty_lines() {
        for (blank, count) in [(" ", 3000), ("\t", 40), ("\u{2800}", 200), ("\u{200b}", 50), (" \u{3164}", 100)] {
            let told = shown(&format!("cargo test{}; touch hidden", blank.repeat(count)));
            let count = count * blank.chars().count();
            assert_eq!(told.at_once(), [format!("cargo test␣×{count}; touch hidden")]);
        }
        let told = shown(&format!("cargo test{}touch hidden", "\n".repeat(500)));
        assert_eq!(told.at_once().len(), 3);
        assert!(told.at_once()[1].contains("499") && told.at_once()[2] == "touch hidden", "{told:?}");
        let code = "+                                deep code  # and a word\n\n\n x";
        assert_eq!(shown(code).at_once().join("\n"), code, "what is ordinary stays as it is");
    }

    #[test]
    fn of_a_long_text_the_end_is_shown_and_the_middle_is_said_to_be_missing() {
        let long = [
            format!("{} ; touch hidden", "x".repeat(20_000)),
            format!("{}touch hidden", "echo y\n".repeat(3000)),
            format!("a {}\ntouch hidden", "x".repeat(20_000)),
        ];
        for text in long {
            let told = shown(&text);
            let short = told.short.as_deref().expect("it is long");
            assert!(short.last().expect("lines").ends_with("touch hidden"), "{short:?}");
            assert_eq!(short.iter().filter(|line| line.contains("not shown")).count(), 1, "{short:?}");
            assert!(short.iter().map(|line| line.chars().count() + 1).sum::<usize>() < 8500);
            assert_eq!(told.all.join("\n"), text);
        }
    }
}
