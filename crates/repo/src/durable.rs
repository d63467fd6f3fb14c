//! Objects and refs that outlast a power cut: each is on the disk before the call that writes it returns.

use crate::error::RepoError;
use crate::open::Repo;
use git2::ConfigLevel;
use std::io::Write;
use tempfile::NamedTempFile;

impl Repo {
    /// The same repository, with every object and ref synced as it is written: for the few that a landing makes, not for
    /// thousands of files. The repository's own configuration is left alone.
    ///
    /// # Errors
    /// No room for a temporary file.
    pub fn durable(self) -> Result<Self, RepoError> {
        // libgit2 takes this wish from the configuration alone, so it gets one more file of it, seen by this handle only.
        // It is read when the first object or ref is touched.
        let failed = || RepoError::disk("write a temporary file beside", self.git_dir());
        let mut file = NamedTempFile::with_prefix("selfsmith-git-").map_err(failed())?;
        file.write_all(b"[core]\n\tfsyncObjectFiles = true\n").map_err(failed())?;
        let doing = || RepoError::git("ask for durable writes");
        let mut config = self.inner.config().map_err(doing())?;
        config.add_file(file.path(), ConfigLevel::App, true).map_err(doing())?;
        Ok(self)
    }
}
