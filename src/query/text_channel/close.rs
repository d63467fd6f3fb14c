//! Where a block ends: which of the closing tags of its name is the real one.
//!
//! A body is raw text, so it may hold its own closing tag (a page about the format, a shell line that prints it). What
//! decides is the line: the closer of a block whose body began on a new line stands at the start of a line, that of a
//! one-line block on the same line; inner examples are balanced; a closer in quotes or in the middle of a content line
//! is content. A closer in another case counts, in a file only where there is none in the same. Promises: the answer for a growing text never changes later; work is bounded by a [`Budget`].

use super::tag;
use std::ops::Range;

/// How much of the text is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// All of it.
    Whole,
    /// More may come.
    Growing,
}

/// What a body holds, which decides how far its closer is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A file's text: only a closer that stands alone is believed at once.
    File,
    /// A command: the first closer that ends a line is believed.
    Command,
    /// Words for a person: any closer is believed.
    Words,
}

/// Where it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Close {
    /// The closing tag.
    At(Range<usize>),
    /// Nowhere.
    Nowhere,
    /// That cannot be known yet.
    More,
}

/// What looking at one tag costs, in bytes of plain text.
const COST_OF_A_TAG: usize = 256;

/// Bytes that may still be looked at twice. Running out turns what is left into plain text instead of taking forever.
#[derive(Debug, Clone)]
pub struct Budget(usize);

impl Budget {
    /// For a text of this many bytes.
    pub fn of(length: usize) -> Self {
        Self(length.saturating_mul(64).saturating_add(1 << 20))
    }

    /// Whether it has run out.
    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }

    /// Take some; false when there was too little left.
    pub fn spend(&mut self, bytes: usize) -> bool {
        let enough = self.0 >= bytes;
        self.0 = self.0.saturating_sub(bytes);
        enough
    }
}

#[derive(Debug, Clone)]
struct Token {
    range: Range<usize>,
    opens: bool,
    starts_line: bool,
    ends_line: Option<bool>,
}

/// The closing tag of the block `name` whose body begins at `from`.
pub fn find(text: &str, from: usize, name: &str, style: Style, known: Known, budget: &mut Budget) -> Close {
    // The text of a file may hold tags that differ in nothing but their case.
    let strict = Name { word: name, any_case: style != Style::File };
    match find_named(text, from, strict, style, known, budget) {
        Close::Nowhere if style == Style::File && known == Known::Whole => {
            find_named(text, from, Name { any_case: true, ..strict }, style, known, budget)
        }
        found => found,
    }
}

/// What a tag is called.
#[derive(Debug, Clone, Copy)]
struct Name<'n> {
    word: &'n str,
    any_case: bool,
}

impl Name<'_> {
    /// What stands behind the name where a text begins with it.
    fn strip<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (head, rest) = text.split_at_checked(self.word.len())?;
        let same = if self.any_case { head.eq_ignore_ascii_case(self.word) } else { head == self.word };
        same.then_some(rest)
    }

    /// How many opening and closing tags a text may hold.
    fn count(&self, text: &str) -> (usize, usize) {
        let tails = text.match_indices('<').filter_map(|(n, _)| text.get(n + 1..));
        tails.fold((0, 0), |(opening, closing), tail| match tail.strip_prefix('/') {
            Some(tail) => (opening, closing + usize::from(self.strip(tail).is_some())),
            None => (opening + usize::from(self.strip(tail).is_some()), closing),
        })
    }
}

fn find_named(text: &str, from: usize, name: Name<'_>, style: Style, known: Known, budget: &mut Budget) -> Close {
    let tail = text.get(from..).unwrap_or_default();
    if !budget.spend(tail.len()) {
        return Close::Nowhere;
    }
    let (openers, closers) = name.count(tail);
    if closers == 0 && known == Known::Whole {
        return Close::Nowhere;
    }
    if !budget.spend((openers + closers) * COST_OF_A_TAG) {
        return Close::Nowhere;
    }
    let first_end = tag::line_end(text, from);
    let open_ended = first_end == text.len() && known == Known::Growing;
    let mut after_line = from;
    if !tag::cut(text, from..first_end).trim().is_empty() {
        match on_one_line(text, from..first_end, name, style, open_ended) {
            Close::Nowhere => after_line = first_end,
            found => return found,
        }
    } else if open_ended {
        return Close::More;
    }
    let tokens = || tokens(text, after_line, name, known);
    let alone = |token: &Token| Some(token.starts_line);
    let at_line_end = |token: &Token| if token.starts_line { Some(true) } else { token.ends_line };
    let any = |_: &Token| Some(true);
    let found = match (style, known) {
        (Style::File, Known::Whole) => balanced(tokens(), alone).or_else(|| balanced(tokens(), at_line_end)),
        (Style::File, Known::Growing) => balanced(tokens(), alone),
        (Style::Command, _) | (Style::Words, Known::Growing) => balanced(tokens(), at_line_end),
        (Style::Words, Known::Whole) => balanced(tokens(), at_line_end).or_else(|| balanced(tokens(), any)),
    };
    match found {
        Some(range) => Close::At(range),
        None if known == Known::Growing => Close::More,
        None => Close::Nowhere,
    }
}

