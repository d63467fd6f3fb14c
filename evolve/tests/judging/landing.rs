//! What an accepted change does, and what it leaves alone.

use crate::world::*;
use selfsmith::judgement::verdict::Verdict;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::lineage::{LINEAGE_REF, NOTES_REF};
use selfsmith::store::record::End;

const BETTER: &str = "pub fn one() -> u32 {\n    2 - 1\n}\n";

#[test]
fn the_tested_tree_lands_by_fast_forward_with_trailers_note_changelog_and_lineage() {
    let world = World::new();
    let base = world.rev(MAIN);
    let mut gates = Gates::of(&world);
    let (end, _) = run_with(&world, &auto("c1"), &mut edit("src/lib.rs", BETTER), &mut gates, &NoFaults);
    let end = end.unwrap();
    assert_eq!((end.verdict, end.end), (Verdict::Accept, End::Landed));
    let head = world.rev(MAIN);
    assert_eq!(end.landed.unwrap().0, head);
    assert_eq!(world.git(&["rev-parse", "main^"]), base);
    // One tree id all the way.
    assert_eq!(world.git(&["rev-parse", "main^{tree}"]), gates.weighed.borrow()[0].0);
    assert_eq!(world.file("main", "src/lib.rs"), BETTER.trim_end());
    assert_eq!(world.file("main", "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n- Count better\n- Before");
    assert_eq!(world.file("main", "evals/task.md"), "held out");
    let message = world.git(&["log", "-1", "--format=%B", "main"]);
    assert!(!message.contains("#7") && !message.contains("@friend"), "{message}");
    let trailers = world.git(&["log", "-1", "--format=%(trailers:unfold)", "main"]);
    for line in [
        "Selfsmith-Cycle: c1",
        "Selfsmith-Goal: Count better more",
        "Selfsmith-Model: model-of-a-test",
        &format!("Selfsmith-Base: {base}"),
        "Selfsmith-Gates: bounds=pass build=pass tests=pass",
        "Selfsmith-Evidence: ",
    ] {
        assert!(trailers.contains(line), "{line} is not in {trailers}");
    }
    assert_eq!(world.git(&["log", "-1", "--format=%an <%ae>", "main"]), "Selfsmith agent <agent@selfsmith.invalid>");
    let note = world.git(&["notes", "--ref", NOTES_REF, "show", "main"]);
    assert!(note.contains("\"attempts/0/reports.json\""), "{note}");
    let record = world.file(LINEAGE_REF, "record.json");
    assert!(record.contains(&head), "{record}");
    assert!(world.file(LINEAGE_REF, "evidence/rules.yaml").contains("add-only"));
    assert_eq!(world.rev("refs/heads/evolve/c1"), "");
    assert_eq!(world.rev("refs/selfsmith/candidates/c1-0"), head);
    world.git(&["fsck", "--strict"]);
}

#[test]
fn a_clean_checkout_of_the_target_follows_and_an_untracked_file_stays() {
    let world = World::new();
    world.write("untracked.txt", "mine\n");
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    assert_eq!(std::fs::read_to_string(world.repo_path().join("src/lib.rs")).unwrap(), BETTER);
    assert_eq!(world.git(&["status", "--porcelain"]), "?? untracked.txt");
}

#[test]
fn a_dirty_checkout_is_left_alone_byte_for_byte_and_told_how_to_catch_up() {
    let world = World::new().unfinished();
    let before = world.persons();
    let stash = world.git(&["stash", "list"]);
    let (end, told) = run_with(&world, &auto("c1"), &mut edit("src/lib.rs", BETTER), &mut Gates::of(&world), &NoFaults);
    assert_eq!(end.unwrap().end, End::Landed);
    assert_eq!(world.persons(), before);
    assert_eq!(world.git(&["stash", "list"]), stash);
    // What it is told works, and keeps the person's work.
    let text = notices(&told);
    assert!(as_told(&world, &text));
    assert_eq!(std::fs::read_to_string(world.repo_path().join("src/lib.rs")).unwrap(), BETTER);
    assert_eq!(world.git(&["status", "--porcelain"]), " M notes.txt\nM  staged.txt\n?? untracked.txt");
}

/// Do what the notice says, word for word; whether it went well.
fn as_told(world: &World, text: &str) -> bool {
    let at = text.find("git -C ").unwrap();
    let command = text.split_at(at).1.lines().next().unwrap();
    let shell = std::process::Command::new("sh").args(["-c", command]).current_dir(&world.root).output().unwrap();
    shell.status.success()
}

#[test]
fn what_a_dirty_checkout_is_told_does_not_replace_an_ignored_file() {
    let world = World::new().unfinished();
    let new = "src/made.log.rs";
    world.write(".git/info/exclude", "made.log.rs\n");
    world.write(new, "precious\n");
    let mut edits = Edits(vec![vec![(new, Some("// new\n".into())), ("src/lib.rs", Some(BETTER.into()))]]);
    let (end, told) = run_with(&world, &auto("c1"), &mut edits, &mut Gates::of(&world), &NoFaults);
    assert_eq!(end.unwrap().end, End::Landed);
    let text = notices(&told);
    assert!(text.contains(&format!("move aside first what lies where the landing brings files ({new})")), "{text}");
    // The index may be refreshed; what it says may not change.
    let persons = || {
        let mut all = world.persons();
        all.remove("index");
        (all, world.git(&["status", "--porcelain"]))
    };
    let before = persons();
    assert!(!as_told(&world, &text), "it is in the way");
    assert_eq!(persons(), before, "nothing was half done");
    let read = |path: &str| std::fs::read_to_string(world.repo_path().join(path)).unwrap();
    assert_eq!(read(new), "precious\n");
    std::fs::rename(world.repo_path().join(new), world.repo_path().join("kept.log")).unwrap();
    assert!(as_told(&world, &text));
    assert_eq!(
        (read(new).as_str(), read("src/lib.rs").as_str(), read("kept.log").as_str()),
        ("// new\n", BETTER, "precious\n")
    );
    assert_eq!(world.git(&["status", "--porcelain"]), " M notes.txt\nM  staged.txt\n?? untracked.txt");
}

#[test]
fn a_target_that_is_not_checked_out_lands_without_touching_any_checkout() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "work"]);
    let before = world.persons();
    let told = with_hands(&world, &NoFaults, |hands| {
        let base = selfsmith::cycle::look(hands.repo, Some("main")).unwrap();
        let setup = selfsmith::cycle::Setup {
            hands,
            base,
            id: "c1".into(),
            goal: "g".into(),
            landing: selfsmith::store::journal::Landing::Auto,
            authority: None,
            max_repairs: 0,
            defences: selfsmith::judgement::defence::Defences::all(),
            cancel: selfsmith_sandbox::Cancel::default(),
        };
        selfsmith::cycle::run(setup, &mut edit("src/lib.rs", BETTER), &mut Gates::of(&world)).unwrap()
    });
    assert_eq!(told.0.end, End::Landed);
    assert_eq!(world.persons(), before);
    assert_eq!(world.file("main", "src/lib.rs"), BETTER.trim_end());
}

