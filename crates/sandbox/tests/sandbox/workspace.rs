//! The looser walls of the agent's shell.

use crate::support::{done, lives, shell, stderr, stdout};
use selfsmith_sandbox::{End, Job, Loopback, Program, Walls, Workspace};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder outside of the temporary ones, which these walls leave open.
pub struct World(pub PathBuf);

impl World {
    pub fn new(name: &str) -> Self {
        let base = std::env::var_os("SANDBOX_TEST_WORLD")
            .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
        let path = base.join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("work")).expect("a folder");
        Self(path)
    }

    pub fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    pub fn shell(&self, line: &str, change: impl FnOnce(&mut Workspace)) -> Job {
        let mut walls = Workspace { writable: vec![self.work()], ..Workspace::default() };
        change(&mut walls);
        Job { dir: self.work(), walls: Walls::Workspace(walls), ..shell(line) }
    }

    pub fn says(&self, line: &str, change: impl FnOnce(&mut Workspace)) -> String {
        let finished = done(&self.shell(line, change));
        assert_eq!(finished.weaker, vec![], "this machine lacks a wall");
        format!("{}{}", stdout(&finished), stderr(&finished))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("it is ours")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn writes_stay_in_the_workspace_and_the_temporary_folder() {
    let world = World::new("writes");
    let line = "echo in > in.txt; echo x > ../escape.txt; ln -s .. up; echo x > up/linked; ln in.txt ../hard; mv in.txt ../moved; \
                cat in.txt; f=$(mktemp) && echo temp && rm $f";
    let said = world.says(line, |_| {});
    assert!(said.contains("in\ntemp\n") && said.contains("Read-only file system"), "{said}");
    assert_eq!(names(&world.0), ["work"]);
}

#[test]
fn modes_and_times_outside_stay_as_they_are() {
    let world = World::new("modes");
    fs::write(world.0.join("outside"), "").expect("it is ours");
    let before = fs::metadata(world.0.join("outside")).expect("it is ours");
    let line = "chmod 777 ../outside; touch -d 2000-01-01 ../outside; touch in && chmod 700 in && touch -d 2000-01-01 in && echo ok";
    let said = world.says(line, |_| {});
    assert!(said.contains("ok\n"), "{said}");
    let after = fs::metadata(world.0.join("outside")).expect("it is ours");
    assert_eq!((after.permissions(), after.modified().ok()), (before.permissions(), before.modified().ok()));
}

#[test]
fn protected_paths_cannot_be_changed_or_moved_away() {
    let world = World::new("protected");
    let git = world.work().join(".git");
    fs::create_dir_all(git.join("hooks")).expect("it is ours");
    fs::write(git.join("config"), "[core]\n").expect("it is ours");
    let line = "echo x > .git/hooks/pre-commit; echo x >> .git/config; rm -f .git/config; mv .git .git2; mv .git/hooks .git/h; \
                echo x > new && mv new .git/config; echo ok > .git/index; cat .git/config .git/index";
    let said = world.says(line, |walls| walls.protected = vec![git.join("hooks"), git.join("config")]);
    assert!(said.contains("[core]\nok\n"), "{said}");
    assert_eq!(
        (names(&world.work()), names(&git)),
        (vec![".git".into(), "new".into()], vec!["config".into(), "hooks".into(), "index".into()])
    );
    assert_eq!(names(&git.join("hooks")), Vec::<String>::new());
}

#[test]
fn a_protected_path_that_does_not_exist_cannot_be_made() {
    let world = World::new("protected-missing");
    let git = world.work().join(".git");
    fs::create_dir_all(&git).expect("it is ours");
    world.says("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", |walls| {
        walls.protected = vec![git.join("hooks"), world.work().join("no/such")]
    });
    assert_eq!(names(&git), Vec::<String>::new());
    assert_eq!(names(&world.work()), [".git"]);
}

#[test]
fn hidden_files_and_folders_cannot_be_read() {
    let world = World::new("hidden");
    fs::create_dir_all(world.0.join("keys")).expect("it is ours");
    for file in ["keys/id", "token"] {
        fs::write(world.0.join(file), "secret").expect("it is ours");
    }
    let said = world.says("cat ../keys/id ../token; ls ../keys | wc -l", |walls| {
        walls.hidden = vec![world.0.join("keys"), world.0.join("token"), world.0.join("absent")];
    });
    assert!(!said.contains("secret"), "{said}");
    assert_eq!(fs::read_to_string(world.0.join("keys/id")).expect("it is ours"), "secret");
}

#[test]
fn without_the_network_only_loopback_works() {
    let world = World::new("network");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let line = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached || echo not");
    assert_eq!(world.says(&line, |_| {}), "not\n");
    assert_eq!(world.says(&line, |walls| walls.network = true), "reached\n");
}

#[test]
fn loopback_is_usable_within_one_command() {
    let world = World::new("loopback");
    let script = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname(), 2); print('works')";
    let python = Program::Argv(vec!["python3".into(), "-c".into(), script.into()]);
    match crate::support::finish(&Job { program: python, ..world.shell("", |_| {}) }) {
        Ok(finished) => assert_eq!(stdout(&finished), "works\n", "{}", stderr(&finished)),
        Err(selfsmith_sandbox::SandboxError::Program { .. }) => {}
        Err(error) => panic!("could not {error}"),
    }
}

