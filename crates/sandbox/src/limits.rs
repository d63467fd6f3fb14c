//! How much a child may use, and the part of it that the kernel enforces for each process (`setrlimit`).
//!
//! The rest, over the whole tree, is `watch`'s.

use nix::sys::resource::{Resource, setrlimit};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What the child may use. `None` means no limit of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall time, then the whole tree is ended.
    pub wall: Duration,
    /// CPU time of one process (RLIMIT_CPU) and, watched, of the tree.
    pub cpu: Option<Duration>,
    /// Bytes of memory of the tree, watched: shared pages are counted once where the kernel says so.
    pub memory: Option<u64>,
    /// Processes and threads of the tree, watched; also RLIMIT_NPROC: exactly in the room, whose user is its own, and on top
    /// of what the user runs already elsewhere.
    pub processes: Option<u64>,
    /// Open files of a process.
    pub descriptors: Option<u64>,
    /// Bytes of one written file (RLIMIT_FSIZE).
    pub file_size: Option<u64>,
    /// In the room: bytes by which the disks on which it may write may lose free space while it runs, watched. A GiB is left
    /// in any case.
    pub disk: Option<u64>,
    /// Bytes of output kept from each stream: half head, half tail.
    pub output: usize,
    /// How long pipes are read on after the program's own process has ended.
    pub drain: Duration,
}

impl Default for Limits {
    /// 30 s, 64 KiB of each stream, 200 ms of drain, nothing else limited.
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(30),
            cpu: None,
            memory: None,
            processes: None,
            descriptors: None,
            file_size: None,
            disk: None,
            output: 64 * 1024,
            drain: Duration::from_millis(200),
        }
    }
}

impl Limits {
    /// Whether something must be watched over the tree.
    pub(crate) fn watched(&self) -> bool {
        self.cpu.is_some() || self.memory.is_some() || self.processes.is_some()
    }

    /// Sets the limits of the calling process, which its program inherits. No core files in any case.
    pub(crate) fn apply(&self, own_user: OwnUser) -> nix::Result<()> {
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        if let Some(cpu) = self.cpu {
            // The soft limit's signal can be caught, the hard one's cannot.
            let seconds = cpu.as_secs() + u64::from(cpu.subsec_nanos() > 0);
            lower(Resource::RLIMIT_CPU, seconds.max(1), seconds.max(1) + 1)?;
        }
        if let Some(bytes) = self.file_size {
            lower(Resource::RLIMIT_FSIZE, bytes, bytes)?;
        }
        if let Some(count) = self.descriptors {
            lower(Resource::RLIMIT_NOFILE, count, count)?;
        }
        // Root is not bound by it.
        if let Some(count) = self.processes.filter(|_| !nix::unistd::getuid().is_root()) {
            let others = if own_user == OwnUser::Yes { 0 } else { tasks_of_this_user() };
            lower(Resource::RLIMIT_NPROC, count + others, count + others)?;
        }
        Ok(())
    }
}

/// Whether the child's user runs nothing but this room, so that the kernel's count per user means this tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnUser {
    /// It does.
    Yes,
    /// Other processes count as well.
    No,
}

/// Processes and threads of the calling process's user, as far as `/proc` shows them.
fn tasks_of_this_user() -> u64 {
    let me = nix::unistd::getuid().as_raw();
    let own = crate::tree::all().filter(|process| {
        std::fs::metadata(format!("/proc/{process}"))
            .is_ok_and(|facts| std::os::unix::fs::MetadataExt::uid(&facts) == me)
    });
    own.filter_map(crate::tree::stat).map(|stat| stat.threads).sum()
}

/// Sets a limit, but never above what is inherited.
fn lower(resource: Resource, soft: u64, hard: u64) -> nix::Result<()> {
    let (_, most) = nix::sys::resource::getrlimit(resource)?;
    setrlimit(resource, soft.min(most), hard.min(most))
}
