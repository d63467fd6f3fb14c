//! The sandbox as its callers meet it: real processes, real namespaces.

mod guarded;
mod nested;
mod owner;
mod plain;
mod room;
mod support;
mod unprivileged;
mod workspace;
