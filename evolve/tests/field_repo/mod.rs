//! What the cycle folders run on: a repository in a temporary folder, kept build slots, a proposer that writes the change.

use selfsmith::cycle::{self, CycleEnd, Hands, Setup};
use selfsmith::judgement::candidate::Proposal;
use selfsmith::judgement::defence::{Defence, Defences};
use selfsmith::judgement::gate::{GateName, GateOutcome, GateReport};
use selfsmith::judgement::progress::{Progress, Report};
use selfsmith::judgement::verdict::Verdict;
use selfsmith::ladder::Ladder;
use selfsmith::proposer::{Proposer, ProposerError, Task};
use selfsmith::store::authority::Authority;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::journal::Landing;
use selfsmith::store::state::StateFolder;
use selfsmith::workshop::Given;
use selfsmith_repo::Repo;
use selfsmith_sandbox::Cancel;
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// `case.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[expect(dead_code, reason = "for people")]
    fact: String,
    verdict: String,
    #[serde(default)]
    gate: Option<GateName>,
    #[serde(default)]
    lands: bool,
    defence: String,
    /// Files that the proposer removes.
    #[serde(default)]
    delete: Vec<String>,
    /// Symbolic links that it makes, with what they lead to.
    #[serde(default)]
    links: BTreeMap<String, String>,
    /// Gates that must have passed.
    #[serde(default)]
    passed: Vec<GateName>,
    /// Figures that reports must hold: `gate.figure`.
    #[serde(default)]
    counts: BTreeMap<String, u64>,
}

/// What came of judging a folder.
#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub gate: Option<GateName>,
    pub landed: bool,
    /// `src/lib.rs` of what landed.
    pub library: Option<String>,
    pub reports: Vec<GateReport>,
}

/// A repository's surroundings, with slots that are kept from one folder to the next.
pub struct Bench {
    slots: PathBuf,
    _home: Option<tempfile::TempDir>,
}

/// Slots that no test uses just now; each is used by one at a time.
static FREE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Judge a folder as it is, then with its own defence out.
pub fn prove(folder: &str) {
    let case = case(folder);
    let bench = Bench::kept();
    let seen = bench.judge(folder, Path::new(folder), Defences::all());
    assert_eq!(faults(&case, &seen), Vec::<String>::new(), "{seen:#?}");
    let defence = defence(&case.defence);
    let risky = matches!(defence, Defence::NewTimes | Defence::OwnTarget);
    let bench = if risky { Bench::fresh() } else { bench };
    let open = bench.judge(folder, Path::new(folder), Defences::without(defence));
    assert_ne!(faults(&case, &open), Vec::<String>::new(), "without {defence:?} nothing changes: {open:#?}");
}

/// Slots that live as long as this process; those of processes that are gone are removed.
fn new_slots() -> PathBuf {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cycle-slots");
    fs::create_dir_all(&all).expect("a folder");
    for old in fs::read_dir(&all).expect("readable").flatten() {
        let name = old.file_name().into_string().expect("UTF-8");
        let process = name.split('-').next().unwrap_or_default();
        if !Path::new("/proc").join(process).exists() {
            fs::remove_dir_all(old.path()).expect("nobody uses it");
        }
    }
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    // As long as a person's state folder may be: no socket can be bound below it.
    all.join(format!("{}-{number}-{}", std::process::id(), "long".repeat(20)))
}

/// Names of the folders.
pub fn folders() -> BTreeSet<String> {
    let entries = fs::read_dir(root()).expect("the folder of folders");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    names.filter(|name| root().join(name).join("case.yaml").is_file()).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cycles")
}

fn case(folder: &str) -> Case {
    let text = fs::read_to_string(root().join(folder).join("case.yaml")).expect("a case.yaml");
    serde_yaml::from_str(&text).expect("a readable case.yaml")
}

/// What differs from the expectation.
fn faults(case: &Case, seen: &Outcome) -> Vec<String> {
    let mut faults = Vec::new();
    let mut differs = |what: &str, expected: String, found: String| {
        if expected != found {
            faults.push(format!("{what}: expected {expected}, found {found}"));
        }
    };
    differs("verdict", case.verdict.clone(), seen.verdict.word().to_owned());
    differs("gate", format!("{:?}", case.gate), format!("{:?}", seen.gate));
    differs("lands", case.lands.to_string(), seen.landed.to_string());
    for gate in &case.passed {
        let passed = seen.reports.iter().any(|report| report.gate == *gate && report.result == GateOutcome::Pass);
        differs(gate.as_str(), "passed".to_owned(), if passed { "passed" } else { "not passed" }.to_owned());
    }
    for (name, number) in &case.counts {
        let (gate, figure) = name.split_once('.').expect("gate.figure");
        let report = seen.reports.iter().find(|report| report.gate.as_str() == gate);
        let found = report.and_then(|report| report.counts.get(figure));
        differs(name, format!("{:?}", Some(number)), format!("{found:?}"));
    }
    faults
}

