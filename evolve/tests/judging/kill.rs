//! Killed anywhere, it ends as some run would that was not killed.
//!
//! A run is repeated in a process of its own that dies by SIGKILL at the k-th point: before and after each journal entry is
//! written, between write and fsync (with the unsynced bytes lost, or torn in the middle), and around every move of a ref. Then
//! it is started again. The states it may end in are those of runs that were not killed: one to the end, and one interrupted
//! at each point by a person. Times and ids are fixed, so equal states are equal commit ids.

use crate::world::*;
use nix::sys::signal::{Signal, raise};
use selfsmith::cycle;
use selfsmith::judgement::candidate::{Candidate, CommitId, Proposal, TreeId};
use selfsmith::judgement::progress::Report;
use selfsmith::judgement::weigh::{Baseline, Weigh, WeighError, Weighed};
use selfsmith::proposer::{Proposer, ProposerError, Task};
use selfsmith::review;
use selfsmith::review::remake::{self, Ground};
use selfsmith::review::undo::undo;
use selfsmith::store::faults::{Faults, Half, NoFaults, Point};
use selfsmith::store::ops;
use selfsmith_sandbox::Cancel;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tells a process of the test what to run and where to die.
const ORDER: &str = "SELFSMITH_TEST_KILL";

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Story {
    /// Accepted, with a person's unfinished work in the checkout.
    LandsBesideWork,
    /// Accepted, the clean checkout follows.
    LandsOnClean,
    /// One repair, then refused.
    RepairedThenRefused,
    /// A person approves what waits.
    Approved,
    /// A person undoes a landing.
    Undone,
    /// A person reverts a landing.
    Reverted,
    /// A person approves what waits, on a target that has moved: it is made anew and weighed again.
    Remade,
    /// What another process left is finished.
    Recovery,
}

/// What happens to bytes that were written and not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unsynced {
    Kept,
    Lost,
    Torn,
}

/// Dies at a point.
struct Dies {
    at: usize,
    unsynced: Unsynced,
    seen: AtomicUsize,
}

impl Faults for Dies {
    fn reach(&self, point: Point<'_>) -> io::Result<()> {
        if self.seen.fetch_add(1, Ordering::SeqCst) != self.at {
            return Ok(());
        }
        if let (Half::Bytes(path, before), true) = (point.half, self.unsynced != Unsynced::Kept) {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            let written = file.metadata().unwrap().len() - before;
            let left = if self.unsynced == Unsynced::Torn { written / 2 } else { 0 };
            file.set_len(before + left).unwrap();
        }
        raise(Signal::SIGKILL).unwrap();
        Ok(())
    }
}

/// Lists the points, and interrupts at one of them.
#[derive(Default)]
struct Watches {
    points: Mutex<Vec<(String, bool)>>,
    interrupts: Option<(usize, Cancel)>,
}

impl Faults for Watches {
    fn reach(&self, point: Point<'_>) -> io::Result<()> {
        let mut points = self.points.lock().unwrap();
        if let Some((at, cancel)) = &self.interrupts
            && points.len() == *at
        {
            cancel.cancel();
        }
        points.push((point.name.to_owned(), matches!(point.half, Half::Bytes(..))));
        Ok(())
    }
}

/// The scripted proposer, with a point in the middle of its edits.
struct Proposes<'a>(Edits, &'a dyn Faults);

impl Proposer for Proposes<'_> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn propose(&mut self, task: Task<'_>, report: Report<'_>) -> Result<Proposal, ProposerError> {
        fs::write(task.dir.join("src/half.rs"), "// half\n").unwrap();
        self.1.reach(Point { name: "in the middle of proposing", half: Half::Nothing }).unwrap();
        fs::remove_file(task.dir.join("src/half.rs")).unwrap();
        self.0.propose(task, report)
    }
}

/// The scripted gates, with points before they know the base and amid weighing.
struct Weighs<'a>(Gates<'a>, &'a dyn Faults);

impl Weigh for Weighs<'_> {
    fn baseline(&mut self, base: &CommitId, tree: &TreeId, report: Report<'_>) -> Result<Baseline, WeighError> {
        self.1.reach(Point { name: "in the middle of the baseline", half: Half::Nothing }).unwrap();
        self.0.baseline(base, tree, report)
    }

    fn weigh(&mut self, it: &Candidate, baseline: &Baseline, report: Report<'_>) -> Result<Weighed, WeighError> {
        self.1.reach(Point { name: "in the middle of weighing", half: Half::Nothing }).unwrap();
        self.0.weigh(it, baseline, report)
    }
}

impl Story {
    /// The world in which it begins.
    fn begins(self) -> World {
        let world = World::new();
        match self {
            Self::LandsBesideWork | Self::RepairedThenRefused => world.unfinished(),
            Self::LandsOnClean | Self::Recovery => world,
            Self::Approved => {
                run(&world, &review("c0"), edit("src/lib.rs", "// better\n"));
                world
            }
            Self::Remade => {
                run(&world, &review("c0"), edit("src/lib.rs", "// better\n"));
                world.git(&["commit", "-q", "--allow-empty", "-m", "A person goes on"]);
                world
            }
            Self::Undone | Self::Reverted => {
                run(&world, &auto("c0"), edit("src/lib.rs", "// better\n"));
                world
            }
        }
    }

