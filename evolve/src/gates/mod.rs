//! The gates, a file each. Every gate looks at a side (what is seen on the base, what on the candidate) and judges the
//! candidate by the difference; looking runs programs in the room, judging is pure.

pub mod again;
pub mod boot;
pub mod build;
pub mod command;
pub mod counterfactual;
pub mod format;
pub mod lint;
mod log;
pub mod mutants;
pub mod scenarios;
pub mod schema;
pub mod tests;

use crate::judgement::gate::{GateName, GateOutcome, GateReport};
use crate::reading::compiled::Compiled;
use crate::reading::members::Member;
use crate::rules::plan::{CargoWords, Plan};
use crate::workshop::{Files, Side, TREE, Target, Work, Workshop, WorkshopError};
use selfsmith_sandbox::{End, Finished};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

pub use log::{bounded, last_lines};

/// Bytes of cargo's JSON that are read of one build.
const JSON_LIMIT: usize = 64 << 20;
/// Wall time of one cargo command that builds, where the rules do not say.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

/// What the gates of one side share.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'a> {
    /// Where things run.
    pub shop: &'a Workshop,
    /// How the project is built and tested.
    pub plan: &'a Plan,
    /// Packages of the workspace.
    pub members: &'a [Member],
    /// `[env]` of the base.
    pub env: &'a [(String, String)],
    /// Whose files.
    pub side: Side,
}

/// A cargo command and what came of it.
#[derive(Debug)]
pub struct CargoRun {
    /// How it ended.
    pub done: Finished,
    /// Its JSON lines.
    pub compiled: Compiled,
}

impl CargoRun {
    /// Whether it did what it was asked for, to the end.
    pub fn succeeded(&self) -> bool {
        self.done.end.success() && self.compiled.success != Some(false) && self.done.stdout.dropped == 0
    }

    /// What it said, errors first.
    pub fn log(&self) -> String {
        let stderr = self.done.stderr.text(|cut| format!("\n… {cut} bytes cut …\n"));
        format!("{}{}{}{stderr}", ended_badly(self.done.end), closed_file(&self.done), self.compiled.rendered())
    }
}

impl Bench<'_> {
    /// The same, of the other side.
    #[must_use]
    pub fn of(self, side: Side) -> Self {
        Self { side, ..self }
    }

    /// The files of this side, for what does not build: the kept ones are those of whatever was checked out last.
    pub fn files(&self) -> std::path::PathBuf {
        match self.side {
            Side::Base => self.shop.slot.base_tree(),
            Side::Candidate => self.shop.slot.tree(),
        }
    }

    /// Work in the room on the kept files of this side, with nothing special.
    pub fn work(&self, argv: Vec<OsString>) -> Work<'static> {
        Work {
            argv,
            dir: TREE.to_owned(),
            side: self.side,
            files: Files::Kept,
            target: Target::Write,
            set: self.env.iter().map(|(name, value)| (name.clone(), OsString::from(value))).collect(),
            wall: BUILD_LIMIT,
            output: JSON_LIMIT,
            binds: Vec::new(),
        }
    }

    /// `cargo VERB --locked --offline …` on the kept files; `trailing` stands after `--`.
    ///
    /// # Errors
    /// The room cannot be had.
    pub fn cargo(&self, verb: &[&str], words: &CargoWords, trailing: &[String]) -> Result<CargoRun, WorkshopError> {
        self.cargo_on(Files::Kept, verb, words, trailing)
    }

    /// The same on any files.
    ///
    /// # Errors
    /// The room cannot be had.
    pub fn cargo_on(
        &self,
        files: Files<'_>,
        verb: &[&str],
        words: &CargoWords,
        trailing: &[String],
    ) -> Result<CargoRun, WorkshopError> {
        let mut argv = vec![self.shop.toolchain.cargo_in_room().into_os_string()];
        argv.extend(verb.iter().map(OsString::from));
        argv.extend(["--locked", "--offline", "--message-format=json"].map(OsString::from));
        argv.extend(words.selection.iter().chain(&words.targets).map(OsString::from));
        if !trailing.is_empty() {
            argv.push("--".into());
            argv.extend(trailing.iter().map(OsString::from));
        }
        let mut work = Work { files, ..self.work(argv) };
        work.wall = words.seconds.map_or(BUILD_LIMIT, Duration::from_secs);
        let done = self.shop.run(&work, &mut |_| {})?;
        let compiled = Compiled::read(&done.stdout.bytes());
        Ok(CargoRun { done, compiled })
    }

    /// The member that a package id names.
    pub fn member(&self, package: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.id == package)
    }
}

/// A sentence for a file that the room's user was not allowed to read.
fn closed_file(done: &Finished) -> String {
    done.unreadable.as_ref().map_or_else(String::new, |found| format!("{found}. {}\n", found.hint()))
}

/// A sentence for an end that is no exit by itself.
fn ended_badly(end: End) -> String {
    match end {
        End::Exit(_) => String::new(),
        End::Signal(signal) => format!("ended by signal {signal}\n"),
        End::TimedOut => "ran out of time\n".to_owned(),
        End::LimitExceeded(limit) => format!("used more than its limit of {}\n", limit_word(limit)),
        End::Cancelled => "was interrupted\n".to_owned(),
    }
}

fn limit_word(limit: selfsmith_sandbox::Limit) -> &'static str {
    match limit {
        selfsmith_sandbox::Limit::Cpu => "CPU time",
        selfsmith_sandbox::Limit::Memory => "memory",
        selfsmith_sandbox::Limit::Processes => "processes",
        selfsmith_sandbox::Limit::Disk => "disk space",
    }
}

/// A report being made: knows since when.
#[derive(Debug)]
pub struct Draft {
    gate: GateName,
    began: Instant,
    /// Figures.
    pub counts: BTreeMap<String, u64>,
}

impl Draft {
    /// Begin.
    pub fn of(gate: GateName) -> Self {
        Self { gate, began: Instant::now(), counts: BTreeMap::new() }
    }

    /// A figure.
    pub fn count(&mut self, name: &str, number: u64) {
        self.counts.insert(name.to_owned(), number);
    }

    /// More of a figure; nothing where there is none.
    pub fn add(&mut self, name: &str, number: u64) {
        if number > 0 {
            *self.counts.entry(name.to_owned()).or_default() += number;
        }
    }

    /// End.
    pub fn report(self, result: GateOutcome, log: &str) -> GateReport {
        GateReport { gate: self.gate, result, took: self.began.elapsed(), log: bounded(log), counts: self.counts }
    }

    /// End well.
    pub fn pass(self) -> GateReport {
        self.report(GateOutcome::Pass, "")
    }

    /// End badly, with diagnostics that are worth giving back.
    pub fn repairable(self, why: impl Into<String>, log: &str) -> GateReport {
        self.report(GateOutcome::Fail { why: why.into(), repairable: true }, log)
    }

    /// End badly, for good.
    pub fn fail(self, why: impl Into<String>, log: &str) -> GateReport {
        self.report(GateOutcome::Fail { why: why.into(), repairable: false }, log)
    }

    /// Could not be checked.
    pub fn unknown(self, why: impl Into<String>, log: &str) -> GateReport {
        self.report(GateOutcome::Unknown { why: why.into() }, log)
    }

    /// Does not apply.
    pub fn not_run(self, why: impl Into<String>) -> GateReport {
        self.report(GateOutcome::NotRun { why: why.into() }, "")
    }
}
