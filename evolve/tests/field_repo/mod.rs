//! What the cycle folders run on: a repository in a temporary folder, kept build slots, a proposer that writes the change.

mod case;
pub mod table;
mod world;

pub use case::{Case, Kind, faults, folders, root};

use selfsmith::cycle;
use selfsmith::judgement::candidate::Proposal;
use selfsmith::judgement::defence::{Defence, Defences};
use selfsmith::judgement::gate::{GateName, GateReport};
use selfsmith::judgement::progress::Report;
use selfsmith::judgement::verdict::Verdict;
use selfsmith::proposer::{Proposer, ProposerError, Task};
use selfsmith::workshop::{Given, Mutants};
use selfsmith_repo::Repo;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;
use world::World;

/// What came of judging a folder.
#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub gate: Option<GateName>,
    pub landed: bool,
    /// Whether the target is somewhere else than before.
    pub moved: bool,
    /// The landed commit's message.
    pub message: String,
    /// What else is not as it must always be.
    pub faults: Vec<String>,
    /// Whether the base's target folder is what it was before.
    pub kept_base_target: bool,
    /// `src/lib.rs` of what landed.
    pub library: Option<String>,
    pub reports: Vec<GateReport>,
}

/// A repository's surroundings, with slots that are kept from one folder to the next.
pub struct Bench {
    slots: PathBuf,
    /// What is built in them; nothing where nobody else uses them.
    built: &'static str,
    _home: Option<tempfile::TempDir>,
}

/// Slots that no test uses just now, by what was built in them; each is used by one at a time.
static FREE: Mutex<BTreeMap<&str, Vec<PathBuf>>> = Mutex::new(BTreeMap::new());

/// Judge a folder as it is, then with its own defences out.
pub fn prove(folder: &str) {
    let case = Case::of(folder);
    let up = case.without.iter().fold(Defences::all(), |up, word| up.and_without(case::defence(word)));
    let bench = Bench::of(folder, &case, up);
    let seen = bench.judge(folder, Path::new(folder), up);
    assert_eq!(faults(&case, &seen), Vec::<String>::new(), "{seen:#?}");
    let out = case.defences();
    if out.is_empty() {
        return;
    }
    let open = out.iter().fold(up, |up, defence| up.and_without(*defence));
    drop(bench);
    let seen = Bench::of(folder, &case, open).judge(folder, Path::new(folder), open);
    assert_ne!(faults(&case, &seen), Vec::<String>::new(), "without {out:?} nothing changes: {seen:#?}");
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

impl Bench {
    /// With slots that others have warmed with the shared base.
    pub fn kept() -> Self {
        Self::kept_for("base")
    }

    fn kept_for(built: &'static str) -> Self {
        let free = FREE.lock().expect("no test died with it").entry(built).or_default().pop();
        let slots = free.unwrap_or_else(new_slots);
        Self { slots, built, _home: None }
    }

    /// For a folder: what would leave traces in slots gets its own.
    fn of(folder: &str, case: &Case, up: Defences) -> Self {
        if !up.up(Defence::NewTimes) || !up.up(Defence::OwnTarget) {
            return Self::fresh();
        }
        let own_files = root().join(folder).join("base").is_dir();
        Self::kept_for(match (own_files, case.base) {
            (true, _) => "of its own",
            (false, beginning) => beginning.folder(),
        })
    }

    /// With slots of its own.
    pub fn fresh() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        Self { slots: home.path().join("slots"), built: "", _home: Some(home) }
    }

    /// Judge the change of a folder, landing what is accepted.
    pub fn judge(&self, id: &str, folder: &Path, defences: Defences) -> Outcome {
        let name = folder.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
        let case = Case::of(&name);
        let over = root().join(folder).join("base");
        let world = World::new(&root().join(case.base.folder()), &over);
        let writes = || {
            let meanwhile = case.meanwhile.clone().map(|script| (world.project(), script));
            Box::new(Writes { name: name.clone(), case: Case::of(&name), meanwhile })
        };
        let needs = case.needs.as_deref().map(installed);
        let given = world.given(self, defences, needs);
        if case.twice {
            world.run(&format!("{id}-before"), &given, |_, _, _| writes());
        }
        if case.keeps_base_target {
            // The first run may have to build the base.
            World::new(&root().join(case.base.folder()), &over).run(id, &given, |_, _, _| writes());
        }
        let target = self.slots.join("0/base-target");
        let before = listing(&target);
        let mut seen = world.run(id, &given, |_, _, _| writes());
        seen.kept_base_target = before == listing(&target);
        if let Some(command) = case.gone.as_ref().filter(|command| is_running(command)) {
            seen.faults.push(format!("`{command}` is still running"));
        }
        seen
    }

    /// Judge what a proposer makes of the shared base with the files of `over` on top.
    pub fn judge_by(
        &self,
        id: &str,
        over: &Path,
        defences: Defences,
        proposer: impl FnOnce(Repo, &cycle::Base, Given) -> Box<dyn Proposer>,
    ) -> Outcome {
        let world = World::new(&root().join("base"), over);
        let given = world.given(self, defences, None);
        world.run(id, &given, proposer)
    }
}

