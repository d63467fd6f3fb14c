//! A build slot: folders that are kept between cycles, so that a verdict costs one incremental build.
//!
//! ```text
//! slots/0/
//!   tree/         files of whatever is being judged; only what differs is written, always with new times
//!   base-tree/    the base's files, for what is run again on the base's side
//!   base-target/  cargo's target folder, written by the baseline only
//!   target/       a candidate's target folder: a copy of the base's, times kept
//!   bin/          programs of the candidate, set aside right after the build; base-bin/ likewise
//!   lent/         a copy of what the base's dependencies were built to, for a proposer's own builds, removed afterwards
//!   scratch/      a copy of tree/ in which tests may write, removed afterwards
//! ```
//!
//! Promises: the room sees both target folders at one path, so that cargo reuses what it may; nothing that a candidate does
//! reaches the base's target; a file that changed is newer than everything that was built from its old content. Why a copy
//! and no overlay: docs/decisions/0004-slots.md. Used by one judge at a time (its lock).

use crate::judgement::candidate::TreeId;
use crate::judgement::defence::{Defence, Defences};
use crate::judgement::weigh;
use crate::workshop::folder;
use selfsmith_repo::{Repo, RepoError};
use std::fs::{self, DirBuilder, FileTimes, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// One slot.
#[derive(Debug, Clone)]
pub struct Slot {
    root: PathBuf,
    defences: Defences,
}

/// A target folder that a proposer may use as it likes. It goes when this is dropped.
#[derive(Debug)]
pub struct Lent {
    root: PathBuf,
}

impl weigh::Lent for Lent {
    fn path(&self) -> &Path {
        &self.root
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // What cannot be removed now is removed before the next one is made.
        let _ = folder::remove(&self.root);
    }
}

/// Why a slot could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// The files could not be written.
    #[error("write the files of {tree} into {dir}")]
    CheckOut {
        /// Which tree.
        tree: String,
        /// Where.
        dir: PathBuf,
        /// Why.
        source: Box<RepoError>,
    },
    /// The disk refused.
    #[error("{doing} {path}")]
    Disk {
        /// What was being done.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl SlotError {
    /// What to do next.
    pub const fn hint(&self) -> &'static str {
        "see that there is room on the disk and that the state folder is yours; the folder `slots` in it may be deleted at \
         any time and is built again"
    }

    fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Disk { doing, path, source }
    }
}

