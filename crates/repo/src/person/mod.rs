//! What a person asks for in their own work tree: look, commit, undo, rename, checkpoints. It goes through the git program,
//! so that their hooks, filters, signing and settings hold. Promises: what is refused has changed nothing; what a person had
//! is never lost; no editor, pager or prompt is waited for; each path is meant literally, byte for byte.
//!
//! It knows nothing of the judge, and asks nobody: where a person would have to decide it refuses and says why.

mod checkpoint;
mod commit;
mod diff;
mod error;
mod filters;
mod guard;
mod history;
mod keep;
mod paths;
mod rename;
mod status;
mod trace;
mod undo;

pub use checkpoint::{Checkpoint, Restored};
pub use commit::{Committed, Warning};
pub use diff::WorkDiff;
pub use error::{Class, PersonError};
pub use status::{Changed, Difference};

use crate::path::TreePath;
use crate::program::{Caller, Git, one_line};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A person's work tree, seen from one of its folders.
pub struct WorkTree<'a> {
    caller: Caller<'a>,
    top: PathBuf,
    /// The folder from which relative paths are meant, seen from the top; empty at the top.
    prefix: TreePath,
    git_dir: PathBuf,
}

impl<'a> WorkTree<'a> {
    /// The work tree that holds `dir`.
    ///
    /// # Errors
    /// No repository, a bare one, another owner, a folder that is not there.
    pub fn open(dir: &Path, caller: Caller<'a>) -> Result<Self, PersonError> {
        if !dir.is_dir() {
            return Err(PersonError::new(
                Class::NoSuchFile,
                format!("open {}: there is no such folder", dir.display()),
            ));
        }
        let ask = |what: &str| -> Result<Vec<u8>, PersonError> {
            let done = Git::new(caller, dir).finish(&["rev-parse", what])?;
            if done.ok() { Ok(done.stdout()?) } else { Err(error::of_opening(dir, &done)) }
        };
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(one_line(bytes)));
        let top = path(&ask("--show-toplevel")?);
        let git_dir = path(&ask("--absolute-git-dir")?);
        let prefix = ask("--show-prefix")?;
        let prefix = one_line(&prefix);
        let prefix = TreePath::new(prefix.strip_suffix(b"/").unwrap_or(prefix));
        Ok(Self { caller, top, prefix, git_dir })
    }

    /// The top folder.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The name of the top folder, blanks and all.
    pub fn toplevel_name(&self) -> String {
        self.top.file_name().unwrap_or(self.top.as_os_str()).to_string_lossy().into_owned()
    }

    /// A command at the top that runs no hook.
    fn git(&self) -> Git<'_> {
        Git::new(self.caller, &self.top)
    }

    /// The `.git` that all work trees share.
    fn common_dir(&self) -> PathBuf {
        match fs::read(self.git_dir.join("commondir")) {
            Ok(text) => self.git_dir.join(OsStr::from_bytes(one_line(&text))),
            Err(_) => self.git_dir.clone(),
        }
    }

    /// The commit that a revision names.
    fn resolve(&self, rev: &str) -> Result<String, PersonError> {
        let not_found = || PersonError::new(Class::NotFound, format!("find {rev:?}: there is no commit of that name"));
        if rev.is_empty() || rev.contains('\0') {
            return Err(not_found());
        }
        let asked = format!("{rev}^{{commit}}");
        let done = self.git().finish(&["rev-parse", "--verify", "--quiet", "--end-of-options", &asked])?;
        if !done.ok() {
            return Err(not_found());
        }
        Ok(String::from_utf8_lossy(one_line(&done.stdout()?)).into_owned())
    }

    /// HEAD's commit; none before the first one.
    fn head(&self) -> Result<Option<String>, PersonError> {
        match self.resolve("HEAD") {
            Ok(id) => Ok(Some(id)),
            Err(e) if e.class == Class::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }
}