    /// Run it. With a `cancel`, a person may interrupt it.
    fn runs(self, world: &World, repairs: u32, cancel: &Cancel, faults: &dyn Faults) {
        let edits = match self {
            Self::RepairedThenRefused => Edits(vec![
                vec![("src/lib.rs", Some("// REPAIR\n".to_owned()))],
                vec![("src/lib.rs", Some("// BREAK\n".to_owned()))],
            ]),
            _ => edit("src/lib.rs", "// better\n"),
        };
        let mut gates = Weighs(Gates::of(world), faults);
        with_hands(world, faults, |hands| {
            let base = cycle::look(hands.repo, None).unwrap();
            let deciding = || selfsmith::review::Deciding {
                hands,
                id: "d1".to_owned(),
                authority: selfsmith::store::authority::Authority::Terminal,
            };
            match self {
                Self::Approved => drop(review::approve(&deciding(), "c0").unwrap()),
                Self::Remade => {
                    let ground = ("c0", Ground::Approval);
                    drop(remake::rebase(&deciding(), &base, ground, &mut gates, cancel).unwrap());
                }
                Self::Undone => drop(undo(&deciding(), None).unwrap()),
                Self::Reverted => drop(review::revert(&deciding(), &base, "c0", &mut gates, cancel).unwrap()),
                Self::Recovery => drop(cycle::recover(hands).unwrap()),
                Self::LandsBesideWork | Self::LandsOnClean | Self::RepairedThenRefused => {
                    let setup = cycle::Setup {
                        hands,
                        base,
                        id: "c1".to_owned(),
                        goal: "Count better".to_owned(),
                        landing: selfsmith::store::journal::Landing::Auto,
                        authority: None,
                        max_repairs: repairs,
                        defences: selfsmith::judgement::defence::Defences::all(),
                        cancel: cancel.clone(),
                    };
                    cycle::run(setup, &mut Proposes(edits, faults), &mut gates).unwrap();
                }
            }
        });
    }

    /// The points of a run that nobody kills, and the states in which one may end.
    fn unkilled(self, template: &Path) -> (Vec<(String, bool)>, BTreeSet<String>) {
        let mut ends = BTreeSet::new();
        let watches = Watches::default();
        let world = copied(template);
        // Nothing was begun, or it was a decision that had done nothing yet.
        ends.insert(state_of(&world));
        self.runs(&world, 1, &Cancel::default(), &watches);
        ends.insert(state_of(&world));
        let points = watches.points.into_inner().unwrap();
        if self == Self::RepairedThenRefused {
            let world = copied(template);
            self.runs(&world, 0, &Cancel::default(), &NoFaults);
            ends.insert(state_of(&world));
        }
        let mut last = String::new();
        for (at, (name, _)) in points.iter().enumerate() {
            // Effects are not interrupted: a person's interrupt is looked at between arrows.
            if name.starts_with("planned") {
                break;
            }
            let cancel = Cancel::default();
            let watches = Watches { interrupts: Some((at, cancel.clone())), ..Watches::default() };
            let world = copied(template);
            self.runs(&world, 1, &cancel, &watches);
            last = state_of(&world);
            ends.insert(last.clone());
        }
        assert!(!last.is_empty());
        (points, ends)
    }
}

/// A copy of a world, in a folder of its own.
fn copied(from: &Path) -> World {
    let to = tempfile::tempdir_in(quick_folder()).unwrap();
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to.path()).status().unwrap();
    assert!(status.success());
    let world = World::in_folder(to);
    // As after any copy: git compares times before it compares content.
    world.git(&["update-index", "-q", "--really-refresh"]);
    world
}

/// Everything that a run leaves: all refs, the operations, what git says of the checkout.
fn state_of(world: &World) -> String {
    let refs = world.repo().refs("refs/").unwrap();
    let refs: Vec<String> = refs.into_iter().map(|r| format!("{} {}", r.id, r.name)).collect();
    let ops: Vec<String> = ops::list(&world.state()).unwrap().into_iter().map(|op| format!("{op:?}")).collect();
    let status = world.git(&["status", "--porcelain"]);
    format!("{}\n{}\n{status}", refs.join("\n"), ops.join("\n"))
}

/// What must be so after every recovery.
fn holds(world: &World, before: &BTreeMap<String, Vec<u8>>, ends: &BTreeSet<String>, what: &str) {
    let state = state_of(world);
    assert!(ends.contains(&state), "{what}: no unkilled run ends like this:\n{state}");
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), [], "{what}");
    if world.rev("refs/stash").is_empty() {
        assert_eq!(world.git(&["status", "--porcelain"]), "", "{what}: the clean checkout did not follow");
    } else {
        let now = world.persons();
        let changed: Vec<&String> = before.keys().filter(|name| before.get(*name) != now.get(*name)).collect();
        assert!(changed.is_empty() && now.len() == before.len(), "{what}: {changed:?} of the person's changed");
    }
}

