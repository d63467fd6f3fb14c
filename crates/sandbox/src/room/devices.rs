//! The room's `/dev`: the devices that programs need and none that leads anywhere.

use super::place::NewRoot;
use crate::kernel::mount::{self, Forbidden, Tree};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Taken over from outside.
const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// Links, as everywhere.
const LINKS: [(&str, &str); 5] = [
    ("/dev/ptmx", "pts/ptmx"),
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// The devices as they are outside; opened before anything is covered.
pub(super) fn outside() -> io::Result<Vec<(&'static str, Tree)>> {
    let open = |name: &'static str| {
        let tree = Tree::of(&Path::new("/dev").join(name))?;
        tree.forbid(Forbidden::SETUID.and(Forbidden::EXECUTE))?;
        Ok((name, tree))
    };
    NODES.into_iter().map(open).collect()
}

/// Fills the room's `/dev`.
pub(super) fn fill(root: &NewRoot, nodes: &[(&str, Tree)], shared_bytes: u64) -> io::Result<()> {
    let no_programs = Forbidden::SETUID.and(Forbidden::EXECUTE);
    let dev = Tree::new(c"tmpfs", &[(c"mode", Some("755")), (c"size", Some("65536"))], no_programs)?;
    dev.place(root.dir(Path::new("/dev"))?.as_fd())?;
    for (name, tree) in nodes {
        tree.place(root.file(&Path::new("/dev").join(name))?.as_fd())?;
    }
    let terminals = [(c"newinstance", None), (c"ptmxmode", Some("0666")), (c"mode", Some("0620"))];
    let terminals = Tree::new(c"devpts", &terminals, no_programs)?;
    terminals.place(root.dir(Path::new("/dev/pts"))?.as_fd())?;
    let shared = [(c"mode", Some("1777")), (c"size", Some(&*shared_bytes.to_string()))];
    let shared = Tree::new(c"tmpfs", &shared, Forbidden::SETUID.and(Forbidden::DEVICES))?;
    shared.place(root.dir(Path::new("/dev/shm"))?.as_fd())?;
    for (at, target) in LINKS {
        root.link(Path::new(at), Path::new(target))?;
    }
    mount::forbid_here(root.dir(Path::new("/dev"))?.as_fd(), Forbidden::WRITE)
}
