//! What leads out of the agent's walls by other ways than writing a file: sockets, terminals, limits, what git would read.

use crate::support::{done, stderr, stdout};
use crate::workspace::{World, names};
use selfsmith_sandbox::{End, Job, Program, ProtectedFile, Workspace};
use std::fs;
use std::io::Read;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok()
}

/// Runs a script within the walls; None where this machine has no python.
fn python(world: &World, script: &str, change: impl FnOnce(&mut Workspace)) -> Option<String> {
    if !has_python() {
        return None;
    }
    let program = Program::Argv(vec!["python3".into(), "-c".into(), script.into()]);
    let finished = done(&Job { program, ..world.shell("", change) });
    assert_eq!(finished.weaker, vec![], "this machine lacks a wall");
    Some(format!("{}{}", stdout(&finished), stderr(&finished)))
}

/// Asks a socket by its path.
fn connect(path: &str) -> String {
    format!(
        "import socket\ns = socket.socket(socket.AF_UNIX)\ntry:\n  s.connect({path:?}); print('reached')\n\
         except OSError as e: print('dead', e)\n"
    )
}

#[test]
fn sockets_of_the_machine_are_dead_and_those_of_the_workspace_live_where_asked() {
    let world = World::new("sockets");
    let temporary = tempfile::tempdir_in("/tmp").expect("a folder");
    let places = [temporary.path().join("tmux"), world.0.join("agent"), world.work().join("own")];
    let listeners: Vec<_> = places.iter().map(|path| UnixListener::bind(path).expect("a socket")).collect();
    let script: String = places.iter().map(|path| connect(&path.display().to_string())).collect();
    let Some(said) = python(&world, &script, |_| {}) else { return };
    assert_eq!(said.matches("dead").count(), 3, "{said}");
    let Some(said) = python(&world, &script, |walls| walls.sockets = vec![world.work()]) else { return };
    assert!(said.ends_with("reached\n") && said.matches("dead").count() == 2, "{said}");
    // Another way to the same one, and the folder above moved: what was covered stays so.
    let folder = temporary.path().display();
    let line = format!(
        "import os\nos.rename('{folder}', '{folder}.2')\nos.symlink('{folder}.2/tmux', '/tmp/{}')\n",
        std::process::id()
    );
    let script = line + &connect(&format!("/tmp/{}", std::process::id()));
    let said = python(&world, &script, |_| {});
    let _ = fs::remove_file(format!("/tmp/{}", std::process::id()));
    let _ = fs::remove_dir_all(format!("{folder}.2"));
    assert!(said.is_some_and(|said| said.starts_with("dead")));
    drop(listeners);
}

#[test]
fn a_socket_with_a_relative_name_is_dead_too() {
    let world = World::new("relative");
    let script = "import socket, sys\ns = socket.socket(socket.AF_UNIX); s.bind('near'); s.listen(); print('up', flush=True); s.accept()";
    if !has_python() {
        return;
    }
    let mut server = Command::new("python3")
        .args(["-c", script])
        .current_dir(&world.0)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut up = [0; 3];
    server.stdout.as_mut().expect("a pipe").read_exact(&mut up).expect("it says so");
    let said = python(&world, &connect(&world.0.join("near").display().to_string()), |_| {});
    let _ = server.kill();
    let _ = server.wait();
    assert!(said.is_some_and(|said| said.starts_with("dead")));
}

#[test]
fn a_commands_own_sockets_work_between_its_jobs() {
    let world = World::new("own-socket");
    let script = "import socket, os\ns = socket.socket(socket.AF_UNIX); s.bind('/tmp/own-%d' % os.getpid()); s.listen()\n\
                  c = socket.socket(socket.AF_UNIX); c.connect(s.getsockname()); print('reached'); os.unlink(s.getsockname())";
    let Some(said) = python(&world, script, |_| {}) else { return };
    assert_eq!(said, "reached\n");
}

#[test]
fn terminals_are_the_commands_own() {
    let world = World::new("terminals");
    let outside = nix_pty();
    let name = outside.1.clone();
    let line = format!("ls {name} 2>&1; echo forged > {name}; ls /dev/pts");
    let said = world.says(&line, |_| {});
    assert!(said.contains("ptmx") && said.contains("No such file"), "{said}");
    // Its own can be had.
    let script =
        "import os, pty\na, b = pty.openpty(); os.write(b, b'own'); print(os.read(a, 3).decode(), os.ttyname(b))";
    let Some(said) = python(&world, script, |_| {}) else { return };
    assert_eq!(said, "own /dev/pts/0\n");
    drop(outside);
}

/// A terminal of this process, and its name.
fn nix_pty() -> (fs::File, String) {
    let master = fs::OpenOptions::new().read(true).write(true).open("/dev/ptmx").expect("a terminal");
    let number = {
        let mut number = 0_i32;
        // SAFETY: the kernel writes one number.
        let done = unsafe { libc::ioctl(std::os::fd::AsRawFd::as_raw_fd(&master), libc::TIOCGPTN, &raw mut number) };
        assert_eq!(done, 0);
        number
    };
    (master, format!("/dev/pts/{number}"))
}

