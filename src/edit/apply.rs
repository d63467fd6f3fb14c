//! Edits applied to a text: all of them or none, each on what the one before left.

use super::error::{EditError, Guess};
use super::lines::{self, Line};
use super::locate::{self, Hit, LineMatch, Reading};
use super::placeholder::{has_bare_dots, placeholder};
use super::{nearest, numbers};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What stands there.
    pub old: String,
    /// What shall stand there.
    pub new: String,
}

/// How many places an edit may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrences {
    /// Exactly one, or it is refused.
    One,
    /// Every one.
    All,
}

/// How the old text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As it was written, but perhaps for line ends.
    Exact,
    /// By its whole lines, with differences in layout; the tool has to say so.
    Tolerant,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Replacements in the order in which they are to be made, each in the text that the one before left.
    pub splices: Vec<(Range<usize>, String)>,
    /// The whole text afterwards.
    pub text: String,
    /// The looser of the readings that were needed.
    pub how: How,
    /// Line numbers, in the result, of each replacement.
    pub lines: Vec<Range<usize>>,
}

/// An edit that could not be made; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Which one, from 0 on.
    pub index: usize,
    /// Why.
    pub error: EditError,
}

/// Apply them all.
pub fn apply(text: &str, edits: &[Edit], occurrences: Occurrences) -> Result<Applied, Failed> {
    let mut applied = Applied { splices: Vec::new(), text: text.to_owned(), how: How::Exact, lines: Vec::new() };
    for (index, edit) in edits.iter().enumerate() {
        let (splices, how) = one(&applied.text, edit, occurrences).map_err(|error| Failed { index, error })?;
        if how == How::Tolerant {
            applied.how = how;
        }
        for (span, new) in splices {
            let first = lines::number_of(&applied.text, span.start);
            let breaks = |text: &str| text.matches('\n').count();
            let (gone, come) = (breaks(applied.text.get(span.clone()).unwrap_or_default()), breaks(&new));
            // What stands below moves with the lines that come and go here.
            for lines in applied.lines.iter_mut().filter(|lines| lines.start >= first + gone) {
                *lines = lines.start - gone + come..lines.end - gone + come;
            }
            applied.lines.push(first..first + new.lines().count().max(1));
            applied.text.replace_range(span.clone(), &new);
            applied.splices.push((span, new));
        }
    }
    if applied.text == text {
        return Err(Failed { index: 0, error: EditError::NoChange });
    }
    Ok(applied)
}

/// Splices, last place first, so that earlier places stay valid.
type Splices = Vec<(Range<usize>, String)>;

fn one(text: &str, edit: &Edit, occurrences: Occurrences) -> Result<(Splices, How), EditError> {
    let Edit { old, new } = edit;
    if old.is_empty() {
        return Err(EditError::Empty);
    }
    if old == new {
        return Err(EditError::NoChange);
    }
    if let Some(line) = placeholder(old, new) {
        return Err(EditError::Placeholder { line });
    }
    let literal = locate::literal(text, old);
    if !literal.is_empty() {
        return Ok((spliced(text, literal, old, new, occurrences)?, How::Exact));
    }
    for (old, new) in readings(old, new) {
        let mut hits = locate::by_lines(text, &old, &new);
        if hits.is_empty() && old != edit.old {
            hits = locate::literal(text, &old);
        }
        if !hits.is_empty() {
            return Ok((spliced(text, hits, &old, &new, occurrences)?, How::Tolerant));
        }
    }
    Err(missing(text, old, new))
}

/// The texts as they were written, then without line numbers, then without one layer of escapes.
fn readings(old: &str, new: &str) -> Vec<(String, String)> {
    let mut readings = vec![(old.to_owned(), new.to_owned())];
    if let Some(bare) = numbers::without_numbers(old) {
        readings.push((bare, numbers::without_some_numbers(new)));
    }
    if !old.contains('\n') && old.contains("\\n") {
        readings.push((unescaped(old), unescaped(new)));
    }
    readings
}

