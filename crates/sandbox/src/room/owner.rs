//! Whose files the room may read: where root's room runs as another user, what is bound read-only is shown to that user as
//! its own, as far as it belongs to the owner of what was bound.
//!
//! So a toolchain below root's home, or a package that was unpacked with files for its owner alone, can be read. It gives
//! no right to write: the mount is read-only, and its files have no group that the kernel knows. Files of third users stay
//! as closed as they are outside. Where kernel or file system cannot do it, the bind is plain, and that is told.

use super::namespaces::Privilege;
use crate::kernel::mount::{Below, Tree};
use crate::kernel::user::owner_namespace;
use crate::unreadable::{Part, Plain};
use nix::unistd::Uid;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Namespaces that were made, by owner.
pub(super) struct Owners {
    privilege: Privilege,
    user: Uid,
    made: Vec<(Uid, Result<OwnedFd, String>)>,
}

impl Owners {
    /// For the room's user.
    pub(super) fn new(privilege: Privilege, user: Uid) -> Self {
        Self { privilege, user, made: Vec::new() }
    }

    /// Shows what is bound as the room's user's own; what stays as it is outside, and why.
    pub(super) fn show(&mut self, tree: &Tree, source: &Path) -> Option<Plain> {
        if self.privilege == Privilege::UserNamespace {
            // The room's user is the caller.
            return None;
        }
        let plain = |part, why: String| Some(Plain { source: source.to_owned(), part, why });
        let owner = match tree.owner() {
            Ok(owner) if owner == self.user => return None,
            Ok(owner) => owner,
            Err(error) => return plain(Part::Whole, error.to_string()),
        };
        let namespace = match self.namespace(owner) {
            Ok(namespace) => namespace,
            Err(why) => return plain(Part::Whole, format!("no user namespace for it: {why}")),
        };
        if tree.map_owner(namespace.as_fd(), Below::Too).is_ok() {
            return None;
        }
        // Either this file system cannot, or one that is mounted below it.
        match tree.map_owner(namespace.as_fd(), Below::Not) {
            Ok(()) => plain(Part::MountsBelow, "a file system mounted below it has no id-mapped mounts".to_owned()),
            Err(error) => plain(Part::Whole, format!("its file system has no id-mapped mounts ({error})")),
        }
    }

    fn namespace(&mut self, owner: Uid) -> Result<&OwnedFd, String> {
        let at = match self.made.iter().position(|(made, _)| *made == owner) {
            Some(at) => at,
            None => {
                self.made.push((owner, owner_namespace(owner, self.user).map_err(|error| error.to_string())));
                self.made.len() - 1
            }
        };
        match self.made.get(at) {
            Some((_, Ok(namespace))) => Ok(namespace),
            Some((_, Err(why))) => Err(why.clone()),
            None => Err(String::new()),
        }
    }
}
