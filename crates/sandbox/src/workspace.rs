//! The looser walls of the agent's own shell: they keep a well-meant command from doing harm outside of the workspace,
//! and an ill-meant one from reaching keys and the network.
//!
//! Landlock and seccomp stand wherever the kernel has them, inside another room too. A mount namespace adds what Landlock
//! cannot say: exceptions within a writable folder, and what cannot be read. A network namespace leaves loopback usable.

mod mounts;
mod placeholders;
mod sockets;
mod terminals;

use crate::job::Workspace;
use crate::kernel::landlock::{self, Coverage};
use crate::kernel::net::{loopback_up, only_loopback};
use crate::kernel::powers::{Powers, drop_powers};
use crate::kernel::seccomp::{self, Sockets};
use crate::kernel::user::{enter_user_namespace, may_mount};
use crate::launch::report::Reporter;
use crate::wall::{MissingWall, Wall};
use crate::wire::Fault;
use mounts::Terminals;
use nix::sched::{CloneFlags, setns, unshare};
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::PathBuf;

pub(crate) use placeholders::Placeholders;

/// May always be written: temporary files, and devices that lead nowhere.
const HARMLESS: [&str; 9] =
    ["/tmp", "/var/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// Terminals, where they are the command's own.
const TERMINALS: [&str; 2] = ["/dev/ptmx", "/dev/pts"];
/// Where the agent itself is root, its shell keeps what work with files and services needs (capabilities(7): CHOWN,
/// DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE) and nothing that reaches other processes' memory,
/// mounts, devices or the kernel.
const KEPT_OF_ROOT: Powers = Powers::Only(&[0, 1, 3, 4, 5, 6, 7, 10]);

/// Puts them up around the calling process. What does not hold is reported; only what would leave the process in a half
/// made place is an error.
pub(crate) fn put_up(workspace: &Workspace, reporter: &mut Reporter) -> Result<(), Fault> {
    let mut report = |wall, what: &str, error: &dyn Display| {
        reporter.missing(MissingWall { wall, why: format!("{what}: {error}") });
    };
    let was_root = may_mount();
    let sockets = sockets::outside(workspace);
    let joined = workspace.loopback.filter(|_| !workspace.network).is_some_and(|holder| join(holder, was_root).is_ok());
    let may_unshare = was_root || joined || user_namespace(workspace, &mut report);
    let network = network(workspace, may_unshare);
    if network == Sockets::Local {
        report(Wall::NetNamespace, "have a loopback network of one's own", &"internet sockets are refused altogether");
    }
    let terminals = if may_unshare {
        if let Err(error) = unshare(CloneFlags::CLONE_NEWIPC) {
            report(Wall::IpcNamespace, "have shared memory of one's own", &error);
        }
        mounts::guard(workspace, &sockets, &mut report)?
    } else {
        let files = workspace.files.iter().map(|file| &file.path);
        for path in workspace.protected.iter().chain(files).chain(&workspace.hidden).filter(|path| path.exists()) {
            report(Wall::MountNamespace, "guard a path", &path.display());
        }
        Terminals::Shared
    };
    let kept = if was_root { KEPT_OF_ROOT } else { Powers::None };
    if let Err(error) = drop_powers(kept) {
        report(Wall::UserDrop, "give up powers", &error);
    }
    let terminals = if terminals == Terminals::Own { &TERMINALS[..] } else { &[] };
    let writable: Vec<PathBuf> =
        workspace.writable.iter().cloned().chain(HARMLESS.iter().chain(terminals).map(PathBuf::from)).collect();
    match landlock::restrict(&writable) {
        Ok(Coverage::Full) => {}
        Ok(Coverage::Partial) => report(Wall::Landlock, "restrict writing in full", &"this kernel's version is old"),
        Err(error) => report(Wall::Landlock, "restrict writing", &error),
    }
    if let Err(error) = seccomp::refuse(network).and_then(|()| seccomp::refuse_others()) {
        report(Wall::Seccomp, "refuse system calls", &error);
    }
    Ok(())
}

/// Becomes the holder of a loopback network that others join; returns once it can be joined.
pub(crate) fn hold_loopback() -> io::Result<()> {
    if !may_mount() {
        enter_user_namespace()?;
    }
    unshare(CloneFlags::CLONE_NEWNET)?;
    loopback_up()
}

/// Joins the network of a holder and, where we are not root, the user namespace that it belongs to.
fn join(holder: i32, was_root: bool) -> io::Result<()> {
    let open = |kind| File::open(format!("/proc/{holder}/ns/{kind}"));
    let (user, network) = (open("user")?, open("net")?);
    if !was_root {
        setns(user, CloneFlags::CLONE_NEWUSER)?;
    }
    Ok(setns(network, CloneFlags::CLONE_NEWNET)?)
}

/// Whether namespaces can be made. Without them Landlock and seccomp still stand.
fn user_namespace(workspace: &Workspace, report: &mut impl FnMut(Wall, &str, &dyn Display)) -> bool {
    match enter_user_namespace() {
        Ok(()) => true,
        Err(error) => {
            if !workspace.protected.is_empty() || !workspace.hidden.is_empty() {
                report(Wall::UserNamespace, "enter a user namespace", &error);
            }
            false
        }
    }
}

/// Without the network: one of its own, with loopback; where that cannot be had, no internet sockets at all, unless
/// there is nothing but loopback anyway (another room around us).
fn network(workspace: &Workspace, may_unshare: bool) -> Sockets {
    if workspace.network || only_loopback() {
        return Sockets::Internet;
    }
    let own = may_unshare && unshare(CloneFlags::CLONE_NEWNET).is_ok() && loopback_up().is_ok();
    if own { Sockets::Internet } else { Sockets::Local }
}
