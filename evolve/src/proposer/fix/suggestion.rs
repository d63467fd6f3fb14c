//! Suggestions of compiler and clippy: collected from their JSON, applied to bytes.
//!
//! Pure. Promises to apply only what is marked as applicable by a machine, a suggestion whole or not at all, never two that
//! overlap, and none whose place does not agree with the file. The places are bytes of the file as it lies on disk.

use crate::reading::compiled::Finding;
use cargo_metadata::diagnostic::{Applicability, Diagnostic, DiagnosticSpan};
use std::collections::{BTreeMap, BTreeSet};

/// Files by path from the top.
pub type Files = BTreeMap<String, Vec<u8>>;

/// One suggestion.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suggestion {
    /// The lint that makes it.
    pub code: String,
    /// Its edits.
    pub edits: Vec<Edit>,
}

/// One place that a suggestion changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// File, from the top.
    pub file: String,
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// Line of the first byte, from 1: has to agree with the file.
    line: usize,
    /// What stands there instead.
    pub text: String,
}

/// How much may be changed in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Files.
    pub files: usize,
    /// Lines, added and removed together.
    pub lines: usize,
}

/// What was applied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Changed files.
    pub files: Files,
    /// How often each lint's suggestions were applied.
    pub codes: BTreeMap<String, u32>,
    /// Suggestions that have to wait: they overlap with others, or are over the allowance.
    pub left: u32,
}

/// The suggestions of findings, each once, in order of their places.
pub fn collect(findings: &[Finding]) -> Vec<Suggestion> {
    let found: BTreeSet<Suggestion> = findings.iter().filter_map(of_finding).collect();
    let mut sorted: Vec<Suggestion> = found.into_iter().collect();
    sorted.sort_by(|a, b| a.edits.cmp(&b.edits));
    sorted
}

/// A finding may offer several ways; the first that a machine may take is taken.
fn of_finding(finding: &Finding) -> Option<Suggestion> {
    let offers = std::iter::once(&finding.diagnostic).chain(&finding.diagnostic.children);
    offers.into_iter().find_map(of_offer).map(|edits| Suggestion { code: finding.code.clone(), edits })
}

/// The edits of one offer; none unless all of its replacements are applicable.
fn of_offer(offer: &Diagnostic) -> Option<Vec<Edit>> {
    let replacing: Vec<&DiagnosticSpan> =
        offer.spans.iter().filter(|span| span.suggested_replacement.is_some()).collect();
    let may = |span: &&DiagnosticSpan| span.suggestion_applicability == Some(Applicability::MachineApplicable);
    if replacing.is_empty() || !replacing.iter().all(may) {
        return None;
    }
    let mut edits: Vec<Edit> = replacing.into_iter().map(edit).collect::<Option<_>>()?;
    edits.sort();
    edits.dedup();
    let overlap = edits.windows(2).any(|pair| matches!(pair, [a, b] if collide(a, b)));
    (!overlap).then_some(edits)
}

fn edit(span: &DiagnosticSpan) -> Option<Edit> {
    Some(Edit {
        file: span.file_name.clone(),
        start: usize::try_from(span.byte_start).ok()?,
        end: usize::try_from(span.byte_end).ok()?,
        line: span.line_start,
        text: span.suggested_replacement.clone()?,
    })
}

/// Whether two edits touch the same bytes, or the same point where one of them inserts.
fn collide(a: &Edit, b: &Edit) -> bool {
    let inserts = a.start == a.end || b.start == b.end;
    let apart = a.end < b.start || b.end < a.start || (!inserts && (a.end == b.start || b.end == a.start));
    a.file == b.file && !apart
}

impl Edit {
    /// Whether the place agrees with the file.
    fn fits(&self, bytes: &[u8]) -> bool {
        let Some(before) = bytes.get(..self.start) else { return false };
        let is_place =
            self.start <= self.end && bytes.get(self.start..self.end).is_some_and(|at| str::from_utf8(at).is_ok());
        is_place && before.iter().filter(|byte| **byte == b'\n').count() + 1 == self.line
    }

    /// Lines that it removes and adds, at most.
    fn lines(&self, bytes: &[u8]) -> usize {
        let replaced = bytes.get(self.start..self.end).unwrap_or_default();
        let breaks = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count() + 1;
        breaks(replaced) + breaks(self.text.as_bytes())
    }
}

