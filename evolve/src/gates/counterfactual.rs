//! The counterfactual gate: what new tests say without the change, and where no function of the project works.
//!
//! A new test that fails on the base's code is proof of the change. One that holds there says nothing about it, and may still
//! pin what was there before; the figures tell them apart. One that also holds where every function ends the process never
//! enters the project: it proves nothing, and whether it should stay is a person's question. Why a test that holds on both
//! sides is no rejection: docs/decisions/0060-new-tests.md.

use super::{Bench, CargoRun, Draft, tests};
use crate::judgement::gate::{GateName, GateOutcome, GateReport, HOLDS};
use crate::reading::compiled::Level;
use crate::reading::harness::TestResult;
use crate::rules::plan::{CargoWords, Step};
use crate::workshop::WorkshopError;
use std::collections::{BTreeMap, BTreeSet};

/// Most tests that are run alone, one after the other.
const MOST_ALONE: usize = 24;
/// Most things named in a report's log.
const MOST_NAMED: usize = 40;

/// A new test: its executable, and its name there.
pub type Name = (String, String);

/// What a new test says on other code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// It ran and does not hold.
    Fails,
    /// It ran and holds.
    Holds,
    /// It is not there: it does not compile with that code, or stands in a file that is not there.
    Absent,
    /// It was not tried.
    Untried,
}

/// What a test says without the change, and where no function works.
pub type Tried = (Option<Says>, Option<Says>);

/// What was found out about the new tests and scenarios.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Each new test, with what it says without the change and where no function works.
    pub tests: BTreeMap<Name, Tried>,
    /// Each new scenario, with whether it holds with the base's programs.
    pub scenarios: BTreeMap<String, bool>,
    /// Test commands of the rules, with whether they hold on the base's files and the candidate's new tests.
    pub commands: BTreeMap<String, bool>,
    /// Whether any code differs, tests left out.
    pub code_differs: bool,
}

/// New tests that held on the candidate, of executables that libtest runs. `moved` are those that only stand elsewhere now.
pub fn new_tests(base: &tests::Seen, seen: &tests::Seen, moved: &[(String, String)]) -> BTreeSet<Name> {
    let arrived = |test: &str| moved.iter().any(|(_, new)| new.ends_with(test) || test.ends_with(new.as_str()));
    let runs = seen.runs.iter().filter(|(_, run)| run.libtest && !run.executable.is_empty());
    runs.flat_map(|(name, run)| {
        let was = base.runs.get(name);
        let is_new = move |test: &&String| !was.is_some_and(|was| was.results.contains_key(*test));
        let held = run.results.iter().filter(|(_, result)| **result == TestResult::Ok).map(|(test, _)| test);
        held.filter(is_new).filter(|test| !arrived(test)).map(move |test| (name.clone(), test.clone()))
    })
    .collect()
}

/// What tests say on the files that lie in the slot now. `ran` is how they ran on the candidate; `alone` runs each in a process of
/// its own.
///
/// # Errors
/// The room cannot be had, or the disk refuses.
pub fn look(
    bench: &Bench<'_>,
    names: &BTreeSet<Name>,
    built: &[CargoRun],
    ran: &tests::Seen,
    alone: bool,
) -> Result<BTreeMap<Name, Says>, WorkshopError> {
    let mut found: BTreeMap<Name, Says> = names.iter().map(|name| (name.clone(), Says::Absent)).collect();
    let mut tried = 0;
    for run in built {
        for unit in run.compiled.units.iter().filter(|unit| unit.is_test && unit.executable.is_some()) {
            let name = tests::named(bench, unit);
            let writes = ran.runs.get(&name).is_some_and(|run| run.writes);
            let wanted: Vec<&str> = names.iter().filter(|(of, _)| *of == name).map(|(_, test)| test.as_str()).collect();
            let groups: Vec<Vec<&str>> =
                if alone { wanted.iter().map(|test| vec![*test]).collect() } else { vec![wanted] };
            for group in groups.into_iter().filter(|group| !group.is_empty()) {
                tried += 1;
                if alone && tried > MOST_ALONE {
                    found.extend(group.iter().map(|test| ((name.clone(), (*test).to_owned()), Says::Untried)));
                    continue;
                }
                let run = tests::only(bench, (unit, &run.compiled), &group, writes)?;
                for test in group {
                    let says = match run.results.get(test) {
                        Some(TestResult::Ok) if run.odd.is_none() || !alone => Says::Holds,
                        // The harness ended before it could say anything, or there is no such test in it.
                        None if run.odd.is_none() && !run.timed_out => Says::Absent,
                        _ => Says::Fails,
                    };
                    found.insert((name.clone(), test.to_owned()), says);
                }
            }
        }
    }
    Ok(found)
}

