//! Commands of the rules: run in the room on a copy of the files, judged by their exit.
//!
//! Promises that scripts of the base which a command names are the base's, whatever the candidate made of them.

use super::{Bench, Draft};
use crate::judgement::gate::{BLIND, GateOutcome, GateReport};
use crate::rules::CommandLine;
use crate::workshop::{BIN, Files, Side, Target, WorkshopError};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Wall time of a command, where neither the rules nor the base say more.
const LIMIT: Duration = Duration::from_secs(60);
/// Characters kept of the last line that it printed.
const LONGEST_SAID: usize = 160;
/// Bytes kept of its output.
const OUTPUT: usize = 64 * 1024;

/// What came of a command on one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// The command, as read.
    pub command: String,
    /// Why it does not hold.
    pub trouble: Option<String>,
    /// The last line that it printed, where it does not hold.
    #[serde(default)]
    pub said: Option<String>,
    /// Whether it ran out of time.
    pub timed_out: bool,
    /// Milliseconds it took.
    pub wall_ms: u64,
    /// What it printed.
    #[serde(skip)]
    pub log: String,
}

/// Run a command on a side. `limits` are earlier runs on the base, from which its time follows.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn look(bench: &Bench<'_>, line: &CommandLine, limits: &[&Ran]) -> Result<Ran, WorkshopError> {
    let slot = &bench.shop.slot;
    let scratch = bench.shop.scratch(&bench.files())?;
    if bench.side == Side::Candidate {
        for script in scripts(line, &slot.base_tree()) {
            restore(&slot.base_tree().join(&script), &scratch.dir().join(&script))?;
        }
    }
    let mut work = bench.work(line.command.iter().map(OsString::from).collect());
    work.files = Files::Scratch(scratch.dir());
    work.target = Target::Write;
    work.wall = line.seconds.map_or_else(|| limit(limits), Duration::from_secs);
    work.output = OUTPUT;
    work.set.push(("SELFSMITH_BIN".to_owned(), BIN.into()));
    let done = bench.shop.run(&work, &mut |_| {})?;
    let command = line.command.join(" ");
    let stdout = done.stdout.text(|cut| format!("\n… {cut} bytes cut …\n"));
    let stderr = done.stderr.text(|cut| format!("\n… {cut} bytes cut …\n"));
    let log = super::last_lines(
        &format!("{stdout}{stderr}{}{}", super::closed_file(&done), super::ended_badly(done.end)),
        120,
    );
    let trouble = match done.end {
        selfsmith_sandbox::End::Exit(0) => None,
        selfsmith_sandbox::End::Exit(code) => Some(format!("`{command}` ended with {code}")),
        other => Some(format!("`{command}` {}", super::ended_badly(other).trim())),
    };
    let timed_out = done.end == selfsmith_sandbox::End::TimedOut;
    let wall_ms = u64::try_from(done.wall.as_millis()).unwrap_or(u64::MAX);
    let said = trouble.as_ref().and_then(|_| last_said(&format!("{stdout}{stderr}")));
    Ok(Ran { command, trouble, said, timed_out, wall_ms, log })
}

impl Ran {
    /// Why it does not hold, with what it said last.
    pub fn why(&self) -> Option<String> {
        let trouble = self.trouble.as_ref()?;
        Some(self.said.as_ref().map_or_else(|| trouble.clone(), |said| format!("{trouble}: {said}")))
    }
}

/// The last line with something in it, short.
fn last_said(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().take(LONGEST_SAID).collect())
}

/// At least a minute, and five times the slower run of the base.
pub fn limit(runs: &[&Ran]) -> Duration {
    let slowest = runs.iter().map(|ran| ran.wall_ms).max().unwrap_or(0);
    LIMIT.max(Duration::from_millis(slowest.saturating_mul(5)))
}

/// Files of the base that a command names.
pub fn scripts(line: &CommandLine, base: &Path) -> Vec<PathBuf> {
    let named = line.command.iter().map(PathBuf::from);
    named.filter(|path| path.is_relative() && base.join(path).is_file()).collect()
}

/// Put the base's file in place of whatever the candidate made of it.
fn restore(from: &Path, to: &Path) -> Result<(), WorkshopError> {
    let disk = |source| WorkshopError::Disk { doing: "restore", path: to.to_owned(), source };
    match to.symlink_metadata() {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(to).map_err(disk)?,
        Ok(_) => fs::remove_file(to).map_err(disk)?,
        Err(_) => {}
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(disk)?;
    }
    fs::copy(from, to).map_err(disk).map(|_| ())
}

