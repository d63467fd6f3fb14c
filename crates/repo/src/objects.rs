//! Blobs and trees: read, written, changed. Promises bytes-safe names and that no tree with an unsafe path is written.
//! It does not know refs or the work tree.

use crate::error::RepoError;
use crate::open::{Repo, oid};
use crate::path::TreePath;
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;

/// Kind of a tree's entry that is not a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Regular file.
    File,
    /// Regular file that may be executed.
    Executable,
    /// Symbolic link; the blob is its target.
    Symlink,
    /// A commit of another repository.
    Submodule,
}

impl Mode {
    /// git's number.
    pub fn raw(self) -> u32 {
        match self {
            Self::File => 0o100_644,
            Self::Executable => 0o100_755,
            Self::Symlink => 0o120_000,
            Self::Submodule => 0o160_000,
        }
    }

    pub(crate) fn from_raw(raw: u32) -> Self {
        match raw {
            0o120_000 => Self::Symlink,
            0o160_000 => Self::Submodule,
            _ if raw & 0o100 != 0 => Self::Executable,
            _ => Self::File,
        }
    }
}

/// One file of a tree, with its whole path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Path from the top.
    pub path: TreePath,
    /// Kind.
    pub mode: Mode,
    /// Blob id; of a submodule its commit.
    pub id: String,
}

/// One entry at the top of a tree, a folder included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopEntry {
    /// Name.
    pub name: TreePath,
    /// git's number, `0o040000` for a folder.
    pub raw_mode: u32,
    /// Its id.
    pub id: String,
}

/// One path to set or remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Path from the top.
    pub path: TreePath,
    /// What it becomes; none removes it. To remove what is not there is no error.
    pub entry: Option<(Mode, String)>,
}

impl Repo {
    /// The tree of a commit.
    ///
    /// # Errors
    /// No such commit.
    pub fn tree_of(&self, commit: &str) -> Result<String, RepoError> {
        let commit = self.inner.find_commit(oid(commit)?).map_err(RepoError::git(format!("read commit {commit}")))?;
        Ok(commit.tree_id().to_string())
    }

    /// The tree without any entry, written if it is not there.
    ///
    /// # Errors
    /// The object database refuses.
    pub fn empty_tree(&self) -> Result<String, RepoError> {
        let doing = || RepoError::git("write the empty tree");
        let builder = self.inner.treebuilder(None).map_err(doing())?;
        Ok(builder.write().map_err(doing())?.to_string())
    }

    /// Every file of a tree, sorted by path bytes. Folders are not listed.
    ///
    /// # Errors
    /// No such tree, or one that is damaged.
    pub fn entries(&self, tree: &str) -> Result<Vec<Entry>, RepoError> {
        let mut found = Vec::new();
        self.collect(oid(tree)?, &TreePath::new(Vec::new()), &mut found)?;
        found.sort();
        Ok(found)
    }

    /// The entries at the top of a tree, folders included, in git's order.
    ///
    /// # Errors
    /// No such tree.
    pub fn top_entries(&self, tree: &str) -> Result<Vec<TopEntry>, RepoError> {
        let tree = self.find_tree(oid(tree)?)?;
        Ok(tree
            .iter()
            .map(|e| TopEntry {
                name: TreePath::new(e.name_bytes()),
                raw_mode: e.filemode_raw() as u32,
                id: e.id().to_string(),
            })
            .collect())
    }

