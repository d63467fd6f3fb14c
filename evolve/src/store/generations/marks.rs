//! What is known of a tree, apart from its files: whether the probe found it good, how often it was tried, whether it is denied.
//!
//! One small file a tree, replaced whole and synced. A file that cannot be read counts as nothing known, which is never good
//! and never denied: only a probe marks good, and what is not good is not followed.

use super::{Store, StoreError};
use crate::store::faults::{self, Faults, Half};
use crate::store::log;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// Marks of one tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Boots that were begun by a probe, counted before each.
    #[serde(default)]
    pub tries: u32,
    /// Digest of the manifest that the probe booted; none until one did.
    #[serde(default)]
    pub good: Option<String>,
    /// Why it must not be started.
    #[serde(default)]
    pub denied: Option<Denied>,
}

/// Why a tree must not be started any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// One sentence.
    pub why: String,
    /// What is to be done about the branch that it landed on.
    pub branch: Branch,
}

/// What is to be done about the branch of a denied tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Branch {
    /// Nothing: it never landed, or its code is not at fault.
    Stays,
    /// A revert is to be proposed.
    Revert,
    /// One was proposed.
    Proposed,
}

impl Store {
    /// What is known of a tree.
    pub fn marks(&self, tree: &str) -> Marks {
        let text = fs::read(self.marks_of(tree)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Whether a probe booted it, and nothing has denied it since.
    pub fn is_good(&self, tree: &str) -> bool {
        let marks = self.marks(tree);
        marks.good.is_some() && marks.denied.is_none()
    }

    /// Count one more boot, before it begins. Gives how many there were, this one among them.
    ///
    /// # Errors
    /// The disk refuses; then it must not be booted.
    pub fn count_try(&self, tree: &str, faults: &dyn Faults) -> Result<u32, StoreError> {
        let _lock = self.lock()?;
        let mut marks = self.marks(tree);
        marks.tries = marks.tries.saturating_add(1);
        self.write(tree, &marks, ("tries counted", faults))?;
        Ok(marks.tries)
    }

    /// The probe's mark, on a generation that it has just verified. Its tries begin anew.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn mark_good(&self, tree: &str, faults: &dyn Faults) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        let good = Some(self.generation(tree).manifest_digest()?);
        let marks = Marks { tries: 0, good, ..self.marks(tree) };
        self.write(tree, &marks, ("marked good", faults))
    }

    /// Deny a tree for good.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn deny(&self, tree: &str, denied: Denied, faults: &dyn Faults) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        self.denied(tree, denied, faults)
    }

    /// The same, where the lock is held.
    pub(super) fn denied(&self, tree: &str, denied: Denied, faults: &dyn Faults) -> Result<(), StoreError> {
        let marks = Marks { denied: Some(denied), ..self.marks(tree) };
        self.write(tree, &marks, ("tree denied", faults))
    }

    /// Trees whose branch is to be reverted.
    pub fn to_revert(&self) -> Vec<(String, Denied)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.root().join("marks")).into_iter().flatten().flatten() {
            let Ok(tree) = entry.file_name().into_string() else { continue };
            if let Some(denied) = self.marks(&tree).denied.filter(|denied| denied.branch == Branch::Revert) {
                found.push((tree, denied));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    fn write(&self, tree: &str, marks: &Marks, (step, faults): (&str, &dyn Faults)) -> Result<(), StoreError> {
        let path = self.marks_of(tree);
        let folder = self.root().join("marks");
        fs::create_dir_all(&folder).map_err(|source| StoreError::file("make", &folder, source))?;
        let text = serde_json::to_vec(marks).unwrap_or_default();
        faults::step(faults, step, Half::Nothing, || log::replace(&path, &text))
            .map_err(|source| StoreError::file("write", &path, source))
    }

    fn marks_of(&self, tree: &str) -> PathBuf {
        self.root().join("marks").join(tree)
    }
}
