//! Runs without walls: limits, output, and that nothing of a tree is left.

use crate::support::{CALLER, any_process, done, finish, lives, parent, shell, stderr, stdout};
use selfsmith_sandbox::{Cancel, Captured, End, Environment, Job, Limit, Limits, Program, SandboxError, Stream, run};
use std::time::{Duration, Instant};

fn limited(line: &str, limits: Limits) -> Job {
    Job { limits, ..shell(line) }
}

#[test]
fn output_and_exit_code_come_back() {
    let finished = done(&shell("echo out; echo err >&2; exit 7"));
    assert_eq!((finished.end, stdout(&finished), stderr(&finished)), (End::Exit(7), "out\n".into(), "err\n".into()));
}

#[test]
fn a_signal_is_told_as_a_signal() {
    assert_eq!(done(&shell("kill -9 $$")).end, End::Signal(9));
}

#[test]
fn arguments_reach_the_program_unchanged() {
    let argv = ["printf", "%s|", "a b", "$HOME", "'\"", "中"].map(Into::into).to_vec();
    let finished = done(&Job { program: Program::Argv(argv), ..shell("") });
    assert_eq!(stdout(&finished), "a b|$HOME|'\"|中|");
}

#[test]
fn standard_input_is_given_and_ends() {
    let stdin = vec![b'x'; 3_000_000];
    let finished = done(&Job { stdin, ..shell("wc -c") });
    assert_eq!(stdout(&finished).trim(), "3000000");
    assert_eq!(stdout(&done(&shell("cat; echo end"))), "end\n");
}

#[test]
fn a_shell_line_longer_than_an_argument_may_be_runs() {
    let line = format!("echo {}; cat", "x".repeat(300_000));
    let finished = done(&Job { stdin: b"input".to_vec(), ..shell(&line) });
    assert_eq!((finished.end, finished.stdout.total()), (End::Exit(0), 300_006));
}

#[test]
fn a_missing_program_folder_or_a_nul_is_said() {
    let job = Job { program: Program::Argv(vec!["no-such-program".into()]), ..shell("") };
    assert!(matches!(finish(&job), Err(SandboxError::Program { program, .. }) if program == "no-such-program"));
    let job = Job { dir: "/no/such/folder".into(), ..shell("true") };
    assert!(matches!(finish(&job), Err(SandboxError::Dir { path, .. }) if path.ends_with("no/such/folder")));
    assert!(matches!(finish(&shell("echo a\0b")), Err(SandboxError::BadCommand { .. })));
    let job = Job { program: Program::Argv(vec![]), ..shell("") };
    assert!(matches!(finish(&job), Err(SandboxError::BadCommand { .. })));
}

#[test]
fn only_listed_variables_are_seen() {
    let environment = Environment { keep: vec!["PATH".into()], set: vec![("OURS".into(), "1".into())] };
    let finished = done(&Job { environment, ..shell("env | cut -d= -f1 | sort | tr '\\n' ' '") });
    assert_eq!(stdout(&finished), "OURS PATH PWD SHLVL _ ");
}

#[test]
fn a_child_in_its_own_session_neither_delays_nor_survives() {
    let finished = done(&shell("setsid sleep 4711.1 & echo started"));
    assert_eq!((finished.end, stdout(&finished)), (End::Exit(0), "started\n".into()));
    assert!(finished.wall < Duration::from_secs(5));
    assert!(!lives("sleep 4711.1"));
}

#[test]
fn a_daemon_that_forked_twice_ends_with_its_program() {
    let line = "(setsid sh -c 'sleep 4711.2 </dev/null >/dev/null 2>&1 & exit 0' &) ; sleep 0.1; echo ok";
    assert_eq!(stdout(&done(&shell(line))), "ok\n");
    assert!(!lives("sleep 4711.2"));
}

#[test]
fn a_pipeline_that_takes_too_long_ends_whole() {
    let limits = Limits { wall: Duration::from_millis(300), ..Limits::default() };
    let finished = done(&limited("sleep 4711.3 | cat", limits));
    assert_eq!(finished.end, End::TimedOut);
    assert!(finished.wall >= Duration::from_millis(300) && finished.wall < Duration::from_secs(5));
    assert!(!lives("sleep 4711.3"));
}

#[test]
fn a_program_that_ignores_signals_ends_all_the_same() {
    let limits = Limits { wall: Duration::from_millis(200), ..Limits::default() };
    assert_eq!(done(&limited("trap '' TERM INT HUP QUIT; while :; do sleep 4711.4; done", limits)).end, End::TimedOut);
    assert!(!lives("sleep 4711.4"));
}

#[test]
fn cancelling_ends_the_tree_soon() {
    let cancel = Cancel::default();
    let other = cancel.clone();
    let mut seen = Vec::new();
    let began = Instant::now();
    let finished = run(&shell("echo up; sleep 4711.5"), &parent(), &cancel, &mut |stream, bytes| {
        seen.push((stream, bytes.to_vec()));
        other.cancel();
    });
    assert_eq!(finished.expect("it starts").end, End::Cancelled);
    assert_eq!(seen, [(Stream::Stdout, b"up\n".to_vec())]);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(!lives("sleep 4711.5"));
}