#[test]
fn jobs_can_share_a_loopback_and_still_have_no_network() {
    let world = World::new("shared");
    let outside = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = outside.local_addr().expect("it is bound").port();
    let shared = Loopback::start().expect("this machine gives a network namespace");
    let script = "import socket; s = socket.create_server(('127.0.0.1', 4899)); open('up', 'w'); s.accept()[0].sendall(b'served')";
    let server = Job {
        program: Program::Argv(vec!["python3".into(), "-c".into(), script.into()]),
        ..world.shell("", |walls| walls.loopback = Some(shared.id()))
    };
    let served = std::thread::spawn(move || crate::support::finish(&server).map(|finished| finished.end));
    let line = format!(
        "(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null || echo alone; \
         until [ -e up ]; do sleep 0.02; done; cat < /dev/tcp/127.0.0.1/4899"
    );
    let asked = world.shell(&line, |walls| walls.loopback = Some(shared.id()));
    if std::process::Command::new("python3").arg("--version").output().is_ok() {
        assert_eq!(stdout(&done(&asked)), "alone\nserved");
        assert_eq!(served.join().expect("no panic").expect("it starts"), End::Exit(0));
    }
    let holder = shared.id();
    drop(shared);
    assert!(!Path::new(&format!("/proc/{holder}/ns")).exists());
    // A holder that is gone changes nothing but that the network is one's own.
    let line = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null || echo alone");
    assert_eq!(world.says(&line, |walls| walls.loopback = Some(holder)), "alone\n");
}

#[test]
fn another_process_cannot_be_read_or_signalled() {
    let world = World::new("others");
    let me = std::process::id();
    let line = format!("cat /proc/{me}/environ /proc/{me}/mem; kill -9 {me}; kill -9 $PPID; echo alive");
    let said = world.says(&line, |_| {});
    assert!(said.ends_with("alive\n") || said.contains("alive\n"), "{said}");
    assert!(!said.contains("PATH="), "{said}");
}

#[test]
fn dangerous_calls_and_devices_are_refused() {
    let world = World::new("calls");
    for line in
        ["unshare -U true", "mount -t tmpfs x /tmp", "echo x > /proc/sys/kernel/core_pattern", "echo x > /dev/mem"]
    {
        assert_ne!(done(&world.shell(line, |_| {})).end, End::Exit(0), "{line}");
    }
}

#[test]
fn escaped_children_end_here_too() {
    let world = World::new("escaped");
    assert_eq!(world.says("setsid sleep 4713.1 & echo up", |_| {}), "up\n");
    assert!(!lives("sleep 4713.1"));
}

#[test]
fn git_works_within_the_walls() {
    let world = World::new("git");
    let line = "export HOME=$PWD; git init -q . && git config user.email a@b && git config user.name n && echo x > f && git add f && \
                git commit -qm first && git log --format=%s";
    assert_eq!(world.says(line, |_| {}), "first\n");
}
