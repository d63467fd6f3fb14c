//! The room: what exists in it, what does not, and that everything in it ends.

use crate::support::{CALLER, any_process, done, finish, lives, parent, shell, stderr, stdout};
use selfsmith_sandbox::{
    Bind, BindMode, Cancel, End, Environment, Forward, Job, Limit, Limits, Program, Room, SandboxError, Walls,
    give_to_room, probe, run,
};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A shell line in a room with these binds.
pub fn inside(line: &str, binds: Vec<Bind>) -> Job {
    Job { walls: Walls::Room(Room { binds, ..Room::default() }), ..shell(line) }
}

pub fn bind(source: &Path, at: &str, mode: BindMode) -> Bind {
    Bind { source: source.to_owned(), at: at.into(), mode }
}

/// A folder that the room's user may write.
fn given() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    give_to_room(folder.path()).expect("it can be given");
    folder
}

pub fn says(line: &str, binds: Vec<Bind>) -> String {
    let finished = done(&inside(line, binds));
    format!("{}{}", stdout(&finished), stderr(&finished))
}

#[test]
fn a_program_runs_and_its_end_is_told() {
    let finished = done(&inside("echo in; echo err >&2; exit 5", vec![]));
    assert_eq!((finished.end, stdout(&finished), stderr(&finished)), (End::Exit(5), "in\n".into(), "err\n".into()));
    assert_eq!(finished.weaker, vec![]);
    assert_eq!(done(&inside("kill -9 $$", vec![])).end, End::Signal(9));
}

#[test]
fn nothing_of_the_machine_exists_but_its_programs() {
    let mut root: Vec<String> = says("ls /", vec![]).split_whitespace().map(str::to_owned).collect();
    root.retain(|name| !["bin", "sbin", "lib", "lib32", "lib64", "libx32"].contains(&name.as_str()));
    assert_eq!(root, ["dev", "etc", "proc", "tmp", "usr", "var"]);
    assert_eq!(
        says("ls /dev | tr '\\n' ' '", vec![]),
        "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero "
    );
    assert_eq!(
        says("echo $HOME $TMPDIR; ls -A ~ /run /root /home 2>&1 | grep -c 'No such file'", vec![]),
        "/tmp/home /tmp\n3\n"
    );
    assert_eq!(says("test -e /var/run/docker.sock || echo none", vec![]), "none\n");
}

#[test]
fn nobody_else_is_there_and_the_user_has_no_powers() {
    let seen = says(
        "ls /proc | grep -c '^[0-9]'; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -s '\\t\\n' ' '",
        vec![],
    );
    let mut lines = seen.lines();
    let count: u32 = lines.next().and_then(|count| count.parse().ok()).unwrap_or(99);
    assert!(count <= 5, "{seen}");
    let flags = lines.next().unwrap_or_default();
    assert!(flags.contains("CapEff: 0000000000000000") && flags.contains("NoNewPrivs: 1 Seccomp: 2"), "{seen}");
    assert_ne!(says("id -u", vec![]), "0\n");
}

#[test]
fn the_first_process_cannot_be_looked_into() {
    assert!(!says("cat /proc/1/environ /proc/1/maps && echo read", vec![]).contains("read\n"));
}

#[test]
fn the_callers_variables_are_nowhere() {
    let mut with_key = parent();
    with_key.push(("OPENAI_API_KEY".into(), "sk-hidden".into()));
    let job = inside("cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c hidden; env | grep -c KEY", vec![]);
    let finished = run(&job, &with_key, &Cancel::default(), &mut |_, _| {}).expect("it runs");
    assert_eq!(stdout(&finished), "0\n0\n");
}

#[test]
fn there_is_no_network_but_loopback() {
    let script = "import socket
print(sorted(name for _, name in socket.if_nameindex()))
server = socket.create_server(('127.0.0.1', 0))
socket.create_connection(server.getsockname(), 2)
print('loopback works')
for target in ('1.1.1.1', 53), ('169.254.169.254', 80):
    try:
        socket.create_connection(target, 2); print('reached', target)
    except OSError: print('unreachable')";
    let job = Job { program: Program::Argv(vec!["python3".into(), "-c".into(), script.into()]), ..inside("", vec![]) };
    match finish(&job) {
        Ok(finished) => {
            assert_eq!(
                stdout(&finished),
                "['lo']\nloopback works\nunreachable\nunreachable\n",
                "{}",
                stderr(&finished)
            );
        }
        // Without python3, bash says the same of what matters most.
        Err(SandboxError::Program { .. }) => {
            assert_eq!(says("(echo > /dev/tcp/1.1.1.1/53) 2>/dev/null || echo unreachable", vec![]), "unreachable\n");
        }
        Err(error) => panic!("could not {error}"),
    }
}

