//! User namespaces, and the right to do without one.

use nix::fcntl::OFlag;
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Gid, Uid, fork, getegid, geteuid, pipe2};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The last group number; -1 is none.
const NO_GROUP: u32 = u32::MAX - 1;

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

/// A user namespace for an id-mapped mount: what belongs to `from` looks like a file of `to`, and nothing else belongs to
/// anybody. Needs the right to map users, and a calling process of one thread.
pub(crate) fn owner_namespace(from: Uid, to: Uid) -> io::Result<OwnedFd> {
    let (reading, writing) = pipe2(OFlag::O_CLOEXEC)?;
    // SAFETY: the caller has one thread.
    match unsafe { fork() }? {
        ForkResult::Child => {
            drop(reading);
            std::process::exit(hold_namespace(writing.into()).raw_os_error().unwrap_or(nix::libc::EIO));
        }
        ForkResult::Parent { child } => {
            drop(writing);
            let namespace = map_owner(reading.into(), from, to);
            // It may have ended by itself; reaped it is in either case.
            let _ = kill(child, Signal::SIGKILL);
            match (waitpid(child, None), namespace) {
                (_, Ok(namespace)) => Ok(namespace),
                (Ok(nix::sys::wait::WaitStatus::Exited(_, errno)), Err(_)) => Err(io::Error::from_raw_os_error(errno)),
                (_, Err(error)) => Err(error),
            }
        }
    }
}

/// Keeps a new user namespace until it is killed. Returns only why there is none.
fn hold_namespace(mut tell: File) -> io::Error {
    let held = unshare(CloneFlags::CLONE_NEWUSER).map_err(io::Error::from).and_then(|()| {
        // After the change of powers, which forgets it.
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // The number that it has where this /proc was mounted, which may be another PID namespace than ours.
        tell.write_all(fs::read_link("/proc/self")?.as_os_str().as_bytes())
    });
    match held {
        Ok(()) => loop {
            nix::unistd::pause();
        },
        Err(error) => error,
    }
}

/// Maps the namespace of the process whose number is read.
fn map_owner(mut told: File, from: Uid, to: Uid) -> io::Result<OwnedFd> {
    let mut number = [0; 32];
    let count = told.read(&mut number)?;
    let number = number.get(..count).and_then(|number| std::str::from_utf8(number).ok());
    let number: u32 = number.and_then(|number| number.parse().ok()).ok_or(io::ErrorKind::UnexpectedEof)?;
    let process = PathBuf::from(format!("/proc/{number}"));
    fs::write(process.join("uid_map"), format!("{from} {to} 1"))?;
    // A group that no file has. The kernel refuses to write whatever has an owner or group that is not mapped
    // (inode_permission), so that pipes and sockets, which a read-only mount does not protect, cannot be written either.
    fs::write(process.join("gid_map"), format!("{NO_GROUP} {to} 1"))?;
    Ok(File::open(process.join("ns/user"))?.into())
}