/// Is shown the files and lines that do not compile; whether it did something about them.
pub type Mend<'a> = &'a mut dyn FnMut(&BTreeSet<(String, usize)>) -> Result<bool, WorkshopError>;

/// Build the executables of these tests; `mend` is shown the files and lines that do not compile and says whether it did
/// something about them. None where they do not build in the end.
///
/// # Errors
/// The room cannot be had, or from `mend`.
pub fn build(
    bench: &Bench<'_>,
    names: &BTreeSet<Name>,
    mend: Mend<'_>,
) -> Result<Option<Vec<CargoRun>>, WorkshopError> {
    /// Times that something is mended.
    const MOST: usize = 4;
    let mut narrow = true;
    'again: for _ in 0..=MOST {
        let mut built = Vec::new();
        for step in &bench.plan.tests {
            let Step::Cargo(words) = step else { continue };
            if words.targets.iter().any(|target| target == "--doc") {
                continue;
            }
            let targets = if narrow { targets(names) } else { words.targets.clone() };
            let words = CargoWords { trailing: Vec::new(), targets, ..words.clone() };
            let run = tests::build(bench, &words)?;
            if run.succeeded() {
                built.push(run);
                continue;
            }
            let places = broken_at(&run);
            if places.is_empty() && narrow {
                // A target that is not there without its new file, or that another step has.
                narrow = false;
                continue 'again;
            }
            if mend(&places)? {
                continue 'again;
            }
            return Ok(None);
        }
        return Ok(Some(built));
    }
    Ok(None)
}

/// The targets that hold these tests: nothing else has to be built.
fn targets(names: &BTreeSet<Name>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (run, _) in names {
        let mut words = run.split(' ').skip(1);
        match (words.next(), words.next()) {
            (Some("lib"), _) => found.insert("--lib".to_owned()),
            (Some(kind @ ("bin" | "test" | "example" | "bench")), Some(target)) => {
                found.insert(format!("--{kind}={target}"))
            }
            _ => return Vec::new(),
        };
    }
    found.into_iter().collect()
}

/// Where it does not compile.
fn broken_at(run: &CargoRun) -> BTreeSet<(String, usize)> {
    let errors = run.compiled.findings.iter().filter(|finding| finding.level == Level::Error);
    let places = errors.flat_map(|finding| finding.diagnostic.spans.iter().filter(|span| span.is_primary));
    places.map(|span| (span.file_name.clone(), span.line_start)).collect()
}

/// Judge the candidate.
pub fn judge(mut draft: Draft, seen: &Seen) -> GateReport {
    let figure = |wanted: &dyn Fn(&Tried) -> bool| {
        seen.tests.iter().filter(|(_, says)| wanted(says)).map(|(name, _)| name).collect::<Vec<_>>()
    };
    let proves = figure(&|(old, _)| matches!(old, Some(Says::Fails | Says::Absent)));
    let holds = figure(&|(old, broken)| *old == Some(Says::Holds) && *broken != Some(Says::Holds));
    let vacuous = figure(&|(old, broken)| *old != Some(Says::Fails) && *broken == Some(Says::Holds));
    let untried = figure(&|says| matches!(says, (None | Some(Says::Untried), _)));
    let news = seen.tests.len() + seen.scenarios.len() + seen.commands.len();
    let of_others = |all: &BTreeMap<String, bool>| all.values().filter(|holds| **holds).count();
    draft.count("new", news as u64);
    draft.count(
        "fail_without_the_change",
        (proves.len() + news - seen.tests.len() - of_others(&seen.scenarios) - of_others(&seen.commands)) as u64,
    );
    if seen.code_differs {
        draft.add(HOLDS, (holds.len() + vacuous.len() + of_others(&seen.scenarios) + of_others(&seen.commands)) as u64);
    } else {
        draft.add("cover_what_was_there", (holds.len() + of_others(&seen.scenarios)) as u64);
    }
    draft.add("vacuous", vacuous.len() as u64);
    draft.add("untried", untried.len() as u64);
    let mut log = String::new();
    let lines = |what: &str, names: &[&Name]| -> String {
        names.iter().take(MOST_NAMED).map(|(run, test)| format!("{what}: {test} ({run})\n")).collect()
    };
    log.push_str(&lines("proves nothing", &vacuous));
    log.push_str(&lines("holds without the change", &holds));
    log.push_str(&lines("fails without the change", &proves));
    log.push_str(&lines("not tried", &untried));
    match vacuous.first() {
        Some((run, test)) => {
            let why = format!(
                "the new test {test} ({run}) holds without the change, and even where no function of the project works: it \
                 proves nothing"
            );
            draft.report(GateOutcome::Ask { why }, &log)
        }
        None => draft.report(GateOutcome::Pass, &log),
    }
}

