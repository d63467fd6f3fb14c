//! Where a run can be made to die, for the tests that prove recovery.
//!
//! Every durable step says where it is. What people run passes [`NoFaults`], which does nothing; the kill loop passes a value
//! that ends its own process there. Nothing here decides anything.

use std::path::Path;

/// A place between two durable steps.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// What is about to happen, or has just happened; unique enough to read, not to match on.
    pub name: &'a str,
    /// Bytes that were written and are not known to be on the disk: the file, and its length before them.
    pub unsynced: Option<(&'a Path, u64)>,
}

/// Told of each point as it is reached.
pub trait Faults: Send + Sync {
    /// A point is reached. May not return.
    fn reach(&self, point: Point<'_>);
}

/// Nothing happens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn reach(&self, _point: Point<'_>) {}
}

/// A point without unsynced bytes.
pub fn reach(faults: &dyn Faults, name: &str) {
    faults.reach(Point { name, unsynced: None });
}
