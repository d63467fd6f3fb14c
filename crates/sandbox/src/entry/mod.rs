//! The supervisor: what our own binary becomes when it is re-executed with [`ENTRY_ARGUMENT`].
//!
//! It is reached before `main`, so that every program and every test that links this crate can run children; a program
//! also calls [`entry`] first thing, for systems where that early call does not know the arguments. It is one process of
//! one thread with nothing of the caller but one socket.

mod supervise;

use crate::wire::ENTRY_ARGUMENT;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard output was closed when the program began.
static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// First line of every `main`: does not return in a process that is a supervisor.
pub fn entry() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == ENTRY_ARGUMENT) {
        supervise::main();
    }
}

/// Whether whoever started the program closed its standard output. By the time `main` runs, Rust has put `/dev/null` in
/// its place, and what is written there seems to arrive. Always false where [`entry`] is not reached before `main`.
pub fn stdout_was_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}

/// Runs [`entry`] before `main`. The arguments are known by then with glibc and on macOS.
#[used]
#[cfg_attr(any(target_os = "linux", target_os = "android"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    entry();
    // SAFETY: it only asks for the flags of a number, which need not be open.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    STDOUT_CLOSED.store(flags == -1, Ordering::Relaxed);
}