/// Paths below a folder with their sizes and times.
fn listing(dir: &Path) -> BTreeMap<PathBuf, (u64, Option<SystemTime>)> {
    let mut found = BTreeMap::new();
    let Ok(entries) = fs::read_dir(dir) else { return found };
    for entry in entries.flatten() {
        let facts = entry.metadata().expect("readable");
        if facts.is_dir() {
            found.extend(listing(&entry.path()));
        } else {
            found.insert(entry.path(), (facts.len(), facts.modified().ok()));
        }
    }
    found
}

/// Whether any process of this machine has this command line.
fn is_running(command: &str) -> bool {
    let wanted = command.replace(' ', "\0");
    let lines = fs::read_dir("/proc").expect("readable").flatten();
    lines
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(&wanted))
}

/// A program that must be there.
fn installed(name: &str) -> Mutants {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|program| program.is_file());
    Mutants { program: found.unwrap_or_else(|| panic!("{name} is not installed: .ci/run does it")), seconds: 240 }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if self._home.is_none()
            && let Ok(mut free) = FREE.lock()
        {
            free.entry(self.built).or_default().push(self.slots.clone());
        }
    }
}

/// Writes a folder's change.
struct Writes {
    name: String,
    case: Case,
    /// What happens in the person's own checkout while this one is at work.
    meanwhile: Option<(PathBuf, String)>,
}

impl Proposer for Writes {
    fn name(&self) -> &str {
        "writes"
    }

    fn propose(&mut self, task: Task<'_>, _: Report<'_>) -> Result<Proposal, ProposerError> {
        copy(&root().join(&self.name).join("change"), task.dir);
        for path in &self.case.delete {
            fs::remove_file(task.dir.join(path)).expect("was there");
        }
        for (path, target) in &self.case.links {
            std::os::unix::fs::symlink(target, task.dir.join(path)).expect("a link");
        }
        let own = self.case.script.as_ref().map(|script| (task.dir.to_owned(), script.clone()));
        for (dir, script) in own.into_iter().chain(self.meanwhile.clone()) {
            let done = Command::new("sh").args(["-euc", &script]).current_dir(dir).output().expect("sh starts");
            assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
        }
        let summary = self.case.summary.clone().unwrap_or_else(|| format!("Do as {} says", self.name));
        Ok(Proposal { summary, ..Proposal::default() })
    }
}

/// Copy a folder, if it is there, over another; `.in` at the end of a name falls away.
pub fn copy(from: &Path, to: &Path) {
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

pub fn git(dir: &Path, words: &[&str]) {
    let done = Command::new("git").args(words).current_dir(dir).output().expect("git starts");
    assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
}
