//! What is run while something goes wrong: honest, hostile and overtaken cycles, and decisions of a person.

use crate::world::*;
use selfsmith::cycle::{self, Setup};
use selfsmith::judgement::candidate::{Candidate, CommitId, TreeId};
use selfsmith::judgement::defence::Defences;
use selfsmith::judgement::progress::{Progress, Report};
use selfsmith::judgement::weigh::{Baseline, Lent, Weigh, WeighError, Weighed};
use selfsmith::ladder::Ladder;
use selfsmith::launcher;
use selfsmith::review::{self, Deciding};
use selfsmith::store::authority::Authority;
use selfsmith::store::faults::{Faults, Half, NoFaults, Point};
use selfsmith::store::journal::Landing;
use selfsmith::workshop::Given;
use selfsmith_sandbox::Cancel;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Story {
    /// Accepted, the clean checkout follows.
    Lands,
    /// Accepted, beside a person's unfinished work.
    LandsBesideWork,
    /// Refused by its tests, after a repair.
    Refused,
    /// Brings a key, and is kept out of the repository.
    Secret,
    /// Accepted, but a person commits to the target meanwhile.
    Overtaken,
    /// A person approves what waits.
    Approved,
    /// A person undoes a landing.
    Undone,
    /// A person reverts a landing.
    Reverted,
}

/// What weighs the candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighing {
    /// Commands of the rules, in the room.
    Commands,
    /// Cargo, in the room.
    Cargo,
}

/// A command that fails where the candidate says so.
const SCRIPT: &str = "if grep -q BREAK src/lib.rs; then echo broken; exit 1; fi\n";
/// Looks like a key, and is nobody's.
const KEY: &str = "AKIAQ7N2XW5TDB4R6GZP";

impl Story {
    /// All.
    pub const ALL: [Self; 8] = [
        Self::Lands,
        Self::LandsBesideWork,
        Self::Refused,
        Self::Secret,
        Self::Overtaken,
        Self::Approved,
        Self::Undone,
        Self::Reverted,
    ];
    /// Those that a proposer begins.
    pub const CYCLES: [Self; 5] = [Self::Lands, Self::LandsBesideWork, Self::Refused, Self::Secret, Self::Overtaken];
    /// Those that a person begins.
    pub const DECISIONS: [Self; 3] = [Self::Approved, Self::Undone, Self::Reverted];

    /// From its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|story| format!("{story:?}") == name)
    }

    /// The world in which it begins; the judge knows its base already.
    pub fn begins(self, weighing: Weighing) -> World {
        let world = World::new();
        match weighing {
            Weighing::Commands => {
                world.write("checks/test.sh", SCRIPT);
                let rules = "build: [ { command: [sh, -c, 'test -f src/lib.rs'] } ]\n\
                             tests: [ { command: [sh, checks/test.sh] } ]\n";
                world.write(".selfsmith/evolve.yaml", &format!("{RULES}{rules}"));
            }
            Weighing::Cargo => {
                let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cycles/base");
                copy(&base, &world.repo_path());
                fs::remove_file(world.repo_path().join("tests/one.rs")).unwrap();
                world.write("src/other.rs", "//! Nothing.\n");
                let rules = "scenarios: [ { command: [sh, checks/run.sh] } ]\n";
                world.write(".selfsmith/evolve.yaml", &format!("{RULES}{rules}"));
            }
        }
        world.git(&["add", "-A"]);
        world.git(&["commit", "-q", "-m", "Rules"]);
        // A first cycle: its baseline is remembered, and it leaves what the decisions are about.
        let landing = if self == Self::Approved { Landing::Review } else { Landing::Auto };
        self.cycle(&world, "c0", landing, &Cancel::default(), &NoFaults).expect("a first cycle");
        if self == Self::LandsBesideWork { world.unfinished() } else { world }
    }

    /// Run it. With a `cancel`, a person may interrupt it.
    ///
    /// # Errors
    /// The judge could not go on; it says why.
    pub fn runs(self, world: &World, cancel: &Cancel, faults: &dyn Faults) -> Result<(), String> {
        let decided = match self {
            Self::Approved => deciding(world, faults, |deciding| review::approve(deciding, "c0").map(drop)),
            Self::Undone => deciding(world, faults, |deciding| review::undo::undo(deciding, None).map(drop)),
            Self::Reverted => {
                let mut weigh = Weighs::new(self, world, cancel, faults);
                deciding(world, faults, |deciding| {
                    let base = cycle::look(deciding.hands.repo, None)?;
                    review::revert(deciding, &base, "c0", &mut weigh, cancel).map(drop)
                })
            }
            _ => return self.cycle(world, "c1", Landing::Auto, cancel, faults),
        };
        decided.map_err(|error| error.to_string())
    }

    /// The cycle with another budget of repairs.
    ///
    /// # Errors
    /// The judge could not go on; it says why.
    pub fn with_repairs(self, world: &World, repairs: u32) -> Result<(), String> {
        self.repaired(world, ("c1", Landing::Auto, repairs), &Cancel::default(), &NoFaults)
    }

    /// One cycle; `c0` is always honest.
    ///
    /// # Errors
    /// The judge could not go on; it says why.
    pub fn cycle(
        self,
        world: &World,
        id: &str,
        landing: Landing,
        cancel: &Cancel,
        faults: &dyn Faults,
    ) -> Result<(), String> {
        self.repaired(world, (id, landing, 1), cancel, faults)
    }

    fn repaired(
        self,
        world: &World,
        (id, landing, max_repairs): (&str, Landing, u32),
        cancel: &Cancel,
        faults: &dyn Faults,
    ) -> Result<(), String> {
        let mut weigh = Weighs::new(if id == "c1" { self } else { Self::Lands }, world, cancel, faults);
        let mut edits = self.edits(world, id);
        let ended = with_hands(world, faults, |hands| {
            let setup = Setup {
                hands,
                base: cycle::look(hands.repo, None)?,
                id: id.to_owned(),
                goal: format!("Count better in {id}"),
                landing,
                authority: Some(Authority::CommandLine),
                max_repairs,
                defences: Defences::all(),
                cancel: cancel.clone(),
            };
            cycle::run(setup, &mut edits, &mut weigh)
        });
        ended.0.map(drop).map_err(|error| error.to_string())
    }

    fn edits(self, world: &World, id: &str) -> Edits {
        let library = fs::read_to_string(world.repo_path().join("src/lib.rs")).unwrap();
        let with = |line: &str| vec![("src/lib.rs", Some(format!("{library}{line}\n")))];
        let wrong = library.replace("max_by_key", "min_by_key");
        let breaks = vec![("src/lib.rs", Some(format!("{wrong}// BREAK\n")))];
        match (id, self) {
            ("c1", Self::Refused) => Edits(vec![breaks.clone(), breaks]),
            ("c1", Self::Secret) => Edits(vec![with(&format!("// {KEY}"))]),
            _ => Edits(vec![with(&format!("// better by {id}"))]),
        }
    }
}

