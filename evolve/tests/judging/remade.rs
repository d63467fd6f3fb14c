//! A candidate made anew: where its target has moved to, or without what a person leaves out. An approval holds for the same
//! set of blobs and for no other.

use crate::world::*;
use selfsmith::cycle::{self, CycleEnd};
use selfsmith::review::remake::{self, Ground, LeftOut};
use selfsmith::review::{self, ReviewError, Status};
use selfsmith::store::faults::NoFaults;
use selfsmith::store::ops;
use selfsmith::store::record::{End, Kind};
use selfsmith_sandbox::Cancel;
use std::collections::BTreeSet;

const BETTER: &str = "pub fn one() -> u32 {\n    2 - 1\n}\n";

fn rebased(world: &World, id: &str, what: &str, ground: Ground) -> Result<CycleEnd, ReviewError> {
    rebased_by(world, id, (what, ground), &mut Gates::of(world))
}

fn rebased_by(
    world: &World,
    id: &str,
    (what, ground): (&str, Ground),
    gates: &mut Gates<'_>,
) -> Result<CycleEnd, ReviewError> {
    decide(world, id, |deciding| {
        let base = cycle::look(deciding.hands.repo, None).unwrap();
        remake::rebase(deciding, &base, (what, ground), gates, &Cancel::default())
    })
}

fn selected(world: &World, id: &str, what: &str, out: &[&str]) -> Result<CycleEnd, ReviewError> {
    let out: BTreeSet<LeftOut> = out.iter().map(|text| LeftOut::parse(text)).collect();
    decide(world, id, |deciding| {
        let base = cycle::look(deciding.hands.repo, None).unwrap();
        remake::select(deciding, &base, (what, &out), &mut Gates::of(world), &Cancel::default())
    })
}

fn commit(world: &World, path: &str, text: &str) -> String {
    world.write(path, text);
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "A person was faster"]);
    world.rev(MAIN)
}

fn status(world: &World, id: &str) -> Status {
    review::list(&world.repo()).unwrap().into_iter().find(|item| item.id == id).unwrap().status
}

fn whole(world: &World) {
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), []);
}

/// A cycle that would have landed, but for a commit of a person's meanwhile.
fn stale(path: &'static str, text: &'static str) -> World {
    let world = World::new();
    let meanwhile = || drop(commit(&world, path, text));
    let mut gates = Gates { meanwhile: Some(&meanwhile), ..Gates::of(&world) };
    let (end, _) = run_with(&world, &auto("c1"), &mut edit("src/lib.rs", BETTER), &mut gates, &NoFaults);
    assert_eq!(end.unwrap().end, End::Stale);
    world
}

#[test]
fn what_a_moved_target_made_stale_is_weighed_again_where_it_is_now_and_lands() {
    let world = stale("notes.txt", "theirs\n");
    let theirs = world.rev(MAIN);
    let mut gates = Gates::of(&world);
    let end = rebased_by(&world, "r1", ("c1", Ground::Policy), &mut gates).unwrap();
    assert_eq!((end.end, end.candidate.as_deref()), (End::Landed, Some("r1-0")), "{}", end.why);
    assert_eq!(world.git(&["rev-parse", "main^"]), theirs);
    assert_eq!(gates.weighed.borrow().len(), 1, "it was not weighed again");
    assert_eq!(world.git(&["rev-parse", "main^{tree}"]), gates.weighed.borrow()[0].0);
    assert_eq!(
        (world.file("main", "src/lib.rs").as_str(), world.file("main", "notes.txt").as_str()),
        (BETTER.trim_end(), "theirs")
    );
    assert_eq!(world.file("main", "CHANGELOG.md").matches("Count better").count(), 1);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!((status(&world, "c1-0"), status(&world, "r1-0")), (Status::Superseded, Status::Landed));
    let message = world.git(&["log", "-1", "--format=%B", "main"]);
    assert!(message.starts_with("Count better") && message.contains("Selfsmith-Cycle: r1"), "{message}");
    whole(&world);
}

