//! One repository in which cycles run, and what no cycle may change in it.

use super::{Bench, Outcome, copy, git};
use selfsmith::cycle::{self, CycleEnd, Hands, Setup};
use selfsmith::judgement::defence::Defences;
use selfsmith::judgement::progress::Progress;
use selfsmith::ladder::Ladder;
use selfsmith::proposer::Proposer;
use selfsmith::store::authority::Authority;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::journal::Landing;
use selfsmith::store::state::StateFolder;
use selfsmith::workshop::{Given, Mutants};
use selfsmith_repo::Repo;
use selfsmith_sandbox::Cancel;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// A project in a temporary folder, with its state beside it.
pub struct World {
    home: tempfile::TempDir,
}

impl World {
    /// The files of one folder with those of another on top, in one commit.
    pub fn new(base: &Path, over: &Path) -> Self {
        let world = Self { home: tempfile::tempdir().expect("a temporary folder") };
        let project = world.project();
        copy(base, &project);
        copy(over, &project);
        git(&project, &["init", "-q", "-b", "main"]);
        git(&project, &["add", "-A"]);
        git(&project, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"]);
        world
    }

    /// The person's own checkout.
    pub fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// What gates are given.
    pub fn given(&self, bench: &Bench, defences: Defences, mutants: Option<Mutants>) -> Given {
        Given {
            environment: std::env::vars_os().collect(),
            slots: bench.slots.clone(),
            cancel: Cancel::default(),
            accept_weaker_room: false,
            defences,
            mutants,
        }
    }

    /// One cycle on the branch as it is now.
    pub fn run(
        &self,
        id: &str,
        given: &Given,
        proposer: impl FnOnce(Repo, &cycle::Base, Given) -> Box<dyn Proposer>,
    ) -> Outcome {
        let repo = Repo::open(&self.project()).expect("a repository");
        let state = StateFolder::open(&self.home.path().join("state"), "sample").expect("a state folder");
        let told = RefCell::new(Vec::new());
        let report = |progress: Progress| {
            if let Progress::GateEnded { report } = progress {
                told.borrow_mut().push(report);
            }
        };
        let environment: Vec<(OsString, OsString)> = given.environment.clone();
        let base = cycle::look(&repo, None).expect("a base");
        let (was, begun) = (self.untouchable(), base.commit.0.clone());
        let mut proposer = proposer(repo.reopen().expect("again"), &base, given.clone());
        let mut ladder = Ladder::new(repo.reopen().expect("again"), base.rules.clone(), given.clone());
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
            defences: given.defences,
            cancel: Cancel::default(),
        };
        let end = cycle::run(setup, proposer.as_mut(), &mut ladder).expect("a cycle that ends");
        let CycleEnd { verdict, gate, landed, .. } = end;
        let tree = landed.as_ref().map(|commit| repo.tree_of(&commit.0).expect("a tree"));
        let text = |path: &str| {
            let entry = repo.entry(tree.as_ref()?, &path.into()).expect("readable")?;
            Some(String::from_utf8(repo.blob(&entry.id).expect("a blob")).expect("UTF-8"))
        };
        let message = landed.as_ref().map(|commit| repo.read_commit(&commit.0).expect("a commit").message);
        let now = repo.resolve("refs/heads/main").expect("the target");
        let faults = if was == self.untouchable() { Vec::new() } else { vec!["the repository was touched".to_owned()] };
        Outcome {
            verdict,
            gate,
            landed: landed.is_some(),
            moved: now != begun,
            message: message.unwrap_or_default(),
            faults,
            kept_base_target: true,
            library: text("src/lib.rs"),
            reports: told.into_inner(),
        }
    }

    /// What no cycle may change: HEAD, configuration, hooks, and every ref of the person's but the target.
    fn untouchable(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let git = self.project().join(".git");
        let mut found = BTreeMap::new();
        for name in ["HEAD", "config", "info/exclude"] {
            found.insert(PathBuf::from(name), fs::read(git.join(name)).unwrap_or_default());
        }
        for folder in ["hooks", "refs/heads", "refs/tags"] {
            for entry in fs::read_dir(git.join(folder)).into_iter().flatten().flatten() {
                let is_target = entry.file_name() == "main";
                let text = if is_target { Vec::new() } else { fs::read(entry.path()).unwrap_or_default() };
                found.insert(Path::new(folder).join(entry.file_name()), text);
            }
        }
        found
    }
}
