//! Generations from outside: what the boot gate's probe says of programs that die, hang or lie, in the real room; what the
//! launcher starts afterwards; and the real agent, booted once.
#![expect(clippy::unwrap_used, reason = "tests")]

use selfsmith::gates::boot::{Booted, Probe, probed};
use selfsmith::store::faults::NoFaults;
use selfsmith::store::generations::{Generation, Parts, Store};
use selfsmith_sandbox::{Limits, Room};
use selfsmith_scenario::{Bless, Options, Place, RoomPlace};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const GOOD: &str = "1111111111111111111111111111111111111111";
const BAD: &str = "2222222222222222222222222222222222222222";

/// What a stand-in says to `config check` when it is in order.
const ATTESTS: &str = r#"[ "$1" = config ] && { echo "prompts: $SELFSMITH_GENERATION_DIR/prompts"; exit 0; }
for word; do :; done
word=${word#boot }
"#;

struct World {
    folder: tempfile::TempDir,
    store: Store,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("sources/prompts")).unwrap();
        fs::write(folder.path().join("sources/config.yaml"), "").unwrap();
        fs::write(folder.path().join("sources/prompts/one.md"), "one\n").unwrap();
        let store = Store::new(folder.path().join("data/selfsmith/generations"));
        Self { folder, store }
    }

    fn script(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("agent");
        fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn install(&self, tree: &str, program: &Path, sources: &Path) -> Generation {
        let parts = Parts { commit: tree, tree, judge: "j", toolchain: "t", flags: "", program, sources };
        self.store.install(parts, &NoFaults).unwrap()
    }

    fn installed(&self, tree: &str, script: &str) -> Generation {
        let program = self.script(script);
        self.install(tree, &program, &self.folder.path().join("sources"))
    }

    /// Boot it in the room.
    fn boots(&self, generation: &Generation, within_s: u64) -> Booted {
        let limits = Limits { memory: Some(2 << 30), processes: Some(64), ..Limits::default() };
        let options = Options {
            place: Place::Room(RoomPlace { room: Room::default(), limits }),
            bless: Bless::No,
            scratch: self.folder.path().join("scratch"),
            parent: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        };
        probed(&self.store, &Probe { generation, options, within_s }, "unguessable", &NoFaults).unwrap()
    }

    /// A world with a good generation that is current, and another one after it.
    fn landed(script: &str) -> Self {
        let world = Self::new();
        let good = world.installed(GOOD, "echo good; rm -f \"$SELFSMITH_START\"\n");
        world.store.first(&good, &NoFaults).unwrap();
        world.installed(BAD, script);
        world.store.mark_good(BAD, &NoFaults).unwrap();
        assert!(world.store.advance(BAD, &NoFaults).unwrap());
        world
    }

    /// What a person types.
    fn selfsmith(&self, arguments: &[&str]) -> Output {
        let bin = self.folder.path().join("bin");
        if !bin.exists() {
            // A copy: beside a checkout's target folder the agent would be the checkout's.
            fs::create_dir(&bin).unwrap();
            fs::copy(env!("CARGO_BIN_EXE_selfsmith"), bin.join("selfsmith")).unwrap();
        }
        // In a session of its own there is no terminal.
        let mut command = Command::new("setsid");
        command.arg("--wait").arg(bin.join("selfsmith"));
        command.args(arguments).env_clear().env("HOME", self.folder.path()).env("PATH", "/usr/bin:/bin");
        command.env("XDG_DATA_HOME", self.folder.path().join("data")).stdin(Stdio::null());
        command.current_dir(self.folder.path()).output().unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_dies_hangs_or_lies_is_never_marked_good_and_is_denied() {
    let lies = "echo \"ready $word\"\n";
    let forges = "echo \"$word\" > booted.txt; echo \"ready $word\"\n";
    for (what, script, said) in [
        ("dies at boot", "kill -SEGV $$\n".to_owned(), "attests"),
        ("is of another tree", "echo prompts: /elsewhere\n".to_owned(), "attests"),
        ("dies in its first turn", format!("{ATTESTS}kill -SEGV $$\n"), "does a turn"),
        ("says that it is ready", format!("{ATTESTS}{lies}"), "does a turn"),
        ("forges what a turn leaves", format!("{ATTESTS}{forges}"), "does a turn"),
        ("is no program", String::new(), "attests"),
    ] {
        let world = World::new();
        let generation = world.installed(BAD, &script);
        let Booted { tries, trouble } = world.boots(&generation, 10);
        let trouble = trouble.unwrap_or_else(|| panic!("one that {what} passed"));
        assert!(trouble.contains(said) && tries == 3, "{what}: {trouble}");
        assert!(!world.store.is_good(BAD) && world.store.marks(BAD).denied.is_some(), "{what}");
        assert!(!world.store.advance(BAD, &NoFaults).unwrap());
    }
}

#[test]
fn what_hangs_is_ended_in_time_and_denied() {
    let world = World::new();
    let generation = world.installed(BAD, "while :; do read line < /dev/zero; done\n");
    let began = Instant::now();
    assert!(world.boots(&generation, 1).trouble.is_some());
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(world.store.marks(BAD).denied.is_some());
}

/// A boot that takes the judge down with it was counted before: it is not tried for ever.
#[test]
fn boots_that_nobody_came_back_from_count() {
    let world = World::new();
    let generation = world.installed(BAD, &format!("{ATTESTS}exit 1\n"));
    for _ in 0..3 {
        world.store.count_try(BAD, &NoFaults).unwrap();
    }
    let Booted { trouble, .. } = world.boots(&generation, 10);
    assert!(trouble.unwrap().contains("nobody came back"));
}

#[test]
fn the_real_agent_boots_and_is_marked_good() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let agent = Path::new(env!("CARGO_BIN_EXE_selfsmith")).with_file_name("selfsmith-agent");
    assert!(agent.is_file(), "{} is not built: run the tests of the whole workspace", agent.display());
    let world = World::new();
    let generation = world.install(GOOD, &agent, here);
    assert_eq!(world.boots(&generation, 60), Booted { tries: 1, trouble: None });
    assert!(world.store.is_good(GOOD));
    // Installed and started as people do it, it says that it has worked.
    world.store.first(&generation, &NoFaults).unwrap();
    for arguments in [&["config", "check"][..], &["--no-such-flag"], &["config", "check"]] {
        let output = world.selfsmith(arguments);
        assert!(output.status.code().is_some(), "{output:?}");
    }
    assert_eq!(world.store.deaths(GOOD), 0);
}

#[test]
fn one_that_dies_again_and_again_gives_way_by_itself_and_is_not_taken_up_again() {
    let world = World::landed("kill -SEGV $$\n");
    for _ in 0..3 {
        let output = world.selfsmith(&["exec", "x"]);
        assert!(!output.status.success(), "it dies: {output:?}");
    }
    let output = world.selfsmith(&["exec", "x"]);
    assert_eq!(text(&output.stdout), "good\n", "{output:?}");
    assert!(text(&output.stderr).contains("3 times") && text(&output.stderr).contains("denied"), "{output:?}");
    let again = world.selfsmith(&["exec", "x"]);
    assert_eq!((text(&again.stdout), text(&again.stderr)), ("good\n".to_owned(), String::new()));
    assert!(!world.store.advance(BAD, &NoFaults).unwrap());
    assert_eq!(world.store.to_revert().len(), 1, "its branch is to be reverted");
}

#[test]
fn one_whose_start_was_well_in_between_has_not_died() {
    let world = World::landed("[ -e die ] && kill -SEGV $$\nrm -f \"$SELFSMITH_START\"; echo bad\n");
    let die = world.folder.path().join("die");
    for round in 0..2 {
        fs::write(&die, "").unwrap();
        world.selfsmith(&["exec", "x"]);
        fs::remove_file(&die).unwrap();
        let output = world.selfsmith(&["exec", "x"]);
        assert_eq!(text(&output.stdout), "bad\n", "round {round}: {output:?}");
    }
}

#[test]
fn damaged_files_give_way_by_themselves() {
    let world = World::landed("echo bad\n");
    let program = world.store.generation(BAD).program();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(&program, "#!/bin/sh\necho evil\n").unwrap();
    let output = world.selfsmith(&["exec", "x"]);
    assert_eq!(text(&output.stdout), "good\n", "{output:?}");
    assert!(text(&output.stderr).contains("damaged"), "{output:?}");
}

#[test]
fn a_flipped_byte_in_any_file_of_a_generation_is_found() {
    let world = World::landed("echo bad\n");
    let repo = world.folder.path().join("repo");
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git").arg("-C").arg(&repo).args(arguments).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    fs::create_dir(&repo).unwrap();
    git(&["init", "-q"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "a"]);
    let verified = || world.selfsmith(&["lineage", "--verify", "--repo", &repo.display().to_string()]);
    assert_eq!(verified().status.code(), Some(0), "{:?}", verified());
    let mut folders = vec![world.store.generation(BAD).folder];
    let mut flipped = 0;
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let (before, mode) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().permissions());
            let Some(last) = before.len().checked_sub(1) else { continue };
            let mut bytes = before.clone();
            bytes[last / 2] ^= 1;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            fs::write(&path, &bytes).unwrap();
            let told = verified();
            assert_eq!(told.status.code(), Some(1), "{}: {told:?}", path.display());
            assert!(text(&told.stdout).contains("generations: "), "{told:?}");
            let examined = text(&world.selfsmith(&["doctor"]).stdout);
            assert!(examined.contains("installed generations") && !examined.contains("all whole"), "{examined}");
            fs::write(&path, &before).unwrap();
            fs::set_permissions(&path, mode).unwrap();
            flipped += 1;
        }
    }
    assert!(flipped >= 3 && verified().status.code() == Some(0), "{flipped} files");
}

/// Without a terminal, or below an agent, nobody rolls back.
#[test]
fn rolling_back_needs_a_person_and_listing_does_not() {
    let world = World::landed("echo bad\n");
    let listed = world.selfsmith(&["rollback", "--list"]);
    let said = text(&listed.stdout);
    assert!(said.contains(&format!("current  {BAD}")) && said.contains(&format!("previous {GOOD}")), "{said}");
    let refused = world.selfsmith(&["rollback"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert_eq!(world.store.current_tree().unwrap().as_deref(), Some(BAD));
}