/// Apply what may be applied to files whose bytes are given; a suggestion that touches another file waits for nobody and is
/// passed over.
pub fn apply(suggestions: &[Suggestion], files: &Files, allowance: Allowance) -> Applied {
    let mut applied = Applied::default();
    let mut taken: Vec<&Edit> = Vec::new();
    let mut lines = 0;
    for suggestion in suggestions {
        let known = suggestion.edits.iter().all(|edit| files.get(&edit.file).is_some_and(|bytes| edit.fits(bytes)));
        if !known {
            continue;
        }
        let cost: usize =
            suggestion.edits.iter().map(|edit| files.get(&edit.file).map_or(0, |bytes| edit.lines(bytes))).sum();
        let touched: BTreeSet<&String> =
            taken.iter().chain(&suggestion.edits.iter().collect::<Vec<_>>()).map(|e| &e.file).collect();
        let collides = suggestion.edits.iter().any(|edit| taken.iter().any(|other| collide(edit, other)));
        if collides || touched.len() > allowance.files || lines + cost > allowance.lines {
            applied.left += 1;
            continue;
        }
        lines += cost;
        taken.extend(&suggestion.edits);
        *applied.codes.entry(suggestion.code.clone()).or_default() += 1;
    }
    // From the end of each file, so that the places before stay right.
    taken.sort_by(|a, b| b.cmp(a));
    for edit in taken {
        let bytes = applied
            .files
            .entry(edit.file.clone())
            .or_insert_with(|| files.get(&edit.file).cloned().unwrap_or_default());
        bytes.splice(edit.start..edit.end, edit.text.bytes());
    }
    applied
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const MUCH: Allowance = Allowance { files: 9, lines: 99 };

    fn edit(file: &str, start: usize, end: usize, text: &str) -> Edit {
        Edit { file: file.to_owned(), start, end, line: 1, text: text.to_owned() }
    }

    fn suggestion(edits: &[Edit]) -> Suggestion {
        Suggestion { code: "lint".to_owned(), edits: edits.to_vec() }
    }

    fn files() -> Files {
        Files::from([("a.rs".to_owned(), b"let x = (1);".to_vec()), ("b.rs".to_owned(), "é = 1;".into())])
    }

    fn text(applied: &Applied, file: &str) -> String {
        String::from_utf8(applied.files.get(file).unwrap().clone()).unwrap()
    }

    #[test]
    fn the_parts_of_a_suggestion_are_applied_together() {
        let parens = suggestion(&[edit("a.rs", 8, 9, ""), edit("a.rs", 10, 11, "")]);
        let applied = apply(&[parens], &files(), MUCH);
        assert_eq!(text(&applied, "a.rs"), "let x = 1;");
        assert_eq!(applied.codes, BTreeMap::from([("lint".to_owned(), 1)]));
    }

    #[test]
    fn of_two_that_overlap_the_first_is_applied_and_the_other_waits() {
        let one = suggestion(&[edit("a.rs", 8, 11, "1")]);
        let other = suggestion(&[edit("a.rs", 4, 5, "y"), edit("a.rs", 9, 10, "2")]);
        let applied = apply(&[one, other], &files(), MUCH);
        assert_eq!((text(&applied, "a.rs").as_str(), applied.left), ("let x = 1;", 1));
    }

    #[test]
    fn two_insertions_at_one_point_do_not_mix() {
        let insert = |text| suggestion(&[edit("a.rs", 4, 4, text)]);
        let applied = apply(&[insert("mut "), insert("ref ")], &files(), MUCH);
        assert_eq!((text(&applied, "a.rs").as_str(), applied.left), ("let mut x = (1);", 1));
    }

    #[test]
    fn what_does_not_agree_with_its_file_is_passed_over() {
        let wrong = [
            edit("a.rs", 90, 91, "x"),
            edit("a.rs", 5, 4, "x"),
            edit("b.rs", 1, 2, "x"),
            edit("no.rs", 0, 1, "x"),
            Edit { line: 2, ..edit("a.rs", 4, 5, "x") },
        ];
        for edit in wrong {
            let applied = apply(&[suggestion(std::slice::from_ref(&edit))], &files(), MUCH);
            assert_eq!(applied, Applied::default(), "{edit:?}");
        }
    }

    #[test]
    fn what_is_over_the_allowance_waits() {
        let (a, b) = (suggestion(&[edit("a.rs", 4, 5, "y")]), suggestion(&[edit("b.rs", 0, 2, "y")]));
        let one_file = apply(&[a.clone(), b.clone()], &files(), Allowance { files: 1, lines: 99 });
        assert_eq!((one_file.files.len(), one_file.left), (1, 1));
        let three_lines = apply(&[a, b], &files(), Allowance { files: 9, lines: 3 });
        assert_eq!((three_lines.files.len(), three_lines.left), (1, 1));
    }
}
