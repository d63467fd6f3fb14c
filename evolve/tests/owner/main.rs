//! What the owner of a repository does with the judge, as people type it: real processes, a real pseudo-terminal, real git,
//! and gates that are quick commands of the repository's own.
#![expect(clippy::unwrap_used, reason = "tests")]

mod authority;
mod desk;
mod goals;
mod keyboard;
mod states;
mod walking;
