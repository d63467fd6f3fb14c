//! One judge at a time: a lock on a file, freed by the system when its holder dies, so none can become stale.
//!
//! The holder's process id is in the file for whoever has to wait. A [`LockProof`] shows that the lock is held; what needs
//! the lock takes one.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Shows that the lock is held, as long as it lives.
#[derive(Debug)]
pub struct LockProof {
    file: File,
}

impl Drop for LockProof {
    /// Closing is not enough: a child that another thread is just starting shares the open file until it runs its program.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Why the lock is not held.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("lock {}: process {holder} is at work on this repository", path.display())]
    Held {
        /// The lock.
        path: PathBuf,
        /// Who, as written in the file.
        holder: String,
    },
    /// The disk refused.
    #[error("lock {}: {source}", path.display())]
    Disk {
        /// The lock.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl LockError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Held { .. } => "wait until it has ended, or stop it; what it began is then finished by the next one",
            Self::Disk { .. } => "check that the folder exists, has room and may be written",
        }
    }
}

/// Take the lock, or say who has it.
pub fn take(path: &Path) -> Result<LockProof, LockError> {
    let disk = |source| LockError::Disk { path: path.to_owned(), source };
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(disk)?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0).map_err(disk)?;
            write!(file, "{}", std::process::id()).map_err(disk)?;
            Ok(LockProof { file })
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            file.rewind().map_err(disk)?;
            file.take(20).read_to_string(&mut holder).map_err(disk)?;
            Err(LockError::Held { path: path.to_owned(), holder })
        }
        Err(TryLockError::Error(source)) => Err(disk(source)),
    }
}

/// Take the lock, waiting for a short holder at most this long.
pub fn wait(path: &Path, most: Duration) -> Result<LockProof, LockError> {
    let begun = Instant::now();
    loop {
        match take(path) {
            Err(LockError::Held { .. }) if begun.elapsed() < most => std::thread::sleep(Duration::from_millis(20)),
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_held_lock_names_its_holder_and_a_dropped_one_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let proof = take(&path).unwrap();
        let error = take(&path).unwrap_err();
        assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
        assert!(matches!(wait(&path, Duration::from_millis(30)), Err(LockError::Held { .. })));
        drop(proof);
        take(&path).unwrap();
    }

    #[test]
    fn a_lock_left_by_a_dead_process_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        std::fs::write(&path, "4194304").unwrap();
        take(&path).unwrap();
    }
}
