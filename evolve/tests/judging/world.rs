//! A repository with a person's unfinished work in it, a scripted proposer, scripted gates, and one cycle on it.

use selfsmith::cycle::{self, CycleEnd, CycleError, Hands, Setup};
use selfsmith::judgement::candidate::{Candidate, CommitId, Proposal, TreeId};
use selfsmith::judgement::defence::Defences;
use selfsmith::judgement::gate::{GateName, GateOutcome, GateReport};
use selfsmith::judgement::progress::{Progress, Report};
use selfsmith::judgement::weigh::{Baseline, Weigh, WeighError, Weighed};
use selfsmith::proposer::{Proposer, ProposerError, Task};
use selfsmith::review::Deciding;
use selfsmith::store::authority::Authority;
use selfsmith::store::faults::{Faults, NoFaults};
use selfsmith::store::journal::Landing;
use selfsmith::store::state::StateFolder;
use selfsmith_repo::Repo;
use selfsmith_sandbox::Cancel;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub const MAIN: &str = "refs/heads/main";
/// The time of everything.
pub const NOW: i64 = 1_800_000_000;

pub const RULES: &str = "zones:\n  - { path: 'src/**', zone: open }\n  - { path: 'tests/**', zone: add-only }\n  - { path: 'docs/**', zone: review }\n";

/// Memory where there is such a folder: what dies here is a process, never a disk, and some thousand syncs are waited for.
pub fn quick_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if tempfile::tempdir_in(memory).is_ok() { memory.to_owned() } else { std::env::temp_dir() }
}

/// A folder with a repository `repo` and a state folder `state`.
pub struct World {
    pub root: PathBuf,
    _temp: Option<tempfile::TempDir>,
}

impl World {
    /// A fresh one: a base commit on `main`, checked out and clean.
    pub fn new() -> Self {
        let temp = tempfile::tempdir_in(quick_folder()).unwrap();
        let world = Self::in_folder(temp);
        fs::create_dir_all(world.repo_path()).unwrap();
        world.git(&["init", "-q", "-b", "main", "--template="]);
        world.git(&["config", "user.name", "A Person"]);
        world.git(&["config", "user.email", "person@example.com"]);
        for (path, text) in [
            ("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
            ("src/other.rs", "// other\n"),
            ("tests/one.rs", "#[test]\nfn one() {}\n"),
            ("docs/book.md", "# Book\n"),
            ("evals/task.md", "held out\n"),
            ("notes.txt", "committed\n"),
            ("staged.txt", "committed\n"),
            ("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- Before\n"),
            (".selfsmith/evolve.yaml", RULES),
            (".gitignore", "target\n*.log\n"),
        ] {
            world.write(path, text);
        }
        world.git(&["add", "-A"]);
        world.git(&["commit", "-q", "-m", "Base"]);
        world
    }

    /// One in this folder, which goes with it.
    pub fn in_folder(temp: tempfile::TempDir) -> Self {
        Self { root: temp.path().canonicalize().unwrap(), _temp: Some(temp) }
    }

    /// One that is there already.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), _temp: None }
    }

    /// The person's unfinished work: a dirty, a staged and an untracked file, and a stash.
    pub fn unfinished(self) -> Self {
        self.write("src/other.rs", "// stashed\n");
        self.git(&["stash", "-q"]);
        self.write("staged.txt", "staged\n");
        self.git(&["add", "staged.txt"]);
        self.write("notes.txt", "dirty\n");
        self.write("untracked.txt", "mine\n");
        self
    }

    pub fn repo_path(&self) -> PathBuf {
        self.root.join("repo")
    }

    pub fn repo(&self) -> Repo {
        Repo::open(&self.repo_path()).unwrap()
    }

    pub fn state(&self) -> StateFolder {
        StateFolder::open(&self.root.join("state"), "sample").unwrap()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.repo_path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Plain git, as a person would run it.
    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.repo_path())
            .args(args)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// A ref, or the empty text.
    pub fn rev(&self, name: &str) -> String {
        self.repo().read_ref(name).unwrap().unwrap_or_default()
    }

