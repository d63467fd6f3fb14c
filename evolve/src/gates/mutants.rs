//! The mutants gate: do the tests notice when the changed lines are changed once more? `cargo-mutants` makes the mutations,
//! as a program in the room, of changed lines only and within a bound of time.
//!
//! What it says is evidence against accidents: it runs the tests through cargo, in the process of the code under test. Tests
//! that notice none of the mutations are a person's question, unless black-box scenarios drive the project, which it does
//! not run; then the figures are told and that is all.

use super::{Bench, Draft};
use crate::judgement::gate::{GateName, GateOutcome, GateReport, MISSED};
use crate::rules::plan::{CargoWords, Step};
use crate::workshop::{Files, Target, WorkshopError};
use selfsmith_sandbox::{Bind, BindMode, End};
use serde::Deserialize;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Its name where it is installed.
pub const PROGRAM: &str = "cargo-mutants";
/// Where the room sees it, and where it leaves what it found.
const TOOL: &str = "/trial/tools/cargo-mutants";
const OUT: &str = "/trial/mutants";
/// Most mutations that are tried; of more, an even sample.
const MOST: usize = 60;
/// Least time that the tests of one mutation may take.
const FLOOR: u64 = 20;
/// Wall time of the listing.
const LISTING: Duration = Duration::from_secs(60);
/// Bytes of its output that are kept.
const OUTPUT: usize = 4 << 20;
/// Most mutations named in a report's log.
const MOST_NAMED: usize = 40;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Nothing was tried, and why.
    NotRun(String),
    /// No changed line can be mutated.
    Nothing,
    /// Mutations by what became of them.
    Tried(Tried),
}

/// Mutations by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried {
    /// A test failed, or none ended in time.
    pub caught: Vec<String>,
    /// Every test held.
    pub missed: Vec<String>,
    /// It does not compile.
    pub unviable: u64,
    /// Not decided in time.
    pub undecided: u64,
}

/// Try mutations of the lines that `diff`, in the unified format, adds or changes. `tests_ms` is what the tests take.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn look(bench: &Bench<'_>, diff: &str, tests_ms: u64) -> Result<Seen, WorkshopError> {
    let Some(tool) = bench.shop.given.mutants.clone() else {
        return Ok(Seen::NotRun(format!("{PROGRAM} is not installed: `cargo install {PROGRAM}` brings it")));
    };
    let words = bench.plan.tests.iter().find_map(|step| match step {
        Step::Cargo(words) => Some(words),
        Step::Command(_) => None,
    });
    let Some(words) = words else { return Ok(Seen::NotRun("the tests are not cargo's".to_owned())) };
    let seconds = FLOOR.max(tests_ms.saturating_mul(3) / 1000);
    let wall = Duration::from_secs(tool.seconds);
    if Duration::from_secs(seconds) > wall {
        let why = format!("the tests of one mutation may take {seconds} s, more than the {} s there are", tool.seconds);
        return Ok(Seen::NotRun(why));
    }
    let scratch = bench.shop.scratch(&bench.files())?;
    let out = bench.shop.slot.fresh("mutants")?;
    let disk = |path: PathBuf| move |source| WorkshopError::Disk { doing: "write", path, source };
    fs::write(out.join("change.diff"), diff).map_err(disk(out.join("change.diff")))?;
    let run = |more: &[String], wall: Duration| {
        let mut work = bench.work(argv(words, more));
        work.files = Files::Scratch(scratch.dir());
        work.target = Target::Write;
        work.wall = wall;
        work.output = OUTPUT;
        work.binds = vec![
            Bind { source: tool.program.clone(), at: TOOL.into(), mode: BindMode::ReadOnly },
            Bind { source: out.clone(), at: OUT.into(), mode: BindMode::ReadWrite },
        ];
        bench.shop.run(&work, &mut |_| {})
    };
    let listed = run(&["--list".to_owned(), "--json".to_owned()], LISTING)?;
    let text = listed.stdout.text(|_| String::new());
    let Ok(all) = serde_json::from_str::<Vec<serde::de::IgnoredAny>>(text.trim()) else {
        let said = super::last_lines(&listed.stderr.text(|_| String::new()), 4);
        if listed.end == End::Exit(0) {
            return Ok(Seen::Nothing);
        }
        return Ok(Seen::NotRun(format!("{PROGRAM} could not list mutations: {}", said.trim().replace('\n', "; "))));
    };
    if all.is_empty() {
        return Ok(Seen::Nothing);
    }
    let shards = all.len().div_ceil(MOST);
    let mut more = vec!["--in-place".to_owned(), "--baseline=skip".to_owned(), format!("--timeout={seconds}")];
    if shards > 1 {
        more.push(format!("--shard=0/{shards}"));
    }
    run(&more, wall)?;
    let found = fs::read_to_string(out.join("mutants.out/outcomes.json")).unwrap_or_default();
    let wanted = all.len().div_ceil(shards) as u64;
    Ok(read(&found, wanted)
        .map_or_else(|| Seen::NotRun(format!("no mutation was decided within {} s", tool.seconds)), Seen::Tried))
}

