//! Moving a tracked file. Promises never to overwrite, and that what is uncommitted in the file moves with it.

use super::guard::Guard;
use super::{Class, PersonError, WorkTree, error};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;

impl WorkTree<'_> {
    /// Moves a file that git knows to another name, in work tree and index; folders on the way are made.
    ///
    /// # Errors
    /// No such file, a file that git does not know, something at the new name, a path outside.
    pub fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), PersonError> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        let doing = format!("rename {from} to {to}");
        let refuse = |class, why: &str| Err(PersonError::new(class, format!("{doing}: {why}")));
        let (old, new) = (from.below(&self.top), to.below(&self.top));
        let Ok(meta) = fs::symlink_metadata(&old) else { return refuse(Class::NoSuchFile, "there is no such file") };
        if from == to {
            return refuse(Class::NoChange, "both names are the same");
        }
        if let Ok(there) = fs::symlink_metadata(&new)
            && (there.dev(), there.ino()) != (meta.dev(), meta.ino())
        {
            return refuse(Class::Exists, "something is there already");
        }
        if to.is_within(from.as_bytes()) {
            return refuse(Class::BadPath, "the new name lies inside the old one");
        }
        if self.indexed(&from)?.is_empty() {
            return refuse(Class::NotFound, "git does not know this file");
        }
        let guard = Guard::new(self)?;
        let made = match new.parent() {
            Some(folder) => {
                make_folders(folder).map_err(|e| PersonError::new(Class::BadPath, format!("{doing}: {e}")))?
            }
            None => Vec::new(),
        };
        let args = [OsStr::new("mv"), OsStr::new("--"), from.as_path().as_os_str(), to.as_path().as_os_str()];
        let done = self.git().finish(&args)?;
        if done.ok() {
            return Ok(());
        }
        guard.restore(&done);
        for folder in made.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
        Err(error::of_command(&doing, &done))
    }
}

/// Makes a folder and those above it. Gives what was made, from the top.
fn make_folders(folder: &std::path::Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    let missing: Vec<_> = folder.ancestors().take_while(|dir| !dir.exists()).map(std::path::Path::to_owned).collect();
    fs::create_dir_all(folder)?;
    Ok(missing.into_iter().rev().collect())
}
