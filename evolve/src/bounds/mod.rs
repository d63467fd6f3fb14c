//! The bounds gate: zones, kinds of files, budget, secrets, text that deceives, size ratchet.
//!
//! Pure: it is given what differs, the bytes of it and the base's rules, and answers with a report. It fails closed: what no
//! line of the rules names is sealed, a kind of file that is not listed is refused, content that is missing cannot be checked.
//! It knows no git and no disk.

mod content;
mod kinds;

use crate::judgement::candidate::{BlobId, Touched, Zone};
use crate::judgement::defence::{Defence, Defences};
use crate::judgement::gate::{GateName, GateOutcome, GateReport};
use crate::reading::measure;
use crate::rules::Rules;
use crate::texts::count;
use selfsmith_repo::{Mode, TreePath};
use std::collections::BTreeMap;
use std::time::Duration;

pub use content::{MAX_FILE, secret_in};

/// The longest list of findings that a report holds.
const MAX_FINDINGS: usize = 40;

/// One file on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Its kind.
    pub mode: Mode,
    /// Its blob.
    pub blob: BlobId,
    /// Its size in bytes.
    pub size: u64,
}

/// One path that differs between base and candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differs {
    /// Where.
    pub path: TreePath,
    /// In the base; none for a new file.
    pub old: Option<Side>,
    /// In the candidate; none for a removed file.
    pub new: Option<Side>,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// Bytes that count as a line at least, so that a file without line ends is not a small change.
const LONG_LINE: u64 = 200;

impl Differs {
    /// Lines that it changes: long ones count as several, and so do many statements on one.
    fn lines(&self, blobs: &BTreeMap<BlobId, Vec<u8>>) -> u64 {
        let size = |side: &Option<Side>| side.as_ref().map_or(0, |side| side.size);
        let grown = size(&self.new).saturating_sub(size(&self.old)) / LONG_LINE;
        grown.max(u64::from(self.added) + u64::from(self.removed)).max(self.lines_by_words(blobs))
    }

    /// Prose has long lines of many words; its bytes tell.
    fn lines_by_words(&self, blobs: &BTreeMap<BlobId, Vec<u8>>) -> u64 {
        let path = self.path.to_string();
        if [".md", ".txt"].iter().any(|ending| path.ends_with(ending)) {
            return 0;
        }
        let text = |side: &Option<Side>| {
            let bytes = side.as_ref().and_then(|side| blobs.get(&side.blob));
            bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
        };
        measure::lines(text(&self.old), text(&self.new), path.ends_with(".rs"))
    }
}

/// Something in the proposer's folder that a tree cannot, or may not, hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// Where.
    pub path: TreePath,
    /// What it is, as in "is a symbolic link".
    pub what: String,
}

/// What the gate is given.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// What differs, the judge's own changelog line left out.
    pub differs: &'a [Differs],
    /// What the folder held that the tree does not.
    pub oddities: &'a [Oddity],
    /// Bytes of both sides of what differs, as far as they are small enough to be read.
    pub blobs: &'a BTreeMap<BlobId, Vec<u8>>,
    /// All paths of the candidate's tree.
    pub paths: &'a [TreePath],
    /// Bytes of all ratcheted texts in the base and in the candidate.
    pub ratcheted: (u64, u64),
}

/// What differs, with the zone of each path, sorted by path. A path that is no UTF-8 is written with its bytes escaped.
pub fn touched(differs: &[Differs], rules: &Rules) -> Vec<Touched> {
    let mut touched: Vec<Touched> = differs.iter().map(|d| touched_one(d, rules)).collect();
    touched.sort_by(|a, b| a.path.cmp(&b.path));
    touched
}

/// Check a candidate. The report's log lists every finding, bounded.
pub fn check(input: &Input<'_>, rules: &Rules, defences: Defences) -> GateReport {
    let mut findings = Findings::default();
    if input.differs.is_empty() && input.oddities.is_empty() && defences.up(Defence::Nothing) {
        findings.refuse("the candidate changes nothing".to_owned(), Cure::None);
    }
    for oddity in input.oddities {
        if defences.up(Defence::Kinds) {
            findings.refuse(format!("{} {}", oddity.path, oddity.what), Cure::None);
        }
    }
    for differs in input.differs {
        zones(differs, rules, defences, &mut findings);
        kinds::check(differs, rules, defences, &mut findings);
        content::check(differs, input.blobs, defences, &mut findings);
    }
    if defences.up(Defence::Kinds) {
        kinds::twins(input.differs, input.paths, &mut findings);
    }
    budget(input, rules, defences, &mut findings);
    findings.report(input.differs)
}

/// What can be done about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cure {
    /// Nothing; it ends the cycle.
    None,
    /// The proposer may try again.
    Repair,
}

/// What was found, in order.
#[derive(Debug, Default)]
struct Findings {
    refused: Vec<(String, Cure)>,
    asked: Vec<String>,
    unknown: Vec<String>,
}

