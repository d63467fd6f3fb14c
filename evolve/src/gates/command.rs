//! Commands of the rules: run in the room on a copy of the files, judged by their exit.
//!
//! Promises that scripts of the base which a command names are the base's, whatever the candidate made of them.

use super::again::{Chance, Settled, times};
use super::{Bench, Draft};
use crate::judgement::defence::Defence;
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
    /// Whether it has to write among the project's files: then what it expects can be changed by what it runs.
    #[serde(default)]
    pub writes: bool,
    /// What it printed.
    #[serde(skip)]
    pub log: String,
}

/// Run a command on a side. `was` is an earlier run on the base, from which its time and what it may write follow.
///
/// What it runs cannot change the files among which it runs, so nothing that it expects can be written anew and put back
/// before anybody looks. A command that does not hold on the base without writing, and does with it, may write; one of the candidate is a question.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn look(bench: &Bench<'_>, line: &CommandLine, was: Option<&Ran>) -> Result<Ran, WorkshopError> {
    let may_write = !bench.shop.given.defences.up(Defence::ReadOnly) || was.is_some_and(|was| was.writes);
    let ran = once(bench, line, was, may_write)?;
    let held = was.is_none_or(|was| was.trouble.is_none());
    if may_write || ran.trouble.is_none() || ran.timed_out || !held {
        return Ok(ran);
    }
    let free = once(bench, line, was, true)?;
    Ok(if free.trouble.is_none() { Ran { writes: true, ..free } } else { ran })
}

/// One that has to write: it makes something.
pub fn that_makes() -> Ran {
    Ran { writes: true, ..Ran::default() }
}

fn once(bench: &Bench<'_>, line: &CommandLine, was: Option<&Ran>, may_write: bool) -> Result<Ran, WorkshopError> {
    let slot = &bench.shop.slot;
    let scratch = bench.shop.scratch(&bench.files())?;
    if bench.side == Side::Candidate {
        for script in scripts(line, &slot.base_tree()) {
            restore(&slot.base_tree().join(&script), &scratch.dir().join(&script))?;
        }
    }
    let mut work = bench.work(line.command.iter().map(OsString::from).collect());
    work.files = if may_write { Files::Scratch(scratch.dir()) } else { Files::Of(scratch.dir()) };
    work.target = Target::Write;
    work.wall = line.seconds.map_or_else(|| limit(was), Duration::from_secs);
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
    let writes = was.is_some_and(|was| was.writes);
    Ok(Ran { command, trouble, said, timed_out, wall_ms, writes, log })
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
fn limit(was: Option<&Ran>) -> Duration {
    LIMIT.max(Duration::from_millis(was.map_or(0, |ran| ran.wall_ms).saturating_mul(5)))
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

/// Judge the runs of a gate's commands; `base` in the same order. `again` runs a command once more on a side.
///
/// A new failure is believed when it comes again each time, and never on the base; one that ran out of time, too.
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
    again: &mut dyn FnMut(usize, Side) -> Result<Ran, WorkshopError>,
) -> Result<GateReport, WorkshopError> {
    draft.count("commands", seen.len() as u64);
    let mut blind: Vec<(&Ran, &Ran)> = Vec::new();
    let mut fixed = 0;
    let mut flaky = String::new();
    let mut writing: Vec<String> = Vec::new();
    for (at, ran) in seen.iter().enumerate() {
        if ran.writes && base.get(at).is_some_and(|was| was.trouble.is_none() && !was.writes) {
            writing.push(format!(
                "`{}` holds only where it may write among the project's files, which it did without on the base",
                ran.command
            ));
        }
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
        let fails = |again: Ran| if ran.timed_out { again.timed_out } else { again.trouble.is_some() };
        let times = if ran.timed_out { 1 } else { times(ran.wall_ms) };
        let settled = Settled::by(times, &mut |side| again(at, side).map(fails))?;
        match settled.chance() {
            Chance::Fails => return Ok(draft.repairable(trouble.clone(), &ran.log)),
            Chance::Flaky if !ran.timed_out => {
                draft.add("flaky", 1);
                flaky.push_str(&format!("{trouble}: {}\n", settled.figures()));
            }
            Chance::Flaky | Chance::Unknown if settled.base > 0 && ran.timed_out => {
                let why = format!("{trouble}, and so did the base just now: the machine is too busy");
                return Ok(draft.unknown(why, &ran.log));
            }
            Chance::Flaky | Chance::Unknown => {
                let why = format!("{trouble} by chance: {}", settled.figures());
                return Ok(draft.unknown(why, &ran.log));
            }
        }
    }
    draft.add("fixed", fixed);
    draft.add(BLIND, blind.len() as u64);
    let Some((was, ran)) = blind.first() else {
        let result = writing.first().map_or(GateOutcome::Pass, |why| GateOutcome::Ask { why: why.clone() });
        return Ok(draft.report(result, &flaky));
    };
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
        judge(draft, &[base], std::slice::from_ref(&seen), &mut |_, side| {
            Ok(if side == Side::Base { again.clone() } else { seen.clone() })
        })
        .unwrap()
        .result
    }

    #[test]
    fn only_a_new_failure_fails() {
        let fine = || ran(None, false);
        assert_eq!(outcome(fine(), fine(), fine()), GateOutcome::Pass);
        assert!(matches!(
            outcome(fine(), ran(Some("ended with 1"), false), fine()),
            GateOutcome::Fail { repairable: true, .. }
        ));
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
        let both = judge(draft, &[red("x"), red("x")], &[red("x"), fine()], &mut |_, _| Ok(fine())).unwrap();
        assert_eq!((both.counts.get("fixed"), both.counts.get(BLIND)), (Some(&1), Some(&1)));
        assert!(asks(&both.result, "x"), "one suite that is mended does not speak for another: {both:?}");
    }

    #[test]
    fn a_failure_by_chance_is_no_failure_and_no_proof() {
        let (red, fine) = (ran(Some("ended with 1"), false), ran(None, false));
        let mut runs = 0;
        let mut judged = |base_fails: bool| {
            judge(
                Draft::of(GateName::Scenarios),
                std::slice::from_ref(&fine),
                std::slice::from_ref(&red),
                &mut |_, side| {
                    runs += 1;
                    let fails = if side == Side::Base { base_fails } else { runs % 4 == 1 };
                    Ok(if fails { red.clone() } else { fine.clone() })
                },
            )
            .unwrap()
        };
        let both = judged(true);
        assert_eq!((both.result, both.counts.get("flaky")), (GateOutcome::Pass, Some(&1)));
        assert!(matches!(judged(false).result, GateOutcome::Unknown { .. }), "none seen on the base");
    }

    #[test]
    fn one_that_has_to_write_now_is_a_question() {
        let writes = Ran { writes: true, ..Ran::default() };
        assert!(matches!(outcome(ran(None, false), writes.clone(), ran(None, false)), GateOutcome::Ask { .. }));
        assert_eq!(outcome(writes.clone(), writes, ran(None, false)), GateOutcome::Pass);
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
        assert_eq!(limit(None), Duration::from_secs(60));
        assert_eq!(limit(Some(&took(30_000))), Duration::from_secs(150));
    }
}
