//! What does not land: the target stands, the cycle's branch is gone, the candidate stays.

use crate::world::*;
use selfsmith::judgement::gate::GateName;
use selfsmith::judgement::verdict::Verdict;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::lineage::LINEAGE_REF;
use selfsmith::store::record::End;
use selfsmith_sandbox::Cancel;

#[track_caller]
fn nothing_landed(world: &World, base: &str) {
    assert_eq!(world.rev(MAIN), base);
    assert_eq!(world.rev("refs/heads/evolve/c1"), "", "its branch has served");
    assert_eq!(world.git(&["rev-list", "--count", LINEAGE_REF]), "1");
    assert_eq!(selfsmith::review::verify(&world.repo(), &world.state()).unwrap(), []);
}

#[test]
fn a_reject_is_kept_and_its_branch_goes() {
    let world = World::new().unfinished();
    let (base, before) = (world.rev(MAIN), world.persons());
    let end = run(&world, &auto("c1"), edit("src/lib.rs", "// BREAK\n"));
    assert_eq!(end.verdict, Verdict::Reject { gate: GateName::Tests, why: "a test fails".into() });
    assert_eq!((end.end, end.gate, end.landed), (End::Refused, Some(GateName::Tests), None));
    nothing_landed(&world, &base);
    assert_eq!(world.file("refs/selfsmith/candidates/c1-0", "src/lib.rs"), "// BREAK");
    assert_eq!(world.persons(), before);
}

#[test]
fn what_a_person_decides_waits_even_if_landing_is_automatic() {
    let world = World::new();
    let base = world.rev(MAIN);
    let end = run(&world, &auto("c1"), edit("src/lib.rs", "// ASK\n"));
    assert_eq!((end.end, end.verdict.word()), (End::Waiting, "needs-human"));
    nothing_landed(&world, &base);
}

#[test]
fn an_accepted_change_in_a_review_zone_waits() {
    let world = World::new();
    let base = world.rev(MAIN);
    let end = run(&world, &auto("c1"), edit("docs/book.md", "# Better book\n"));
    assert_eq!((end.end, end.verdict), (End::Waiting, Verdict::Accept));
    nothing_landed(&world, &base);
}

#[test]
fn under_review_everything_waits() {
    let world = World::new();
    let end = run(&world, &review("c1"), edit("src/lib.rs", "// fine\n"));
    assert_eq!((end.end, end.verdict), (End::Waiting, Verdict::Accept));
}

#[test]
fn what_could_not_be_checked_is_not_accepted() {
    let world = World::new();
    let base = world.rev(MAIN);
    let end = run(&world, &auto("c1"), edit("src/lib.rs", "// UNSEEN\n"));
    assert_eq!((end.end, end.verdict.word()), (End::Inconclusive, "inconclusive"));
    nothing_landed(&world, &base);
}

#[test]
fn a_proposer_without_a_proposal_is_inconclusive() {
    let world = World::new();
    let base = world.rev(MAIN);
    let end = run(&world, &auto("c1"), Edits(vec![]));
    assert_eq!((end.end, end.candidate), (End::Inconclusive, None));
    assert!(end.why.contains("nothing to propose"), "{}", end.why);
    nothing_landed(&world, &base);
}

#[test]
fn nothing_changed_is_refused_at_bounds() {
    let world = World::new();
    let end = run(&world, &auto("c1"), Edits(vec![vec![]]));
    assert_eq!((end.end, end.gate), (End::Refused, Some(GateName::Bounds)));
}

#[test]
fn an_interrupted_cycle_lands_nothing() {
    let world = World::new();
    let base = world.rev(MAIN);
    let cycle = auto("c1");
    let cancel: Cancel = cycle.cancel.clone();
    let meanwhile = || cancel.cancel();
    let mut gates = Gates { meanwhile: Some(&meanwhile), ..Gates::of(&world) };
    let (end, _) = run_with(&world, &cycle, &mut edit("src/lib.rs", "// fine\n"), &mut gates, &NoFaults);
    let end = end.unwrap();
    assert!(end.interrupted);
    assert_eq!((end.end, end.landed), (End::Inconclusive, None));
    nothing_landed(&world, &base);
    assert!(!world.rev("refs/selfsmith/candidates/c1-0").is_empty());
}

#[test]
fn the_same_change_on_the_same_base_is_refused_again_without_being_weighed() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", "// BREAK\n"));
    let mut gates = Gates::of(&world);
    let (end, _) = run_with(&world, &auto("c2"), &mut edit("src/lib.rs", "// BREAK\n"), &mut gates, &NoFaults);
    let end = end.unwrap();
    assert_eq!((end.end, end.gate), (End::Refused, Some(GateName::Tests)));
    assert!(end.why.contains("c1"), "{}", end.why);
    assert!(gates.weighed.borrow().is_empty());
    assert_eq!(selfsmith::review::verify(&world.repo(), &world.state()).unwrap(), []);
}

#[test]
fn a_change_refused_again_and_again_names_the_first_refusal_alone() {
    let world = World::new();
    for id in ["c1", "c2"] {
        run(&world, &auto(id), edit("src/lib.rs", "// BREAK\n"));
    }
    let end = run(&world, &auto("c3"), edit("src/lib.rs", "// BREAK\n"));
    assert_eq!(end.why, "the same change was refused in c1: a test fails");
}

#[test]
fn what_was_refused_for_something_beside_the_change_is_not_held_against_the_change() {
    let world = World::new();
    let beside = Edits(vec![vec![("src/.git/config", Some("x\n".into())), ("src/lib.rs", Some("// better\n".into()))]]);
    let end = run(&world, &auto("c1"), beside);
    assert_eq!((end.end, end.gate), (End::Refused, Some(GateName::Bounds)), "{}", end.why);
    assert_eq!(run(&world, &auto("c2"), edit("src/lib.rs", "// better\n")).end, End::Landed);
}

#[test]
fn one_judge_at_a_time() {
    let world = World::new();
    let lock = selfsmith::store::lock::take(&world.state().cycle_lock()).unwrap();
    let (end, _) = run_with(&world, &auto("c1"), &mut edit("src/lib.rs", "// x\n"), &mut Gates::of(&world), &NoFaults);
    assert!(end.unwrap_err().to_string().contains("is at work"));
    drop(lock);
    assert_eq!(run(&world, &auto("c1"), edit("src/lib.rs", "// x\n")).end, End::Landed);
}

#[test]
fn somebody_elses_refs_where_the_judges_must_be_are_met_before_anything_begins() {
    for (name, with) in [
        ("refs/selfsmith", "refs/selfsmith is there already"),
        ("refs/selfsmith/lineage/x", "below refs/selfsmith/lineage"),
        ("refs/selfsmith/lineage", "read the lineage"),
    ] {
        let world = World::new();
        world.git(&["update-ref", name, MAIN]);
        let error = selfsmith::cycle::look(&world.repo(), None).unwrap_err();
        assert!(error.to_string().contains(with), "{name}: {error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn what_the_bases_ignore_files_leave_out_of_a_change_is_said() {
    let world = World::new();
    let mut edits = Edits(vec![vec![("src/made.log", Some("x\n".into())), ("src/lib.rs", Some("// better\n".into()))]]);
    let (end, told) = run_with(&world, &auto("c1"), &mut edits, &mut Gates::of(&world), &NoFaults);
    assert_eq!(end.unwrap().end, End::Landed);
    assert!(notices(&told).contains("src/made.log"), "{}", notices(&told));
}
