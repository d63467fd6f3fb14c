//! The new root: the system's programs and libraries, generated `/etc`, what was bound, and nothing else.
//!
//! First everything from outside is opened, then an empty root is mounted and filled, then the old one is let go.

use super::DEFAULT_TMP;
use super::devices;
use super::init::MARKER;
use super::namespaces::Privilege;
use super::owner::Owners;
use super::place::NewRoot;
use crate::job::{Bind, BindMode, Room};
use crate::kernel::mount::{self, Forbidden, Tree};
use crate::launch::report::Reporting;
use crate::wall::Wall;
use crate::wire::{Fault, ROOM_HOME as HOME};
use nix::fcntl::OFlag;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Gid, Uid, fchdir, pivot_root};
use std::fmt::Write;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Programs and libraries; where one is a link outside, it is the same link inside.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// What programs need of `/etc` and what says nothing about this machine's people.
const SETTINGS: [&str; 14] = [
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/crypto-policies",
    "/etc/protocols",
    "/etc/services",
    "/etc/os-release",
];
/// Folders that exist everywhere and over which the new root can be mounted for a moment.
const STAGES: [&str; 3] = ["/tmp", "/usr", "/proc"];
/// Nothing outside may be harmed and nobody may gain power through what is bound.
const HARMLESS: Forbidden = Forbidden::SETUID.and(Forbidden::DEVICES);

/// What is placed, in order.
struct Piece {
    at: PathBuf,
    what: What,
}

enum What {
    Link(PathBuf),
    Folder(Tree),
    File(Tree),
}

/// Gives the calling process a mount namespace and this root.
pub(super) fn build(room: &Room, privilege: Privilege, user: (Uid, Gid), missing: &mut Reporting) -> Result<(), Fault> {
    let wall = |what: &'static str| move |error: io::Error| Fault::wall(Wall::MountNamespace, what, error);
    unshare(CloneFlags::CLONE_NEWNS).map_err(|error| wall("enter a mount namespace")(error.into()))?;
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)
        .map_err(|error| wall("part from the outer mounts")(error.into()))?;
    // What is made here must be open to the room's user, whatever the caller hides from others.
    let mask = umask(Mode::S_IWGRP | Mode::S_IWOTH);
    let mut pieces = system().map_err(wall("open the system's folders"))?;
    let devices = devices::outside().map_err(wall("open the devices"))?;
    let mut owners = Owners::new(privilege, user.0);
    for bind in &room.binds {
        pieces.push(open(bind, privilege, &mut owners, missing)?);
    }
    let root = stage().map_err(wall("mount an empty root"))?;
    let tmp_bytes = if room.tmp_bytes == 0 { DEFAULT_TMP } else { room.tmp_bytes };
    furnish(&root, &devices, tmp_bytes, user).map_err(wall("furnish the new root"))?;
    own_proc(&root, missing)?;
    let outer = room.binds.iter().map(|bind| (bind.at.clone(), bind.source.clone())).collect::<Vec<_>>();
    for piece in &pieces {
        place(&root, piece).map_err(|error| {
            let source = outer.iter().find(|(at, _)| *at == piece.at).map_or(&piece.at, |(_, source)| source);
            Fault::Bind { path: source.clone(), why: format!("put it at `{}`: {error}", piece.at.display()) }
        })?;
    }
    enter(&root).map_err(wall("enter the new root"))?;
    umask(mask);
    Ok(())
}

fn system() -> io::Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    for path in SYSTEM.into_iter().chain(SETTINGS).map(PathBuf::from) {
        let Ok(facts) = path.symlink_metadata() else { continue };
        let linked = facts.is_symlink() && SYSTEM.iter().any(|system| path == Path::new(system));
        let what = if linked {
            What::Link(path.read_link()?)
        } else {
            let Ok(facts) = path.metadata() else { continue };
            let tree = Tree::of(&path)?;
            tree.forbid(HARMLESS.and(Forbidden::WRITE))?;
            if facts.is_dir() { What::Folder(tree) } else { What::File(tree) }
        };
        pieces.push(Piece { at: path, what });
    }
    Ok(pieces)
}

/// Opens what the caller bound.
fn open(bind: &Bind, privilege: Privilege, owners: &mut Owners, missing: &mut Reporting) -> Result<Piece, Fault> {
    let refuse = |why: String| Fault::Bind { path: bind.source.clone(), why };
    let facts = bind.source.metadata().map_err(|error| refuse(error.to_string()))?;
    let (tree, forbidden) = match &bind.mode {
        BindMode::ReadOnly => (Tree::of(&bind.source), HARMLESS.and(Forbidden::WRITE)),
        BindMode::ReadWrite => (Tree::of(&bind.source), HARMLESS),
        BindMode::Overlay { upper, work } => {
            if !facts.is_dir() {
                return Err(refuse("only a folder can be overlaid".to_owned()));
            }
            let tree = overlay(&bind.source, upper, work, privilege);
            (Ok(tree.map_err(|error| Fault::wall(Wall::Overlay, "mount an overlay", error))?), HARMLESS)
        }
    };
    let tree = tree.map_err(|error| refuse(error.to_string()))?;
    tree.forbid(forbidden).map_err(|error| refuse(error.to_string()))?;
    if bind.mode == BindMode::ReadOnly
        && let Some(plain) = owners.show(&tree, &bind.source)
    {
        missing.plain(plain);
    }
    Ok(Piece { at: bind.at.clone(), what: if facts.is_dir() { What::Folder(tree) } else { What::File(tree) } })
}

