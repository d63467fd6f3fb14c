//! Which generation a session gets: `current`, or the one before it where `current` is damaged, denied, or has died again and
//! again.
//!
//! Before the agent is started a file says so; the agent removes it once it has worked (docs/contract.md). A process that is
//! gone and left its file has died. This costs a few calls of the system: every session passes here.

use super::marks::{Branch, Denied};
use super::slots::Leaving;
use super::{Generation, Store, StoreError};
use crate::store::faults::Faults;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Deaths without a success in between, after which a generation is left.
pub const DEATHS: usize = 3;

/// What a session gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The generation.
    pub generation: Generation,
    /// Why it is not the one that was current, where it is not.
    pub instead: Option<Leaving>,
}

impl Store {
    /// Choose; none if nothing was ever installed.
    ///
    /// # Errors
    /// The current one cannot be used, and there is no other.
    pub fn choose(&self, faults: &dyn Faults) -> Result<Option<Chosen>, StoreError> {
        let trouble = match self.current_tree() {
            Ok(None) => return Ok(None),
            Ok(Some(tree)) => {
                let generation = self.generation(&tree);
                match self.trouble(&generation) {
                    None => return Ok(Some(Chosen { generation, instead: None })),
                    Some(denied) => Leaving { tree, denied },
                }
            }
            Err(error) => {
                Leaving { tree: String::new(), denied: Denied { why: error.to_string(), branch: Branch::Stays } }
            }
        };
        match self.fall_back(&trouble, faults)? {
            Some(generation) => Ok(Some(Chosen { generation, instead: Some(trouble) })),
            // With no other to start, one that is whole and died before is tried once more.
            None if !trouble.tree.is_empty() && self.generation(&trouble.tree).verify().is_ok() => {
                Ok(Some(Chosen { generation: self.generation(&trouble.tree), instead: None }))
            }
            None => Err(StoreError::Damaged { path: self.root().join("current"), why: trouble.denied.why }),
        }
    }

    /// Why a generation is not to be started.
    fn trouble(&self, generation: &Generation) -> Option<Denied> {
        if let Some(denied) = self.marks(&generation.tree).denied {
            return Some(denied);
        }
        // A time that differs may be a backup's doing; then every byte is looked at.
        if let Err(error) = generation.glance().or_else(|_| generation.verify()) {
            return Some(Denied { why: format!("it is damaged: could not {error}"), branch: Branch::Stays });
        }
        let died = self.deaths(&generation.tree);
        (died >= DEATHS).then(|| Denied {
            why: format!("it was started {died} times and died each time before it had worked"),
            branch: Branch::Revert,
        })
    }

    /// Processes that were started from it, are gone, and have not worked.
    pub fn deaths(&self, tree: &str) -> usize {
        let starts = fs::read_dir(self.starts_of(tree)).into_iter().flatten().flatten();
        starts.filter(|entry| entry.file_name().to_str().is_some_and(|name| !lives(name))).count()
    }

    /// Say that this process becomes the agent of this tree. Gives the file that the agent removes once it has worked; none
    /// where it cannot be written, which keeps nobody from working.
    pub fn count_start(&self, tree: &str) -> Option<PathBuf> {
        let folder = self.starts_of(tree);
        if !folder.is_dir() {
            fs::create_dir_all(&folder).ok()?;
        }
        let own = std::process::id();
        let path = folder.join(format!("{own}.{}", began(own)?));
        File::create(&path).ok().map(|_| path)
    }

    /// Where starts of a tree are counted.
    pub(super) fn starts_of(&self, tree: &str) -> PathBuf {
        self.root().join("starts").join(tree)
    }
}

/// Whether the process `<pid>.<its beginning>` is there still.
fn lives(name: &str) -> bool {
    let Some((pid, beginning)) = name.split_once('.') else { return false };
    let pid = pid.parse().ok().and_then(began);
    pid.is_some_and(|now| now.to_string() == beginning)
}

/// When a process began, in ticks since the machine's start (proc(5), field 22 of `stat`); 0 where there is no /proc.
fn began(pid: u32) -> Option<u64> {
    if !Path::new("/proc/self/stat").exists() {
        return Some(0);
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let (_, after) = stat.rsplit_once(')')?;
    after.split_whitespace().nth(19)?.parse().ok()
}
