//! The room's first process: builds the root, gives up its powers, starts the program, reaps, and says how it ended.

use super::namespaces::Privilege;
use super::root;
use crate::give::ROOM_UID;
use crate::job::Room;
use crate::kernel::powers::{self, Powers};
use crate::kernel::user::try_user_namespace;
use crate::kernel::{landlock, seccomp};
use crate::launch::detach_streams;
use crate::launch::program::{self, Stage};
use crate::launch::report::Reporting;
use crate::limits::OwnUser;
use crate::wall::Wall;
use crate::wire::{Fault, Order, Status};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Gid, Pid, Uid, fork, getegid, geteuid};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

/// A file that exists in every room and, not being writable there, in no other place.
pub(crate) const MARKER: &str = "/etc/selfsmith-room";

/// What connects it with the supervisor.
pub(super) struct Channel {
    /// Where it says how the program ended.
    pub(super) status: File,
    /// Closes when the supervisor is gone.
    pub(super) lifeline: File,
    /// The supervisor's own end of the lifeline, which must not stay open here.
    pub(super) not_ours: Vec<OwnedFd>,
}

/// Starts it; returns it and the lifeline.
pub(super) fn start(
    order: Order,
    room: Room,
    privilege: Privilege,
    mut missing: Reporting,
    mut channel: Channel,
) -> Result<(Pid, OwnedFd), Fault> {
    if let Err(error) = unshare(CloneFlags::CLONE_NEWPID) {
        missing.wall(Wall::PidNamespace, "enter a PID namespace", error)?;
        nix::sys::prctl::set_child_subreaper(true).map_err(|error| Fault::other("become the tree's reaper", error))?;
    }
    // SAFETY: the supervisor has one thread.
    match unsafe { fork() }.map_err(|error| Fault::wall(Wall::PidNamespace, "start its first process", error))? {
        ForkResult::Parent { child } => {
            let lifeline = channel.not_ours.pop();
            Ok((child, lifeline.ok_or(Fault::Other { what: "keep the lifeline".to_owned(), errno: 0 })?))
        }
        ForkResult::Child => {
            drop(std::mem::take(&mut channel.not_ours));
            if let Err(fault) = live(order, &room, privilege, &mut missing, &mut channel) {
                missing.fault(fault);
            }
            std::process::exit(127);
        }
    }
}

fn live(
    order: Order,
    room: &Room,
    privilege: Privilege,
    missing: &mut Reporting,
    channel: &mut Channel,
) -> Result<(), Fault> {
    let (user, group) = match privilege {
        Privilege::Root => (Uid::from_raw(ROOM_UID), Gid::from_raw(ROOM_UID)),
        Privilege::UserNamespace => (geteuid(), getegid()),
    };
    root::build(room, privilege, (user, group), missing)?;
    if user.is_root() {
        missing.wall(Wall::UserDrop, "become another user", "root has no right to change users here")?;
    }
    give_up_powers(privilege, user, group)
        .map_err(|error| Fault::wall(Wall::UserDrop, "become a user without powers", error))?;
    // After the change of user, which forgets it.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(|error| Fault::other("follow the supervisor", error))?;
    let children = child_signals().map_err(|error| Fault::other("wait for children", error))?;
    // SAFETY: this process has one thread.
    match unsafe { fork() }.map_err(|error| Fault::other("start a process", error))? {
        ForkResult::Parent { child } => {
            // Said by the program's process from here on; ours must close.
            missing.release();
            // The program, of the same user, is not to look into us.
            let _ = nix::sys::prctl::set_dumpable(false);
            detach_streams().map_err(|error| Fault::other("let go of the program's streams", error))?;
            reap(child, &children, channel);
            std::process::exit(0);
        }
        ForkResult::Child => {
            let stage = Stage { parent: None, own_user: OwnUser::Yes };
            let writable = super::writable(room);
            Err(program::become_program(order, &stage, || restrict(&writable, missing)))
        }
    }
}

fn give_up_powers(privilege: Privilege, user: Uid, group: Gid) -> io::Result<()> {
    if privilege == Privilege::Root {
        powers::become_user(user, group)?;
        // So that the kernel's count of this user's processes is this room's alone; where user namespaces are switched
        // off, rooms that run at the same time share one count. /proc is ours to write only while we are dumpable.
        nix::sys::prctl::set_dumpable(true)?;
        try_user_namespace()?;
    }
    powers::drop_powers(Powers::None)
}

fn child_signals() -> nix::Result<SignalFd> {
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGCHLD);
    SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
}

/// Reaps until the supervisor lets go of the lifeline, or is gone; then ends and reaps the rest. The kernel would end
/// the rest by itself, but not count its CPU time.
fn reap(program: Pid, children: &SignalFd, channel: &mut Channel) {
    loop {
        let mut fds = [
            PollFd::new(channel.lifeline.as_fd(), PollFlags::POLLIN),
            PollFd::new(children.as_fd(), PollFlags::POLLIN),
        ];
        let _ = poll(&mut fds, PollTimeout::NONE);
        let lifeline = fds.first().and_then(PollFd::revents).unwrap_or(PollFlags::empty());
        if !lifeline.is_empty() {
            return end_all();
        }
        while matches!(children.read_signal(), Ok(Some(_))) {}
        while let Some((process, status)) = next_dead() {
            if process == program
                && let Ok(mut line) = serde_json::to_vec(&status)
            {
                line.push(b'\n');
                let _ = channel.status.write_all(&line);
            }
        }
    }
}

fn end_all() {
    loop {
        // Everybody in this PID namespace but ourselves; all are of our own user. Without a namespace of our own this
        // would reach too far: then the supervisor does it, process by process.
        if nix::unistd::getpid().as_raw() != 1 {
            return;
        }
        let _ = nix::sys::signal::kill(Pid::from_raw(-1), Signal::SIGKILL);
        if waitpid(None, None) == Err(nix::Error::ECHILD) {
            return;
        }
    }
}

fn next_dead() -> Option<(Pid, Status)> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(process, code)) => return Some((process, Status::Exit(code))),
            Ok(WaitStatus::Signaled(process, signal, _)) => return Some((process, Status::Signal(signal as i32))),
            Ok(WaitStatus::StillAlive) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// The walls around the program itself, within the room: last before it starts.
fn restrict(writable: &[PathBuf], missing: &mut Reporting) -> Result<(), Fault> {
    match landlock::restrict(writable) {
        // Here an older Landlock does: what it lacks, the mounts refuse.
        Ok(_) => {}
        Err(error) => missing.wall(Wall::Landlock, "restrict writing", error)?,
    }
    match seccomp::refuse(seccomp::Sockets::Internet) {
        Ok(()) => Ok(()),
        Err(error) => missing.wall(Wall::Seccomp, "refuse system calls", error),
    }
}