fn deciding(
    world: &World,
    faults: &dyn Faults,
    then: impl FnOnce(&Deciding<'_>) -> Result<(), review::ReviewError>,
) -> Result<(), review::ReviewError> {
    with_hands(world, faults, |hands| then(&Deciding { hands, id: "d1".to_owned(), authority: Authority::Terminal })).0
}

/// The ladder, with a point wherever it says that something happens. Times and logs, which differ from run to run, are left
/// out of its reports, so that equal runs end in equal commits.
struct Weighs<'a> {
    story: Story,
    world: &'a World,
    faults: &'a dyn Faults,
    ladder: Ladder,
}

impl<'a> Weighs<'a> {
    fn new(story: Story, world: &'a World, cancel: &Cancel, faults: &'a dyn Faults) -> Self {
        let repo = world.repo();
        let base = cycle::look(&repo, None).expect("a base");
        let vars: Vec<_> = std::env::vars_os().collect();
        let given = Given {
            environment: launcher::for_agent(&vars),
            slots: world.state().slots(),
            cancel: cancel.clone(),
            accept_weaker_room: false,
            defences: Defences::all(),
            mutants: None,
        };
        Self { story, world, faults, ladder: Ladder::new(repo, base.rules, given) }
    }

    fn reach(&self, name: &str) -> Result<(), WeighError> {
        self.faults
            .reach(Point { name, half: Half::Nothing })
            .map_err(|error| WeighError { what: format!("{name}: {error}"), hint: "none".to_owned() })
    }
}

impl Weigh for Weighs<'_> {
    fn baseline(&mut self, base: &CommitId, tree: &TreeId, report: Report<'_>) -> Result<Baseline, WeighError> {
        self.reach("slot: before the baseline")?;
        let baseline = self.ladder.baseline(base, tree, report)?;
        self.reach("slot: after the baseline")?;
        Ok(Baseline { took_ms: baseline.took_ms.keys().map(|gate| (*gate, 0)).collect(), ..baseline })
    }

    fn lend(&mut self) -> Result<Option<Box<dyn Lent>>, WeighError> {
        self.ladder.lend()
    }

    fn weigh(&mut self, it: &Candidate, baseline: &Baseline, report: Report<'_>) -> Result<Weighed, WeighError> {
        self.reach("slot: before weighing")?;
        if self.story == Story::Overtaken {
            a_person_commits(self.world, &it.base.0);
        }
        let faults = self.faults;
        let watched = move |progress: Progress| {
            if let Progress::GateStarted { gate } = &progress {
                // Whatever is said of it here, a gate cannot be made to fail by it: only the process can die or wait.
                let _ = faults.reach(Point { name: &format!("slot: {gate} begins"), half: Half::Nothing });
            }
            report(progress);
        };
        let mut weighed = self.ladder.weigh(it, baseline, &watched)?;
        for report in &mut weighed.reports {
            report.took = Duration::ZERO;
            report.log.clear();
        }
        self.reach("slot: after weighing")?;
        Ok(weighed)
    }
}

/// On the target, unless it has moved already; always the same commit.
fn a_person_commits(world: &World, base: &str) {
    if world.rev(MAIN) != base {
        return;
    }
    let time = format!("@{NOW} +0000");
    let words = ["commit", "-q", "--allow-empty", "-m", "Mine", "--no-verify"];
    let done = Command::new("git")
        .arg("-C")
        .arg(world.repo_path())
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", &time)
        .env("GIT_COMMITTER_DATE", &time)
        .status()
        .unwrap();
    assert!(done.success());
}

/// Copy a folder over another; `.in` at the end of a name falls away.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let target = to.join(name.strip_suffix(".in").unwrap_or(&name));
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