    /// A file of a commit.
    pub fn file(&self, commit: &str, path: &str) -> String {
        self.git(&["show", &format!("{commit}:{path}")])
    }

    /// Everything of the person's that must not change, byte for byte. `tracked` is left out where a landing may bring the
    /// checkout along.
    pub fn persons(&self) -> BTreeMap<String, Vec<u8>> {
        let mut all = BTreeMap::new();
        let git = self.repo_path().join(".git");
        for name in ["index", "config", "HEAD", "refs/stash", "logs/refs/stash"] {
            all.insert(name.to_owned(), fs::read(git.join(name)).unwrap_or_default());
        }
        for name in ["notes.txt", "staged.txt", "untracked.txt", "src/other.rs", "src/lib.rs"] {
            all.insert(name.to_owned(), fs::read(self.repo_path().join(name)).unwrap_or_default());
        }
        for reference in self.repo().refs("refs/").unwrap() {
            let ours = ["refs/selfsmith/", "refs/notes/selfsmith", "refs/heads/evolve/", MAIN];
            if !ours.iter().any(|prefix| reference.name.starts_with(prefix)) {
                all.insert(reference.name, reference.id.into_bytes());
            }
        }
        all
    }
}

/// Edits the folder: attempt n gets the n-th list of files; no text removes one.
pub struct Edits(pub Vec<Vec<(&'static str, Option<String>)>>);

/// The usual change.
pub fn edit(path: &'static str, text: &str) -> Edits {
    Edits(vec![vec![(path, Some(text.to_owned()))]])
}

impl Proposer for Edits {
    fn name(&self) -> &str {
        "scripted"
    }

    fn model(&self) -> Option<String> {
        Some("model-of-a-test".to_owned())
    }

    fn propose(&mut self, task: Task<'_>, _report: Report<'_>) -> Result<Proposal, ProposerError> {
        assert!(!task.dir.join("evals").exists(), "the proposer sees what is held out");
        assert!(!task.dir.join(".git").exists());
        assert_eq!(task.diagnostics.is_some(), task.attempt > 0);
        let Some(edits) = self.0.get(task.attempt as usize) else {
            return Err(ProposerError { what: "nothing to propose".into(), hint: "script more".into() });
        };
        for (path, text) in edits {
            let path = task.dir.join(path);
            match text {
                Some(text) => {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text).unwrap();
                }
                None => fs::remove_file(path).unwrap(),
            }
        }
        Ok(Proposal {
            summary: "Count better\n\nFixes #7\n@friend".into(),
            prediction: "Counts are right".into(),
            ..Proposal::default()
        })
    }
}

/// Gates that read their answer out of `src/lib.rs`: BREAK, REPAIR, ASK, UNSEEN; otherwise they pass.
pub struct Gates<'a> {
    pub world: &'a World,
    pub weighed: RefCell<Vec<TreeId>>,
    /// Done while a candidate is weighed.
    pub meanwhile: Option<&'a dyn Fn()>,
}

impl<'a> Gates<'a> {
    pub fn of(world: &'a World) -> Self {
        Self { world, weighed: RefCell::default(), meanwhile: None }
    }
}