fn defence(name: &str) -> Defence {
    match name {
        "zones" => Defence::Zones,
        "kinds" => Defence::Kinds,
        "changelog" => Defence::Changelog,
        "budget" => Defence::Budget,
        "nothing" => Defence::Nothing,
        "new-times" => Defence::NewTimes,
        "harness" => Defence::Harness,
        "inline" => Defence::Inline,
        "rehash" => Defence::Rehash,
        "scenarios" => Defence::Scenarios,
        other => panic!("no defence is called {other}"),
    }
}

impl Bench {
    /// With slots that others have warmed.
    pub fn kept() -> Self {
        let free = FREE.lock().expect("no test died with it").pop();
        let slots = free.unwrap_or_else(new_slots);
        Self { slots, _home: None }
    }

    /// With slots of its own.
    pub fn fresh() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        Self { slots: home.path().join("slots"), _home: Some(home) }
    }

    /// Judge the change of a folder, landing what is accepted.
    pub fn judge(&self, id: &str, folder: &Path, defences: Defences) -> Outcome {
        let folder = root().join(folder);
        let writes = Writes { folder: folder.clone() };
        self.judge_by(id, &folder.join("base"), defences, |_, _, _| Box::new(writes))
    }

    /// Judge what a proposer makes of the shared base with the files of `over` on top.
    pub fn judge_by(
        &self,
        id: &str,
        over: &Path,
        defences: Defences,
        proposer: impl FnOnce(Repo, &cycle::Base, Given) -> Box<dyn Proposer>,
    ) -> Outcome {
        let home = tempfile::tempdir().expect("a temporary folder");
        let project = home.path().join("project");
        copy(&root().join("base"), &project);
        copy(over, &project);
        git(&project, &["init", "-q", "-b", "main"]);
        git(&project, &["add", "-A"]);
        git(&project, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"]);
        let repo = Repo::open(&project).expect("a repository");
        let state = StateFolder::open(&home.path().join("state"), "sample").expect("a state folder");
        let told = RefCell::new(Vec::new());
        let report = |progress: Progress| {
            if let Progress::GateEnded { report } = progress {
                told.borrow_mut().push(report);
            }
        };
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let base = cycle::look(&repo, None).expect("a base");
        let given = Given {
            environment: environment.clone(),
            slots: self.slots.clone(),
            cancel: Cancel::default(),
            accept_weaker_room: false,
            defences,
        };
        let mut proposer = proposer(repo.reopen().expect("again"), &base, given.clone());
        let mut ladder = Ladder::new(repo.reopen().expect("again"), base.rules.clone(), given);
        let hands = Hands {
            repo: &repo,
            state: &state,
            clock: &|| 1_900_000_000,
            stopwatch: &std::time::Duration::default,
            faults: &NoFaults,
            report: &report,
            judge: "0000000000000000000000000000000000000000",
            environment: &environment,
        };
        let setup = Setup {
            hands,
            base,
            id: id.to_owned(),
            goal: "as the folder says".to_owned(),
            landing: Landing::Auto,
            authority: Some(Authority::CommandLine),
            max_repairs: 0,
            defences,
            cancel: Cancel::default(),
        };
        let end = cycle::run(setup, proposer.as_mut(), &mut ladder).expect("a cycle that ends");
        let CycleEnd { verdict, gate, landed, .. } = end;
        let tree = landed.as_ref().map(|commit| repo.tree_of(&commit.0).expect("a tree"));
        let text = |path: &str| {
            let entry = repo.entry(tree.as_ref()?, &path.into()).expect("readable")?;
            Some(String::from_utf8(repo.blob(&entry.id).expect("a blob")).expect("UTF-8"))
        };
        let library = text("src/lib.rs");
        Outcome { verdict, gate, landed: landed.is_some(), library, reports: told.into_inner() }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if self._home.is_none()
            && let Ok(mut free) = FREE.lock()
        {
            free.push(self.slots.clone());
        }
    }
}

/// Writes a folder's change.
struct Writes {
    folder: PathBuf,
}

impl Proposer for Writes {
    fn name(&self) -> &str {
        "writes"
    }

    fn propose(&mut self, task: Task<'_>, _: Report<'_>) -> Result<Proposal, ProposerError> {
        let name = self.folder.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
        copy(&self.folder.join("change"), task.dir);
        let case = case(&name);
        for path in &case.delete {
            fs::remove_file(task.dir.join(path)).expect("was there");
        }
        for (path, target) in &case.links {
            std::os::unix::fs::symlink(target, task.dir.join(path)).expect("a link");
        }
        Ok(Proposal { summary: format!("Do as {name} says"), ..Proposal::default() })
    }
}

/// Copy a folder, if it is there, over another; `.in` at the end of a name falls away.
fn copy(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else { return };
    fs::create_dir_all(to).expect("a folder");
    for entry in entries {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        let target = to.join(name.strip_suffix(".in").unwrap_or(&name));
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn git(dir: &Path, words: &[&str]) {
    let done = Command::new("git").args(words).current_dir(dir).output().expect("git starts");
    assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
}
