//! What came of a child.

use crate::output::Captured;
use crate::unreadable::Unreadable;
use crate::wall::MissingWall;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// The wall clock ran out.
    TimedOut,
    /// A limit on the tree was exceeded.
    LimitExceeded(Limit),
    /// The caller cancelled.
    Cancelled,
}

impl End {
    /// Whether the program ended by itself with code 0.
    pub fn success(self) -> bool {
        self == Self::Exit(0)
    }
}

/// A limit that a watchdog enforces over the whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// CPU time.
    Cpu,
    /// Memory.
    Memory,
    /// Processes.
    Processes,
    /// Free space on a disk.
    Disk,
}

/// What came of a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// Wall time.
    pub wall: Duration,
    /// CPU time of the tree, as far as it was seen.
    pub cpu: Duration,
    /// Walls that were asked for and did not stand.
    pub weaker: Vec<MissingWall>,
    /// In a room that root made: a file that was bound and is closed to the room's user, where the program failed and said
    /// that something was refused.
    pub unreadable: Option<Unreadable>,
}
