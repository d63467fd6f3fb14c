//! Putting a generation in place: filled beside the others, synced, and renamed, so that it is there whole or not at all.

use super::{Generation, Item, MANIFEST, Manifest, PROGRAM, Parts, Store, StoreError, digest, is_tree, modified_ms};
use crate::store::faults::{self, Faults, Half};
use crate::store::log::sync_folder;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The beginning of the names of folders that are being filled, or emptied.
const UNFINISHED: &str = ".new-";
/// Generations that are kept at most, `current` and `previous` among them.
const KEPT: usize = 6;

impl Store {
    /// Install a generation. One that is there already is verified and left as it is; one that is damaged, and of which no
    /// link leads to it, is made anew.
    ///
    /// # Errors
    /// The disk refuses, or the one that is there is damaged and in use.
    pub fn install(&self, parts: Parts<'_>, faults: &dyn Faults) -> Result<Generation, StoreError> {
        if !is_tree(parts.tree) {
            return Err(StoreError::Damaged {
                path: self.root.clone(),
                why: format!("`{}` is no tree id", parts.tree),
            });
        }
        let _lock = self.lock()?;
        let generation = Generation { tree: parts.tree.to_owned(), folder: self.root.join(parts.tree) };
        self.sweep();
        if generation.folder.exists() {
            match generation.verify() {
                Ok(()) => return Ok(generation),
                Err(error) if self.leads_to(parts.tree) => return Err(error),
                Err(_) => self.remove(&generation)?,
            }
        }
        self.place(&generation, parts, faults)?;
        self.forget_oldest(parts.tree);
        Ok(generation)
    }

    fn place(&self, generation: &Generation, parts: Parts<'_>, faults: &dyn Faults) -> Result<(), StoreError> {
        let fresh = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.root);
        let fresh = fresh.map_err(|source| StoreError::file("make a folder in", &self.root, source))?;
        // Whoever boots it in the room is another user.
        fs::set_permissions(fresh.path(), Permissions::from_mode(0o755))
            .map_err(|source| StoreError::file("open up", fresh.path(), source))?;
        let mut files = Vec::new();
        faults::step(faults, "generation's files", Half::Folder(fresh.path()), || {
            copy(parts.program, fresh.path(), PROGRAM, &mut files)?;
            copy(&parts.sources.join("config.yaml"), fresh.path(), "config.yaml", &mut files)?;
            copy_tree(&parts.sources.join("prompts"), fresh.path(), "prompts", &mut files)
        })?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let manifest = Manifest {
            version: 1,
            commit: parts.commit.to_owned(),
            tree: parts.tree.to_owned(),
            judge: parts.judge.to_owned(),
            toolchain: parts.toolchain.to_owned(),
            flags: parts.flags.to_owned(),
            files,
        };
        let path = fresh.path().join(MANIFEST);
        let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
        faults::step(faults, "generation's manifest", Half::Folder(fresh.path()), || {
            durable(&path, text.as_bytes()).and_then(|()| sync_folder(fresh.path()))
        })
        .map_err(|source| StoreError::file("write", &path, source))?;
        let fresh = fresh.keep();
        faults::step(faults, "generation in place", Half::Nothing, || {
            fs::rename(&fresh, &generation.folder)?;
            sync_folder(&self.root)
        })
        .map_err(|source| StoreError::file("put in place", &generation.folder, source))
    }

    /// Remove what an install or a removal that died left behind. The caller holds the lock.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Out of the way at once, then gone.
    fn remove(&self, generation: &Generation) -> Result<(), StoreError> {
        let aside = self.root.join(format!("{UNFINISHED}{}", generation.tree));
        let _ = fs::remove_dir_all(&aside);
        fs::rename(&generation.folder, &aside)
            .map_err(|source| StoreError::file("move away", &generation.folder, source))?;
        let _ = fs::remove_dir_all(&aside);
        Ok(())
    }

    /// Each takes as much room as a program; what cannot be removed now is in nobody's way.
    fn forget_oldest(&self, newest: &str) {
        let mut all = self.installed();
        all.retain(|generation| generation.tree != newest && !self.leads_to(&generation.tree));
        all.sort_by_key(Generation::installed_at);
        let linked = 3;
        let many = (all.len() + linked).saturating_sub(KEPT);
        for generation in all.iter().take(many) {
            let _ = self.remove(generation);
        }
    }
}

fn copy_tree(from: &Path, root: &Path, name: &str, files: &mut Vec<Item>) -> Result<(), StoreError> {
    let to = root.join(name);
    fs::create_dir_all(&to).map_err(|source| StoreError::file("make", &to, source))?;
    let entries = fs::read_dir(from).map_err(|source| StoreError::file("read", from, source))?;
    for entry in entries {
        let entry = entry.map_err(|source| StoreError::file("read", from, source))?;
        let Some(file) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let inner = format!("{name}/{file}");
        let kind = entry.file_type().map_err(|source| StoreError::file("look at", &entry.path(), source))?;
        if kind.is_dir() {
            copy_tree(&entry.path(), root, &inner, files)?;
        } else if kind.is_file() {
            copy(&entry.path(), root, &inner, files)?;
        }
    }
    sync_folder(&to).map_err(|source| StoreError::file("write", &to, source))
}

fn copy(from: &Path, root: &Path, name: &str, files: &mut Vec<Item>) -> Result<(), StoreError> {
    let to = root.join(name);
    fs::copy(from, &to).map_err(|source| StoreError::file("copy", from, source))?;
    let file = fs::File::open(&to).map_err(|source| StoreError::file("open", &to, source))?;
    file.sync_all().map_err(|source| StoreError::file("write", &to, source))?;
    let mut rights = file.metadata().map_err(|source| StoreError::file("look at", &to, source))?.permissions();
    rights.set_mode(rights.mode() & 0o555 | 0o444);
    fs::set_permissions(&to, rights).map_err(|source| StoreError::file("protect", &to, source))?;
    let data = file.metadata().map_err(|source| StoreError::file("look at", &to, source))?;
    files.push(Item { path: name.to_owned(), size: data.len(), modified_ms: modified_ms(&data), sha256: digest(&to)? });
    Ok(())
}

fn durable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
