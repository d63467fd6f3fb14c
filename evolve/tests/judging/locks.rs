//! A run that is killed while it moves a ref leaves git's lock on it: recovery takes its own away, and never another's.

use crate::world::*;
use selfsmith::cycle::{self, CycleError, Recovered};
use selfsmith::review;
use selfsmith::store::faults::{Faults, NoFaults, Point};
use selfsmith::store::lineage::{LINEAGE_REF, NOTES_REF};
use selfsmith::store::record::End;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// Ends the run when this has happened so many times before.
struct EndsAt(&'static str, AtomicUsize);

impl Faults for EndsAt {
    fn reach(&self, point: Point<'_>) -> std::io::Result<()> {
        if point.name == self.0 && self.1.fetch_sub(1, Ordering::SeqCst) == 0 {
            std::panic::resume_unwind(Box::new("killed"));
        }
        Ok(())
    }
}

/// A cycle that died just after it entered that a ref is moved: the n-th effect of its plan, or the making of its branch.
fn died_at(effect: Option<usize>) -> World {
    let world = World::new();
    let faults = match effect {
        Some(effect) => EndsAt("doing: on the disk", AtomicUsize::new(effect)),
        None => EndsAt("started: on the disk", AtomicUsize::new(1)),
    };
    let run = || run_with(&world, &auto("c1"), &mut edit("src/lib.rs", "// better\n"), &mut Gates::of(&world), &faults);
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "it died");
    world
}

fn lock(world: &World, name: &str) -> PathBuf {
    world.repo_path().join(".git").join(format!("{name}.lock"))
}

fn leave(world: &World, name: &str, content: &str) -> PathBuf {
    let path = lock(world, name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn recover(world: &World) -> Result<Vec<Recovered>, CycleError> {
    with_hands(world, &NoFaults, cycle::recover).0
}

/// The effects of a landing that move a ref, by their place in the plan.
const MOVES: [(Option<usize>, &str); 6] = [
    (None, "refs/heads/evolve/c1"),
    (Some(0), "refs/selfsmith/candidates/c1-0"),
    (Some(1), "refs/heads/evolve/c1"),
    (Some(3), MAIN),
    (Some(6), LINEAGE_REF),
    (Some(7), NOTES_REF),
];

fn goes_on(world: &World, what: &str) {
    recover(world).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(world.repo().locks(), Vec::<PathBuf>::new(), "{what}");
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), [], "{what}");
    world.git(&["commit", "-q", "--allow-empty", "-m", "Mine"]);
}

#[test]
fn a_lock_that_the_killed_run_had_just_taken_is_taken_away_from_every_ref() {
    for (effect, name) in MOVES {
        let world = died_at(effect);
        leave(&world, name, "");
        goes_on(&world, &format!("{effect:?}, {name}"));
    }
}

#[test]
fn a_lock_that_holds_what_the_killed_run_was_to_write_is_taken_away() {
    for (effect, name) in MOVES {
        let world = died_at(effect);
        let id = match effect {
            None => world.rev(MAIN),
            Some(0 | 3) => {
                // The commit that was kept; before it is under its ref, only the journal knows it.
                let journal = fs::read_to_string(world.state().cycle("c1").journal()).unwrap();
                let (_, after) = journal.split_once(r#""landed":""#).unwrap();
                after.chars().take(40).collect()
            }
            Some(1) => continue, // what is removed is not written
            Some(_) => {
                let (judge, now) = (selfsmith::store::lineage::judge(), selfsmith::store::lineage::at(NOW));
                let tree = world.repo().empty_tree().unwrap();
                let new =
                    selfsmith_repo::NewCommit { tree: &tree, parents: &[], author: &judge, message: "x", when: now };
                world.repo().commit(new).unwrap()
            }
        };
        leave(&world, name, &format!("{id}\n"));
        goes_on(&world, &format!("{effect:?}, {name}"));
    }
}

#[test]
fn the_lock_of_the_packed_refs_is_taken_away_where_a_ref_was_being_removed() {
    let world = died_at(Some(1));
    leave(&world, "packed-refs", "# pack-refs with: peeled fully-peeled sorted \n");
    goes_on(&world, "packed");
}

#[test]
fn another_s_lock_stays_and_its_path_is_said() {
    let other = |world: &World| format!("{}\n", world.git(&["commit-tree", "HEAD^{tree}", "-m", "other"]));
    for case in ["another id", "made long before", "open in a living process", "no move was under way"] {
        let world = died_at((case != "no move was under way").then_some(3).or(Some(2)));
        let path = leave(&world, MAIN, if case == "another id" { other(&world) } else { String::new() }.as_str());
        let file = File::options().write(true).open(&path).unwrap();
        if case == "made long before" {
            file.set_modified(SystemTime::now() - Duration::from_secs(600)).unwrap();
        }
        let held = (case == "open in a living process").then_some(file);
        let before = world.rev(MAIN);
        let error = recover(&world).expect_err(case);
        assert!(error.to_string().contains(path.to_str().unwrap()), "{case}: {error}");
        assert!(error.hint().contains("remove"), "{case}: {}", error.hint());
        assert!(path.exists() && world.rev(MAIN) == before, "{case}");
        drop(held);
        fs::remove_file(path).unwrap();
        let ends: Vec<End> = recover(&world).unwrap().into_iter().map(|recovered| recovered.end).collect();
        assert_eq!(ends, [End::Landed], "{case}");
    }
}