#[test]
fn what_is_bound_read_only_cannot_be_changed() {
    let folder = given();
    fs::write(folder.path().join("file"), "old").expect("it is ours");
    give_to_room(folder.path()).expect("it can be given");
    let line = "cat /ro/file; echo new > /ro/file; rm -f /ro/file; touch /ro/other; chmod 777 /ro/file; mv /ro/file /tmp/; \
                ln /ro/file /tmp/link; truncate -s 0 /ro/file";
    says(line, vec![bind(folder.path(), "/ro", BindMode::ReadOnly)]);
    let names: Vec<_> =
        fs::read_dir(folder.path()).expect("it is ours").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["file"]);
    assert_eq!(fs::read_to_string(folder.path().join("file")).expect("it is ours"), "old");
}

#[test]
fn what_is_bound_for_writing_comes_back_and_can_be_read() {
    let folder = given();
    assert_eq!(
        says(
            "echo made > /rw/file; mkdir /rw/dir; cat /rw/file",
            vec![bind(folder.path(), "/rw", BindMode::ReadWrite)]
        ),
        "made\n"
    );
    assert_eq!(fs::read_to_string(folder.path().join("file")).expect("the caller may read it"), "made\n");
}

#[test]
fn a_single_file_and_nested_binds_can_be_bound() {
    let (outer, inner) = (given(), given());
    fs::write(inner.path().join("file"), "inner").expect("it is ours");
    let binds = vec![
        bind(outer.path(), "/work/trial", BindMode::ReadWrite),
        bind(inner.path(), "/work/trial/target", BindMode::ReadOnly),
        bind(&inner.path().join("file"), "/etc/one-file", BindMode::ReadOnly),
    ];
    assert_eq!(
        says("cat /etc/one-file /work/trial/target/file; touch /work/trial/new && echo ' ok'", binds),
        "innerinner ok\n"
    );
}

#[test]
fn a_link_in_a_bound_folder_leads_nowhere_outside() {
    let (folder, secret) = (given(), tempfile::tempdir().expect("a temporary folder"));
    fs::write(secret.path().join("key"), "secret").expect("it is ours");
    std::os::unix::fs::symlink(secret.path(), folder.path().join("out")).expect("it is ours");
    let binds = || vec![bind(folder.path(), "/rw", BindMode::ReadWrite)];
    assert!(!says("cat /rw/out/key; echo x > /rw/out/planted", binds()).contains("secret"));
    // Nor can the caller be led out by binding below it.
    let mut below = binds();
    below.push(bind(secret.path(), "/rw/out/deep", BindMode::ReadOnly));
    assert!(matches!(finish(&inside("true", below)), Err(SandboxError::Bind { .. })));
    let names: Vec<_> =
        fs::read_dir(secret.path()).expect("it is ours").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["key"]);
}

#[test]
fn a_bind_that_is_missing_or_leads_astray_is_said() {
    for (source, at) in [("/no/such/thing", "/x"), ("/usr", "relative"), ("/usr", "/a/../b"), ("/usr", "/")] {
        let result = finish(&inside("true", vec![bind(Path::new(source), at, BindMode::ReadOnly)]));
        assert!(matches!(result, Err(SandboxError::Bind { .. })), "{source} at {at}: {result:?}");
    }
}

#[test]
fn an_overlay_leaves_what_lies_below_untouched() {
    let folder = given();
    let [lower, upper, work] = ["low,er:1", "upper", "work"].map(|name| folder.path().join(name));
    for path in [&lower, &upper, &work] {
        fs::create_dir(path).expect("it is ours");
    }
    fs::write(lower.join("file"), "old").expect("it is ours");
    give_to_room(folder.path()).expect("it can be given");
    let overlay = BindMode::Overlay { upper: upper.clone(), work };
    let line = "cat /over/file; echo new > /over/file; echo more > /over/other; cat /over/file";
    assert_eq!(says(line, vec![bind(&lower, "/over", overlay)]), "oldnew\n");
    assert_eq!(fs::read_to_string(lower.join("file")).expect("it is ours"), "old");
    assert!(!lower.join("other").exists());
    assert_eq!(fs::read_to_string(upper.join("other")).expect("the caller may read it"), "more\n");
}