fn unescaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some(next)) if "nt\"\\'".contains(next) => {
                chars.next();
                result.push(match next {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                });
            }
            _ => result.push(c),
        }
    }
    result
}

fn spliced(text: &str, hits: Vec<Hit>, old: &str, new: &str, occurrences: Occurrences) -> Result<Splices, EditError> {
    if occurrences == Occurrences::One && hits.len() > 1 {
        let lines = hits.iter().take(8).map(|hit| lines::number_of(text, hit.span.start)).collect();
        return Err(EditError::Ambiguous { count: hits.len(), lines });
    }
    let mut splices: Splices = Vec::new();
    let mut free_from = 0;
    for hit in hits {
        if hit.span.start < free_from {
            continue;
        }
        free_from = hit.span.end;
        let replacement = match &hit.reading {
            // Who writes carriage returns means them.
            Reading::Literal if old.contains('\r') || new.contains('\r') => new.to_owned(),
            Reading::Literal | Reading::LineEnds => {
                let (own, further) = lines::ends(text, &hit.span);
                lines::with_ends(new, &own, further)
            }
            Reading::Lines(found) => in_lines(text, &hit.span, found, old, new),
        };
        splices.push((hit.span, replacement));
    }
    splices.reverse();
    Ok(splices)
}

/// The new text for whole lines that were found by layout: lines that the edit keeps stay as the file has them, the
/// others take its indentation and its line ends.
fn in_lines(text: &str, span: &Range<usize>, found: &LineMatch, old: &str, new: &str) -> String {
    let here = lines::lines(text);
    let window: Vec<&Line<'_>> = here.iter().skip(found.window.start).take(found.window.len()).collect();
    let old_lines = core(old, found.edges);
    let new_lines = core(new, blank_edges(new, found.edges));
    let carry = |line: &str| found.shift.map_or_else(|| line.to_owned(), |shift| shift.carry(line));
    let mut result: Vec<String> = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines) {
        match operation {
            DiffOp::Equal { old_index, len, .. } => {
                result.extend(window.iter().skip(old_index).take(len).map(|line| line.text.to_owned()));
            }
            DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                result.extend(new_lines.iter().skip(new_index).take(new_len).map(|line| carry(line)));
            }
            DiffOp::Delete { .. } => {}
        }
    }
    let mut joined = result.join("\n");
    let takes_end = window.last().is_some_and(|line| line.is_ended() && line.next == span.end);
    if takes_end && !result.is_empty() {
        joined.push('\n');
    }
    let (own, further) = lines::ends(text, span);
    lines::with_ends(&joined, &own, further)
}

/// The lines of a text without so many at its beginning and end.
fn core(text: &str, edges: (usize, usize)) -> Vec<&str> {
    let lines: Vec<&str> = lines::lines(text).into_iter().map(|line| line.text).collect();
    let end = lines.len().saturating_sub(edges.1).max(edges.0);
    lines.get(edges.0..end).unwrap_or_default().to_vec()
}

/// Blank lines at the edges of the new text that go with those that did not count in the old.
fn blank_edges(new: &str, edges: (usize, usize)) -> (usize, usize) {
    let lines: Vec<&str> = new.lines().collect();
    let lead = lines.iter().take(edges.0).take_while(|line| line.trim().is_empty()).count();
    let trail = lines.iter().skip(lead).rev().take(edges.1).take_while(|line| line.trim().is_empty()).count();
    (lead, trail)
}

fn missing(text: &str, old: &str, new: &str) -> EditError {
    if has_bare_dots(old) && !has_bare_dots(text) {
        return EditError::Placeholder { line: "...".to_owned() };
    }
    let is_there = new.trim().len() > 3 && !locate::literal(text, new.trim_end()).is_empty();
    let guess =
        if is_there { Some(Guess::AlreadyThere) } else { numbers::without_numbers(old).map(|_| Guess::LineNumbers) };
    EditError::NotFound { nearest: nearest::shown(text, old), guess }
}
