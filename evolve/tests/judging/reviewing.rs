//! What a person decides, and what can be checked and taken back afterwards.

use crate::world::*;
use selfsmith::judgement::progress::Progress;
use selfsmith::review::undo::undo;
use selfsmith::review::{self, Status};
use selfsmith::store::lineage::{LINEAGE_REF, NOTES_REF};
use selfsmith::store::ops;
use selfsmith::store::record::End;

const BETTER: &str = "// better\n";

fn status(world: &World, id: &str) -> Status {
    review::list(&world.repo()).unwrap().into_iter().find(|item| item.id == id).unwrap().status
}

#[test]
fn an_approved_candidate_lands_as_it_was_judged() {
    let world = World::new();
    run(&world, &review("c1"), edit("src/lib.rs", BETTER));
    let kept = world.rev("refs/selfsmith/candidates/c1-0");
    assert_eq!(status(&world, "c1-0"), Status::Waiting);
    let decided = decide(&world, "d1", |d| review::approve(d, "c1")).unwrap();
    assert_eq!((decided.end, decided.landed.unwrap().0), (End::Landed, kept.clone()));
    assert_eq!(world.rev(MAIN), kept);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(status(&world, "c1-0"), Status::Landed);
    assert!(world.file(LINEAGE_REF, "record.json").contains("\"terminal\""));
    assert!(world.git(&["notes", "--ref", NOTES_REF, "show", "main"]).contains("\"d1\""));
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), []);
    assert!(decide(&world, "d2", |d| review::approve(d, "c1")).is_err(), "it does not wait any more");
}

#[test]
fn a_person_may_land_what_the_gates_left_to_a_person() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", "// ASK\n"));
    assert_eq!(decide(&world, "d1", |d| review::approve(d, "c1-0")).unwrap().end, End::Landed);
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), []);
}

#[test]
fn nobody_can_approve_a_reject_or_what_could_not_be_checked() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", "// BREAK\n"));
    run(&world, &auto("c2"), edit("src/lib.rs", "// UNSEEN\n"));
    let base = world.rev(MAIN);
    for id in ["c1", "c2"] {
        let error = decide(&world, "d1", |d| review::approve(d, id)).unwrap_err();
        assert!(error.to_string().contains("does not wait"), "{error}");
    }
    assert_eq!(world.rev(MAIN), base);
}

#[test]
fn an_approval_after_the_base_moved_is_stale() {
    let world = World::new();
    run(&world, &review("c1"), edit("src/lib.rs", BETTER));
    world.git(&["commit", "-q", "--allow-empty", "-m", "A person goes on"]);
    let head = world.rev(MAIN);
    assert_eq!(decide(&world, "d1", |d| review::approve(d, "c1")).unwrap().end, End::Stale);
    assert_eq!(world.rev(MAIN), head);
    assert_eq!(status(&world, "c1-0"), Status::Stale);
}

#[test]
fn an_approval_is_void_if_the_ref_was_bent() {
    let world = World::new();
    run(&world, &review("c1"), edit("src/lib.rs", BETTER));
    let base = world.rev(MAIN);
    world.git(&["update-ref", "refs/selfsmith/candidates/c1-0", &base]);
    let error = decide(&world, "d1", |d| review::approve(d, "c1")).unwrap_err();
    assert!(error.to_string().contains("something else"), "{error}");
    assert_eq!(world.rev(MAIN), base);
    assert!(!review::verify(&world.repo(), &world.state()).unwrap().is_empty());
}

#[test]
fn a_rejected_candidate_stays_and_never_lands() {
    let world = World::new();
    run(&world, &review("c1"), edit("src/lib.rs", BETTER));
    decide(&world, "d1", |d| review::reject(d, "c1", "not now")).unwrap();
    assert_eq!(status(&world, "c1-0"), Status::Rejected);
    assert!(decide(&world, "d2", |d| review::approve(d, "c1")).is_err());
    let shown = review::show(&world.repo(), "c1").unwrap();
    assert_eq!(shown.decisions[0].proposal.summary, "not now");
    assert_eq!(shown.diff.len(), 2);
    assert!(shown.message.contains("Selfsmith-Cycle: c1"));
}

