//! The tests gate: every test of the base is there, unchanged, runs and passes.
//!
//! Two phases. First cargo builds the test executables, with the target folder writable. Then the judge runs them itself, each
//! in its package's folder with the variables that cargo would give, the target folder and the files read-only; so no runner that
//! was planted has a say, and nothing that tests expect can be written anew. Where they have to write on the base, they do so
//! on a copy. Documentation tests only cargo can run; they get a target folder of their own.
//! Afterwards the copy is compared with the files: tests that changed them are refused.

mod doc;
mod judge;
mod run;

use super::command::Ran;
use super::{Bench, Draft};
use crate::judgement::gate::GateName;
use crate::reading::harness::TestResult;
use crate::workshop::WorkshopError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use judge::{Doubt, Judged, judge};
pub use run::{again, build, look, named, only};

/// What was seen on one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Why the tests do not build.
    pub broken: Option<String>,
    /// Diagnostics of that.
    #[serde(skip)]
    pub log: String,
    /// Runs, by executable.
    pub runs: BTreeMap<String, Run>,
    /// Commands of the rules that are not cargo's.
    pub commands: Vec<Ran>,
    /// Files that differ afterwards, from the top, with how.
    pub left: BTreeMap<String, Left>,
    /// What went into the test executables.
    pub inputs: Vec<String>,
    /// What cargo made.
    pub units: Vec<crate::reading::compiled::Unit>,
}

/// What tests did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Left {
    /// It is new.
    New,
    /// It was changed or removed.
    Changed,
}

/// One run of one executable, or of a package's documentation tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The executable as the room sees it; empty for documentation tests.
    pub executable: String,
    /// Its package's id.
    pub package: String,
    /// Whether it speaks as libtest.
    pub libtest: bool,
    /// Every test, by name.
    pub results: BTreeMap<String, TestResult>,
    /// What is odd about the run.
    pub odd: Option<String>,
    /// Exit code; none for a signal or a limit.
    pub exit: Option<i32>,
    /// Whether it ran out of time.
    pub timed_out: bool,
    /// Digest of the output; only where it is not libtest's.
    pub digest: Option<String>,
    /// Milliseconds it took.
    pub wall_ms: u64,
    /// Bytes that it printed.
    #[serde(default)]
    pub printed: u64,
    /// Whether it has to write among the project's files: then what it expects can be changed by what it tests.
    #[serde(default)]
    pub writes: bool,
    /// The end of what it printed.
    #[serde(skip)]
    pub log: String,
}

impl Seen {
    /// Every test by full name.
    pub fn results(&self) -> BTreeMap<String, String> {
        let full = self.runs.iter().flat_map(|(run, seen)| {
            seen.results.iter().map(move |(name, result)| (format!("{run} {name}"), result.word().to_owned()))
        });
        full.collect()
    }
}

/// The draft of this gate.
pub fn draft() -> Draft {
    Draft::of(GateName::Tests)
}

/// Look at the base twice: its limits follow from the slower run, and a test that differs between the two is flaky.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn look_twice(bench: &Bench<'_>) -> Result<Seen, WorkshopError> {
    let mut first = look(bench, &Seen::default())?;
    if first.broken.is_some() || first.runs.values().any(|run| run.timed_out) {
        return Ok(first);
    }
    let second = look(bench, &first)?;
    for (name, run) in second.runs {
        let Some(before) = first.runs.get_mut(&name) else { continue };
        before.wall_ms = before.wall_ms.max(run.wall_ms);
        before.printed = before.printed.max(run.printed);
        if before.digest != run.digest {
            // Output that differs from run to run cannot be compared.
            before.digest = None;
        }
        for (test, result) in run.results {
            if result == TestResult::Failed {
                before.results.insert(test, result);
            }
        }
    }
    for (before, ran) in first.commands.iter_mut().zip(&second.commands) {
        before.wall_ms = before.wall_ms.max(ran.wall_ms);
    }
    first.left.extend(second.left);
    Ok(first)
}