#[test]
fn what_does_not_hold_on_the_moved_target_does_not_land() {
    let world = stale("notes.txt", "theirs\n");
    let theirs = world.rev(MAIN);
    // The gates see the whole tree: what was accepted alone breaks together with what came meanwhile.
    world.write("src/lib.rs", "// BREAK\n");
    let breaks = commit(&world, "src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n// BREAK\n");
    assert_ne!(theirs, breaks);
    let end = rebased(&world, "r1", "c1", Ground::Policy).unwrap();
    assert_eq!((end.end, world.rev(MAIN)), (End::Refused, breaks));
    assert_eq!((status(&world, "c1-0"), status(&world, "r1-0")), (Status::Stale, Status::Refused));
    whole(&world);
}

#[test]
fn where_both_changed_the_same_lines_it_stays_stale() {
    let world = stale("src/lib.rs", "pub fn one() -> u32 {\n    3 - 2\n}\n");
    let theirs = world.rev(MAIN);
    let error = rebased(&world, "r1", "c1", Ground::Policy).unwrap_err();
    assert!(matches!(error, ReviewError::Conflicts { .. }) && error.to_string().contains("src/lib.rs"), "{error}");
    assert_eq!((world.rev(MAIN), status(&world, "c1-0")), (theirs, Status::Stale));
    whole(&world);
}

#[test]
fn an_approval_holds_on_a_moved_target_for_the_same_set_of_blobs() {
    for ask in [false, true] {
        let world = World::new();
        let text = if ask { "// ASK\n" } else { BETTER };
        run(&world, &review("c1"), edit("src/lib.rs", text));
        let theirs = commit(&world, "notes.txt", "theirs\n");
        let end = rebased(&world, "d1", "c1", Ground::Approval).unwrap();
        assert_eq!((end.end, end.landed.unwrap().0), (End::Landed, world.rev(MAIN)));
        assert_eq!(world.git(&["rev-parse", "main^"]), theirs);
        assert_eq!((status(&world, "c1-0"), status(&world, "d1-0")), (Status::Superseded, Status::Landed));
        let operation = ops::list(&world.state()).unwrap().pop().unwrap();
        assert_eq!(
            (operation.kind, operation.authority),
            (Kind::Rebase, Some(selfsmith::store::authority::Authority::Terminal))
        );
        whole(&world);
    }
}

#[test]
fn an_approval_is_void_where_the_blobs_are_others_and_the_new_candidate_waits() {
    let world = World::new();
    let long = |second: &str| format!("// first\n{}// {second}\n", "// same\n".repeat(20));
    commit(&world, "src/other.rs", &long("last"));
    let changed = long("last").replace("// first\n", "// FIRST\n");
    run(&world, &review("c1"), Edits(vec![vec![("src/other.rs", Some(changed))]]));
    let theirs = commit(&world, "src/other.rs", &long("LAST"));
    let end = rebased(&world, "d1", "c1", Ground::Approval).unwrap();
    assert_eq!((end.end, world.rev(MAIN)), (End::Waiting, theirs));
    assert_eq!((status(&world, "c1-0"), status(&world, "d1-0")), (Status::Superseded, Status::Waiting));
    // The person looks at the new one, and approves that.
    let decided = decide(&world, "d2", |d| review::approve(d, "d1-0")).unwrap();
    assert_eq!(decided.end, End::Landed);
    assert!(
        world.file("main", "src/other.rs").starts_with("// FIRST")
            && world.file("main", "src/other.rs").ends_with("// LAST")
    );
    whole(&world);
}

#[test]
fn nothing_that_was_refused_is_made_anew() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", "// BREAK\n"));
    run(&world, &auto("c2"), edit("src/lib.rs", "// UNSEEN\n"));
    run(&world, &review("c3"), edit("src/lib.rs", "// rejected\n"));
    decide(&world, "d1", |d| review::reject(d, "c3", "no")).unwrap();
    run(&world, &auto("c4"), edit("src/lib.rs", "// ASK\n"));
    commit(&world, "notes.txt", "theirs\n");
    for (id, ground) in
        [("c1", Ground::Approval), ("c2", Ground::Approval), ("c3", Ground::Approval), ("c4", Ground::Policy)]
    {
        let error = rebased(&world, "r1", id, ground).unwrap_err();
        assert!(matches!(error, ReviewError::Unfit { .. }), "{id}: {error}");
    }
}

