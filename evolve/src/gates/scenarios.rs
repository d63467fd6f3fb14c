//! The scenarios gate: the program is driven from outside, through the base's black-box checks. In-process tests can be
//! forged by the code under test; this decides.
//!
//! Two sorts: commands of the rules, whose scripts come from the base; and folders of cases, through which the judge's own
//! runner drives the program in the room. Cases of the base come from the base; new ones of the candidate run on it as well.

use super::again::{Chance, Settled, times};
use super::command::{self, Ran};
use super::{Bench, Draft};
use crate::judgement::gate::{BLIND, GateName, GateOutcome, GateReport};
use crate::rules::Cases;
use crate::workshop::{BIN, Side, WorkshopError};
use selfsmith_sandbox::{Bind, BindMode, Limits};
use selfsmith_scenario::{Bless, Options, Place, RoomPlace};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What was seen on one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Commands, in the order of the rules.
    pub commands: Vec<Ran>,
    /// Cases: `folder/name`, with what does not hold.
    pub cases: BTreeMap<String, Vec<String>>,
}

/// Look at a side.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn look(bench: &Bench<'_>, base: &Seen) -> Result<Seen, WorkshopError> {
    let mut seen = Seen::default();
    for (at, line) in bench.plan.scenarios.iter().enumerate() {
        seen.commands.push(command::look(bench, line, base.commands.get(at))?);
    }
    for cases in &bench.plan.cases {
        look_at_cases(bench, cases, &mut seen)?;
    }
    Ok(seen)
}

fn look_at_cases(bench: &Bench<'_>, cases: &Cases, seen: &mut Seen) -> Result<(), WorkshopError> {
    let slot = &bench.shop.slot;
    let old = slot.base_tree().join(&cases.folder);
    let new = slot.tree().join(&cases.folder);
    let known = selfsmith_scenario::names(&old).unwrap_or_default();
    let mut folders: Vec<_> = known.iter().map(|name| (name.clone(), old.join(name))).collect();
    if bench.side == Side::Candidate {
        let added = selfsmith_scenario::names(&new).unwrap_or_default();
        folders.extend(added.into_iter().filter(|name| !known.contains(name)).map(|name| {
            let path = new.join(&name);
            (name, path)
        }));
    }
    if known.is_empty() {
        // A mistyped folder must not pass for one in which everything holds; what a candidate brings itself proves nothing.
        let fault = format!("the rules name the folder {} for cases, and the base has none in it", cases.folder);
        seen.cases.insert(format!("{}/", cases.folder), vec![fault]);
    }
    let options = options(bench)?;
    for (name, folder) in folders {
        seen.cases.insert(format!("{}/{name}", cases.folder), drive(&cases.program, &folder, &options));
    }
    Ok(())
}

/// What does not hold of a case.
fn drive(program: &str, folder: &Path, options: &Options) -> Vec<String> {
    match selfsmith_scenario::run(&Path::new(BIN).join(program), folder, options) {
        Ok(outcome) if outcome.faults.is_empty() => Vec::new(),
        Ok(outcome) => {
            let said = outcome.stderr.lines().last().map(|line| format!("it said: {line}"));
            outcome.faults.into_iter().chain(said).collect()
        }
        Err(error) => vec![error.to_string()],
    }
}

/// One case, `folder/name`, once more with the programs of this side. Its text is the base's, where the base has it.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn once(bench: &Bench<'_>, case: &str) -> Result<Vec<String>, WorkshopError> {
    let slot = &bench.shop.slot;
    let cases = bench.plan.cases.iter().find(|cases| Path::new(case).parent() == Some(Path::new(&cases.folder)));
    let Some(cases) = cases else { return Ok(vec![format!("no folder of the rules holds {case}")]) };
    let old = slot.base_tree().join(case);
    let folder = if old.is_dir() { old } else { slot.tree().join(case) };
    Ok(drive(&cases.program, &folder, &options(bench)?))
}

/// What does not hold of a case, by its name, on a side.
pub type OfCase<'a> = &'a mut dyn FnMut(&str, Side) -> Result<Vec<String>, WorkshopError>;

/// How doubts are settled: a command of the rules, or a case, once more on a side.
pub struct Again<'a> {
    /// The command at this place of the rules.
    pub command: &'a mut dyn FnMut(usize, Side) -> Result<Ran, WorkshopError>,
    /// The case of this name.
    pub case: OfCase<'a>,
}