/// Its command line.
fn argv(words: &CargoWords, more: &[String]) -> Vec<OsString> {
    let mut argv: Vec<String> = [
        TOOL,
        "mutants",
        "--in-diff",
        "/trial/mutants/change.diff",
        "--output",
        OUT,
        "--colors=never",
        "--no-shuffle",
        "--cargo-arg=--locked",
        "--cargo-arg=--offline",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut rest = words.selection.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-r" | "--release" => argv.push("--profile=release".to_owned()),
            "--workspace" | "--all" => argv.push("--workspace".to_owned()),
            // Means files there.
            "--exclude" | "--target" => {
                rest.next();
            }
            _ if word.starts_with("--exclude=") || word.starts_with("--target=") => {}
            _ => argv.push(word.clone()),
        }
    }
    argv.extend(more.iter().cloned());
    if !(words.targets.is_empty() && words.trailing.is_empty()) {
        argv.push("--".to_owned());
        argv.extend(words.targets.iter().cloned());
        if !words.trailing.is_empty() {
            argv.push("--".to_owned());
            argv.extend(words.trailing.iter().cloned());
        }
    }
    argv.into_iter().map(OsString::from).collect()
}

#[derive(Deserialize)]
struct Outcomes {
    outcomes: Vec<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    scenario: Scenario,
    summary: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scenario {
    Mutant {
        #[serde(rename = "Mutant")]
        mutant: Mutant,
    },
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Mutant {
    name: String,
}

/// What its report says; none where it decided nothing.
fn read(text: &str, wanted: u64) -> Option<Tried> {
    let outcomes: Outcomes = serde_json::from_str(text).ok()?;
    let mut tried = Tried::default();
    let mut decided = 0;
    for Outcome { scenario, summary } in outcomes.outcomes {
        let Scenario::Mutant { mutant } = scenario else { continue };
        decided += 1;
        match summary.as_str() {
            "CaughtMutant" | "Timeout" => tried.caught.push(mutant.name),
            "MissedMutant" => tried.missed.push(mutant.name),
            "Unviable" => tried.unviable += 1,
            _ => decided -= 1,
        }
    }
    tried.undecided = wanted.saturating_sub(decided);
    (decided > 0).then_some(tried)
}

/// Judge the candidate; nothing to report where no changed line can be mutated. `driven` says that black-box scenarios drive
/// the project.
pub fn judge(mut draft: Draft, seen: &Seen, driven: bool) -> Option<GateReport> {
    let tried = match seen {
        Seen::Nothing => return None,
        Seen::NotRun(why) => return Some(draft.not_run(why.clone())),
        Seen::Tried(tried) => tried,
    };
    let (caught, missed) = (tried.caught.len() as u64, tried.missed.len() as u64);
    draft.count("mutants", caught + missed);
    draft.count("caught", caught);
    draft.add(MISSED, missed);
    draft.add("unviable", tried.unviable);
    draft.add("undecided", tried.undecided);
    let log: String = tried.missed.iter().take(MOST_NAMED).map(|name| format!("no test notices: {name}\n")).collect();
    let why =
        tried.missed.first().filter(|_| caught == 0 && !driven).map(|first| {
            format!("no test notices any of {missed} mutations of the changed lines, the first is {first}")
        });
    Some(match why {
        Some(why) => draft.report(GateOutcome::Ask { why }, &log),
        None => draft.report(GateOutcome::Pass, &log),
    })
}

/// The draft of this gate.
pub fn draft() -> Draft {
    Draft::of(GateName::Mutants)
}

#[cfg(test)]
mod unit {
    use super::*;

    const REPORT: &str = r#"{"outcomes":[{"scenario":"Baseline","summary":"Success"},
        {"scenario":{"Mutant":{"name":"src/lib.rs:3:5: replace a with 0","package":"w"}},"summary":"CaughtMutant"},
        {"scenario":{"Mutant":{"name":"src/lib.rs:3:5: replace a with 1"}},"summary":"MissedMutant"},
        {"scenario":{"Mutant":{"name":"src/lib.rs:4:5: replace + with *"}},"summary":"Unviable"}],"total_mutants":3}"#;

    #[test]
    fn its_report_is_read_and_what_was_not_decided_is_counted() {
        let tried = read(REPORT, 5).expect("something was decided");
        assert_eq!((tried.caught.len(), tried.missed.len(), tried.unviable, tried.undecided), (1, 1, 1, 2));
        assert_eq!((read("", 3), read(r#"{"outcomes":[]}"#, 3)), (None, None));
    }

    #[test]
    fn tests_that_notice_nothing_are_a_question_unless_scenarios_drive_the_project() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let tried = |caught: &[&str], missed: &[&str]| {
            Seen::Tried(Tried { caught: names(caught), missed: names(missed), ..Tried::default() })
        };
        let result = |seen: &Seen, driven| judge(draft(), seen, driven).map(|report| report.result);
        assert!(matches!(result(&tried(&[], &["x"]), false), Some(GateOutcome::Ask { .. })));
        assert_eq!(result(&tried(&[], &["x"]), true), Some(GateOutcome::Pass));
        assert_eq!(result(&tried(&["y"], &["x"]), false), Some(GateOutcome::Pass));
        assert_eq!(result(&tried(&[], &[]), false), Some(GateOutcome::Pass), "none of them compiled");
        assert_eq!(result(&Seen::Nothing, false), None);
        assert!(matches!(result(&Seen::NotRun("why".to_owned()), false), Some(GateOutcome::NotRun { .. })));
    }

    #[test]
    fn cargos_words_are_its_own() {
        let words = CargoWords {
            selection: ["-p", "w", "--exclude", "x", "-r"].map(str::to_owned).to_vec(),
            targets: vec!["--lib".to_owned()],
            trailing: vec!["--skip".to_owned(), "slow".to_owned()],
            seconds: None,
        };
        let argv: Vec<String> = argv(&words, &[]).into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let end = ["-p", "w", "--profile=release", "--", "--lib", "--", "--skip", "slow"];
        assert_eq!(argv.get(argv.len() - end.len()..).expect("as many"), end);
    }
}
