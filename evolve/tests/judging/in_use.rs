//! A branch that git itself would not move, or that is reached by another name.

use crate::world::*;
use selfsmith::cycle::{self, CycleError};
use selfsmith::review::{self, undo::undo};
use selfsmith::store::faults::NoFaults;
use selfsmith::store::record::End;
use std::fs;

const BETTER: &str = "pub fn one() -> u32 {\n    2 - 1\n}\n";

/// What a rebase, a bisect and a rebase that brings other branches along leave while they are under way.
const MARKS: [(&str, &str, &str); 4] = [
    ("rebase-merge/head-name", "refs/heads/main\n", "rebase --abort"),
    ("rebase-apply/head-name", "refs/heads/main\n", "rebase --abort"),
    ("rebase-merge/update-refs", "refs/heads/main\n1111\n2222\n", "rebase --abort"),
    ("BISECT_START", "main\n", "bisect reset"),
];

fn refused(error: &CycleError, remedy: &str) {
    assert!(matches!(error, CycleError::Target { .. }), "{error}");
    assert!(error.to_string().contains("move main: it is being") && error.hint().contains(remedy), "{error}");
}

#[test]
fn a_branch_that_is_being_rebased_or_bisected_anywhere_is_refused_before_anything() {
    for (file, text, remedy) in MARKS {
        let world = World::new();
        world.git(&["worktree", "add", "-q", "--detach", "../linked"]);
        for git_dir in [".git", ".git/worktrees/linked"] {
            let path = format!("{git_dir}/{file}");
            world.write(&path, text);
            refused(&cycle::look(&world.repo(), Some("main")).expect_err(&path), remedy);
            fs::remove_file(world.repo_path().join(path)).unwrap();
            cycle::look(&world.repo(), Some("main")).unwrap();
        }
    }
}

#[test]
fn a_rebase_that_begins_meanwhile_keeps_what_was_accepted_and_decisions_wait_for_its_end() {
    let world = World::new();
    run(&world, &auto("c0"), edit("src/lib.rs", BETTER));
    run(&world, &review("c1"), edit("src/lib.rs", "// waits\n"));
    let before = world.rev(MAIN);
    let head_name = world.repo_path().join(".git/rebase-merge/head-name");
    let rebase = || world.write(".git/rebase-merge/head-name", "refs/heads/main\n");
    let mut gates = Gates { meanwhile: Some(&rebase), ..Gates::of(&world) };
    let (end, told) = run_with(&world, &auto("c2"), &mut edit("src/other.rs", "// new\n"), &mut gates, &NoFaults);
    assert_eq!((end.unwrap().end, world.rev(MAIN)), (End::Stale, before.clone()));
    assert!(notices(&told).contains("it is being rebased"), "{}", notices(&told));
    let approved = decide(&world, "d1", |deciding| review::approve(deciding, "c1").expect_err("is refused"));
    let undone = decide(&world, "d2", |deciding| undo(deciding, None).expect_err("is refused"));
    for error in [approved, undone] {
        assert!(error.hint().contains("rebase --abort"), "{error}");
    }
    assert_eq!(world.rev(MAIN), before);
    fs::remove_dir_all(head_name.parent().unwrap()).unwrap();
    let landed = decide(&world, "d3", |deciding| review::approve(deciding, "c1").unwrap());
    assert_eq!(landed.end, End::Landed);
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), []);
}

#[test]
fn a_checkout_by_a_name_that_leads_to_the_target_follows() {
    let world = World::new();
    world.git(&["symbolic-ref", "refs/heads/alias", MAIN]);
    world.git(&["checkout", "-q", "alias"]);
    assert_eq!(cycle::look(&world.repo(), Some("alias")).unwrap().target, MAIN);
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    assert_eq!(fs::read_to_string(world.repo_path().join("src/lib.rs")).unwrap(), BETTER);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_git_folder_that_lies_elsewhere_is_worked_with() {
    let world = World::new();
    let (from, to) = (world.repo_path().join(".git"), world.root.join("elsewhere.git"));
    fs::rename(&from, &to).unwrap();
    fs::write(&from, format!("gitdir: {}\n", to.display())).unwrap();
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    assert_eq!(fs::read_to_string(world.repo_path().join("src/lib.rs")).unwrap(), BETTER);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_index_that_cannot_be_read_is_refused_first_with_the_command_that_mends_it() {
    let world = World::new();
    world.git(&["update-index", "--split-index"]);
    let error = cycle::look(&world.repo(), None).expect_err("a split index");
    assert!(matches!(error, CycleError::Target { .. }) && error.hint().contains("--no-split-index"), "{error}");
    world.git(&["update-index", "--no-split-index"]);
    cycle::look(&world.repo(), None).unwrap();
    world.write(".git/index", "no index\n");
    let error = cycle::look(&world.repo(), None).expect_err("a damaged index");
    assert!(matches!(error, CycleError::Target { .. }), "{error}");
}

#[test]
fn a_base_that_git_shows_otherwise_is_refused_by_name() {
    let world = World::new();
    let base = world.rev(MAIN);
    let new = |what: &str| world.git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", what]);
    let blob = world.git(&["rev-parse", "HEAD:src/lib.rs"]);
    let other = world.git(&["rev-parse", "HEAD:src/other.rs"]);
    for (old, new) in [(base.clone(), new("other")), (blob, other)] {
        world.git(&["replace", &old, &new]);
        let error = cycle::look(&world.repo(), None).expect_err(&old);
        assert!(error.to_string().contains(&format!("refs/replace/{old}")) && error.hint().contains("replace -d"));
        world.git(&["replace", "-d", &old]);
        cycle::look(&world.repo(), None).unwrap();
    }
}

#[test]
fn what_is_no_name_of_a_branch_is_a_fault_of_the_command_line() {
    let world = World::new();
    for name in ["a..b", "-x.lock", "refs/heads/", "a b"] {
        let error = cycle::look(&world.repo(), Some(name)).expect_err(name);
        assert!(matches!(error, CycleError::Target { .. }), "{name}: {error}");
    }
}
