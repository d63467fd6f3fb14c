//! The work tree's changes as a patch. Promises that content which is no UTF-8 is shown as well as it can be and never fatal,
//! and that no external diff program or converter runs.

use super::{Difference, PersonError, WorkTree, error};
use crate::path::TreePath;
use crate::program::fields;

/// What differs, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkDiff {
    /// Files known to git that differ from the last commit, sorted.
    pub files: Vec<TreePath>,
    /// Files that git does not know, sorted; they are not in the patch.
    pub untracked: Vec<TreePath>,
    /// The patch, for reading: what is no UTF-8 is replaced, and what was cut from its middle is named.
    pub patch: String,
}

impl WorkTree<'_> {
    /// What index and work tree together change since the last commit.
    ///
    /// # Errors
    /// git cannot tell.
    pub fn diff(&self) -> Result<WorkDiff, PersonError> {
        let base = match self.head()? {
            Some(commit) => commit,
            None => self.empty_tree()?,
        };
        let run = |how: &[&str]| {
            let fixed = ["diff", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"];
            let args = [fixed.as_slice(), how, &[&base, "--"]].concat();
            let done = self.git().finish(&args)?;
            if done.ok() { Ok(done) } else { Err(error::of_command("compare with the last commit", &done)) }
        };
        let mut files: Vec<TreePath> =
            fields(&run(&["--name-only", "--no-renames", "-z"])?.stdout()?).map(TreePath::new).collect();
        files.sort();
        let untracked = self.changed_files()?.into_iter().filter(|c| c.difference == Difference::Untracked);
        Ok(WorkDiff { files, untracked: untracked.map(|c| c.path).collect(), patch: run(&["--patch"])?.said() })
    }

    fn empty_tree(&self) -> Result<String, PersonError> {
        let id = self.git().output(&["hash-object", "-t", "tree", "--stdin"])?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }
}
