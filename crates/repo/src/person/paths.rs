//! Paths as a person or a model gives them, turned into paths from the top. Promises: byte for byte, no pattern, and none that
//! leads out of the work tree, into `.git`, or through a symbolic link.

use super::{Class, PersonError, WorkTree};
use crate::path::TreePath;
use crate::program::fields;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl WorkTree<'_> {
    /// `given`, meant from the folder in which the work tree was opened, as a path from its top.
    pub(super) fn place(&self, given: &[u8]) -> Result<TreePath, PersonError> {
        let path = self.lexical(given)?;
        self.no_link_above(&path)?;
        Ok(path)
    }

    /// As `place`, without a look at the disk.
    pub(super) fn lexical(&self, given: &[u8]) -> Result<TreePath, PersonError> {
        let shown = TreePath::new(given);
        let refuse = |class, why: &str| Err(PersonError::new(class, format!("use the path {shown}: {why}")));
        if given.is_empty() || given.contains(&0) {
            return refuse(Class::BadPath, "it names no file");
        }
        let outside = "it leads out of the work tree";
        let mut parts: Vec<&[u8]> = Vec::new();
        let relative = if given.starts_with(b"/") {
            let Some(rest) = self.below_top(given) else { return refuse(Class::OutsideRoot, outside) };
            rest
        } else {
            if !self.prefix.as_bytes().is_empty() {
                parts.extend(self.prefix.parts());
            }
            given
        };
        for part in relative.split(|b| *b == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    if parts.pop().is_none() {
                        return refuse(Class::OutsideRoot, outside);
                    }
                }
                _ => parts.push(part),
            }
        }
        if parts.iter().any(|part| part.eq_ignore_ascii_case(b".git")) {
            return refuse(Class::Protected, "it lies in git's own folder");
        }
        if parts.is_empty() {
            return refuse(Class::IsDirectory, "it is the whole work tree");
        }
        Ok(TreePath::new(parts.join(&b'/')))
    }

    /// What follows the top folder in an absolute path.
    fn below_top<'p>(&self, given: &'p [u8]) -> Option<&'p [u8]> {
        let rest = given.strip_prefix(self.top.as_os_str().as_bytes())?;
        (rest.is_empty() || rest.starts_with(b"/")).then_some(rest)
    }

    /// What git has in its index at this path, or below it.
    pub(super) fn indexed(&self, path: &TreePath) -> Result<Vec<TreePath>, PersonError> {
        let args = ["ls-files", "-z", "--"].map(OsStr::new);
        let known = self.git().output(&[args.as_slice(), &[path.as_path().as_os_str()]].concat())?;
        Ok(fields(&known).map(TreePath::new).collect())
    }

    /// Refuses a path that goes through a symbolic link.
    pub(super) fn no_link_above(&self, path: &TreePath) -> Result<(), PersonError> {
        let parts: Vec<&[u8]> = path.parts().collect();
        let mut above = TreePath::new(Vec::new());
        for part in parts.iter().take(parts.len().saturating_sub(1)) {
            above = above.join(part);
            let on_disk = above.below(&self.top);
            if fs::symlink_metadata(&on_disk).is_ok_and(|meta| meta.is_symlink()) {
                let inside = fs::canonicalize(&on_disk).is_ok_and(|real| is_below(&real, &self.top));
                let class = if inside { Class::BadPath } else { Class::OutsideRoot };
                return Err(PersonError::new(class, format!("use the path {path}: {above} is a symbolic link")));
            }
        }
        Ok(())
    }
}

fn is_below(path: &Path, top: &Path) -> bool {
    fs::canonicalize(top).is_ok_and(|top| path.starts_with(top))
}

/// Paths as git reads a list of them: each ended by NUL.
pub(super) fn nul_list<'p>(paths: impl IntoIterator<Item = &'p TreePath>) -> Vec<u8> {
    let mut list = Vec::new();
    for path in paths {
        list.extend_from_slice(path.as_bytes());
        list.push(0);
    }
    list
}