fn on_one_line(text: &str, line: Range<usize>, name: Name<'_>, style: Style, open_ended: bool) -> Close {
    if open_ended && style == Style::File {
        return Close::More;
    }
    let mut depth = 1_usize;
    let mut best: Option<Range<usize>> = None;
    for token in tokens(text, line.start, name, Known::Whole).take_while(|token| token.range.start < line.end) {
        if let Some(found) = &best {
            let between = tag::cut(text, found.end..token.range.start);
            if token.opens || between.trim().is_empty() {
                break;
            }
            best = Some(token.range);
        } else if token.opens {
            depth += 1;
        } else {
            depth -= 1;
            if depth == 0 {
                best = Some(token.range);
                if style != Style::File {
                    break;
                }
            }
        }
    }
    match best {
        Some(range) => Close::At(range),
        None if open_ended => Close::More,
        None => Close::Nowhere,
    }
}

/// The first closer at depth 0. Openers count at the start of a line, closers where `believed` (None: cannot be known)
/// or where they close an opener of their own line.
fn balanced(tokens: impl Iterator<Item = Token>, believed: impl Fn(&Token) -> Option<bool>) -> Option<Range<usize>> {
    let mut depth = 1_usize;
    let mut open_on_line = 0_usize;
    for token in tokens {
        if token.starts_line {
            open_on_line = 0;
        }
        if token.opens {
            if token.starts_line || open_on_line > 0 {
                depth += 1;
                open_on_line += 1;
            }
            continue;
        }
        let counts = if open_on_line > 0 {
            open_on_line -= 1;
            true
        } else {
            believed(&token)?
        };
        if counts {
            depth -= 1;
            if depth == 0 {
                return Some(token.range);
            }
        }
    }
    None
}

/// The opening and closing tags of this name from `from` on; quoted ones and self-closed ones are left out.
fn tokens<'t>(text: &'t str, from: usize, name: Name<'t>, known: Known) -> impl Iterator<Item = Token> + 't {
    let mut at = from;
    std::iter::from_fn(move || {
        loop {
            let start = at + text.get(at..)?.find('<')?;
            at = start + 1;
            let tail = text.get(at..)?;
            let (opens, named) = match tail.strip_prefix('/') {
                Some(rest) => (false, rest),
                None => (true, tail),
            };
            let Some(after) = name.strip(named) else { continue };
            if after.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')) {
                continue;
            }
            let end = if opens {
                match opener_end(text, start) {
                    Some(end) => end,
                    None => continue,
                }
            } else {
                match tag::close_at(text, start) {
                    Some((_, end)) => end,
                    None => continue,
                }
            };
            if quoted(text, start..end) {
                continue;
            }
            at = end;
            let starts_line = tag::starts_line(text, start, from);
            return Some(Token { range: start..end, opens, starts_line, ends_line: ends_line(text, end, known) });
        }
    })
}

/// The byte after an opening tag, in our own spelling or as `<name=value>`; None for a self-closed one.
fn opener_end(text: &str, start: usize) -> Option<usize> {
    if let Some(open) = tag::open_at(text, start) {
        return (!open.self_closed).then_some(open.end);
    }
    let line = tag::cut(text, start..tag::line_end(text, start));
    Some(start + line.find('>')? + 1)
}

fn ends_line(text: &str, at: usize, known: Known) -> Option<bool> {
    for c in text.get(at..)?.chars() {
        match c {
            '\n' | '<' => return Some(true),
            ' ' | '\t' | '\r' => {}
            _ => return Some(false),
        }
    }
    if known == Known::Whole { Some(true) } else { None }
}

/// Whether a tag stands between two marks of quotation.
pub fn quoted(text: &str, range: Range<usize>) -> bool {
    let before = tag::cut(text, 0..range.start).chars().next_back();
    let after = text.get(range.end..).and_then(|tail| tail.chars().next());
    matches!(
        (before, after),
        (Some('`'), Some('`'))
            | (Some('"'), Some('"'))
            | (Some('\''), Some('\''))
            | (Some('“'), Some('”'))
            | (Some('‘'), Some('’'))
            | (Some('「'), Some('」'))
            | (Some('«'), Some('»'))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str, name: &str, style: Style) -> Option<String> {
        let open = tag::open_at(text, 0).expect("an opening tag");
        match find(text, open.end, name, style, Known::Whole, &mut Budget::of(text.len())) {
            Close::At(range) => Some(tag::cut(text, open.end..range.start).to_owned()),
            _ => None,
        }
    }

    #[test]
    fn a_closer_in_a_content_line_is_content() {
        let text = "<create>\nClose it with </create> and go on.\nLast.\n</create>";
        assert_eq!(body(text, "create", Style::File).as_deref(), Some("\nClose it with </create> and go on.\nLast.\n"));
    }

    #[test]
    fn a_closer_at_the_end_of_the_last_line_counts() {
        let text = "<bash>\ncd a\nls</bash>\nthen\n<bash>\npwd\n</bash>";
        assert_eq!(body(text, "bash", Style::Command).as_deref(), Some("\ncd a\nls"));
    }

    #[test]
    fn a_block_does_not_borrow_the_closer_of_the_next() {
        assert_eq!(body("<create>\nfoo\n<create>\nbar\n</create>", "create", Style::File), None);
        assert_eq!(
            body("<create>\nfoo</create>\n<create>\nb\n</create>", "create", Style::File).as_deref(),
            Some("\nfoo")
        );
    }

    #[test]
    fn a_quoted_closer_is_content() {
        assert_eq!(
            body("<bash>echo \"</bash>\" > x</bash>", "bash", Style::Command).as_deref(),
            Some("echo \"</bash>\" > x")
        );
    }
}
