//! Where the old text stands: literally, else across line ends, else as whole lines that differ only in layout.
//!
//! The looser readings come in a fixed order, and the first that finds anything decides: blanks at line ends, look-alike
//! characters, indentation (the same difference on every line). Words and case always matter. Finding never writes.

use super::fold::folded;
use super::indent::{self, Shift};
use super::lines::{Line, lines};
use std::ops::Range;

/// A place, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The bytes to replace.
    pub span: Range<usize>,
    /// How it was found.
    pub reading: Reading,
}

/// How an old text was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// Byte for byte.
    Literal,
    /// But for line ends.
    LineEnds,
    /// As whole lines.
    Lines(LineMatch),
}

/// Whole lines that match.
#[derive(Debug, Clone, PartialEq)]
pub struct LineMatch {
    /// The first line and the one after the last, from 0 on.
    pub window: Range<usize>,
    /// Blank lines at the edges of the old text that do not count.
    pub edges: (usize, usize),
    /// How the new text is indented; None where indentation agrees.
    pub shift: Option<Shift>,
}

/// Every place where the old text stands literally or but for line ends. They may overlap.
pub fn literal(text: &str, old: &str) -> Vec<Hit> {
    let hits = occurrences(text, old).map(|span| Hit { span, reading: Reading::Literal }).collect::<Vec<_>>();
    if !hits.is_empty() || !(text.contains("\r\n") || old.contains("\r\n")) {
        return hits;
    }
    let flat = Flat::of(text);
    occurrences(&flat.text, &old.replace("\r\n", "\n"))
        .map(|span| Hit { span: flat.original(span.start)..flat.original(span.end), reading: Reading::LineEnds })
        .collect()
}

/// Every place where the old text stands as whole lines, by the first reading that finds any.
pub fn by_lines(text: &str, old: &str, new: &str) -> Vec<Hit> {
    let here = lines(text);
    let wanted: Vec<&str> = lines(old).into_iter().map(|line| line.text).collect();
    if wanted.iter().all(|line| line.trim().is_empty()) {
        return Vec::new();
    }
    let lead = wanted.iter().take_while(|line| line.trim().is_empty()).count();
    let trail = wanted.iter().rev().take_while(|line| line.trim().is_empty()).count();
    let unit = indent::unit_of(&here);
    let new: Vec<&str> = new.lines().collect();
    let readings: [(LineReading, Indents, Characters); 4] = [
        (trimmed_end, Indents::Agree, Characters::AsTheyAre),
        (folded_end, Indents::Agree, Characters::Folded),
        (trimmed, Indents::Differ, Characters::AsTheyAre),
        (folded_trimmed, Indents::Differ, Characters::Folded),
    ];
    // Between two texts of ASCII nothing looks alike that is not the same.
    let folds = !(text.is_ascii() && old.is_ascii());
    for (reading, indents, _) in readings.into_iter().filter(|(_, _, kind)| folds || *kind == Characters::AsTheyAre) {
        let file: Vec<String> = here.iter().map(|line| reading(line.text)).collect();
        for edges in [(0, 0), (lead, trail)] {
            let core = wanted.get(edges.0..wanted.len() - edges.1).unwrap_or_default();
            let core_read: Vec<String> = core.iter().map(|line| reading(line)).collect();
            let found = windows(&file, &core_read)
                .filter_map(|window| {
                    let shift = match indents {
                        Indents::Agree => None,
                        Indents::Differ => Some(shift_of(&here, &window, core, &new, unit)?),
                    };
                    let span = span_of(&here, &window, old.ends_with('\n') || edges.1 > 0)?;
                    Some(Hit { span, reading: Reading::Lines(LineMatch { window, edges, shift }) })
                })
                .collect::<Vec<_>>();
            if !found.is_empty() {
                return found;
            }
            if (lead, trail) == (0, 0) {
                break;
            }
        }
    }
    Vec::new()
}

/// What of a line counts.
type LineReading = fn(&str) -> String;

/// Whether a reading takes look-alike characters for the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Characters {
    AsTheyAre,
    Folded,
}

/// Whether a reading takes indentation as it is.
#[derive(Clone, Copy)]
enum Indents {
    Agree,
    Differ,
}

fn trimmed_end(line: &str) -> String {
    line.trim_end().to_owned()
}

fn folded_end(line: &str) -> String {
    folded(line).trim_end().to_owned()
}

fn trimmed(line: &str) -> String {
    line.trim().to_owned()
}

fn folded_trimmed(line: &str) -> String {
    folded(line).trim().to_owned()
}

/// Overlapping occurrences.
fn occurrences<'t>(text: &'t str, old: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(old)?;
        from = at + text.get(at..)?.chars().next().map_or(1, char::len_utf8);
        (!old.is_empty()).then_some(at..at + old.len())
    })
}

/// Windows of lines that read the same. Comparing stops at the first difference.
fn windows<'f>(file: &'f [String], wanted: &'f [String]) -> impl Iterator<Item = Range<usize>> + 'f {
    let last = (file.len() + 1).saturating_sub(wanted.len());
    (0..if wanted.is_empty() { 0 } else { last })
        .filter(move |start| file.iter().skip(*start).zip(wanted).all(|(have, want)| have == want))
        .map(move |start| start..start + wanted.len())
}

fn shift_of(here: &[Line<'_>], window: &Range<usize>, core: &[&str], new: &[&str], unit: usize) -> Option<Shift> {
    let pairs: Vec<(&str, &str)> = core
        .iter()
        .zip(here.get(window.clone())?)
        .filter(|(old, _)| !old.trim().is_empty())
        .map(|(old, line)| (indent::split(old).0, indent::split(line.text).0))
        .collect();
    indent::shift(&pairs, new, unit)
}

fn span_of(here: &[Line<'_>], window: &Range<usize>, with_end: bool) -> Option<Range<usize>> {
    let first = here.get(window.start)?;
    let last = here.get(window.end.checked_sub(1)?)?;
    Some(first.span.start..if with_end { last.next } else { last.span.end })
}

/// A text with every CRLF as LF, and the way back to the original places.
struct Flat {
    text: String,
    /// Places in `text` of line feeds that had a carriage return before them.
    dropped: Vec<usize>,
}

impl Flat {
    fn of(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut dropped = Vec::new();
        for line in original.split_inclusive('\n') {
            match line.strip_suffix("\r\n") {
                Some(content) => {
                    text.push_str(content);
                    dropped.push(text.len());
                    text.push('\n');
                }
                None => text.push_str(line),
            }
        }
        Self { text, dropped }
    }

    fn original(&self, at: usize) -> usize {
        at + self.dropped.partition_point(|place| *place < at)
    }
}
