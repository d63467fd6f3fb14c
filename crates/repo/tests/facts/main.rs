//! Facts about the door to git, on real repositories, compared with the git program.
#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod checkout;
mod commits;
mod diff;
mod materialise;
mod notes;
mod objects;
mod open;
mod person;
mod refs;
mod snapshot;
mod untouched;
mod world;