#[test]
fn a_base_that_moved_meanwhile_is_stale_and_nothing_lands() {
    let world = World::new();
    let meanwhile = || {
        world.write("person.txt", "mine\n");
        world.git(&["add", "person.txt"]);
        world.git(&["commit", "-q", "-m", "A person was faster"]);
    };
    let mut gates = Gates { meanwhile: Some(&meanwhile), ..Gates::of(&world) };
    let (end, _) = run_with(&world, &auto("c1"), &mut edit("src/lib.rs", BETTER), &mut gates, &NoFaults);
    let end = end.unwrap();
    assert_eq!((end.end, end.landed), (End::Stale, None));
    assert_eq!(end.verdict, Verdict::Accept);
    assert_eq!(world.git(&["log", "-1", "--format=%s", "main"]), "A person was faster");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(world.rev("refs/heads/evolve/c1"), "");
    assert!(!world.rev("refs/selfsmith/candidates/c1-0").is_empty());
    assert!(world.file(LINEAGE_REF, "record.json").contains("\"stale\""));
}

#[test]
fn a_failed_compile_is_repaired_once_and_both_attempts_are_kept() {
    let world = World::new();
    let edits = Edits(vec![
        vec![("src/lib.rs", Some("// REPAIR\n".to_owned()))],
        vec![("src/lib.rs", Some(BETTER.to_owned()))],
    ]);
    let end = run(&world, &auto("c1"), edits);
    assert_eq!((end.end, end.candidate.as_deref()), (End::Landed, Some("c1-1")));
    assert_eq!(world.file("refs/selfsmith/candidates/c1-0", "src/lib.rs"), "// REPAIR");
    assert_eq!(world.rev("refs/selfsmith/candidates/c1-1"), world.rev(MAIN));
    assert!(world.file(LINEAGE_REF, "evidence/attempts/0/reports.json").contains("does not compile"));
}