/// A candidate with two hunks in one file, a new file, and a change to a third one.
fn of_parts() -> World {
    let world = World::new();
    let lines = |from: &str, to: &str| format!("// {from}\n{}// {to}\n", "// same\n".repeat(20));
    commit(&world, "src/other.rs", &lines("first", "last"));
    let edits = vec![
        ("src/other.rs", Some(lines("FIRST", "LAST"))),
        ("src/new.rs", Some("// new\n".to_owned())),
        ("src/lib.rs", Some(BETTER.to_owned())),
    ];
    run(&world, &review("c1"), Edits(vec![edits]));
    world
}

#[test]
fn a_hunk_that_is_left_out_makes_a_new_candidate_that_is_weighed_and_lands_without_it() {
    let world = of_parts();
    let before = world.rev(MAIN);
    let end = selected(&world, "s1", "c1", &["src/other.rs:2", "src/new.rs"]).unwrap();
    assert_eq!((end.end, end.candidate.as_deref()), (End::Landed, Some("s1-0")), "{}", end.why);
    assert_eq!(world.git(&["rev-parse", "main^"]), before);
    let other = world.file("main", "src/other.rs");
    assert!(other.starts_with("// FIRST\n") && other.ends_with("// last"), "{other}");
    assert_eq!(world.git(&["diff", "--name-only", "main^", "main"]), "CHANGELOG.md\nsrc/lib.rs\nsrc/other.rs");
    assert_eq!((status(&world, "c1-0"), status(&world, "s1-0")), (Status::Superseded, Status::Landed));
    whole(&world);
}

#[test]
fn what_is_left_after_leaving_out_must_pass_the_gates_itself() {
    let world = World::new();
    // The gates read src/lib.rs alone: what is left breaks.
    commit(&world, "src/lib.rs", &format!("// BREAK\n{}// last\n", "// same\n".repeat(20)));
    let both = format!("// whole\n{}// LAST\n", "// same\n".repeat(20));
    run(&world, &review("c1"), Edits(vec![vec![("src/lib.rs", Some(both))]]));
    let before = world.rev(MAIN);
    let end = selected(&world, "s1", "c1", &["src/lib.rs:1"]).unwrap();
    assert_eq!((end.end, world.rev(MAIN)), (End::Refused, before));
    assert_eq!(status(&world, "c1-0"), Status::Waiting, "the whole of it still waits");
    assert_eq!(selected(&world, "s2", "c1", &["src/lib.rs:2"]).unwrap().end, End::Landed);
    whole(&world);
}

#[test]
fn what_is_no_part_of_it_or_leaves_nothing_is_said() {
    let world = of_parts();
    let before = world.git(&["for-each-ref"]);
    for (out, word) in [
        (&["src/none.rs"][..], "no src/none.rs"),
        (&["src/other.rs:3"], "no src/other.rs, hunk 3"),
        (&["src/other.rs:0"], "hunk 0"),
        (&["src/other.rs", "src/new.rs", "src/lib.rs"], "nothing of it is left"),
        (&["CHANGELOG.md"], "no CHANGELOG.md"),
    ] {
        let error = selected(&world, "s1", "c1", out).unwrap_err();
        assert!(error.to_string().contains(word), "{out:?}: {error}");
    }
    assert_eq!(world.git(&["for-each-ref"]), before);
}

#[test]
fn leaving_out_is_possible_on_a_moved_target_too() {
    let world = of_parts();
    let theirs = commit(&world, "notes.txt", "theirs\n");
    let end = selected(&world, "s1", "c1", &["src/new.rs"]).unwrap();
    assert_eq!((end.end, world.git(&["rev-parse", "main^"])), (End::Landed, theirs));
    assert!(!world.git(&["ls-tree", "-r", "--name-only", "main"]).contains("src/new.rs"));
    whole(&world);
}
