//! A candidate that tries to get out of the room: from a build script, a procedural macro, a test and a proposer's shell, in
//! some fifty ways each, as root and as an ordinary user. None gets out; what can be tried without harm gets out where there
//! is no room, so that each of those attempts is one that could succeed.
#![expect(clippy::unwrap_used, reason = "tests")]

mod place;

use place::{Place, Targets, lives};
use selfsmith::cycle::{self, Hands, Setup};
use selfsmith::judgement::candidate::Proposal;
use selfsmith::judgement::defence::Defences;
use selfsmith::judgement::gate::{GateName, GateOutcome, GateReport};
use selfsmith::judgement::progress::{Progress, Report};
use selfsmith::ladder::Ladder;
use selfsmith::launcher;
use selfsmith::proposer::room::{self, Kit};
use selfsmith::proposer::{Proposer, ProposerError, Task};
use selfsmith::review;
use selfsmith::store::authority::Authority;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::journal::Landing;
use selfsmith::workshop::Given;
use selfsmith_sandbox::{
    Bind, BindMode, Cancel, End, Environment, Job, Limits, Program, Room, SandboxError, Stream, Walls, probe,
};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Told to a copy of this program that runs as an ordinary user: the compiled attempts.
const AS_USER: &str = "SELFSMITH_TEST_ESCAPES";
/// "nobody" on every Linux.
const NOBODY: u32 = 65534;
/// At least this many ways are tried.
const MANY: usize = 40;

/// Tries the attempts in its shell, then proposes them.
struct Tries<'a> {
    place: &'a Place,
    program: PathBuf,
    said: RefCell<String>,
}

impl Proposer for Tries<'_> {
    fn name(&self) -> &str {
        "tries"
    }

    fn propose(&mut self, task: Task<'_>, _: Report<'_>) -> Result<Proposal, ProposerError> {
        let kit = Kit { wall: Duration::from_secs(120), memory: 4 << 30, ..Kit::default() };
        let run = room::Run {
            shown: "attempts".to_owned(),
            argv: vec!["sh".into(), "-c".into(), "/tool/attempts shell".into()],
            dir: task.dir,
            target: None,
            binds: vec![Bind { source: self.program.clone(), at: "/tool/attempts".into(), mode: BindMode::ReadOnly }],
            set: Vec::new(),
            stdin: Vec::new(),
            relay: None,
        };
        let mut said = Vec::new();
        room::run(&kit, run, &mut |stream, bytes| {
            if stream == Stream::Stdout {
                said.extend_from_slice(bytes);
            }
        })?;
        self.said.replace(String::from_utf8_lossy(&said).into_owned());
        fs::write(task.dir.join("src/attempts.rs"), self.place.source(&self.place.targets("/trial/target"))).unwrap();
        Ok(Proposal { summary: "Try to get out".to_owned(), ..Proposal::default() })
    }
}

#[test]
fn nothing_that_a_candidate_brings_gets_out_of_the_room() {
    let place = Place::new();
    let repo = place.repo();
    let base = cycle::look(&repo, None).unwrap();
    // Without a room nearly all of it works.
    place.control();
    let before = place.persons();
    let cancel = Cancel::default();
    let vars: Vec<_> = std::env::vars_os().chain([("CANARY_KEY".into(), place.secret.clone().into())]).collect();
    let given = Given {
        environment: launcher::for_agent(&vars),
        slots: place.state().slots(),
        cancel: cancel.clone(),
        accept_weaker_room: false,
        defences: Defences::all(),
        mutants: None,
    };
    let mut ladder = Ladder::new(repo.reopen().unwrap(), base.rules.clone(), given);
    let program = place.compiled(&place.targets("/tmp"), "attempts");
    let mut tries = Tries { place: &place, program, said: RefCell::default() };
    let told = RefCell::new(Vec::<GateReport>::new());
    let report = |progress: Progress| {
        if let Progress::GateEnded { report } = progress {
            told.borrow_mut().push(report);
        }
    };
    let state = place.state();
    let hands = Hands {
        repo: &repo,
        state: &state,
        clock: &|| 1_900_000_000,
        stopwatch: &Duration::default,
        faults: &NoFaults,
        report: &report,
        judge: "none",
        environment: &vars,
    };
    let setup = Setup {
        hands,
        base,
        id: "c1".to_owned(),
        goal: "get out".to_owned(),
        landing: Landing::Review,
        authority: Some(Authority::CommandLine),
        max_repairs: 0,
        defences: Defences::all(),
        cancel,
    };
    let end = cycle::run(setup, &mut tries, &mut ladder).unwrap();
    let told = told.into_inner();
    let log =
        |gate| told.iter().filter(move |r: &&GateReport| r.gate == gate).map(|r| format!("{:?}\n{}", r.result, r.log));
    for gate in [GateName::Build, GateName::Tests] {
        let passed = told
            .iter()
            .any(|r| r.gate == gate && !matches!(r.result, GateOutcome::Fail { .. } | GateOutcome::Unknown { .. }));
        assert!(passed, "{gate}: {}\n{end:?}", log(gate).collect::<String>());
    }
    let said = tries.said.into_inner();
    let tried: usize = said.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
    assert!(tried >= MANY && said.trim_end().ends_with(" attempts, out: []"), "from the shell: {said}");
    place.nothing_came();
    assert_eq!(place.persons(), before, "something of the person's changed");
    assert_eq!(review::verify(&repo, &state).unwrap(), []);
}