#[test]
fn no_changelog_is_made_where_there_was_none_unless_the_rules_name_one() {
    let world = World::new();
    let commit = |message: &str| world.git(&["commit", "-q", "-a", "-m", message]);
    world.git(&["rm", "-q", "CHANGELOG.md"]);
    commit("No changelog");
    assert_eq!(run(&world, &auto("c1"), edit("src/lib.rs", BETTER)).end, End::Landed);
    assert_eq!(world.git(&["diff", "--name-only", "main~1", "main"]), "src/lib.rs");
    let rules = format!("changelog: NEWS.md\n{}", world.file("main", ".selfsmith/evolve.yaml"));
    world.write(".selfsmith/evolve.yaml", &rules);
    commit("Ask for one");
    assert_eq!(run(&world, &auto("c2"), edit("src/lib.rs", "// another\n")).end, End::Landed);
    assert!(world.file("main", "NEWS.md").contains("- Count better"), "{}", world.file("main", "NEWS.md"));
}

#[test]
fn the_second_landing_stands_on_the_first() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    run(&world, &auto("c2"), edit("src/new.rs", "// new\n"));
    assert_eq!(world.git(&["rev-list", "--count", "main"]), "3");
    assert_eq!(world.git(&["rev-list", "--count", LINEAGE_REF]), "2");
    assert_eq!(selfsmith::review::verify(&world.repo(), &world.state()).unwrap(), []);
}

#[test]
fn a_branch_named_evolve_does_not_stand_in_the_way() {
    let world = World::new();
    world.git(&["branch", "evolve"]);
    let base = world.rev(MAIN);
    let during = || assert_eq!(world.rev("refs/heads/selfsmith-evolve/c1"), base);
    let mut gates = Gates { meanwhile: Some(&during), ..Gates::of(&world) };
    let (end, _) = run_with(&world, &auto("c1"), &mut edit("src/lib.rs", BETTER), &mut gates, &NoFaults);
    assert_eq!(end.unwrap().end, End::Landed);
    assert_eq!(world.rev("refs/heads/selfsmith-evolve/c1"), "");
    assert_eq!(world.rev("refs/heads/evolve"), base, "the person's own");
}

#[test]
fn a_branch_of_the_cycle_that_somebody_moved_is_left_alone() {
    let world = World::new();
    let mine = std::cell::RefCell::new(String::new());
    let meanwhile = || {
        let made = world.git(&[
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b.invalid",
            "commit-tree",
            "-m",
            "Mine",
            "-p",
            "main",
            "main^{tree}",
        ]);
        world.git(&["update-ref", "refs/heads/evolve/c1", &made]);
        mine.replace(made);
    };
    let mut gates = Gates { meanwhile: Some(&meanwhile), ..Gates::of(&world) };
    let (end, told) = run_with(&world, &auto("c1"), &mut edit("src/lib.rs", BETTER), &mut gates, &NoFaults);
    assert_eq!(end.unwrap().end, End::Landed);
    assert_eq!(world.rev("refs/heads/evolve/c1"), *mine.borrow());
    assert!(notices(&told).contains("was moved by somebody else"), "{}", notices(&told));
}

#[test]
fn a_checkout_that_cannot_be_brought_along_is_told_no_command_that_fails() {
    let world = World::new();
    world.write("src/lib.rs", "// mine, unfinished\n");
    let before = world.persons();
    let (end, told) = run_with(&world, &auto("c1"), &mut edit("src/lib.rs", BETTER), &mut Gates::of(&world), &NoFaults);
    assert_eq!(end.unwrap().end, End::Landed);
    let text = notices(&told);
    assert!(!text.contains("apply --index") && text.contains("diff HEAD"), "{text}");
    assert_eq!(world.persons(), before);
}

#[test]
fn no_hook_of_the_persons_runs() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let ran = world.root.join("ran");
    for hook in
        ["pre-commit", "post-commit", "reference-transaction", "post-checkout", "post-merge", "post-index-change"]
    {
        let path = world.repo_path().join(".git/hooks").join(hook);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(run(&world, &auto("c1"), edit("src/lib.rs", BETTER)).end, End::Landed);
    assert!(!ran.exists());
}