#[test]
fn the_private_tmp_is_bounded_and_gone_afterwards() {
    let room = Room { tmp_bytes: 1 << 20, ..Room::default() };
    let job = Job { walls: Walls::Room(room), ..shell("head -c 5000000 /dev/zero > /tmp/big; stat -c %s /tmp/big") };
    assert_eq!(stdout(&done(&job)), "1048576\n");
    assert_eq!(says("ls -A /tmp", vec![]), "home\n");
}

#[test]
fn calls_that_lead_out_are_refused() {
    for line in [
        "unshare -U true",
        "unshare -m true",
        "mount -t tmpfs x /tmp",
        "umount /proc",
        "chroot / true",
        "nsenter -t 1 -m true",
    ] {
        assert_ne!(done(&inside(line, vec![])).end, End::Exit(0), "{line}");
    }
}

#[test]
fn a_forward_reaches_the_socket_outside() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let socket = folder.path().join("relay.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let server = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut connection, _) = listener.accept().expect("a connection");
            let mut request = [0; 5];
            connection.read_exact(&mut request).expect("a request");
            connection.write_all(&[b"heard ", request.as_slice()].concat()).expect("an answer");
        }
    });
    let room = Room { forwards: vec![Forward { port: 8080, socket }], ..Room::default() };
    let ask = "exec 3<>/dev/tcp/127.0.0.1/8080; printf hello >&3; cat <&3; exec 3>&-; echo; ";
    let job = Job { walls: Walls::Room(room), ..shell(&ask.repeat(2)) };
    assert_eq!(stdout(&done(&job)), "heard hello\nheard hello\n");
    server.join().expect("no panic");
}

#[test]
fn a_forward_to_nowhere_is_said() {
    let room = Room { forwards: vec![Forward { port: 8080, socket: "/no/such/socket".into() }], ..Room::default() };
    let result = finish(&Job { walls: Walls::Room(room), ..shell("true") });
    assert!(matches!(result, Err(SandboxError::Forward { port: 8080, .. })), "{result:?}");
}

#[test]
fn daemons_end_with_the_program() {
    let finished =
        done(&inside("setsid sleep 4712.1 & (setsid sh -c 'sleep 4712.1 & exit' &); sleep 0.1; echo up", vec![]));
    assert_eq!((finished.end, stdout(&finished)), (End::Exit(0), "up\n".into()));
    assert!(!lives("sleep 4712.1"));
}

#[test]
fn too_long_ends_the_whole_room() {
    let limits = Limits { wall: Duration::from_millis(300), ..Limits::default() };
    assert_eq!(done(&Job { limits, ..inside("sleep 4712.2 | cat", vec![]) }).end, End::TimedOut);
    assert!(!lives("sleep 4712.2"));
}

#[test]
fn a_fork_bomb_stays_in_the_room() {
    let limits = Limits { processes: Some(64), wall: Duration::from_secs(3), ..Limits::default() };
    let finished = done(&Job {
        limits,
        ..inside(
            "bomb() { [ $1 -gt 0 ] || return; sleep 4712.3 & bomb $(($1-1)) & bomb $(($1-1)) & wait; }; bomb 9",
            vec![],
        )
    });
    // The kernel refuses the 65th process at once; what the shell makes of that is its own affair.
    assert!(finished.wall <= Duration::from_secs(4), "{finished:?}");
    assert!(!lives("sleep 4712.3"));
}

#[test]
fn each_room_has_a_count_of_processes_of_its_own() {
    let job = |count: u32| {
        let limits = Limits { processes: Some(64), ..Limits::default() };
        let line = format!("for i in $(seq {count}); do sleep 1 & done; wait; echo all");
        Job { limits, ..inside(&line, vec![]) }
    };
    let rooms: Vec<_> = (0..3).map(|_| std::thread::spawn(move || done(&job(50)))).collect();
    for room in rooms {
        let finished = room.join().expect("no panic");
        assert_eq!((stdout(&finished), stderr(&finished)), ("all\n".to_owned(), String::new()));
    }
    // Over the limit bash says so, and tries again until others have ended.
    assert!(stderr(&done(&job(80))).contains("fork: "));
}

#[test]
fn many_files_beside_each_other_cannot_fill_the_disk() {
    let given = given();
    let writes = "for n in 1 2 3 4 5 6 7 8; do head -c 16000000 /dev/zero > /given/$n; sync /given/$n; done; sleep 20; echo filled";
    let mut job = inside(writes, vec![bind(given.path(), "/given", BindMode::ReadWrite)]);
    job.limits = Limits { disk: Some(60_000_000), file_size: Some(20_000_000), ..job.limits };
    let finished = done(&job);
    assert_eq!(finished.end, End::LimitExceeded(Limit::Disk));
    job.limits.disk = None;
    job.program = shell(&writes.replace("sleep 20; ", "")).program;
    assert_eq!(stdout(&done(&job)), "filled\n", "without the limit nothing stops it");
}