fn options(bench: &Bench<'_>) -> Result<Options, WorkshopError> {
    let slot = &bench.shop.slot;
    let mut room = bench.shop.bare_room();
    let bin = if bench.side == Side::Base { slot.base_bin() } else { slot.bin() };
    room.binds.push(Bind { source: bin, at: BIN.into(), mode: BindMode::ReadOnly });
    let limits = Limits { memory: Some(4 << 30), processes: Some(512), descriptors: Some(1024), ..Limits::default() };
    Ok(Options {
        place: Place::Room(RoomPlace { room, limits }),
        bless: Bless::No,
        scratch: slot.fresh("worlds")?,
        parent: bench.shop.given.environment.clone(),
    })
}

/// Judge the candidate.
///
/// A case that fails on both sides proves nothing. Where it fails otherwise than before, or no case of the base holds,
/// whether the change breaks what should have been checked is a person's question.
///
/// # Errors
/// From running something once more.
pub fn judge(mut draft: Draft, base: &Seen, seen: &Seen, again: Again<'_>) -> Result<GateReport, WorkshopError> {
    draft.count("cases", seen.cases.len() as u64);
    draft.count("new", seen.cases.keys().filter(|name| !base.cases.contains_key(*name)).count() as u64);
    if let Some(gone) = base.cases.keys().find(|name| !seen.cases.contains_key(*name)) {
        return Ok(draft.fail(format!("the scenario {gone} did not run"), ""));
    }
    let was_red = |name: &String| base.cases.get(name).is_some_and(|faults| !faults.is_empty());
    let failing = || seen.cases.iter().filter(|(_, faults)| !faults.is_empty());
    let new: Vec<_> = failing().filter(|(name, _)| !was_red(name)).collect();
    let mut by_chance = Vec::new();
    let mut flaky = BTreeSet::new();
    let mut fails = Vec::new();
    for (name, faults) in new {
        // One that fails each time is enough; a candidate's own must hold from the beginning.
        let own = !base.cases.contains_key(name);
        if own || !fails.is_empty() {
            fails.push((name, faults));
            continue;
        }
        let settled = Settled::by(times(0), &mut |side| (again.case)(name, side).map(|faults| !faults.is_empty()))?;
        match settled.chance() {
            Chance::Fails => fails.push((name, faults)),
            Chance::Flaky => {
                flaky.insert(name);
            }
            Chance::Unknown => {
                by_chance.push(format!("the scenario {name} fails by chance: {}", settled.figures()));
            }
        }
    }
    draft.count("failed", fails.len() as u64);
    draft.add("flaky", flaky.len() as u64);
    if let Some((name, faults)) = fails.first() {
        let why = format!("the scenario {name} does not hold: {}", faults.first().map_or("", String::as_str));
        let log: String = fails.iter().map(|(name, faults)| format!("{name}:\n  {}\n", faults.join("\n  "))).collect();
        return Ok(draft.repairable(why, &log));
    }
    if let Some(why) = by_chance.first() {
        return Ok(draft.unknown(why.clone(), &by_chance.join("\n")));
    }
    let blind: Vec<_> = failing().filter(|(name, _)| !flaky.contains(name)).collect();
    draft.add(
        "fixed",
        base.cases.keys().filter(|name| was_red(name) && !blind.iter().any(|(b, _)| b == name)).count() as u64,
    );
    draft.add(BLIND, blind.len() as u64);
    let mut report = command::judge(draft, &base.commands, &seen.commands, again.command)?;
    let log: String = blind
        .iter()
        .map(|(name, faults)| format!("{name} (fails on the base as well):\n  {}\n", faults.join("\n  ")))
        .collect();
    report.log = super::bounded(&format!("{log}{}", report.log));
    if let (GateOutcome::Pass, Some(why)) = (&report.result, question(base, seen, &blind)) {
        report.result = GateOutcome::Ask { why };
    }
    Ok(report)
}

/// What cases that fail on both sides leave to a person.
fn question(base: &Seen, seen: &Seen, blind: &[(&String, &Vec<String>)]) -> Option<String> {
    let otherwise = blind.iter().find_map(|(name, faults)| {
        let before = base.cases.get(*name)?;
        let new = faults.iter().find(|fault| !before.contains(fault))?;
        Some(format!("the scenario {name} fails on the base as well, but otherwise: {new}"))
    });
    // What the candidate brings itself is no proof that it breaks nothing.
    let holds = |name: &&String| seen.cases.get(*name).is_some_and(Vec::is_empty);
    let nothing = blind.first().filter(|_| !base.cases.keys().any(|name| holds(&name)));
    otherwise.or_else(|| {
        nothing.map(|(name, faults)| {
            let fault = faults.first().map_or("", String::as_str);
            format!("no scenario of the base holds, there or here, so nothing was proven: {name}: {fault}")
        })
    })
}