/// An overlay as a mount that stands nowhere: it is mounted over its own lower folder, taken up, and let go there, all
/// in a mount namespace that nobody else sees.
fn overlay(lower: &Path, upper: &Path, work: &Path, privilege: Privilege) -> io::Result<Tree> {
    let mut options = String::new();
    for (name, path) in [("lowerdir", lower), ("upperdir", upper), ("workdir", work)] {
        let _ = write!(options, "{name}={},", escaped(&path.canonicalize()?)?);
    }
    options.push_str(match privilege {
        Privilege::Root => "xino=off",
        Privilege::UserNamespace => "userxattr,xino=off",
    });
    mount(Some("overlay"), lower, Some("overlay"), MsFlags::empty(), Some(options.as_str()))?;
    let tree = Tree::of(lower);
    umount2(lower, MntFlags::MNT_DETACH)?;
    tree
}

/// A path as an overlay's option: commas end an option, colons part lower folders, backslashes escape both.
fn escaped(path: &Path) -> io::Result<String> {
    let text = path.to_str().ok_or_else(|| io::Error::other("its path is no Unicode text"))?;
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | ',' | ':') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    Ok(escaped)
}

/// Mounts an empty root over a folder that exists everywhere; only this namespace sees it.
fn stage() -> io::Result<NewRoot> {
    let folder = STAGES.into_iter().map(Path::new).find(|path| path.is_dir());
    let folder = folder.ok_or_else(|| io::Error::other("none of the folders /tmp, /usr, /proc exists"))?;
    let open = || nix::fcntl::open(folder, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty());
    let empty = Tree::new(c"tmpfs", &[(c"mode", Some("755")), (c"size", Some("1048576"))], HARMLESS)?;
    empty.place(open()?.as_fd())?;
    Ok(NewRoot::of(open()?))
}

/// Everything that is not from outside.
fn furnish(root: &NewRoot, nodes: &[(&str, Tree)], tmp_bytes: u64, (user, group): (Uid, Gid)) -> io::Result<()> {
    devices::fill(root, nodes, tmp_bytes)?;
    let options = [(c"mode", Some("1777")), (c"size", Some(&*tmp_bytes.to_string()))];
    Tree::new(c"tmpfs", &options, HARMLESS)?.place(root.dir(Path::new("/tmp"))?.as_fd())?;
    root.private_dir(Path::new(HOME), user, group)?;
    root.link(Path::new("/var/tmp"), Path::new("/tmp"))?;
    let passwd = format!("root:x:0:0:root:/:/bin/sh\nroom:x:{user}:{group}:room:{HOME}:/bin/sh\n");
    for (at, text) in [
        ("/etc/passwd", passwd.as_str()),
        ("/etc/group", &format!("root:x:0:\nroom:x:{group}:\n")),
        ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"),
        ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
        (MARKER, "the walls of this room are given from outside\n"),
    ] {
        root.write(Path::new(at), text)?;
    }
    Ok(())
}

/// A `/proc` that shows this PID namespace and no other process.
fn own_proc(root: &NewRoot, missing: &mut Reporting) -> Result<(), Fault> {
    let fault = |error: io::Error| Fault::wall(Wall::MountNamespace, "place /proc", error);
    let at = root.dir(Path::new("/proc")).map_err(fault)?;
    let forbidden = HARMLESS.and(Forbidden::EXECUTE);
    let tree = match Tree::new(c"proc", &[], forbidden) {
        Ok(tree) => tree,
        Err(error) => {
            missing.wall(Wall::PidNamespace, "mount a /proc of its own", error)?;
            Tree::of(Path::new("/proc")).map_err(fault)?
        }
    };
    tree.place(at.as_fd()).map_err(fault)
}

fn place(root: &NewRoot, piece: &Piece) -> io::Result<()> {
    match &piece.what {
        What::Link(target) => root.link(&piece.at, target),
        What::Folder(tree) => tree.place(root.dir(&piece.at)?.as_fd()),
        What::File(tree) => tree.place(root.file(&piece.at)?.as_fd()),
    }
}

/// Makes it the root, read-only, and lets go of the old one.
fn enter(root: &NewRoot) -> io::Result<()> {
    mount::forbid_here(root.folder().as_fd(), Forbidden::WRITE)?;
    fchdir(root.folder())?;
    pivot_root(".", ".")?;
    // The old root lies over the new one now; see pivot_root(2).
    umount2(".", MntFlags::MNT_DETACH)?;
    Ok(nix::unistd::chdir("/")?)
}