#[test]
fn limits_of_other_processes_stay_as_they_are() {
    let world = World::new("limits");
    let mut other = Command::new("sleep").arg("4713.7").spawn().expect("it starts");
    let script = format!(
        "import resource\nprint(resource.prlimit({0}, resource.RLIMIT_CPU)[0] == -1)\n\
         try:\n  resource.prlimit({0}, resource.RLIMIT_NOFILE, (7, 7)); print('changed')\n\
         except PermissionError: print('refused')\n\
         resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); print('own')",
        other.id()
    );
    let said = python(&world, &script, |_| {});
    let limits = fs::read_to_string(format!("/proc/{}/limits", other.id())).expect("it lives");
    let _ = other.kill();
    let _ = other.wait();
    let Some(said) = said else { return };
    assert!(said.ends_with("refused\nown\n"), "{said}");
    assert!(!limits.lines().any(|line| line.starts_with("Max open files") && line.contains(" 7 ")), "{limits}");
}

#[test]
fn shared_memory_is_the_commands_own() {
    let world = World::new("ipc");
    let outside = fs::read_link("/proc/self/ns/ipc").expect("a namespace");
    let said = world.says("readlink /proc/self/ns/ipc", |_| {});
    assert_ne!(said.trim(), outside.display().to_string());
}

fn file(path: PathBuf, text: &str) -> ProtectedFile {
    ProtectedFile { path, text: text.to_owned() }
}

#[test]
fn a_protected_file_that_does_not_exist_cannot_be_made_and_leaves_nothing() {
    let world = World::new("files");
    let git = world.work().join(".git");
    fs::create_dir_all(&git).expect("it is ours");
    let line = "cat .git/commondir; echo ../.e > .git/commondir; rm -f .git/commondir; mv .git .g; echo x > n; mv n .git/commondir; \
                mkdir -p .config/a && echo x > .config/a/b; mv .config .c";
    let said = world.says(line, |walls| {
        walls.files = vec![file(git.join("commondir"), ".\n")];
        walls.protected = vec![world.work().join(".config/a")];
    });
    assert!(said.starts_with(".\n"), "{said}");
    assert_eq!((names(&git), names(&world.work())), (vec![], vec![".git".to_owned(), "n".to_owned()]));
}

#[test]
fn a_placeholder_stays_as_long_as_any_run_needs_it() {
    let world = World::new("shared-placeholder");
    let git = world.work().join(".git");
    fs::create_dir_all(&git).expect("it is ours");
    let guarded = |walls: &mut Workspace| {
        walls.files = vec![file(git.join("commondir"), ".\n")];
        walls.protected = vec![git.join("hooks")];
    };
    // The first makes them and ends first.
    let first = world.shell("touch one; until [ -e two ]; do sleep 0.01; done", guarded);
    let second = world.shell(
        "until [ -e one ]; do sleep 0.01; done; touch two; until [ -e over ]; do sleep 0.01; done; \
         echo x > .git/commondir; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo tried",
        guarded,
    );
    let first = std::thread::spawn(move || done(&first));
    until_exists(&world.work().join("one"));
    let second = std::thread::spawn(move || done(&second));
    assert_eq!(first.join().expect("no panic").end, End::Exit(0));
    fs::write(world.work().join("over"), "").expect("it is ours");
    let second = second.join().expect("no panic");
    assert_eq!(stdout(&second), "tried\n");
    assert_eq!(names(&git), Vec::<String>::new());
    // One that a killed run left is taken for what it is.
    fs::write(git.join("commondir"), ".\n").expect("it is ours");
    fs::set_permissions(git.join("commondir"), std::os::unix::fs::PermissionsExt::from_mode(0o444))
        .expect("it is ours");
    world.says("true", guarded);
    assert_eq!(names(&git), Vec::<String>::new());
}

fn until_exists(path: &std::path::Path) {
    while !path.exists() {
        std::thread::yield_now();
    }
}

#[test]
fn a_link_that_is_protected_can_neither_be_replaced_nor_followed_to_be_written() {
    let world = World::new("link");
    let git = world.work().join(".git");
    fs::create_dir_all(world.work().join("elsewhere/deep")).expect("it is ours");
    fs::create_dir(&git).expect("it is ours");
    std::os::unix::fs::symlink("../elsewhere/deep", git.join("hooks")).expect("it is ours");
    let line = "echo x > .git/hooks/a; echo x > elsewhere/deep/b; rm .git/hooks; mv .git/hooks .git/h; mv elsewhere e; mkdir .git/hooks; ls .git";
    let said = world.says(line, |walls| walls.protected = vec![git.join("hooks")]);
    assert!(said.starts_with("hooks\n"), "{said}");
    assert!(git.join("hooks").is_symlink() && names(&git) == ["hooks"]);
    assert_eq!(names(&world.work().join("elsewhere/deep")), Vec::<String>::new());
}