impl Slot {
    /// The first slot below `slots`, made where it is not there.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn open(slots: &Path, defences: Defences) -> Result<Self, SlotError> {
        let root = slots.join("0");
        DirBuilder::new().recursive(true).mode(0o755).create(&root).map_err(SlotError::disk("make", &root))?;
        Ok(Self { root, defences })
    }

    /// Files of what is being judged.
    pub fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }

    /// Files of the base.
    pub fn base_tree(&self) -> PathBuf {
        self.root.join("base-tree")
    }

    /// The base's target folder.
    pub fn base_target(&self) -> PathBuf {
        self.root.join("base-target")
    }

    /// The candidate's target folder.
    pub fn target(&self) -> PathBuf {
        if self.defences.up(Defence::OwnTarget) { self.root.join("target") } else { self.base_target() }
    }

    /// The candidate's programs.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The base's programs.
    pub fn base_bin(&self) -> PathBuf {
        self.root.join("base-bin")
    }

    /// Copies of packages that the room's user could not read.
    pub fn packages(&self) -> PathBuf {
        self.root.join("packages")
    }

    /// What is known of the base, between runs.
    pub fn facts_file(&self) -> PathBuf {
        self.root.join("base.json")
    }

    /// A copy of what a proposer's own builds can use of the base's: libraries. Programs and incremental state are of the base's
    /// own packages, which stand at another path there and are built anew in any case. None before the first build.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn lend(&self) -> Result<Option<Lent>, SlotError> {
        let from = self.base_target();
        if !from.is_dir() {
            return Ok(None);
        }
        let root = self.root.join("lent");
        folder::remove(&root).map_err(SlotError::disk("remove", &root))?;
        let lent = Lent { root };
        let wanted = |path: &Path, facts: &fs::Metadata| {
            let name = path.file_name().unwrap_or_default();
            let is_program = facts.is_file() && facts.mode() & 0o111 != 0 && path.extension().is_none();
            let is_build_script = path.components().any(|part| part.as_os_str() == "build");
            name != "incremental" && name != "tmp" && (!is_program || is_build_script)
        };
        folder::copy_some(&from, &lent.root, &wanted)
            .map_err(SlotError::disk("copy the target folder to", &lent.root))?;
        Ok(Some(lent))
    }

    /// A folder for things of one run, by name; emptied.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn fresh(&self, name: &str) -> Result<PathBuf, SlotError> {
        let dir = self.root.join(name);
        folder::remove(&dir).map_err(SlotError::disk("remove", &dir))?;
        DirBuilder::new().recursive(true).mode(0o755).create(&dir).map_err(SlotError::disk("make", &dir))?;
        Ok(dir)
    }

    /// Write a tree's files into [`Self::tree`].
    ///
    /// # Errors
    /// No such tree, or the disk refuses.
    pub fn check_out(&self, repo: &Repo, tree: &TreeId) -> Result<(), SlotError> {
        let dir = self.tree();
        let done = write(repo, tree, &dir)?;
        if !self.defences.up(Defence::NewTimes) {
            // What a tool that restores times would leave behind.
            let old = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
            for path in done.written.iter().map(|path| path.below(&dir)).filter(|path| path.is_file()) {
                let file = OpenOptions::new().write(true).open(&path).map_err(SlotError::disk("open", &path))?;
                file.set_times(old).map_err(SlotError::disk("date", &path))?;
            }
        }
        Ok(())
    }

    /// Write the base's files into [`Self::base_tree`].
    ///
    /// # Errors
    /// No such tree, or the disk refuses.
    pub fn check_out_base(&self, repo: &Repo, tree: &TreeId) -> Result<(), SlotError> {
        write(repo, tree, &self.base_tree()).map(|_| ())
    }

    /// Make the candidate's target folder a copy of the base's.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn start_target(&self) -> Result<(), SlotError> {
        let (from, to) = (self.base_target(), self.target());
        if from == to {
            return Ok(());
        }
        folder::remove(&to).map_err(SlotError::disk("remove", &to))?;
        if from.is_dir() { folder::copy(&from, &to) } else { fs::create_dir(&to) }
            .map_err(SlotError::disk("copy the base's target folder to", &to))
    }

    /// A copy of `tree` in which tests may write.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn scratch(&self, tree: &Path) -> Result<Scratch, SlotError> {
        let dir = self.root.join("scratch");
        folder::remove(&dir).map_err(SlotError::disk("remove", &dir))?;
        folder::copy(tree, &dir).map_err(SlotError::disk("copy the trial's files to", &dir))?;
        Ok(Scratch { dir })
    }

    /// Set programs aside, before anything of the candidate can run and change them. `programs` are names with where they
    /// lie, below `target`; a link that leads out of it is refused.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn set_aside(&self, bin: &Path, target: &Path, programs: &[(String, PathBuf)]) -> Result<(), SlotError> {
        folder::remove(bin).map_err(SlotError::disk("remove", bin))?;
        fs::create_dir(bin).map_err(SlotError::disk("make", bin))?;
        for (name, from) in programs {
            let to = bin.join(name);
            let real = folder::real_file(target, from).map_err(SlotError::disk("find", from))?;
            fs::copy(&real, &to).map_err(SlotError::disk("copy", from))?;
            fs::set_permissions(&to, Permissions::from_mode(0o755)).map_err(SlotError::disk("open up", &to))?;
        }
        Ok(())
    }
}

fn write(repo: &Repo, tree: &TreeId, dir: &Path) -> Result<selfsmith_repo::Materialised, SlotError> {
    let failed = |source| SlotError::CheckOut { tree: tree.0.clone(), dir: dir.to_owned(), source: Box::new(source) };
    repo.materialise(&tree.0, dir, &[]).map_err(failed)
}

/// A copy of the trial's files; removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed before the next copy is made.
        let _ = folder::remove(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::weigh::Lent as _;

    #[test]
    fn a_proposer_is_lent_libraries_and_no_programs_and_they_go_with_the_loan() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let slot = Slot::open(folder.path(), Defences::all()).expect("a slot");
        assert!(slot.lend().expect("nothing to copy").is_none());
        let write = |path: &str, mode: u32| {
            let path = slot.base_target().join(path);
            fs::create_dir_all(path.parent().expect("has one")).expect("a folder");
            fs::write(&path, "built").expect("a file");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
        };
        write("debug/deps/libserde-1.rlib", 0o644);
        write("debug/deps/libmacros-1.so", 0o755);
        write("debug/build/libc-1/build-script-build", 0o755);
        write("debug/deps/lib_tests-1", 0o755);
        write("debug/incremental/own-1/state.bin", 0o644);
        let lent = slot.lend().expect("copied").expect("lent");
        let has = |path: &str| lent.path().join(path).exists();
        assert!(
            ["deps/libserde-1.rlib", "deps/libmacros-1.so", "build/libc-1/build-script-build"]
                .iter()
                .all(|path| has(&format!("debug/{path}")))
        );
        assert!(!has("debug/deps/lib_tests-1") && !has("debug/incremental"));
        let path = lent.path().to_owned();
        drop(lent);
        assert!(!path.exists() && slot.base_target().join("debug/deps/lib_tests-1").exists());
    }
}
