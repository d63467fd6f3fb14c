//! A process and all below it, read from `/proc`, and how they are ended.
//!
//! A list is a snapshot: processes may come and go while it is read. Ending therefore repeats until nothing is left, and
//! stops everything before it kills, so that what forks quickly cannot outrun it.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

/// How long ending may take before what is left counts as surviving.
const PATIENCE: Duration = Duration::from_secs(5);

/// All processes below `root`, itself not included, parents before their children.
pub(crate) fn below(root: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([root]);
    let mut open = vec![root];
    while let Some(process) = open.pop() {
        for child in children(process) {
            if seen.insert(child) {
                found.push(child);
                open.push(child);
            }
        }
    }
    found
}

/// The processes that belong to a session (see setsid(2)).
pub(crate) fn in_session(session: i32) -> Vec<i32> {
    all().filter(|process| stat(*process).is_some_and(|stat| stat.session == session)).collect()
}

/// Ends everything below the calling process, which must be the subreaper of that tree, and reaps it. Returns how many
/// could not be ended (processes of another user).
pub(crate) fn end_below_me() -> usize {
    let me = nix::unistd::getpid().as_raw();
    let until = Instant::now() + PATIENCE;
    loop {
        if reap_what_is_dead() == Reaped::NoneLeft {
            return 0;
        }
        if Instant::now() >= until {
            return below(me).len();
        }
        end(|| children(me));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends the processes that `roots` names and all below them.
///
/// From the top down each is stopped before its children are listed: what is stopped forks no more, so that one way
/// through the tree finds nearly all of it, however fast it grows. What was passed by appears among the roots, as their
/// new parent's children, and is found the next time round.
pub(crate) fn end(roots: impl Fn() -> Vec<i32>) {
    let mut stopped = BTreeSet::new();
    for _ in 0..64 {
        let before = stopped.len();
        let mut open = roots();
        while let Some(process) = open.pop() {
            if stopped.insert(process) {
                // One that is gone or belongs to another user cannot be stopped; the kill below tries it again.
                let _ = kill(Pid::from_raw(process), Signal::SIGSTOP);
                open.extend(children(process));
            }
        }
        if stopped.len() == before {
            break;
        }
    }
    for process in stopped {
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
}

/// What `/proc/<pid>/stat` says that we need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) parent: i32,
    pub(crate) session: i32,
    /// Clock ticks of itself and of the children that it has reaped.
    pub(crate) cpu_ticks: u64,
    pub(crate) threads: u64,
}

/// Facts of one process; none where it is gone.
pub(crate) fn stat(process: i32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Fields as in proc_pid_stat(5); the second, the name, may hold anything, so that we count from its last parenthesis.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field.checked_sub(3)?)?.parse::<i64>().ok();
    let ticks = |field| number(field).and_then(|ticks| u64::try_from(ticks).ok()).unwrap_or(0);
    Some(Stat {
        parent: number(4)?.try_into().ok()?,
        session: number(6)?.try_into().ok()?,
        cpu_ticks: ticks(14) + ticks(15) + ticks(16) + ticks(17),
        threads: ticks(20),
    })
}

#[derive(PartialEq, Eq)]
enum Reaped {
    SomeLeft,
    NoneLeft,
}

fn reap_what_is_dead() -> Reaped {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return Reaped::SomeLeft,
            Err(Errno::ECHILD) => return Reaped::NoneLeft,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return Reaped::NoneLeft,
        }
    }
}

/// Direct children, of every thread. Kernels without that list cost a look at all processes.
fn children(process: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => found.extend(list.split_ascii_whitespace().filter_map(|number| number.parse::<i32>().ok())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && thread.path().exists() => {
                return all().filter(|child| stat(*child).is_some_and(|stat| stat.parent == process)).collect();
            }
            Err(_) => {}
        }
    }
    found
}

/// All processes that `/proc` shows.
pub(crate) fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let text = "42 (a) b (c) S 7 42 9 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 5 0 100 0 0";
        assert_eq!(parse_stat(text), Some(Stat { parent: 7, session: 9, cpu_ticks: 100, threads: 5 }));
    }

    #[test]
    fn broken_text_is_no_process() {
        assert_eq!(parse_stat(""), None);
        assert_eq!(parse_stat("42 (a) S x"), None);
    }
}