impl Weigh for Gates<'_> {
    fn baseline(&mut self, _base: &CommitId, _tree: &TreeId, _report: Report<'_>) -> Result<Baseline, WeighError> {
        Ok(Baseline { tests: BTreeMap::from([("one".to_owned(), "ok".to_owned())]), ..Baseline::default() })
    }

    fn weigh(&mut self, candidate: &Candidate, _: &Baseline, _report: Report<'_>) -> Result<Weighed, WeighError> {
        self.weighed.borrow_mut().push(candidate.tree.clone());
        if let Some(meanwhile) = self.meanwhile {
            meanwhile();
        }
        let repo = self.world.repo();
        let entry = repo.entry(&candidate.tree.0, &"src/lib.rs".into()).unwrap().unwrap();
        let text = String::from_utf8(repo.blob(&entry.id).unwrap()).unwrap();
        let result = if text.contains("BREAK") {
            GateOutcome::Fail { why: "a test fails".into(), repairable: false }
        } else if text.contains("REPAIR") {
            GateOutcome::Fail { why: "it does not compile".into(), repairable: true }
        } else if text.contains("ASK") {
            GateOutcome::Ask { why: "an inline test changed".into() }
        } else if text.contains("UNSEEN") {
            GateOutcome::Unknown { why: "it took too long".into() }
        } else {
            GateOutcome::Pass
        };
        let took = Duration::from_millis(1);
        let report = |gate, result| GateReport { gate, result, took, log: "log".into(), counts: BTreeMap::new() };
        Ok(Weighed {
            reports: vec![report(GateName::Build, GateOutcome::Pass), report(GateName::Tests, result)],
            required: vec![GateName::Build, GateName::Tests],
        })
    }
}

/// A cycle as asked for.
pub struct Cycle {
    pub id: &'static str,
    pub landing: Landing,
    pub repairs: u32,
    pub cancel: Cancel,
}

pub fn auto(id: &'static str) -> Cycle {
    Cycle { id, landing: Landing::Auto, repairs: 1, cancel: Cancel::default() }
}

pub fn review(id: &'static str) -> Cycle {
    Cycle { landing: Landing::Review, ..auto(id) }
}

/// The person's environment for git.
pub fn environment() -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = std::env::vars_os().filter(|(name, _)| name == "PATH").collect();
    all.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    all.push(("GIT_CONFIG_NOSYSTEM".into(), "1".into()));
    all
}

/// Run something with hands on this world, and collect what is told.
pub fn with_hands<T>(world: &World, faults: &dyn Faults, then: impl FnOnce(Hands<'_>) -> T) -> (T, Vec<Progress>) {
    let told = RefCell::new(Vec::new());
    let (repo, state, environment) = (world.repo(), world.state(), environment());
    let report = |progress: Progress| told.borrow_mut().push(progress);
    let hands = Hands {
        repo: &repo,
        state: &state,
        clock: &|| NOW,
        stopwatch: &|| Duration::ZERO,
        faults,
        report: &report,
        judge: "test-judge",
        environment: &environment,
    };
    let result = then(hands);
    (result, told.into_inner())
}

pub fn run_with(
    world: &World,
    cycle: &Cycle,
    proposer: &mut dyn Proposer,
    gates: &mut Gates<'_>,
    faults: &dyn Faults,
) -> (Result<CycleEnd, CycleError>, Vec<Progress>) {
    with_hands(world, faults, |hands| {
        let base = cycle::look(hands.repo, None).unwrap();
        let setup = Setup {
            hands,
            base,
            id: cycle.id.to_owned(),
            goal: "Count better\nmore".to_owned(),
            landing: cycle.landing,
            authority: Some(Authority::CommandLine),
            max_repairs: cycle.repairs,
            defences: Defences::all(),
            cancel: cycle.cancel.clone(),
        };
        cycle::run(setup, proposer, gates)
    })
}

/// Run a cycle that must come to an end.
pub fn run(world: &World, cycle: &Cycle, mut edits: Edits) -> CycleEnd {
    run_with(world, cycle, &mut edits, &mut Gates::of(world), &NoFaults).0.unwrap()
}

/// A person's decision.
pub fn decide<T>(world: &World, id: &str, then: impl FnOnce(&Deciding<'_>) -> T) -> T {
    with_hands(world, &NoFaults, |hands| then(&Deciding { hands, id: id.to_owned(), authority: Authority::Terminal })).0
}

/// The texts of all notices.
pub fn notices(told: &[Progress]) -> String {
    let text = |p: &Progress| if let Progress::Notice { text } = p { text.clone() } else { String::new() };
    told.iter().map(text).collect::<Vec<_>>().join("\n")
}