fn die(story: Story, world: &World, at: usize, unsynced: Unsynced) -> bool {
    let order = format!("{story:?} {at} {unsynced:?} {}", world.root.display());
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::a_run_in_a_process_of_its_own_ends_well", "--nocapture"])
        .env(ORDER, order)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.signal() == Some(9) || status.success(), "{story:?} at {at}: {status}");
    status.signal() == Some(9)
}

fn restart(world: &World) {
    let count = || with_hands(world, &NoFaults, |hands| cycle::recover(hands).unwrap().len()).0;
    count();
    assert_eq!(count(), 0, "recovering twice does something again");
}

/// How thoroughly a story is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ways {
    /// At every point; unsynced bytes are torn. (Lost ones leave what a kill before the write leaves, kept ones what a kill
    /// after the sync leaves.)
    Torn,
    /// At every point; unsynced bytes are kept, lost and torn.
    All,
    /// As `Torn`, and the recovery is killed once as well, somewhere else each time.
    Again,
}

/// Kill everywhere.
fn everywhere(story: Story, how: Ways) {
    let template = story.begins();
    let (points, ends) = story.unkilled(&template.root);
    let mut kills = 0;
    for (at, (name, has_unsynced)) in points.iter().enumerate() {
        let ways: &[Unsynced] = match (has_unsynced, how) {
            (false, _) => &[Unsynced::Kept],
            (true, Ways::All) => &[Unsynced::Kept, Unsynced::Lost, Unsynced::Torn],
            (true, Ways::Torn | Ways::Again) => &[Unsynced::Torn],
        };
        for way in ways {
            let world = copied(&template.root);
            let before = world.persons();
            assert!(die(story, &world, at, *way), "{story:?}: point {at} ({name}) was not reached");
            kills += 1;
            if how == Ways::Again && die(Story::Recovery, &world, (at * 7) % 23, Unsynced::Torn) {
                kills += 1;
            }
            restart(&world);
            holds(&world, &before, &ends, &format!("{story:?}, killed at {at} ({name}, {way:?})"));
        }
    }
    println!("{story:?}: {} points, {kills} kills, {} states to end in", points.len(), ends.len());
}

/// Run by the others with an order where to die; by itself it shows that the loop's run is one that ends well.
#[test]
fn a_run_in_a_process_of_its_own_ends_well() {
    let Ok(order) = std::env::var(ORDER) else {
        let world = Story::LandsOnClean.begins();
        Story::LandsOnClean.runs(&world, 1, &Cancel::default(), &NoFaults);
        assert_eq!(world.file("main", "src/lib.rs"), "// better");
        return;
    };
    let mut words = order.splitn(4, ' ');
    let story = match words.next().unwrap() {
        "LandsBesideWork" => Story::LandsBesideWork,
        "LandsOnClean" => Story::LandsOnClean,
        "RepairedThenRefused" => Story::RepairedThenRefused,
        "Approved" => Story::Approved,
        "Remade" => Story::Remade,
        "Undone" => Story::Undone,
        "Reverted" => Story::Reverted,
        "Recovery" => Story::Recovery,
        other => panic!("{other}"),
    };
    let at = words.next().unwrap().parse().unwrap();
    let unsynced = match words.next().unwrap() {
        "Kept" => Unsynced::Kept,
        "Lost" => Unsynced::Lost,
        _ => Unsynced::Torn,
    };
    let world = World::at(Path::new(words.next().unwrap()));
    story.runs(&world, 1, &Cancel::default(), &Dies { at, unsynced, seen: AtomicUsize::new(0) });
}

#[test]
fn a_landing_beside_unfinished_work_survives_a_kill_at_every_step() {
    everywhere(Story::LandsBesideWork, Ways::Torn);
}

#[test]
fn a_landing_on_a_clean_checkout_survives_a_kill_at_every_step() {
    everywhere(Story::LandsOnClean, Ways::All);
}

#[test]
fn a_repair_and_a_refusal_survive_a_kill_at_every_step() {
    everywhere(Story::RepairedThenRefused, Ways::Torn);
}

#[test]
fn an_approval_survives_a_kill_at_every_step_and_one_amid_recovery() {
    everywhere(Story::Approved, Ways::Again);
}

#[test]
fn a_candidate_made_anew_survives_a_kill_at_every_step() {
    everywhere(Story::Remade, Ways::Torn);
}

#[test]
fn an_undo_survives_a_kill_at_every_step() {
    everywhere(Story::Undone, Ways::Torn);
}

#[test]
fn a_revert_survives_a_kill_at_every_step() {
    everywhere(Story::Reverted, Ways::Torn);
}
