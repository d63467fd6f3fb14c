//! The looser walls of the agent's own shell: they keep a well-meant command from doing harm outside of the workspace,
//! and an ill-meant one from reaching keys and the network.
//!
//! Landlock and seccomp stand wherever the kernel has them, inside another room too. A mount namespace adds what Landlock
//! cannot say: exceptions within a writable folder, and what cannot be read. A network namespace leaves loopback usable.

use crate::job::Workspace;
use crate::kernel::landlock::{self, Coverage};
use crate::kernel::mount::{Forbidden, Tree, forbid_below};
use crate::kernel::net::{loopback_up, only_loopback};
use crate::kernel::powers::{Powers, drop_powers};
use crate::kernel::seccomp::{self, Sockets};
use crate::kernel::user::{enter_user_namespace, may_mount};
use crate::launch::report::Reporter;
use crate::wall::{MissingWall, Wall};
use crate::wire::Fault;
use nix::fcntl::OFlag;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::Mode;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// May always be written: temporary files, and devices that lead nowhere.
const HARMLESS: [&str; 11] = [
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];
/// Where the agent itself is root, its shell keeps what work with files and services needs (capabilities(7): CHOWN,
/// DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE) and nothing that reaches other processes' memory,
/// mounts, devices or the kernel.
const KEPT_OF_ROOT: Powers = Powers::Only(&[0, 1, 3, 4, 5, 6, 7, 10]);

/// Protected paths that did not exist, made for the time of a run so that nobody else can make them.
#[derive(Debug, Default)]
pub(crate) struct Placeholders(Vec<PathBuf>);

impl Placeholders {
    /// Makes them: empty folders, and only where the folder above exists. One that cannot be made is reported when the
    /// walls are put up.
    pub(crate) fn make(workspace: &Workspace) -> Self {
        let absent = |path: &&PathBuf| {
            path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
                && guarded(path, workspace)
        };
        let made = workspace.protected.iter().filter(absent).filter(|path| std::fs::create_dir(path).is_ok());
        Self(made.cloned().collect())
    }

    /// Takes them away again.
    pub(crate) fn remove(&self) {
        for path in &self.0 {
            // Only an empty folder can be removed so, and it was unwritable all the time.
            let _ = std::fs::remove_dir(path);
        }
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        self.remove();
    }
}

fn guarded(path: &Path, workspace: &Workspace) -> bool {
    workspace.writable.iter().any(|root| path.starts_with(root))
}

/// Puts them up around the calling process. What does not hold is reported; only what would leave the process in a half
/// made place is an error.
pub(crate) fn put_up(workspace: &Workspace, reporter: &mut Reporter) -> Result<(), Fault> {
    let mut report = |wall, what: &str, error: &dyn Display| {
        reporter.missing(MissingWall { wall, why: format!("{what}: {error}") });
    };
    let was_root = may_mount();
    let joined = workspace.loopback.filter(|_| !workspace.network).is_some_and(|holder| join(holder, was_root).is_ok());
    let may_unshare = was_root || joined || user_namespace(workspace, &mut report);
    let network = network(workspace, may_unshare);
    if may_unshare {
        guard(workspace, &mut report)?;
    } else {
        for path in workspace.protected.iter().chain(&workspace.hidden).filter(|path| path.exists()) {
            report(Wall::MountNamespace, "guard a path", &path.display());
        }
    }
    let kept = if was_root { KEPT_OF_ROOT } else { Powers::None };
    if let Err(error) = drop_powers(kept) {
        report(Wall::UserDrop, "give up powers", &error);
    }
    let writable: Vec<PathBuf> = workspace.writable.iter().cloned().chain(HARMLESS.map(PathBuf::from)).collect();
    match landlock::restrict(&writable) {
        Ok(Coverage::Full) => {}
        Ok(Coverage::Partial) => report(Wall::Landlock, "restrict writing in full", &"this kernel's version is old"),
        Err(error) => report(Wall::Landlock, "restrict writing", &error),
    }
    if let Err(error) = seccomp::refuse(network) {
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

/// In a mount namespace of one's own: everything unwritable but what may be written, protected paths within that too,
/// and hidden ones unreadable.
fn guard(workspace: &Workspace, report: &mut impl FnMut(Wall, &str, &dyn Display)) -> Result<(), Fault> {
    let alone = unshare(CloneFlags::CLONE_NEWNS)
        .and_then(|()| mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>));
    if let Err(error) = alone {
        report(Wall::MountNamespace, "enter a mount namespace", &error);
        return Ok(());
    }
    if let Err(error) = write_only_below(&workspace.writable) {
        report(Wall::MountNamespace, "make the rest unwritable", &error);
    }
    let mut pinned = BTreeSet::new();
    for path in &workspace.protected {
        if let Err(error) = protect(path, &workspace.writable, &mut pinned) {
            report(Wall::MountNamespace, &format!("protect `{}`", path.display()), &error);
        }
    }
    for path in workspace.hidden.iter().filter(|path| path.exists()) {
        // A key that cannot be hidden must not be readable: better no command than that.
        hide(path).map_err(|error| Fault::wall(Wall::MountNamespace, &format!("hide `{}`", path.display()), error))?;
    }
    Ok(())
}

/// Makes all mounts read-only but these folders and the temporary ones. Landlock says the same of contents; this adds
/// modes, owners and times.
fn write_only_below(writable: &[PathBuf]) -> io::Result<()> {
    let folders = writable.iter().cloned().chain(HARMLESS.map(PathBuf::from));
    let folders = folders.filter_map(|path| path.canonicalize().ok()).filter(|path| path.is_dir());
    let mut open = Vec::new();
    for folder in folders {
        open.push((Tree::of(&folder)?, folder));
    }
    forbid_below(place(Path::new("/"))?.as_fd(), Forbidden::WRITE)?;
    open.iter().try_for_each(|(tree, folder)| tree.place(place(folder)?.as_fd()))
}

/// Makes a path unwritable, and keeps the folders that lead to it from being moved away.
fn protect(path: &Path, writable: &[PathBuf], pinned: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let Some(root) = writable.iter().find(|root| path.starts_with(root)) else { return Ok(()) };
    let between: Vec<&Path> =
        path.ancestors().skip(1).take_while(|folder| folder.starts_with(root) && folder != root).collect();
    for folder in between.into_iter().rev() {
        if !folder.exists() {
            return Ok(());
        }
        if pinned.insert(folder.to_owned()) {
            Tree::of(folder)?.place(place(folder)?.as_fd())?;
        }
    }
    let tree = Tree::of(path)?;
    tree.forbid(Forbidden::WRITE)?;
    tree.place(place(path)?.as_fd())
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

/// The path as a place for a mount; a link is none.
fn place(path: &Path) -> io::Result<std::os::fd::OwnedFd> {
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(nix::fcntl::open(path, flags, Mode::empty())?)
}
