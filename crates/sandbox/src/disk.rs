//! What a room's program takes of the disks on which it may write: their free space before and now.
//!
//! Bounds of a file and of the private `/tmp` hold at once and for each; a thousand files beside each other are only seen
//! here. What others write at the same time counts as well, so the limit is far above what honest work needs.

use crate::job::{Bind, BindMode, Room};
use std::path::PathBuf;

/// Bytes that stay free on every disk, whatever the limit.
const LEFT: u64 = 1 << 30;

/// Free space, watched.
#[derive(Debug, Default)]
pub(crate) struct Disks {
    /// A folder on each, and the bytes that must stay free there.
    floors: Vec<(PathBuf, u64)>,
}

impl Disks {
    /// Those on which this room may write, of which at most `limit` bytes may go.
    pub(crate) fn of(room: &Room, limit: Option<u64>) -> Self {
        let Some(limit) = limit else { return Self::default() };
        let written = room.binds.iter().filter_map(|Bind { source, mode, .. }| match mode {
            BindMode::ReadOnly => None,
            BindMode::ReadWrite => Some(source.clone()),
            BindMode::Overlay { upper, .. } => Some(upper.clone()),
        });
        let floor = |path: PathBuf| {
            let free = free(&path)?;
            // On a disk that is nearly full already the limit alone counts.
            let left = if free > 2 * LEFT { LEFT } else { 0 };
            Some((path, free.saturating_sub(limit).max(left)))
        };
        Self { floors: written.filter_map(floor).collect() }
    }

    /// Whether there is anything to look at.
    pub(crate) fn watched(&self) -> bool {
        !self.floors.is_empty()
    }

    /// Whether too much is gone.
    pub(crate) fn exceeded(&self) -> bool {
        self.floors.iter().any(|(path, floor)| free(path).is_some_and(|free| free < *floor))
    }
}

/// Bytes that an ordinary user can still write there.
fn free(path: &std::path::Path) -> Option<u64> {
    let facts = nix::sys::statvfs::statvfs(path).ok()?;
    Some(facts.blocks_available().saturating_mul(facts.fragment_size()))
}
