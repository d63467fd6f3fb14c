//! The only door to git: libgit2 for objects and refs, the git program for a person's work tree.
//!
//! Two sides. [`Repo`] serves the judge: it reads and writes objects, and moves refs by compare-and-swap; it never touches
//! the person's index, work tree, stash, configuration or HEAD, runs no hook and no filter, and trusts no inherited
//! `GIT_*` variable. [`person`] does what a person asks for in their own work tree, with their hooks and their signing.
//!
//! Ids are 40 hexadecimal digits in a `String`. Paths are bytes ([`TreePath`]): what is no UTF-8 is reported, never lost.
//! It knows nothing of candidates, verdicts or models.

// A person's own work tree, through the git program.
pub mod person;
// Plain folders: a tree written out, a folder read back.
mod materialise;
mod snapshot;
// Which checkouts of a person's hold a branch, and bringing a clean one up to date.
mod branches;
mod checkout;
mod half_done;
// What is built on objects and refs.
mod attributes;
mod commits;
mod diff;
mod durable;
mod found;
mod notes;
mod revert;
mod whole;
mod wishes;
// Objects and refs.
mod locks;
mod objects;
mod open;
mod refs;
// What everything stands on.
mod error;
mod path;
// The git program.
mod program;

pub use branches::InUse;
pub use checkout::{CatchUp, Checkout, Work};
pub use commits::{Commit, Identity, NewCommit, When, message_with_trailers, trailers};
pub use diff::{Delta, FileDiff, Renames, Side};
pub use error::RepoError;
pub use locks::Begun;
pub use materialise::Materialised;
pub use objects::{Change, Entry, Mode, TopEntry};
pub use open::{Head, Repo};
pub use path::TreePath;
pub use program::Caller;
pub use refs::Ref;
pub use revert::Merged;
pub use snapshot::{Problem, ProblemKind, Snapshot, SnapshotRules};
