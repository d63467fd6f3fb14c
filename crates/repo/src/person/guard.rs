//! A command that may change the person's index or fail half way, with the way back: the index as it was, and no lock file
//! left behind by a git that was ended. Promises to remove no lock that was there before.

use super::trace::{Child, Trace};
use super::{Class, PersonError, WorkTree, error};
use crate::program::Done;
use selfsmith_sandbox::End;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The index before, and which locks were held by others.
pub(super) struct Guard {
    index: PathBuf,
    before: Option<Vec<u8>>,
    folders: Vec<PathBuf>,
    locks: BTreeSet<PathBuf>,
}

impl Guard {
    /// Remembers the index; refuses where another git holds it.
    pub(super) fn new(tree: &WorkTree<'_>) -> Result<Self, PersonError> {
        let index = tree.git_dir.join("index");
        if tree.git_dir.join("index.lock").exists() {
            let message = format!("change the index: another git process holds {}.lock", index.display());
            return Err(PersonError::new(Class::Locked, message));
        }
        let common = tree.common_dir();
        let mut folders = vec![tree.git_dir.clone(), common.clone()];
        folders.extend(folders_below(&common.join("refs/heads")));
        let locks = locks_in(&folders);
        Ok(Self { before: fs::read(&index).ok(), index, folders, locks })
    }

    /// After a command that failed: everything as it was.
    pub(super) fn restore(&self, done: &Done) {
        self.unlock(done);
        self.put_back();
    }

    /// Removes the locks of a git that was ended.
    pub(super) fn unlock(&self, done: &Done) {
        if !matches!(done.end(), End::Exit(_)) {
            // It was ended while it may have held locks; its whole tree is gone, so nobody holds them.
            for lock in locks_in(&self.folders).difference(&self.locks) {
                let _ = fs::remove_file(lock);
            }
        }
    }

    /// The index as it was, unless somebody holds it now: then it stays as git left it, and nothing is lost either way.
    pub(super) fn put_back(&self) {
        if fs::read(&self.index).ok() == self.before {
            return;
        }
        let lock = self.index.with_file_name("index.lock");
        let Ok(mut file) = fs::File::create_new(&lock) else { return };
        let done = match &self.before {
            Some(bytes) => file.write_all(bytes).and_then(|()| fs::rename(&lock, &self.index)),
            None => fs::remove_file(&self.index).and_then(|()| fs::remove_file(&lock)),
        };
        if done.is_err() {
            let _ = fs::remove_file(&lock);
        }
    }
}

fn folders_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![dir.to_owned()];
    for child in fs::read_dir(dir).into_iter().flatten().flatten() {
        if child.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(folders_below(&child.path()));
        }
    }
    found
}

fn locks_in(folders: &[PathBuf]) -> BTreeSet<PathBuf> {
    let children = folders.iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
    children.map(|child| child.path()).filter(|path| path.extension().is_some_and(|e| e == "lock")).collect()
}

/// What a command with hooks and signing is given.
pub(super) struct Attempt<'a> {
    /// For messages: "commit".
    pub doing: &'a str,
    pub args: Vec<String>,
    pub stdin: Vec<u8>,
    /// Filters that must not fail.
    pub filters: Vec<String>,
    pub timeout: Duration,
}

impl WorkTree<'_> {
    /// Runs a command with the person's hooks and signing. When it fails, says who is to blame, and hands back how it ended.
    pub(super) fn attempt(&self, attempt: Attempt<'_>) -> Result<Result<(), (PersonError, Done)>, PersonError> {
        let trace = Trace::new().map_err(|e| PersonError::new(Class::Failed, format!("make a temporary file: {e}")))?;
        let (name, value) = trace.variable();
        let mut git = self.git().with_hooks(attempt.timeout).variable(name, value).stdin(attempt.stdin.clone());
        for setting in ["user.useConfigOnly=true", "i18n.commitEncoding=UTF-8", "gc.auto=0", "maintenance.auto=false"] {
            git = git.setting(setting);
        }
        for filter in &attempt.filters {
            git = git.setting(format!("filter.{filter}.required=true"));
        }
        let done = git.finish(&attempt.args)?;
        if done.ok() {
            return Ok(Ok(()));
        }
        Ok(Err((blame(&attempt, &done, &trace), done)))
    }
}

/// Who made it fail.
fn blame(attempt: &Attempt<'_>, done: &Done, trace: &Trace) -> PersonError {
    let Attempt { doing, filters, timeout, .. } = attempt;
    let children = trace.children();
    if done.end() == End::TimedOut {
        let who = match children.iter().find(|child| child.code.is_none()) {
            Some(Child { hook: Some(hook), .. }) => format!("the hook {hook} was still running"),
            Some(child) if filters.is_empty() => {
                format!("{}, which signs commits, was still running; it may wait for a passphrase", child.program)
            }
            Some(child) => format!("{}, a filter or what signs commits, was still running", child.program),
            None => "a hook, or the program that signs commits, may wait for something".to_owned(),
        };
        let message = format!("{doing} within {} s: {who}\n{}", timeout.as_secs_f32(), done.said());
        return PersonError::new(Class::TimedOut, message.trim_end());
    }
    let failed = children.iter().find(|child| child.code.is_some_and(|code| code != 0));
    if let Some(Child { hook: Some(hook), .. }) = failed {
        let message = format!("{doing}: the hook {hook} refused\n{}", done.said());
        return PersonError::new(Class::Hook, message.trim_end());
    }
    let error = error::of_command(doing, done);
    if error.class == Class::Failed && failed.is_some() && !filters.is_empty() {
        return PersonError::new(Class::Filter, format!("{error}\nfilters of these files: {}", filters.join(", ")));
    }
    error
}
