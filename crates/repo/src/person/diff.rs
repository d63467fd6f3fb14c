//! The work tree's changes as a patch. Promises that content which is no UTF-8 is shown as well as it can be and never fatal,
//! and that no external diff program or converter runs.

use super::{Difference, PersonError, WorkTree, error};
use crate::path::TreePath;
use crate::program::fields;
use std::fs;
use std::io::ErrorKind;

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
        // `git diff` writes its notes of times into the index, so it gets a copy.
        let failed = |e| error::of_disk("copy the index", &e);
        let copy = tempfile::tempdir().map_err(failed)?;
        let index = copy.path().join("index");
        match fs::copy(self.git_dir.join("index"), &index) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
        let run = |how: &[&str]| {
            let fixed = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"];
            let args = [fixed.as_slice(), how, &[&base, "--"]].concat();
            let done = self.git().variable("GIT_INDEX_FILE", &index).finish(&args)?;
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
