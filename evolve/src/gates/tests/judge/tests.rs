//! What the tests gate says to what was seen.

use super::*;
use crate::judgement::gate::GateName;
use crate::reading::inline::Finding;

fn run(results: &[(&str, TestResult)]) -> Run {
    let failed = results.iter().any(|(_, result)| *result == TestResult::Failed);
    Run {
        executable: "/trial/target/debug/deps/w-1".to_owned(),
        libtest: true,
        results: results.iter().map(|(name, result)| ((*name).to_owned(), *result)).collect(),
        exit: Some(if failed { 101 } else { 0 }),
        ..Run::default()
    }
}

fn seen(run: Run) -> Seen {
    Seen { runs: BTreeMap::from([("w lib w".to_owned(), run)]), ..Seen::default() }
}

fn of(results: &[(&str, TestResult)]) -> Seen {
    seen(run(results))
}

fn judged(base: &Seen, now: &Seen, inline: &Compared, settled: &[(Doubt, Settled)]) -> Judged {
    let settled = settled.iter().cloned().collect();
    judge(Draft::of(GateName::Tests), base, now, inline, &settled, Defences::all())
}

fn outcome(base: &Seen, now: &Seen) -> GateOutcome {
    match judged(base, now, &Compared::default(), &[]) {
        Judged::Report(report) => report.result,
        Judged::Again(doubts) => panic!("it wants to run {doubts:?} again"),
    }
}

fn fails(outcome: &GateOutcome, with: &str) -> bool {
    matches!(outcome, GateOutcome::Fail { why, .. } if why.contains(with))
}

fn asks(outcome: &GateOutcome, with: &str) -> bool {
    matches!(outcome, GateOutcome::Ask { why } if why.contains(with))
}

use TestResult::{Failed, Ignored, Ok};

#[test]
fn every_test_of_the_base_must_run() {
    let base = of(&[("a", Ok), ("b", Ok)]);
    assert_eq!(outcome(&base, &of(&[("a", Ok), ("b", Ok), ("new", Ok)])), GateOutcome::Pass);
    assert!(fails(&outcome(&base, &of(&[("a", Ok)])), "b of the base"));
    assert!(fails(&outcome(&base, &Seen::default()), "did not run"));
    assert!(fails(&outcome(&base, &of(&[("a", Ok), ("b", Ignored)])), "is ignored"));
}

#[test]
fn a_test_that_failed_before_may_fail_and_may_be_fixed() {
    let base = of(&[("a", Failed), ("b", Ok)]);
    assert_eq!(outcome(&base, &of(&[("a", Failed), ("b", Ok)])), GateOutcome::Pass);
    assert_eq!(outcome(&base, &of(&[("a", Ok), ("b", Ok)])), GateOutcome::Pass);
    assert!(fails(&outcome(&base, &of(&[("a", Ok), ("b", Ok), ("new", Failed)])), "new"));
}

#[test]
fn tests_that_fail_on_both_sides_are_named_and_where_none_holds_a_person_is_asked() {
    let base = of(&[("a", Failed), ("b", Ok)]);
    let Judged::Report(report) = judged(&base, &base, &Compared::default(), &[]) else { panic!("a report") };
    assert_eq!((&report.result, report.counts.get(BLIND)), (&GateOutcome::Pass, Some(&1)));
    assert!(report.log.contains("fails on the base as well: a (w lib w)"), "{}", report.log);
    let red = of(&[("a", Failed)]);
    assert!(asks(&outcome(&red, &red), "no test of the base holds"));
    assert!(
        asks(&outcome(&red, &of(&[("a", Failed), ("new", Ok)])), "no test of the base holds"),
        "its own is no proof"
    );
    assert_eq!(outcome(&red, &of(&[("a", Ok)])), GateOutcome::Pass, "it was mended");
}

#[test]
fn a_new_failure_is_run_again_on_both_sides_before_it_is_believed() {
    let (base, now) = (of(&[("a", Ok)]), of(&[("a", Failed)]));
    let doubt = Doubt { run: "w lib w".to_owned(), test: Some("a".to_owned()) };
    assert_eq!(judged(&base, &now, &Compared::default(), &[]), Judged::Again(vec![doubt.clone()]));
    let after = |candidate, base_failed| {
        let settled = Settled { times: 3, candidate, base: base_failed };
        match judged(&base, &now, &Compared::default(), &[(doubt.clone(), settled)]) {
            Judged::Report(report) => report.result,
            Judged::Again(_) => panic!("it was settled"),
        }
    };
    assert!(fails(&after(3, 0), "fails"));
    assert_eq!(after(1, 2), GateOutcome::Pass, "flaky on both sides");
    assert!(matches!(after(1, 0), GateOutcome::Unknown { .. }), "chance, and none seen on the base");
    assert!(matches!(after(3, 1), GateOutcome::Unknown { .. }));
}

