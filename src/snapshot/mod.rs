//! Snapshots of the workspace around every turn that may write, and the way back.
//!
//! Before the first call of a turn that may change something the workspace is looked at, and contents that are not kept
//! yet are kept; after the turn it is looked at again, and what differs is written down. An undo takes those differences
//! back, path by path, where the path is still as the turn left it. Everything lies in a folder of the person's state, never
//! in the workspace; no repository is needed, none is touched.
//!
//! Promises: shell-made changes, untracked and ignored files, links, modes and empty folders are covered; what is not is
//! told before the turn; whatever somebody else changed since stays. It does not know what a tool does, nor why.

mod changed;
mod entry;
mod index;
mod keeper;
mod plan;
mod record;
mod restore;
mod scan;
mod spot;
mod store;
mod terms;
mod tree;
mod turns;

pub use entry::{Digest, Entry, Outside, Rel, Stamp};
pub use keeper::Keeper;
pub use plan::{Doubtful, Why};
pub use record::{Author, Label};
pub use restore::Did;
pub use terms::{Job, Reach, Remark, Report, SnapshotError, What};
pub use tree::Change;

use serde::{Deserialize, Serialize};

/// What people can set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether there are any.
    pub enabled: bool,
    /// Bytes of one file; larger ones are left out.
    pub max_file_bytes: u64,
    /// Bytes of all files of a workspace; what comes on top is left out.
    pub max_total_bytes: u64,
    /// Files and folders; in a workspace with more only the file tools are covered.
    pub max_entries: u64,
    /// Bytes that all snapshots of a workspace may take; the oldest go first.
    pub keep_bytes: u64,
    /// Paths that are left out, as patterns such as `data/**`.
    pub exclude: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            max_file_bytes: 16 << 20,
            max_total_bytes: 512 << 20,
            max_entries: 100_000,
            keep_bytes: 2 << 30,
            exclude: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
