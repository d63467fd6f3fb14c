//! User namespaces, and the right to do without one.

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, getegid, geteuid};
use std::fs;
use std::io;

/// Whether the calling process has CAP_SYS_ADMIN (number 21 of capabilities(7)) and may change users.
pub(crate) fn may_mount() -> bool {
    const NEEDED: u64 = 1 << 21 | 1 << 6 | 1 << 7 | 1 << 8;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).is_some_and(|set| set & NEEDED == NEEDED)
}

/// Enters a user namespace in which the caller's own user and group are the only ones (user_namespaces(7)).
pub(crate) fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    map(user, group)
}

/// As [`enter_user_namespace`], but where there are no such namespaces everything stays as it is.
pub(crate) fn try_user_namespace() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    if unshare(CloneFlags::CLONE_NEWUSER).is_err() {
        return Ok(());
    }
    map(user, group)
}

fn map(user: Uid, group: Gid) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}
