//! The watchdog: what a whole tree uses, and whether that is too much. Read from `/proc` by the supervisor, which
//! stands outside of the walls, so that nothing inside can switch it off.
//!
//! Between two looks a tree may exceed its limits; the room's own bounds (processes of its user, size of `/tmp`) hold at
//! once.

use crate::finished::Limit;
use crate::limits::Limits;
use crate::tree;
use std::fs;
use std::time::Duration;

/// How often to look.
pub(crate) const EVERY: Duration = Duration::from_millis(50);

/// What a tree uses at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// CPU time, of processes already reaped as well.
    pub(crate) cpu: Duration,
    /// Bytes.
    pub(crate) memory: u64,
    /// Processes and threads.
    pub(crate) processes: u64,
}

/// Looks at the tree below a process of ours (the supervisor or, in the room, its first process), which itself counts
/// only with the time of what it has reaped.
pub(crate) fn look(above: i32, limits: &Limits) -> Use {
    let mut used = Use::default();
    let mut ticks = tree::stat(above).map_or(0, |stat| stat.cpu_ticks);
    let processes = tree::below(above);
    for process in &processes {
        if let Some(stat) = tree::stat(*process) {
            ticks += stat.cpu_ticks;
            used.processes += stat.threads;
        }
    }
    used.cpu = ticks_to_time(ticks);
    if let Some(limit) = limits.memory {
        used.memory = memory(&processes, limit);
    }
    used
}

/// Which limit is exceeded, if any.
pub(crate) fn exceeded(used: &Use, limits: &Limits) -> Option<Limit> {
    let over = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used > limit);
    if limits.cpu.is_some_and(|limit| used.cpu > limit) {
        Some(Limit::Cpu)
    } else if over(used.memory, limits.memory) {
        Some(Limit::Memory)
    } else if over(used.processes, limits.processes) {
        Some(Limit::Processes)
    } else {
        None
    }
}

/// Memory of the tree. The cheap sum counts shared pages several times, so that only a sum over the limit is worth the
/// dear one.
fn memory(processes: &[i32], limit: u64) -> u64 {
    let cheap: u64 = processes.iter().map(|process| resident(*process)).sum();
    if cheap <= limit {
        return cheap;
    }
    processes.iter().map(|process| proportional(*process).unwrap_or_else(|| private(*process))).sum()
}

/// Resident bytes, shared ones included (second field of proc_pid_statm(5), in pages).
fn resident(process: i32) -> u64 {
    statm(process, 1)
}

/// Resident bytes without those that files or others share.
fn private(process: i32) -> u64 {
    statm(process, 1).saturating_sub(statm(process, 2))
}

fn statm(process: i32, field: usize) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let pages: u64 = text.split_ascii_whitespace().nth(field).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * page_size()
}

/// Each shared page divided among its users (`Pss` of proc_pid_smaps(5)); none where the kernel does not let us look.
fn proportional(process: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

fn ticks_to_time(ticks: u64) -> Duration {
    let per_second = configured(nix::unistd::SysconfVar::CLK_TCK, 100);
    Duration::from_millis(ticks * 1000 / per_second)
}

fn page_size() -> u64 {
    configured(nix::unistd::SysconfVar::PAGE_SIZE, 4096)
}

fn configured(what: nix::unistd::SysconfVar, otherwise: u64) -> u64 {
    let value = nix::unistd::sysconf(what).ok().flatten().and_then(|value| u64::try_from(value).ok());
    value.filter(|value| *value > 0).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_exceeded_only_above_it() {
        let limits =
            Limits { processes: Some(3), memory: Some(100), cpu: Some(Duration::from_secs(1)), ..Limits::default() };
        let within = Use { cpu: Duration::from_secs(1), memory: 100, processes: 3 };
        assert_eq!(exceeded(&within, &limits), None);
        assert_eq!(exceeded(&Use { processes: 4, ..within }, &limits), Some(Limit::Processes));
        assert_eq!(exceeded(&Use { memory: 101, ..within }, &limits), Some(Limit::Memory));
        assert_eq!(exceeded(&Use { cpu: Duration::from_millis(1001), ..within }, &limits), Some(Limit::Cpu));
    }

    #[test]
    fn without_limits_nothing_is_exceeded() {
        let much = Use { cpu: Duration::MAX, memory: u64::MAX, processes: u64::MAX };
        assert_eq!(exceeded(&much, &Limits::default()), None);
    }
}
