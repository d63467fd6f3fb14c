//! What differs between two trees, file by file, with counts and patch text. Promises that content which is no UTF-8 is
//! carried as bytes, and that a file over the bound is called binary, not read into a patch.

use crate::error::RepoError;
use crate::objects::Mode;
use crate::open::{Repo, oid};
use crate::path::TreePath;
use git2::{DiffFile, DiffFindOptions, DiffOptions, Patch};

/// Files larger than this are treated as binary.
const MAX_TEXT: i64 = 8 << 20;

/// Whether moved files are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renames {
    /// A moved file is one removed and one added.
    AsTwo,
    /// A moved file is one entry with its old path.
    Found,
}

/// How a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta {
    /// Only in the new tree.
    Added,
    /// Only in the old tree.
    Removed,
    /// In both, with another content, mode or kind.
    Changed,
    /// Moved, perhaps changed as well.
    Renamed,
}

/// One side of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Path on that side.
    pub path: TreePath,
    /// Kind.
    pub mode: Mode,
    /// Blob id.
    pub id: String,
}

/// How one file differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// The new path, or the old one of a removed file.
    pub path: TreePath,
    /// How.
    pub delta: Delta,
    /// Before; none for an added file.
    pub old: Option<Side>,
    /// After; none for a removed file.
    pub new: Option<Side>,
    /// Lines added; 0 for a binary file.
    pub added: u32,
    /// Lines removed; 0 for a binary file.
    pub removed: u32,
    /// Whether it is shown without lines.
    pub binary: bool,
    /// Unified patch of this file, with its header lines.
    pub patch: Vec<u8>,
}

impl Repo {
    /// What differs from tree `old` to tree `new`, sorted by path.
    ///
    /// # Errors
    /// No such tree.
    pub fn diff(&self, old: &str, new: &str, renames: Renames) -> Result<Vec<FileDiff>, RepoError> {
        let doing = || RepoError::git(format!("compare {old} with {new}"));
        let (old_tree, new_tree) = (self.find_tree(oid(old)?)?, self.find_tree(oid(new)?)?);
        let mut options = DiffOptions::new();
        options.max_size(MAX_TEXT).context_lines(3).include_typechange(true);
        let mut diff =
            self.inner.diff_tree_to_tree(Some(&old_tree), Some(&new_tree), Some(&mut options)).map_err(doing())?;
        if renames == Renames::Found {
            diff.find_similar(Some(DiffFindOptions::new().renames(true))).map_err(doing())?;
        }
        let mut files = Vec::new();
        for at in 0..diff.deltas().len() {
            let Some(delta) = diff.get_delta(at) else { continue };
            let status = match delta.status() {
                git2::Delta::Added => Delta::Added,
                git2::Delta::Deleted => Delta::Removed,
                git2::Delta::Renamed => Delta::Renamed,
                _ => Delta::Changed,
            };
            let old = (status != Delta::Added).then(|| side(&delta.old_file()));
            let new = (status != Delta::Removed).then(|| side(&delta.new_file()));
            let Some(path) = new.as_ref().or(old.as_ref()).map(|side| side.path.clone()) else { continue };
            let mut file =
                FileDiff { path, delta: status, old, new, added: 0, removed: 0, binary: true, patch: Vec::new() };
            if let Some(mut patch) = Patch::from_diff(&diff, at).map_err(doing())? {
                let (_, added, removed) = patch.line_stats().map_err(doing())?;
                file.added = u32::try_from(added).unwrap_or(u32::MAX);
                file.removed = u32::try_from(removed).unwrap_or(u32::MAX);
                file.binary = patch.delta().flags().is_binary();
                file.patch = patch.to_buf().map_err(doing())?.to_vec();
            }
            files.push(file);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }
}

fn side(file: &DiffFile<'_>) -> Side {
    Side {
        path: TreePath::new(file.path_bytes().unwrap_or_default()),
        mode: Mode::from_raw(u32::from(file.mode())),
        id: file.id().to_string(),
    }
}