    /// The file at one path of a tree; none where there is none, or a folder.
    ///
    /// # Errors
    /// No such tree.
    pub fn entry(&self, tree: &str, path: &TreePath) -> Result<Option<Entry>, RepoError> {
        let mut tree = self.find_tree(oid(tree)?)?;
        let mut parts = path.parts().peekable();
        while let Some(part) = parts.next() {
            let next = {
                let Some(entry) = tree.get_name_bytes(part) else { return Ok(None) };
                if parts.peek().is_none() {
                    let is_file = entry.kind() != Some(ObjectType::Tree);
                    let mode = Mode::from_raw(entry.filemode_raw() as u32);
                    return Ok(is_file.then(|| Entry { path: path.clone(), mode, id: entry.id().to_string() }));
                }
                if entry.kind() != Some(ObjectType::Tree) {
                    return Ok(None);
                }
                entry.id()
            };
            tree = self.find_tree(next)?;
        }
        Ok(None)
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// No such blob.
    pub fn blob(&self, id: &str) -> Result<Vec<u8>, RepoError> {
        let blob = self.inner.find_blob(oid(id)?).map_err(RepoError::git(format!("read blob {id}")))?;
        Ok(blob.content().to_vec())
    }

    /// How many bytes a blob has, without reading it.
    ///
    /// # Errors
    /// No such blob.
    pub fn blob_size(&self, id: &str) -> Result<u64, RepoError> {
        let odb = self.inner.odb().map_err(RepoError::git("open the object database"))?;
        let (size, _) = odb.read_header(oid(id)?).map_err(RepoError::git(format!("read the size of blob {id}")))?;
        Ok(size as u64)
    }

    /// Writes a blob.
    ///
    /// # Errors
    /// The object database refuses.
    pub fn write_blob(&self, bytes: &[u8]) -> Result<String, RepoError> {
        Ok(self.inner.blob(bytes).map_err(RepoError::git("write a blob"))?.to_string())
    }

    /// `base_tree` with these changes. Folders that become empty vanish; a file may take a folder's place and the other way.
    ///
    /// # Errors
    /// An unsafe path, one path that is both a file and a folder, an object that does not exist.
    pub fn tree_with(&self, base_tree: &str, changes: &[Change]) -> Result<String, RepoError> {
        let mut plan = Folder::default();
        for change in changes {
            if let Some(why) = change.path.unsafe_because() {
                return Err(RepoError::UnsafePath { path: change.path.clone(), why });
            }
            let entry = match &change.entry {
                Some((mode, id)) => Some((*mode, oid(id)?)),
                None => None,
            };
            plan.add(&change.path, entry)?;
        }
        let written = self.write_folder(Some(oid(base_tree)?), &plan)?;
        match written {
            Some(id) => Ok(id.to_string()),
            None => self.empty_tree(),
        }
    }

    fn write_folder(&self, base: Option<Oid>, plan: &Folder) -> Result<Option<Oid>, RepoError> {
        let doing = || RepoError::git("write a tree");
        let base = base.map(|id| self.find_tree(id)).transpose()?;
        let mut builder = self.inner.treebuilder(base.as_ref()).map_err(doing())?;
        for (name, entry) in &plan.files {
            let present = builder.get(name.as_slice()).map_err(doing())?.map(|e| e.kind());
            match (entry, present) {
                (Some((mode, id)), _) => {
                    builder.insert(name.as_slice(), *id, mode.raw() as i32).map_err(doing())?;
                }
                (None, Some(kind)) if kind != Some(ObjectType::Tree) => {
                    builder.remove(name.as_slice()).map_err(doing())?;
                }
                (None, _) => {}
            }
        }
        for (name, folder) in &plan.folders {
            if matches!(plan.files.get(name), Some(Some(_))) {
                continue; // a file has taken the folder's place
            }
            let before = base.as_ref().and_then(|t| t.get_name_bytes(name));
            let before = before.filter(|e| e.kind() == Some(ObjectType::Tree)).map(|e| e.id());
            match self.write_folder(before, folder)? {
                Some(id) => {
                    builder.insert(name.as_slice(), id, 0o040_000).map_err(doing())?;
                }
                None if before.is_some() => builder.remove(name.as_slice()).map_err(doing())?,
                None => {}
            }
        }
        if builder.is_empty() { Ok(None) } else { Ok(Some(builder.write().map_err(doing())?)) }
    }

    fn collect(&self, tree: Oid, at: &TreePath, found: &mut Vec<Entry>) -> Result<(), RepoError> {
        for entry in self.find_tree(tree)?.iter() {
            let path = at.join(entry.name_bytes());
            if entry.kind() == Some(ObjectType::Tree) {
                self.collect(entry.id(), &path, found)?;
            } else {
                let mode = Mode::from_raw(entry.filemode_raw() as u32);
                found.push(Entry { path, mode, id: entry.id().to_string() });
            }
        }
        Ok(())
    }

    pub(crate) fn find_tree(&self, id: Oid) -> Result<git2::Tree<'_>, RepoError> {
        if id.to_string() == EMPTY_TREE {
            self.empty_tree()?;
        }
        self.inner.find_tree(id).map_err(RepoError::git(format!("read tree {id}")))
    }
}

/// git's well-known id of the tree without entries, which need not lie in the object database.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Changes, sorted into folders.
#[derive(Default)]
struct Folder {
    files: BTreeMap<Vec<u8>, Option<(Mode, Oid)>>,
    folders: BTreeMap<Vec<u8>, Folder>,
}

impl Folder {
    fn add(&mut self, path: &TreePath, entry: Option<(Mode, Oid)>) -> Result<(), RepoError> {
        let clash = || RepoError::UnsafePath { path: path.clone(), why: "it is a file and a folder at once" };
        let mut folder = self;
        let mut parts = path.parts().peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                if entry.is_some() && folder.folders.get(part).is_some_and(Folder::holds_a_file) {
                    return Err(clash());
                }
                folder.files.insert(part.to_vec(), entry);
                return Ok(());
            }
            if entry.is_some() && matches!(folder.files.get(part), Some(Some(_))) {
                return Err(clash());
            }
            folder = folder.folders.entry(part.to_vec()).or_default();
        }
        Ok(())
    }

    fn holds_a_file(&self) -> bool {
        self.files.values().any(Option::is_some) || self.folders.values().any(Folder::holds_a_file)
    }
}
