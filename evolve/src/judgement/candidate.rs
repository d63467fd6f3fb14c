//! What is judged: a base, a tree, and what differs between them. Values only; no git, no disk.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! git_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

git_id! {
    /// A git commit id, 40 hexadecimal digits.
    CommitId
}
git_id! {
    /// A git tree id, 40 hexadecimal digits.
    TreeId
}
git_id! {
    /// A git blob id, 40 hexadecimal digits.
    BlobId
}

/// What may be done in a part of the tree. What no zone names is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Zone {
    /// Files may be added, changed, removed.
    Open,
    /// New files only.
    AddOnly,
    /// As open, but a person always looks.
    Review,
    /// Nothing may differ.
    Sealed,
    /// Open, and only numbers within the ranges of the base's knobs differ. No rule says so: it is seen in the change.
    Knob,
}

/// One path that differs from the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// Path in the tree, `/` between parts.
    pub path: String,
    /// Its zone in the base's rules.
    pub zone: Zone,
    /// Blob in the base; none for a new file.
    pub old: Option<BlobId>,
    /// Blob in the candidate; none for a removed file.
    pub new: Option<BlobId>,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// One candidate of a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// `<cycle>-<n>`, where n counts repairs from 0.
    pub id: String,
    /// The commit it was made from, and the only one it can land on.
    pub base: CommitId,
    /// Its whole tree: base, changes in open zones, the judge's changelog line.
    pub tree: TreeId,
    /// What differs from the base, sorted by path; the judge's own changelog line is not in it.
    pub touched: Vec<Touched>,
}

/// What a proposer says of its change. Untrusted text: printed escaped, never obeyed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// What was done.
    pub summary: String,
    /// What should be true afterwards that can be checked.
    #[serde(default)]
    pub prediction: String,
    /// The end of what its program printed, bounded, without keys; empty where it only speaks through a protocol.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}