/// Judge the runs of a gate's commands; `base` in the same order. `again` runs a command once more on the base.
///
/// A command that fails on both sides is a whole suite that says nothing: whether the change breaks what it should have
/// checked is a person's question. One that the change mends holds.
///
/// # Errors
/// From `again`.
pub fn judge(
    mut draft: Draft,
    base: &[Ran],
    seen: &[Ran],
    again: &mut dyn FnMut(usize) -> Result<Ran, WorkshopError>,
) -> Result<GateReport, WorkshopError> {
    draft.count("commands", seen.len() as u64);
    let mut blind: Vec<(&Ran, &Ran)> = Vec::new();
    let mut fixed = 0;
    for (at, ran) in seen.iter().enumerate() {
        let was = base.get(at).filter(|was| was.trouble.is_some());
        let Some(trouble) = &ran.trouble else {
            fixed += u64::from(was.is_some());
            continue;
        };
        if let Some(was) = was {
            // It does not hold on the base either: no new failure, and no proof.
            blind.push((was, ran));
            continue;
        }
        if ran.timed_out && again(at)?.timed_out {
            return Ok(
                draft.unknown(format!("{trouble}, and so did the base just now: the machine is too busy"), &ran.log)
            );
        }
        let result = GateOutcome::Fail { why: trouble.clone(), repairable: true };
        return Ok(draft.report(result, &ran.log));
    }
    draft.add("fixed", fixed);
    draft.add(BLIND, blind.len() as u64);
    let Some((was, ran)) = blind.first() else { return Ok(draft.pass()) };
    let log: String = blind.iter().filter_map(|(_, ran)| Some(format!("{}\n{}", ran.why()?, ran.log))).collect();
    let why = ran.why().unwrap_or_default();
    let as_before = if was.trouble == ran.trouble {
        "on the base as well".to_owned()
    } else {
        format!("and on the base otherwise ({})", was.why().unwrap_or_default())
    };
    let why = format!("{why}, {as_before}, so nothing that it checks was proven: mend it on the base");
    Ok(draft.report(GateOutcome::Ask { why }, &log))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::judgement::gate::GateName;

    fn ran(trouble: Option<&str>, timed_out: bool) -> Ran {
        Ran { trouble: trouble.map(str::to_owned), timed_out, ..Ran::default() }
    }

    fn outcome(base: Ran, seen: Ran, again: Ran) -> GateOutcome {
        let draft = Draft::of(GateName::Scenarios);
        judge(draft, &[base], &[seen], &mut |_| Ok(again.clone())).unwrap().result
    }

    #[test]
    fn only_a_new_failure_fails() {
        let fine = || ran(None, false);
        assert_eq!(outcome(fine(), fine(), fine()), GateOutcome::Pass);
        assert!(matches!(outcome(fine(), ran(Some("ended with 1"), false), fine()), GateOutcome::Fail { .. }));
    }

    #[test]
    fn what_fails_on_both_sides_proves_nothing_and_what_is_mended_holds() {
        let red = |why| ran(Some(why), false);
        let fine = || ran(None, false);
        let asks =
            |outcome: &GateOutcome, with: &str| matches!(outcome, GateOutcome::Ask { why } if why.contains(with));
        assert!(asks(&outcome(red("x"), red("x"), fine()), "on the base as well"));
        assert!(asks(&outcome(red("x"), red("y"), fine()), "otherwise (x)"));
        assert_eq!(outcome(red("x"), fine(), fine()), GateOutcome::Pass);
        let draft = Draft::of(GateName::Scenarios);
        let both = judge(draft, &[red("x"), red("x")], &[red("x"), fine()], &mut |_| Ok(fine())).unwrap();
        assert_eq!((both.counts.get("fixed"), both.counts.get(BLIND)), (Some(&1), Some(&1)));
        assert!(asks(&both.result, "x"), "one suite that is mended does not speak for another: {both:?}");
    }

    #[test]
    fn a_timeout_fails_only_where_the_base_is_quick() {
        let slow = || ran(Some("ran out of time"), true);
        assert!(matches!(outcome(ran(None, false), slow(), ran(None, false)), GateOutcome::Fail { .. }));
        assert!(matches!(outcome(ran(None, false), slow(), slow()), GateOutcome::Unknown { .. }));
    }

    #[test]
    fn the_limit_follows_the_slower_run_of_the_base() {
        let took = |wall_ms| Ran { wall_ms, ..Ran::default() };
        assert_eq!(limit(&[]), Duration::from_secs(60));
        assert_eq!(limit(&[&took(20_000), &took(30_000)]), Duration::from_secs(150));
    }
}