#[test]
fn a_flood_is_counted_and_bounded() {
    let limits = Limits { output: 10_000, ..Limits::default() };
    let finished = done(&limited("head -c 30000000 /dev/zero | tr '\\0' x", limits));
    let expected = Captured { head: vec![b'x'; 5000], tail: vec![b'x'; 5000], dropped: 29_990_000 };
    assert_eq!((finished.end, finished.stdout), (End::Exit(0), expected));
}

#[test]
fn an_endless_flood_meets_the_clock() {
    let limits = Limits { wall: Duration::from_millis(300), ..Limits::default() };
    assert_eq!(done(&limited("yes", limits)).end, End::TimedOut);
}

#[test]
fn a_fork_bomb_is_noticed_and_ends() {
    let limits = Limits { processes: Some(100), ..Limits::default() };
    let finished = done(&limited(
        "bomb() { [ $1 -gt 0 ] || return; sleep 4711.6 & bomb $(($1-1)) & bomb $(($1-1)) & wait; }; bomb 9",
        limits,
    ));
    assert_eq!(finished.end, End::LimitExceeded(Limit::Processes));
    assert!(!lives("sleep 4711.6"));
}

#[test]
fn a_memory_hog_is_noticed_and_ends() {
    let limits = Limits { memory: Some(64 << 20), ..Limits::default() };
    let finished = done(&limited("x=$(head -c 20000000 /dev/zero | tr '\\0' x); while :; do x=$x$x; done", limits));
    assert_eq!(finished.end, End::LimitExceeded(Limit::Memory));
}

#[test]
fn an_endless_loop_meets_its_cpu_limit() {
    let limits = Limits { cpu: Some(Duration::from_millis(300)), ..Limits::default() };
    let finished = done(&limited("while :; do :; done", limits));
    assert_eq!(finished.end, End::LimitExceeded(Limit::Cpu));
    assert!(finished.cpu >= Duration::from_millis(250), "{:?}", finished.cpu);
}

#[test]
fn cpu_of_the_whole_tree_is_told() {
    let finished = done(&shell("(i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done) & wait"));
    assert!(finished.cpu > Duration::from_millis(10), "{:?}", finished.cpu);
}

#[test]
fn a_file_larger_than_allowed_cannot_be_written() {
    let limits = Limits { file_size: Some(1 << 20), ..Limits::default() };
    let finished = done(&limited(
        "head -c 5000000 /dev/zero > /tmp/selfsmith-large.$$; rc=$?; stat -c %s /tmp/selfsmith-large.$$; rm /tmp/selfsmith-large.$$; exit $rc",
        limits,
    ));
    assert_eq!(stdout(&finished), "1048576\n");
    assert_ne!(finished.end, End::Exit(0));
}

#[test]
fn a_program_that_ends_its_supervisor_leaves_nothing_behind() {
    let result = finish(&shell("sleep 4711.7 & kill -9 $PPID; sleep 4711.7"));
    assert!(matches!(result, Err(SandboxError::Supervisor { .. })), "{result:?}");
    assert!(!lives("sleep 4711.7"));
}

#[test]
fn several_runs_at_once_do_not_disturb_each_other() {
    let threads: Vec<_> = (0..8)
        .map(|number| std::thread::spawn(move || stdout(&done(&shell(&format!("sleep 0.0{number}; echo {number}"))))))
        .collect();
    let outputs: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
    assert_eq!(outputs, (0..8).map(|number| format!("{number}\n")).collect::<Vec<_>>());
}

#[test]
fn descriptors_of_the_caller_do_not_reach_the_program() {
    let finished = done(&shell("ls /proc/self/fd | sort -n | tr '\\n' ' '"));
    // 3 is the folder that `ls` itself reads.
    assert_eq!(stdout(&finished), "0 1 2 3 ");
}

#[test]
fn the_supervisor_has_none_of_the_callers_variables() {
    let finished = done(&shell("tr '\\0' '\\n' < /proc/$PPID/environ | wc -l"));
    assert_eq!(stdout(&finished).trim(), "0");
}

/// Runs as a caller of its own, to be killed by the test below; alone it only ends at once.
#[test]
fn caller_to_be_killed() {
    if std::env::var_os(CALLER).is_some() {
        done(&shell("setsid sleep 4711.8 & sleep 4711.8"));
    }
}

#[test]
fn when_the_caller_is_killed_the_tree_ends() {
    let mut caller = std::process::Command::new(std::env::current_exe().expect("we run"))
        .args(["plain::caller_to_be_killed", "--exact"])
        .env(CALLER, std::process::id().to_string())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    while !any_process("sleep 4711.8") {
        std::thread::yield_now();
    }
    caller.kill().expect("it lives");
    caller.wait().expect("it is ours");
    assert!(!lives("sleep 4711.8"));
}