/// The draft of this gate.
pub fn draft() -> Draft {
    Draft::of(GateName::Scenarios)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::judgement::gate::GateOutcome;

    fn seen(cases: &[(&str, &[&str])]) -> Seen {
        let faults = |list: &[&str]| list.iter().map(|fault| (*fault).to_owned()).collect();
        let cases = cases.iter().map(|(name, list)| ((*name).to_owned(), faults(list))).collect();
        Seen { cases, ..Seen::default() }
    }

    fn outcome(base: &Seen, now: &Seen) -> GateOutcome {
        judged(base, now).result
    }

    fn judged(base: &Seen, now: &Seen) -> GateReport {
        let mut case = |name: &str, side| {
            let of = if side == Side::Base { base } else { now };
            Ok(of.cases.get(name).cloned().unwrap_or_default())
        };
        judge(draft(), base, now, Again { command: &mut |_, _| Ok(Ran::default()), case: &mut case }).unwrap()
    }

    #[test]
    fn a_case_that_fails_by_chance_is_told_apart() {
        let (base, now) = (seen(&[("s/a", &[]), ("s/b", &[])]), seen(&[("s/a", &["exit 1"]), ("s/b", &[])]));
        let settled = |here: &[bool], there: bool| {
            let mut runs = here.iter();
            let mut case = |_: &str, side| {
                let fails = if side == Side::Base { there } else { *runs.next().unwrap() };
                Ok(if fails { vec!["exit 1".to_owned()] } else { Vec::new() })
            };
            judge(draft(), &base, &now, Again { command: &mut |_, _| Ok(Ran::default()), case: &mut case }).unwrap()
        };
        let flaky = settled(&[true, false, false], true);
        assert_eq!((flaky.result, flaky.counts.get("flaky")), (GateOutcome::Pass, Some(&1)));
        assert!(matches!(settled(&[true, false, false], false).result, GateOutcome::Unknown { .. }));
        assert!(matches!(settled(&[true, true, true], false).result, GateOutcome::Fail { .. }));
    }

    #[test]
    fn every_case_of_the_base_must_run_and_hold() {
        let base = seen(&[("s/a", &[]), ("s/b", &["was red"])]);
        assert_eq!(outcome(&base, &seen(&[("s/a", &[]), ("s/b", &["was red"]), ("s/new", &[])])), GateOutcome::Pass);
        assert!(matches!(outcome(&base, &seen(&[("s/a", &["exit 1"]), ("s/b", &[])])), GateOutcome::Fail { .. }));
        assert!(matches!(outcome(&base, &seen(&[("s/a", &[])])), GateOutcome::Fail { repairable: false, .. }));
        let new_and_red = seen(&[("s/a", &[]), ("s/b", &[]), ("s/new", &["exit 1"])]);
        assert!(matches!(outcome(&base, &new_and_red), GateOutcome::Fail { repairable: true, .. }));
    }

    #[test]
    fn a_case_that_fails_on_both_sides_proves_nothing() {
        let asks = |outcome: GateOutcome, with: &str| matches!(outcome, GateOutcome::Ask { why } if why.contains(with));
        let red = seen(&[("s/a", &["exit 1"])]);
        assert!(asks(outcome(&red, &red), "no scenario of the base holds"));
        assert!(asks(outcome(&red, &seen(&[("s/a", &["exit 1"]), ("s/new", &[])])), "no scenario of the base holds"));
        assert_eq!(outcome(&red, &seen(&[("s/a", &[])])), GateOutcome::Pass, "it was mended");
        let two = |fault| seen(&[("s/a", &[fault]), ("s/b", &[])]);
        assert!(asks(outcome(&two("exit 1"), &two("exit 101")), "otherwise: exit 101"));
        let report = judged(&two("exit 1"), &two("exit 1"));
        assert_eq!((report.result, report.counts.get(BLIND)), (GateOutcome::Pass, Some(&1)));
        assert!(report.log.contains("s/a (fails on the base as well)"), "{}", report.log);
    }
}