#[test]
fn a_run_out_of_time_fails_only_where_the_base_is_quick() {
    let base = of(&[("a", Ok)]);
    let slow = seen(Run { timed_out: true, exit: None, ..run(&[]) });
    let doubt = Doubt { run: "w lib w".to_owned(), test: None };
    let after = |candidate, base_failed| {
        let settled = Settled { times: 1, candidate, base: base_failed };
        match judged(&base, &slow, &Compared::default(), &[(doubt.clone(), settled)]) {
            Judged::Report(report) => report.result,
            Judged::Again(_) => panic!("it was settled"),
        }
    };
    assert!(fails(&after(1, 0), "out of time"));
    assert!(matches!(after(1, 1), GateOutcome::Unknown { .. }));
}

#[test]
fn what_is_odd_about_a_run_fails_unless_it_was_odd_before() {
    let odd = |why: &str| seen(Run { odd: Some(why.to_owned()), ..run(&[("a", Ok)]) });
    assert!(fails(&outcome(&of(&[("a", Ok)]), &odd("no closing line")), "no closing line"));
    assert!(asks(&outcome(&odd("no closing line"), &odd("no closing line")), "fails on the base as well"));
    let silent = seen(Run { libtest: false, results: BTreeMap::new(), ..run(&[]) });
    assert!(fails(&outcome(&of(&[]), &silent), "does not report its tests any more"));
}

#[test]
fn a_harness_of_its_own_is_compared_by_exit_and_output() {
    let own = |exit, digest: &str| {
        let digest = Some(digest.to_owned());
        seen(Run { libtest: false, exit: Some(exit), digest, ..run(&[]) })
    };
    assert_eq!(outcome(&own(0, "x"), &own(0, "x")), GateOutcome::Pass);
    assert!(matches!(outcome(&own(0, "x"), &own(0, "y")), GateOutcome::Ask { .. }));
    assert!(fails(&outcome(&own(0, "x"), &own(1, "x")), "ended with 1"));
    assert!(asks(&outcome(&own(1, "x"), &own(1, "x")), "fails on the base as well"));
    assert_eq!(outcome(&own(1, "x"), &own(0, "x")), GateOutcome::Pass, "it was mended");
}

#[test]
fn what_became_of_inline_tests_is_asked_and_explains_names_that_are_gone() {
    let base = of(&[("tests::a", Ok)]);
    let gone = Finding { name: "m::tests::a".to_owned(), file: "src/m.rs".to_owned(), what: What::Gone };
    let compared = Compared { findings: vec![gone], ..Compared::default() };
    let Judged::Report(report) = judged(&base, &of(&[]), &compared, &[]) else { panic!("a report") };
    assert!(matches!(report.result, GateOutcome::Ask { .. }), "{report:?}");
    let moved = Compared { moved: vec![("tests::a".to_owned(), "m::tests::a".to_owned())], ..Compared::default() };
    let there = of(&[("m::tests::a", Ok)]);
    let Judged::Report(report) = judged(&base, &there, &moved, &[]) else { panic!("a report") };
    assert_eq!(report.result, GateOutcome::Pass);
    let Judged::Report(report) = judged(&base, &of(&[]), &moved, &[]) else { panic!("a report") };
    assert!(fails(&report.result, "did not run"), "moved, but it did not run: {report:?}");
}

#[test]
fn files_that_tests_change_are_refused() {
    let base = of(&[]);
    let left = |path: &str, left| Seen { left: BTreeMap::from([(path.to_owned(), left)]), ..of(&[]) };
    assert!(fails(&outcome(&base, &left("Cargo.toml", Left::Changed)), "Cargo.toml"));
    assert!(fails(&outcome(&base, &left("note", Left::New)), "note"));
    assert_eq!(outcome(&left("a", Left::New), &left("b", Left::New)), GateOutcome::Pass, "as the base does");
    assert!(fails(&outcome(&left("a", Left::New), &left("Cargo.toml", Left::Changed)), "Cargo.toml"));
}

#[test]
fn an_example_may_move_with_its_item_as_long_as_every_example_stays() {
    let documentation =
        |results| Seen { runs: BTreeMap::from([("documentation".to_owned(), run(results))]), ..Seen::default() };
    let base = documentation(&[("src/lib.rs - triple #1", Ok), ("src/lib.rs - add #1", Ok)]);
    let moved = documentation(&[("src/more.rs - more::triple #1", Ok), ("src/lib.rs - add #1", Ok)]);
    assert_eq!(outcome(&base, &moved), GateOutcome::Pass);
    let failing = documentation(&[("src/more.rs - more::triple #1", Failed), ("src/lib.rs - add #1", Ok)]);
    assert!(!matches!(outcome(&base, &failing), GateOutcome::Pass));
    assert!(asks(&outcome(&base, &documentation(&[("src/lib.rs - add #1", Ok)])), "triple #1 is gone"));
    let other = Finding { name: "src/lib.rs".to_owned(), file: "src/lib.rs".to_owned(), what: What::Example };
    let changed = Compared { findings: vec![other], ..Compared::default() };
    let Judged::Report(report) = judged(&base, &moved, &changed, &[]) else { panic!("nothing is in doubt") };
    assert!(matches!(&report.result, GateOutcome::Ask { .. }), "{report:?}");
}
