//! A workspace as it was at one moment, and what differs between two moments. Pure.
//!
//! Unchanged folders are shared between trees, so that a comparison costs what has changed.

use super::entry::{Entry, Outside, Rel, Stamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// A workspace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    /// Its folders by their paths.
    pub folders: HashMap<Rel, Arc<Folder>>,
}

/// A folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    /// Why it is not looked into; then it has no nodes.
    pub outside: Option<Outside>,
    /// What is in it, sorted by name.
    pub nodes: Vec<Node>,
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: OsString,
    /// When it was looked at.
    pub stamp: Stamp,
    /// Whether the stamp was old enough then to vouch for the content.
    pub settled: bool,
    /// What it is.
    pub entry: Entry,
}

/// What became of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The path.
    pub path: Rel,
    /// What stood there; none for nothing.
    pub before: Option<Entry>,
    /// What stands there.
    pub after: Option<Entry>,
}

impl Folder {
    /// The node of that name.
    pub fn node(&self, name: &OsStr) -> Option<&Node> {
        let at = self.nodes.binary_search_by(|node| node.name.as_os_str().cmp(name)).ok()?;
        self.nodes.get(at)
    }
}

impl Tree {
    /// What stands at a path.
    pub fn entry(&self, path: &Rel) -> Option<&Entry> {
        let (folder, name) = path.split()?;
        self.folders.get(&folder)?.node(&name).map(|node| &node.entry)
    }

    /// Everything whose content is not kept, with its size, sorted.
    pub fn outside(&self) -> BTreeMap<Rel, (Outside, u64)> {
        let folders = self.folders.iter().filter_map(|(path, folder)| Some((path.clone(), (folder.outside?, 0))));
        let mut found: BTreeMap<_, _> = folders.collect();
        for (path, folder) in &self.folders {
            for node in &folder.nodes {
                if let Entry::Outside { why, stamp } = &node.entry {
                    let size = if node.entry.is_folder() { 0 } else { stamp.size };
                    found.insert(path.join(&node.name), (*why, size));
                }
            }
        }
        found
    }

    /// What differs in a later tree, sorted by path.
    pub fn changes(&self, later: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        let nothing = Folder::default();
        for (path, folder) in &self.folders {
            match later.folders.get(path) {
                Some(other) if Arc::ptr_eq(folder, other) => {}
                // Whether anything in it changed cannot be known.
                Some(other) if folder.outside.is_some() || other.outside.is_some() => {}
                Some(other) => compare(path, folder, other, &mut changes),
                None => compare(path, folder, &nothing, &mut changes),
            }
        }
        for (path, folder) in &later.folders {
            if !self.folders.contains_key(path) {
                compare(path, &nothing, folder, &mut changes);
            }
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }
}

fn compare(path: &Rel, before: &Folder, after: &Folder, changes: &mut Vec<Change>) {
    let mut names: Vec<&OsString> = before.nodes.iter().chain(&after.nodes).map(|node| &node.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let entry = |folder: &Folder| folder.node(name).map(|node| node.entry.clone());
        let (before, after) = (entry(before), entry(after));
        if before != after {
            changes.push(Change { path: path.join(name), before, after });
        }
    }
}