/// As root, the same attempts by an ordinary user; otherwise the other test was one already.
#[test]
fn nothing_gets_out_of_an_ordinary_users_room_either() {
    if let Ok(program) = std::env::var(AS_USER) {
        return as_user(Path::new(&program));
    }
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    let place = Place::new();
    let program = place.compiled(&place.targets("/tmp"), "attempts");
    let folder = tempfile::tempdir_in("/var").or_else(|_| tempfile::tempdir()).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = |from: &Path, name: &str| {
        fs::copy(from, folder.path().join(name)).unwrap();
        folder.path().join(name)
    };
    let test = copy(&std::env::current_exe().unwrap(), "test");
    let program = copy(&program, "attempts");
    let output = Command::new(test)
        .args(["--exact", "nothing_gets_out_of_an_ordinary_users_room_either", "--nocapture"])
        .env_clear()
        .env(AS_USER, program)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("CANARY_KEY", &place.secret)
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
    place.nothing_came();
}

fn as_user(program: &Path) {
    let job = Job {
        program: Program::Argv(vec!["/tool/attempts".into(), "user".into()]),
        dir: "/tmp".into(),
        environment: Environment {
            keep: vec!["PATH".to_owned()],
            set: vec![("JUDGE_HINT".to_owned(), std::process::id().to_string().into())],
        },
        stdin: Vec::new(),
        limits: Limits {
            wall: Duration::from_secs(120),
            memory: Some(4 << 30),
            processes: Some(2048),
            descriptors: Some(8192),
            file_size: Some(4 << 30),
            ..Limits::default()
        },
        walls: Walls::Room(Room {
            binds: vec![Bind { source: program.to_owned(), at: "/tool/attempts".into(), mode: BindMode::ReadOnly }],
            ..Room::default()
        }),
    };
    let vars: Vec<_> = std::env::vars_os().collect();
    let done = selfsmith_sandbox::run(&job, &vars, &Cancel::default(), &mut |_, _| {});
    let done = done.unwrap_or_else(|error| panic!("could not {error}"));
    let said = done.stdout.text(|_| String::new());
    assert_eq!((done.end, said.trim_end().ends_with(" attempts, out: []")), (End::Exit(0), true), "{said}");
}

/// A wall that this kernel lacks is named before anything runs, and nothing runs without a person's word.
#[test]
fn a_wall_that_is_missing_is_named() {
    let probed = probe();
    let missing: Vec<_> = probed.walls.iter().filter(|state| !state.holds).collect();
    let job = Job {
        program: Program::Shell("echo ran".to_owned()),
        dir: "/tmp".into(),
        environment: Environment::default(),
        stdin: Vec::new(),
        limits: Limits::default(),
        walls: Walls::Room(Room::default()),
    };
    let vars: Vec<_> = std::env::vars_os().collect();
    match selfsmith_sandbox::run(&job, &vars, &Cancel::default(), &mut |_, _| {}) {
        Ok(done) => assert!(
            done.weaker.is_empty() && missing.iter().all(|state| state.wall == selfsmith_sandbox::Wall::Overlay),
            "{missing:?}"
        ),
        Err(SandboxError::Wall { wall, why }) => {
            assert!(missing.iter().any(|state| state.wall == wall) && !why.is_empty(), "{wall}: {why}");
        }
        Err(error) => panic!("could not {error}"),
    }
    assert!(missing.iter().all(|state| !state.why.is_empty()));
}

/// The control of the last attempt, which nothing inside can answer: a process that stays is seen.
#[test]
fn a_process_that_stays_would_be_seen() {
    let place = Place::new();
    let mut child = Command::new("sleep").arg0(&place.mark).arg("300").spawn().unwrap();
    assert!(lives(&place.mark));
    child.kill().unwrap();
    child.wait().unwrap();
    let _ = Targets::default();
}
