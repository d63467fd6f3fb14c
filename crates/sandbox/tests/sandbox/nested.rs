//! The walls within the room: what the agent's shell finds when the agent itself lives in one.

use crate::support::{done, finish, lives, shell, stderr, stdout};
use selfsmith_sandbox::{Bind, BindMode, End, Job, Program, Room, SandboxError, Wall, Walls, Workspace, probe};
use std::fs;

/// Run inside by the test below; alone it only ends at once.
#[test]
fn inside() {
    if std::env::var_os("SANDBOX_TEST_NESTED").is_none() {
        return;
    }
    let work = std::path::PathBuf::from("/tmp/home/work");
    fs::create_dir_all(work.join(".git/hooks")).expect("it is ours");
    let walls =
        |protected| Walls::Workspace(Workspace { writable: vec![work.clone()], protected, ..Workspace::default() });
    let line = "setsid sleep 4715.1 & echo ok > file; cat file; echo x > /tmp/home/../../proc/x; (echo > /dev/tcp/1.1.1.1/53) || echo no net";
    let plain = done(&Job { dir: work.clone(), walls: walls(vec![]), ..shell(line) });
    assert_eq!((plain.end, stdout(&plain)), (End::Exit(0), "ok\nno net\n".to_owned()), "{}", stderr(&plain));
    assert_eq!(plain.weaker, vec![]);
    assert!(!lives("sleep 4715.1"));
    // What cannot be guarded in here is told.
    let guarded = done(&Job { dir: work.clone(), walls: walls(vec![work.join(".git/hooks")]), ..shell("true") });
    assert!(guarded.weaker.iter().any(|missing| missing.wall == Wall::MountNamespace), "{:?}", guarded.weaker);
    // A room within the room is refused by name.
    let second = finish(&Job { walls: Walls::Room(Room::default()), ..shell("true") });
    assert!(matches!(second, Err(SandboxError::Wall { .. })), "{second:?}");
    let found = probe();
    assert!(found.nested);
    for state in found.walls.iter().filter(|state| state.wall != Wall::Overlay) {
        assert!(state.holds, "{state:?}");
    }
}

#[test]
fn the_shells_walls_stand_within_the_room() {
    let program = std::env::current_exe().expect("we run");
    let bind = Bind { source: program, at: "/opt/tests".into(), mode: BindMode::ReadOnly };
    let mut job = shell("");
    job.program = Program::Argv(["/opt/tests", "nested::inside", "--exact", "--nocapture"].map(Into::into).to_vec());
    job.environment.set.push(("SANDBOX_TEST_NESTED".to_owned(), "1".into()));
    job.walls = Walls::Room(Room { binds: vec![bind], ..Room::default() });
    let finished = done(&job);
    assert_eq!(finished.end, End::Exit(0), "{}{}", stdout(&finished), stderr(&finished));
    assert!(stdout(&finished).contains("1 passed"), "{}", stdout(&finished));
}
