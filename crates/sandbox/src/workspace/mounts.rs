//! What the mounts of these walls say: what may be written, what within that may not, what cannot be read or reached.

use super::{sockets, terminals};
use crate::job::Workspace;
use crate::kernel::mount::{Forbidden, Tree, forbid_below};
use crate::wall::Wall;
use crate::wire::Fault;
use nix::fcntl::OFlag;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::Mode;
use nix::unistd::{AccessFlags, access};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// How many links a protected path may lead over.
const MOST_LINKS: usize = 8;

/// What became of the machine's terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Terminals {
    /// The command has its own.
    Own,
    /// The machine's are still there.
    Shared,
}

/// In a mount namespace of one's own: everything unwritable but what may be written, protected paths within that too,
/// and hidden ones unreadable; sockets dead, terminals of one's own.
pub(super) fn guard(
    workspace: &Workspace,
    sockets: &sockets::Found,
    report: &mut impl FnMut(Wall, &str, &dyn Display),
) -> Result<Terminals, Fault> {
    let alone = unshare(CloneFlags::CLONE_NEWNS)
        .and_then(|()| mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>));
    if let Err(error) = alone {
        report(Wall::MountNamespace, "enter a mount namespace", &error);
        return Ok(Terminals::Shared);
    }
    if let Err(error) = write_only_below(&workspace.writable) {
        report(Wall::MountNamespace, "make the rest unwritable", &error);
    }
    let mut pinned = BTreeSet::new();
    for path in workspace.protected.iter().chain(workspace.files.iter().map(|file| &file.path)) {
        if let Err(error) = protect(path, &workspace.writable, &mut pinned, MOST_LINKS) {
            report(Wall::MountNamespace, &format!("protect `{}`", path.display()), &error);
        }
    }
    for path in workspace.hidden.iter().filter(|path| path.exists()) {
        // A key that cannot be hidden must not be readable: better no command than that.
        hide(path).map_err(|error| Fault::wall(Wall::MountNamespace, &format!("hide `{}`", path.display()), error))?;
    }
    for path in &sockets.paths {
        match hide(path) {
            Ok(()) => {}
            // It went meanwhile, or lies where the command cannot look either.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {}
            Err(error) => report(Wall::MountNamespace, &format!("cover the socket `{}`", path.display()), &error),
        }
    }
    if sockets.more {
        let why = format!("there are more than {}", sockets::MOST);
        report(Wall::MountNamespace, "cover all sockets", &why);
    }
    Ok(own_terminals(report))
}

fn own_terminals(report: &mut impl FnMut(Wall, &str, &dyn Display)) -> Terminals {
    // In a container it is the person's terminal.
    let device = Path::new("/dev/console");
    if device.exists()
        && let Err(error) = hide(device)
    {
        report(Wall::MountNamespace, "cover the console", &error);
    }
    match terminals::cover() {
        Ok(()) => Terminals::Own,
        Err(error) => {
            report(Wall::MountNamespace, "have terminals of one's own", &error);
            Terminals::Shared
        }
    }
}

/// Makes all mounts read-only but these folders and the temporary ones. Landlock says the same of contents; this adds
/// modes, owners and times.
fn write_only_below(writable: &[PathBuf]) -> io::Result<()> {
    let folders = writable.iter().cloned().chain(super::HARMLESS.map(PathBuf::from));
    let folders = folders.filter_map(|path| path.canonicalize().ok()).filter(|path| path.is_dir());
    let mut open = Vec::new();
    for folder in folders {
        open.push((Tree::of(&folder)?, folder));
    }
    forbid_below(place(Path::new("/"))?.as_fd(), Forbidden::WRITE)?;
    open.iter().try_for_each(|(tree, folder)| tree.place(place(folder)?.as_fd()))
}

/// Makes a path unwritable, and keeps the folders that lead to it from being moved away. Of a link both ends.
fn protect(path: &Path, writable: &[PathBuf], pinned: &mut BTreeSet<PathBuf>, links: usize) -> io::Result<()> {
    let Some(root) = writable.iter().find(|root| path.starts_with(root)) else { return Ok(()) };
    let between: Vec<&Path> =
        path.ancestors().skip(1).take_while(|folder| folder.starts_with(root) && folder != root).collect();
    for folder in between.into_iter().rev() {
        if !folder.exists() {
            return Ok(());
        }
        if pinned.insert(folder.to_owned()) {
            pin(folder)?;
        }
    }
    match path.symlink_metadata() {
        Ok(facts) if facts.is_symlink() => {
            let target = path.parent().unwrap_or(path).join(path.read_link()?);
            pin(path)?;
            match target.canonicalize() {
                Ok(target) if links > 0 => protect(&target, writable, pinned, links - 1),
                _ => Ok(()),
            }
        }
        Ok(_) => {
            let tree = Tree::of(path)?;
            tree.forbid(Forbidden::WRITE)?;
            tree.place(place(path)?.as_fd())
        }
        // Neither can the command make it.
        Err(_) if path.parent().is_some_and(|folder| access(folder, AccessFlags::W_OK).is_err()) => Ok(()),
        Err(error) => Err(error),
    }
}

/// What has a mount on it can be neither moved nor removed.
fn pin(path: &Path) -> io::Result<()> {
    Tree::of_itself(path)?.place(place(path)?.as_fd())
}

/// Covers a folder with an empty one, a file with nothing.
fn hide(path: &Path) -> io::Result<()> {
    let cover = if path.is_dir() {
        Tree::new(c"tmpfs", &[(c"mode", Some("000")), (c"size", Some("4096"))], Forbidden::WRITE)?
    } else {
        Tree::of(Path::new("/dev/null"))?
    };
    cover.place(place(&path.canonicalize()?)?.as_fd())
}

/// The path as a place for a mount; a link is meant itself.
pub(super) fn place(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(nix::fcntl::open(path, flags, Mode::empty())?)
}
