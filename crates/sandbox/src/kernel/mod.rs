//! What the kernel offers to restrict a process, each thing by itself and without an opinion on when to use it.

pub(crate) mod landlock;
pub(crate) mod mount;
pub(crate) mod net;
pub(crate) mod powers;
pub(crate) mod seccomp;
pub(crate) mod user;
