//! Terminals of one's own: whoever opens a person's terminal writes what the person takes for ours, and reads what is typed.

use crate::kernel::mount::{Forbidden, Tree};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Puts an empty set of terminals over the machine's; `/dev/ptmx` leads to whatever lies beside it.
pub(super) fn cover() -> io::Result<()> {
    let options = [(c"newinstance", None), (c"ptmxmode", Some("0666")), (c"mode", Some("0620"))];
    let terminals = Tree::new(c"devpts", &options, Forbidden::SETUID.and(Forbidden::EXECUTE))?;
    terminals.place(super::mounts::place(Path::new("/dev/pts"))?.as_fd())
}