#[test]
fn undo_moves_the_target_back_and_undoing_that_brings_it_again() {
    let world = World::new();
    let base = world.rev(MAIN);
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    let landed = world.rev(MAIN);
    decide(&world, "u1", |d| undo(d, None)).unwrap();
    assert_eq!(world.rev(MAIN), base);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(status(&world, "c1-0"), Status::Undone);
    decide(&world, "u2", |d| undo(d, None)).unwrap();
    assert_eq!(world.rev(MAIN), landed);
    assert_eq!(status(&world, "c1-0"), Status::Landed);
    let ids: Vec<String> = ops::list(&world.state()).unwrap().into_iter().map(|op| op.id).collect();
    assert_eq!(ids, ["c1", "u1", "u2"]);
    decide(&world, "u3", |d| undo(d, None)).unwrap();
    let titles: Vec<String> = ops::list(&world.state()).unwrap().into_iter().skip(1).map(|op| op.what).collect();
    let goal = "Count better more";
    assert_eq!(titles, [format!("Undo \"{goal}\""), format!("Bring back \"{goal}\""), format!("Undo \"{goal}\"")]);
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), []);
}

#[test]
fn an_undo_is_told_as_one_and_a_checkout_that_never_followed_needs_nothing() {
    let world = World::new().unfinished();
    let base = world.rev(MAIN);
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    let authority = selfsmith::store::authority::Authority::Terminal;
    let (undone, told) = with_hands(&world, &selfsmith::store::faults::NoFaults, |hands| {
        undo(&review::Deciding { hands, id: "u1".to_owned(), authority }, None)
    });
    undone.unwrap();
    assert_eq!(world.rev(MAIN), base);
    assert_eq!(notices(&told), "", "index and files are as the branch is again");
    let back = Progress::TakenBack { commit: selfsmith::judgement::candidate::CommitId(base), target: MAIN.to_owned() };
    assert!(told.contains(&back) && !told.iter().any(|p| matches!(p, Progress::Landed { .. })), "{told:?}");
}

#[test]
fn what_was_built_upon_cannot_be_undone() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    world.git(&["commit", "-q", "--allow-empty", "-m", "A person goes on"]);
    let head = world.rev(MAIN);
    let error = decide(&world, "u1", |d| undo(d, Some("c1"))).unwrap_err();
    assert!(error.hint().contains("revert"), "{error}");
    assert_eq!(world.rev(MAIN), head);
}

fn reverted(world: &World, id: &str, what: &str) -> Result<review::Decided, review::ReviewError> {
    decide(world, id, |deciding| {
        let base = selfsmith::cycle::look(deciding.hands.repo, None).unwrap();
        review::revert(deciding, &base, what, &mut Gates::of(world), &selfsmith_sandbox::Cancel::default())
    })
}

#[test]
fn a_revert_is_a_commit_of_its_own_that_passes_the_gates() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    run(&world, &auto("c2"), edit("src/new.rs", "// new\n"));
    let before = world.rev(MAIN);
    let decided = reverted(&world, "r1", "c1").unwrap();
    assert_eq!(decided.end, End::Landed, "{:?}", decided.verdict);
    assert_eq!(world.git(&["rev-parse", "main^"]), before);
    assert_eq!(world.file("main", "src/lib.rs"), world.file("main~3", "src/lib.rs"));
    assert_eq!(world.file("main", "src/new.rs"), "// new");
    let log = world.file("main", "CHANGELOG.md");
    assert!(log.contains("- Reverted: Count better") && log.matches("Count better").count() == 3, "{log}");
    assert_eq!(status(&world, "c1-0"), Status::Reverted);
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), []);
    assert!(reverted(&world, "r2", "c1").is_err(), "it is reverted already");
}

#[test]
fn a_revert_that_breaks_something_does_not_land() {
    let world = World::new();
    world.write("src/lib.rs", "// BREAK\n");
    world.git(&["commit", "-q", "-am", "Red base"]);
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    let head = world.rev(MAIN);
    let decided = reverted(&world, "r1", "c1").unwrap();
    assert_eq!((decided.end, decided.verdict.word()), (End::Refused, "reject"));
    assert_eq!(world.rev(MAIN), head);
    assert_eq!(status(&world, "c1-0"), Status::Landed);
}