/// The draft of this gate.
pub fn draft() -> Draft {
    Draft::of(GateName::Counterfactual)
}

#[cfg(test)]
mod unit {
    use super::*;

    fn seen(code_differs: bool, says: &[Tried]) -> Seen {
        let tests =
            says.iter().enumerate().map(|(at, says)| (("w lib w".to_owned(), format!("t{at}")), *says)).collect();
        Seen { tests, code_differs, ..Seen::default() }
    }

    fn judged(code_differs: bool, says: &[Tried]) -> GateReport {
        judge(draft(), &seen(code_differs, says))
    }

    const FAILS: Option<Says> = Some(Says::Fails);
    const HOLDS_HERE: Option<Says> = Some(Says::Holds);
    const ABSENT: Option<Says> = Some(Says::Absent);

    #[test]
    fn a_test_that_holds_whatever_the_code_does_is_a_question() {
        let asks = |says| matches!(judged(true, &[(FAILS, None), says]).result, GateOutcome::Ask { why } if why.contains("t1"));
        assert!(asks((HOLDS_HERE, HOLDS_HERE)));
        assert!(asks((ABSENT, HOLDS_HERE)), "it names something new, and does not look at it");
        assert!(!asks((HOLDS_HERE, FAILS)) && !asks((ABSENT, FAILS)) && !asks((FAILS, None)));
    }

    #[test]
    fn one_that_holds_without_the_change_is_counted_and_lands() {
        let report = judged(true, &[(FAILS, None), (HOLDS_HERE, FAILS)]);
        assert_eq!((report.result, report.counts.get(HOLDS)), (GateOutcome::Pass, Some(&1)));
        assert_eq!(report.counts.get("fail_without_the_change"), Some(&1));
    }

    #[test]
    fn coverage_alone_is_no_doubt() {
        let report = judged(false, &[(HOLDS_HERE, FAILS)]);
        assert_eq!((report.result, report.counts.get(HOLDS)), (GateOutcome::Pass, None));
        assert_eq!(report.counts.get("cover_what_was_there"), Some(&1));
    }

    #[test]
    fn only_the_executables_of_new_tests_are_built() {
        let names = ["w lib w", "w test it", "w bin w"].map(|run| (run.to_owned(), "t".to_owned()));
        assert_eq!(targets(&names.into()), ["--bin=w", "--lib", "--test=it"]);
        assert_eq!(targets(&BTreeSet::from([("w proc-macro w".to_owned(), "t".to_owned())])), Vec::<String>::new());
    }

    #[test]
    fn only_names_that_the_base_does_not_have_are_new() {
        let run = |names: &[&str]| tests::Run {
            executable: "/trial/target/debug/deps/w-1".to_owned(),
            libtest: true,
            results: names.iter().map(|name| ((*name).to_owned(), TestResult::Ok)).collect(),
            ..tests::Run::default()
        };
        let of = |names: &[&str]| tests::Seen {
            runs: [("w lib w".to_owned(), run(names))].into(),
            ..tests::Seen::default()
        };
        let moved = [("tests::b".to_owned(), "m::tests::b".to_owned())];
        let new = new_tests(&of(&["tests::a", "tests::b"]), &of(&["tests::a", "m::tests::b", "tests::c"]), &moved);
        assert_eq!(new, BTreeSet::from([("w lib w".to_owned(), "tests::c".to_owned())]));
    }
}