#[test]
fn a_memory_hog_in_the_room_ends() {
    let limits = Limits { memory: Some(64 << 20), ..Limits::default() };
    let hog = "x=$(head -c 20000000 /dev/zero | tr '\\0' x); while :; do x=$x$x; done";
    assert_eq!(done(&Job { limits, ..inside(hog, vec![]) }).end, End::LimitExceeded(Limit::Memory));
}

#[test]
fn cpu_of_the_room_is_told_and_limited() {
    let limits = Limits { cpu: Some(Duration::from_millis(300)), ..Limits::default() };
    let finished = done(&Job { limits, ..inside("while :; do :; done", vec![]) });
    assert_eq!(finished.end, End::LimitExceeded(Limit::Cpu));
    assert!(finished.cpu >= Duration::from_millis(250), "{:?}", finished.cpu);
}

/// Runs as a caller of its own, to be killed by the test below; alone it only ends at once.
#[test]
fn room_caller_to_be_killed() {
    if std::env::var_os(CALLER).is_some() {
        done(&inside("setsid sleep 4712.4 & sleep 4712.4", vec![]));
    }
}

#[test]
fn when_the_caller_is_killed_the_room_ends() {
    let mut caller = std::process::Command::new(std::env::current_exe().expect("we run"))
        .args(["room::room_caller_to_be_killed", "--exact"])
        .env(CALLER, std::process::id().to_string())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    while !any_process("sleep 4712.4") {
        std::thread::yield_now();
    }
    caller.kill().expect("it lives");
    caller.wait().expect("it is ours");
    assert!(!lives("sleep 4712.4"));
}

/// The toolchain, found as rustup and distributions lay it out.
fn toolchain() -> PathBuf {
    let rustc = std::process::Command::new("rustc").args(["--print", "sysroot"]).output().expect("a toolchain");
    PathBuf::from(String::from_utf8_lossy(&rustc.stdout).trim())
}

#[test]
fn cargo_builds_and_tests_a_crate_in_the_room() {
    let folder = given();
    fs::create_dir(folder.path().join("src")).expect("it is ours");
    fs::write(
        folder.path().join("Cargo.toml"),
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    )
    .expect("it is ours");
    fs::write(folder.path().join("src/lib.rs"), "#[test]\nfn holds() { assert_eq!(1 + 1, 2); }\n").expect("it is ours");
    give_to_room(folder.path()).expect("it can be given");
    let binds = vec![
        bind(&toolchain(), "/opt/toolchain", BindMode::ReadOnly),
        bind(folder.path(), "/work/trial", BindMode::ReadWrite),
    ];
    let set = vec![
        ("PATH".to_owned(), "/opt/toolchain/bin:/usr/bin:/bin".into()),
        ("CARGO_HOME".to_owned(), "/tmp/cargo".into()),
    ];
    let job = Job {
        dir: "/work/trial".into(),
        environment: Environment { keep: vec![], set },
        limits: Limits { wall: Duration::from_secs(120), ..Limits::default() },
        ..inside("cargo test --offline", binds)
    };
    let finished = done(&job);
    assert_eq!(finished.end, End::Exit(0), "{}{}", stdout(&finished), stderr(&finished));
    assert!(stdout(&finished).contains("test holds ... ok"), "{}", stdout(&finished));
}

#[test]
fn every_wall_holds_here_and_says_so() {
    let found = probe();
    assert!(found.room_holds(), "this machine cannot prove the room: {found:#?}");
    assert!(found.landlock_abi > 0 && !found.nested, "{found:?}");
    assert!(found.private_files.readable, "{found:?}");
}

#[test]
fn a_room_costs_little() {
    let times: Vec<Duration> = (0..20)
        .map(|_| {
            let began = Instant::now();
            done(&Job { program: Program::Argv(vec!["true".into()]), ..inside("", vec![]) });
            began.elapsed()
        })
        .collect();
    let best = times.iter().min().copied().unwrap_or_default();
    println!("room: best {best:?}, all {times:?}");
    // Far above what it takes (some milliseconds), far below what would hurt.
    assert!(best < Duration::from_millis(500), "{best:?}");
}
