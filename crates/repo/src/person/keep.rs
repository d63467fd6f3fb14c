//! Files kept aside before they are taken back, as a tree under `refs/selfsmith/undone/`. Promises the bytes as they lie on
//! disk, past filters, and that neither index, branches nor stash change. It works where libgit2 does not.

use super::{PersonError, WorkTree};
use crate::commits::When;
use crate::path::TreePath;
use crate::program::one_line;
use crate::snapshot::read_bounded;
use std::fs;
use std::os::unix::ffi::OsStrExt;

const REFS: &str = "refs/selfsmith/undone/";
/// Bytes of one file; a larger one is not kept.
const MAX_FILE: u64 = 50 << 20;

impl WorkTree<'_> {
    /// Keeps what lies at these paths, and gives the ref under which it is found: `git show <ref>:<path>`. None if nothing
    /// lies there.
    pub(super) fn keep_aside<'p>(
        &self,
        paths: impl Iterator<Item = &'p TreePath>,
        now: When,
    ) -> Result<Option<String>, PersonError> {
        let mut entries = Vec::new();
        for path in paths {
            let on_disk = path.below(&self.top);
            let Ok(meta) = fs::symlink_metadata(&on_disk) else { continue };
            let (mode, bytes) = if meta.is_symlink() {
                let Ok(target) = fs::read_link(&on_disk) else { continue };
                (0o120_000, target.as_os_str().as_bytes().to_vec())
            } else {
                let Ok(found) = read_bounded(&on_disk, MAX_FILE) else { continue };
                (found.mode.raw(), found.bytes)
            };
            let id = self.git().stdin(bytes).output(&["hash-object", "-w", "--stdin"])?;
            entries.extend_from_slice(format!("{mode:o} {}\t", String::from_utf8_lossy(one_line(&id))).as_bytes());
            entries.extend_from_slice(path.as_bytes());
            entries.push(0);
        }
        if entries.is_empty() {
            return Ok(None);
        }
        let folder = tempfile::tempdir().map_err(|e| super::error::of_disk("make a temporary folder", &e))?;
        let index = folder.path().join("index");
        let git = || self.git().variable("GIT_INDEX_FILE", &index);
        git().stdin(entries).output(&["update-index", "-z", "--index-info"])?;
        let tree = git().output(&["write-tree"])?;
        let tree = String::from_utf8_lossy(one_line(&tree)).into_owned();
        let name = format!("{REFS}{:012}-{}", now.seconds, tree.get(..12).unwrap_or(&tree));
        self.git().output(&["update-ref", &name, &tree])?;
        Ok(Some(name))
    }
}
