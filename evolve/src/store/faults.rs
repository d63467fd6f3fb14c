//! Where a run can be made to die, to fail, to write by halves or to wait, for the tests that prove recovery.
//!
//! Every durable step of the judge says its name before and after: what it writes, renames, syncs, and every ref that it
//! moves. A test answers there. Only builds with the feature `test-defences` carry this; in any other build a step is the
//! step alone, and `.ci/run` looks for [`MARK`] in what is handed out. Nothing here decides anything.

use selfsmith_repo::RepoError;
use std::io;
use std::path::Path;

/// In every program that carries this layer, and in no other.
#[cfg(any(test, feature = "test-defences"))]
pub const MARK: &str = "selfsmith: this build carries the fault layer";

/// A place beside a durable step.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// What is about to happen, or has just happened.
    pub name: &'a str,
    /// What a machine that dies just here may leave half done.
    pub half: Half<'a>,
}

/// What a step looks like that was cut off in its middle.
#[derive(Debug, Clone, Copy)]
pub enum Half<'a> {
    /// Like one that did not begin.
    Nothing,
    /// Bytes that were written and are not known to be on the disk: the file, and its length before them.
    Bytes(&'a Path, u64),
    /// A ref whose lock was taken: the lock, and the id that was to be written; none where the ref was to go.
    Ref(&'a Path, Option<&'a str>),
    /// A person's checkout of which some files are the new ones and some the old.
    Checkout(&'a Path),
    /// A folder that was filled and holds only some of its files.
    Folder(&'a Path),
}

/// Told of each point as it is reached.
pub trait Faults: Send + Sync {
    /// A point is reached. May not return.
    ///
    /// # Errors
    /// What the system is made to have said.
    fn reach(&self, point: Point<'_>) -> io::Result<()>;
}

/// Nothing happens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn reach(&self, _point: Point<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// A step that was made to fail.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {source}")]
pub struct Failed {
    name: String,
    source: io::Error,
}

impl From<Failed> for RepoError {
    fn from(failed: Failed) -> Self {
        Self::Disk { doing: "write", path: failed.name.into(), source: failed.source }
    }
}

impl From<Failed> for io::Error {
    fn from(failed: Failed) -> Self {
        failed.source
    }
}

/// Do a durable step, with a point before and one after it.
///
/// # Errors
/// The step's own; in tests, an injected one.
#[cfg(any(test, feature = "test-defences"))]
pub fn step<T, E: From<Failed>>(
    faults: &dyn Faults,
    name: &str,
    half: Half<'_>,
    step: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    at(faults, name, "before", half)?;
    let done = step()?;
    at(faults, name, "after", Half::Nothing)?;
    Ok(done)
}

/// Do a durable step.
///
/// # Errors
/// The step's own.
#[cfg(not(any(test, feature = "test-defences")))]
#[inline(always)]
pub fn step<T, E: From<Failed>>(
    _: &dyn Faults,
    _: &str,
    _: Half<'_>,
    step: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    step()
}

/// One point of a step that has more than two.
///
/// # Errors
/// In tests, an injected one.
#[cfg(any(test, feature = "test-defences"))]
pub fn at(faults: &dyn Faults, name: &str, when: &str, half: Half<'_>) -> Result<(), Failed> {
    let name = format!("{name}: {when}");
    let reached = faults.reach(Point { name: &name, half });
    reached.map_err(|source| Failed { name: format!("{MARK}: {name}"), source })
}

/// Nothing, in what is handed out.
///
/// # Errors
/// None.
#[cfg(not(any(test, feature = "test-defences")))]
#[inline(always)]
pub const fn at(_: &dyn Faults, _: &str, _: &str, _: Half<'_>) -> Result<(), Failed> {
    Ok(())
}