impl Findings {
    fn refuse(&mut self, why: String, cure: Cure) {
        self.refused.push((why, cure));
    }

    fn ask(&mut self, why: String) {
        self.asked.push(why);
    }

    fn unknown(&mut self, why: String) {
        self.unknown.push(why);
    }

    fn report(self, differs: &[Differs]) -> GateReport {
        let all: Vec<&String> =
            self.refused.iter().map(|(why, _)| why).chain(&self.unknown).chain(&self.asked).collect();
        let mut log: String = all.iter().take(MAX_FINDINGS).map(|why| format!("{why}\n")).collect();
        if all.len() > MAX_FINDINGS {
            log.push_str(&format!("and {} more\n", all.len() - MAX_FINDINGS));
        }
        let counts = BTreeMap::from([
            ("files".to_owned(), differs.len() as u64),
            ("lines".to_owned(), differs.iter().map(|d| u64::from(d.added) + u64::from(d.removed)).sum()),
            ("findings".to_owned(), all.len() as u64),
        ]);
        let repairable = self.refused.iter().all(|(_, cure)| *cure == Cure::Repair);
        // The gravest finding speaks: one that nothing cures before one that may be repaired.
        let gravest = self.refused.iter().find(|(_, cure)| *cure == Cure::None).or(self.refused.first());
        let result = if let Some((why, _)) = gravest {
            GateOutcome::Fail { why: why.clone(), repairable }
        } else if let Some(why) = self.unknown.first() {
            GateOutcome::Unknown { why: why.clone() }
        } else if let Some(why) = self.asked.first() {
            GateOutcome::Ask { why: why.clone() }
        } else {
            GateOutcome::Pass
        };
        GateReport { gate: GateName::Bounds, result, took: Duration::ZERO, log, counts }
    }
}

fn touched_one(differs: &Differs, rules: &Rules) -> Touched {
    Touched {
        path: differs.path.to_string(),
        zone: zone_of(&differs.path, rules),
        old: differs.old.as_ref().map(|s| s.blob.clone()),
        new: differs.new.as_ref().map(|s| s.blob.clone()),
        added: differs.added,
        removed: differs.removed,
    }
}

/// A path that is no UTF-8 has no zone that could open it.
fn zone_of(path: &TreePath, rules: &Rules) -> Zone {
    path.as_str().map_or(Zone::Sealed, |text| rules.zone(text))
}

fn zones(differs: &Differs, rules: &Rules, defences: Defences, findings: &mut Findings) {
    let path = &differs.path;
    let is_log = path.as_str().is_some_and(|p| Some(p) == rules.changelog());
    if is_log {
        if defences.up(Defence::Changelog) {
            findings.refuse(format!("{path} is written by people and by the judge, never by a candidate"), Cure::None);
        }
        return;
    }
    if !defences.up(Defence::Zones) {
        return;
    }
    let is_scenario = path.as_str().is_some_and(|p| rules.is_scenario(p));
    match (zone_of(path, rules), &differs.old, &differs.new) {
        (Zone::Sealed, ..) => findings.refuse(format!("{path} is sealed and differs from the base"), Cure::None),
        (Zone::AddOnly, Some(_), None) => {
            findings.refuse(format!("{path} was removed, and files may only be added there"), Cure::None);
        }
        (Zone::AddOnly, Some(_), Some(_)) if is_scenario => {
            findings.ask(format!("{path} is a changed expectation"));
        }
        (Zone::AddOnly, Some(_), Some(_)) => {
            findings.refuse(format!("{path} was changed, and files may only be added there"), Cure::None);
        }
        (Zone::Open | Zone::Knob | Zone::Review | Zone::AddOnly, ..) => {}
    }
}

fn budget(input: &Input<'_>, rules: &Rules, defences: Defences, findings: &mut Findings) {
    if defences.up(Defence::Budget) {
        let counted: Vec<&Differs> =
            input.differs.iter().filter(|d| !d.path.as_str().is_some_and(|p| rules.is_scenario(p))).collect();
        let (files, lines) = (counted.len() as u64, counted.iter().map(|d| d.lines(input.blobs)).sum::<u64>());
        let allowed = rules.written.budget;
        if files > u64::from(allowed.files) {
            findings.ask(format!(
                "it changes {}, more than the {} that may land by themselves",
                count(files, "file"),
                allowed.files
            ));
        }
        if lines > u64::from(allowed.lines) {
            findings.ask(format!(
                "it changes {}, more than the {} that may land by themselves",
                count(lines, "line"),
                allowed.lines
            ));
        }
    }
    let (before, after) = input.ratcheted;
    let most = before.saturating_add(rules.written.ratchet.grow);
    if defences.up(Defence::Ratchet) && after > most {
        findings.ask(format!("texts that a model reads each time grow from {before} to {after} bytes, past {most}"));
    }
}

#[cfg(test)]
mod tests;
