//! The namespaces that the supervisor enters: user (where it is not root), network, IPC and host name. The PID namespace
//! begins with its first child, the mount namespace with that child's own first step.

use crate::kernel::net;
use crate::kernel::user::{enter_user_namespace, may_mount};
use crate::launch::report::Reporting;
use crate::wall::Wall;
use crate::wire::Fault;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;
use std::io;

/// By what right the walls are put up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Privilege {
    /// Root of the machine: the program becomes another user.
    Root,
    /// A user namespace of our own: the program stays the same user, outside as well.
    UserNamespace,
}

/// Enters them all.
pub(super) fn enter(missing: &mut Reporting) -> Result<Privilege, Fault> {
    let privilege = gain_privilege()
        .map_err(|error| Fault::wall(Wall::UserNamespace, "enter a user namespace of its own", error))?;
    if let Err(error) = unshare(CloneFlags::CLONE_NEWNET).map_err(io::Error::from).and_then(|()| net::loopback_up()) {
        missing.wall(Wall::NetNamespace, "enter a network of its own", error)?;
    }
    if let Err(error) = unshare(CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS) {
        missing.wall(Wall::IpcNamespace, "enter an IPC and host name of its own", error)?;
    } else {
        // Cosmetic: the host's own name is no secret worth failing for.
        let _ = nix::unistd::sethostname("room");
    }
    Ok(privilege)
}

/// Root may do it as it is; everybody else, and a root without that right, within a user namespace.
fn gain_privilege() -> io::Result<Privilege> {
    if geteuid().is_root() && may_mount() {
        return Ok(Privilege::Root);
    }
    enter_user_namespace()?;
    Ok(Privilege::UserNamespace)
}
