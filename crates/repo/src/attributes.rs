//! Paths that are more than their bytes: submodules, and files that a filter (as LFS) turns into something else. The judge
//! writes and reads plain bytes, so it must know which paths it would get wrong.

use crate::error::RepoError;
use crate::objects::Mode;
use crate::open::{Repo, oid};
use crate::path::TreePath;
use git2::{AttrCheckFlags, AttrValue, Index};

impl Repo {
    /// Submodules of a tree.
    ///
    /// # Errors
    /// No such tree.
    pub fn submodules(&self, tree: &str) -> Result<Vec<TreePath>, RepoError> {
        let entries = self.entries(tree)?;
        Ok(entries.into_iter().filter(|e| e.mode == Mode::Submodule).map(|e| e.path).collect())
    }

    /// Those of `paths` to which this tree's `.gitattributes` give a filter. Paths that are no UTF-8 are asked as well.
    ///
    /// # Errors
    /// No such tree.
    pub fn filtered(&self, tree: &str, paths: &[TreePath]) -> Result<Vec<TreePath>, RepoError> {
        let doing = || RepoError::git("read attributes");
        let other = self.reopen()?; // its index is replaced in memory, so it is a handle of its own
        let mut index = Index::new().map_err(doing())?;
        index.read_tree(&other.find_tree(oid(tree)?)?).map_err(doing())?;
        other.inner.set_index(&mut index).map_err(doing())?;
        let flags = AttrCheckFlags::INDEX_ONLY;
        let mut found = Vec::new();
        for path in paths {
            let value = other.inner.get_attr_bytes(path.as_path(), "filter", flags).map_err(doing())?;
            if matches!(AttrValue::from_bytes(value), AttrValue::String(_) | AttrValue::Bytes(_)) {
                found.push(path.clone());
            }
        }
        Ok(found)
    }
}