#[test]
fn a_tampered_lineage_is_found_out() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    run(&world, &auto("c2"), edit("src/lib.rs", "// BREAK\n"));
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), []);
    // Somebody rewrites the last link so that the reject reads as an acceptance.
    let record = world.file(LINEAGE_REF, "record.json");
    let forged = record.replace("\"verdict\": \"reject\"", "\"verdict\": \"accept\"");
    assert_ne!(record, forged);
    world.write("forged.json", &forged);
    let blob = world.git(&["hash-object", "-w", "forged.json"]);
    let tree = world.git(&["rev-parse", &format!("{LINEAGE_REF}^{{tree}}")]);
    let listing = world
        .git(&["ls-tree", &tree])
        .replace(&world.git(&["rev-parse", &format!("{LINEAGE_REF}:record.json")]), &blob);
    world.write("listing", &format!("{listing}\n"));
    let script = "git mktree < listing";
    let tree = String::from_utf8(
        std::process::Command::new("sh").args(["-c", script]).current_dir(world.repo_path()).output().unwrap().stdout,
    )
    .unwrap();
    let message = world.git(&["log", "-1", "--format=%B", LINEAGE_REF]);
    let parent = world.git(&["rev-parse", &format!("{LINEAGE_REF}^")]);
    let commit = world.git(&["commit-tree", tree.trim(), "-p", &parent, "-m", &message]);
    world.git(&["update-ref", LINEAGE_REF, &commit]);
    let faults = review::verify(&world.repo(), &world.state()).unwrap();
    assert!(faults.iter().any(|f| f.id == "c2" && f.what.contains("does not follow")), "{faults:?}");
}

/// What the check says after the lineage was bent: a line for each fault.
fn missed(world: &World) -> String {
    let faults = review::verify(&world.repo(), &world.state()).unwrap();
    faults.iter().map(|fault| format!("{}: {}\n", fault.id, fault.what)).collect()
}

#[test]
fn a_chain_that_was_moved_back_or_deleted_is_noticed_by_what_others_tell() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    run(&world, &auto("c2"), edit("src/lib.rs", "// BREAK\n"));
    decide(&world, "u1", |d| undo(d, None)).unwrap();
    assert_eq!(missed(&world), "");
    let head = world.rev(LINEAGE_REF);
    world.git(&["update-ref", LINEAGE_REF, &format!("{LINEAGE_REF}~1")]);
    let said = missed(&world);
    assert!(said.starts_with("u1: ") && said.contains("its journal") && said.contains("the operation log"), "{said}");
    assert!(said.contains("refs/selfsmith/undone/u1") && said.lines().count() == 1, "{said}");
    world.git(&["update-ref", "-d", LINEAGE_REF]);
    let said = missed(&world);
    assert!(["c1: ", "c2: ", "u1: "].iter().all(|id| said.contains(id)), "{said}");
    assert!(said.starts_with(&format!("{LINEAGE_REF}: the ref is gone")), "{said}");
    assert!(said.contains("the note on") && said.contains("refs/selfsmith/candidates/c2-0"), "{said}");
    world.git(&["update-ref", LINEAGE_REF, &head]);
    assert_eq!(missed(&world), "");
}

#[test]
fn a_clone_without_the_judges_refs_is_told_by_the_trailers_on_its_branch() {
    let world = World::new();
    run(&world, &auto("c1"), edit("src/lib.rs", BETTER));
    let clone = World::at(&world.root.join("elsewhere"));
    std::fs::create_dir(&clone.root).unwrap();
    world.git(&["clone", "-q", ".", clone.repo_path().to_str().unwrap()]);
    let said = missed(&clone);
    assert!(said.contains("c1: ") && said.contains(&format!("the commit {}", world.rev(MAIN))), "{said}");
    assert!(said.contains("git fetch REMOTE"), "{said}");
}
