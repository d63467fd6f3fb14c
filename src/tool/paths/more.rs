//! Folders beside the root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Folders beside the root that the person opened to this session. Clones are the same folders.
#[derive(Debug, Clone, Default)]
pub struct More(Arc<RwLock<Vec<PathBuf>>>);

impl More {
    /// Open a folder; its path with links resolved.
    ///
    /// # Errors
    /// It is no folder, or cannot be entered.
    pub fn open(&self, folder: &Path) -> io::Result<PathBuf> {
        let folder = fs::canonicalize(folder)?;
        if !folder.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut folders = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !folders.contains(&folder) {
            folders.push(folder.clone());
        }
        Ok(folder)
    }

    /// The folders, links resolved.
    pub fn all(&self) -> Vec<PathBuf> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
