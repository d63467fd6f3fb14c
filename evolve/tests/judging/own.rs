//! The judge on its own repository.

use crate::world::*;
use selfsmith::judgement::candidate::TreeId;
use selfsmith::rules::own;
use selfsmith::store::record::End;
use std::path::Path;
use std::process::Command;

/// The judge's sources, as they are now.
fn with_own_sources() -> World {
    let world = World::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for folder in ["evolve", "crates"] {
        let status = Command::new("cp").arg("-r").arg(root.join(folder)).arg(world.repo_path()).status().unwrap();
        assert!(status.success());
    }
    world.git(&["add", "-A", "-f"]);
    world.git(&["commit", "-q", "-m", "The judge"]);
    world
}

#[test]
fn the_digest_of_the_base_is_the_one_that_was_built_in() {
    let world = with_own_sources();
    let tree = TreeId(world.git(&["rev-parse", "main^{tree}"]));
    assert_eq!(own::digest(&world.repo(), &tree).unwrap().as_deref(), Some(env!("SELFSMITH_JUDGE_TREE")));
}

#[test]
fn a_judge_built_from_other_sources_judges_nothing() {
    let world = with_own_sources();
    let base = world.rev(MAIN);
    let end = run(&world, &auto("c1"), edit("src/lib.rs", "// better\n"));
    assert_eq!((end.end, end.verdict.word()), (End::Inconclusive, "inconclusive"));
    assert!(end.why.contains("rebuild the judge"), "{}", end.why);
    assert_eq!(world.rev(MAIN), base);
}
