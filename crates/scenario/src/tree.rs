//! A folder as a value: every file with its bytes and whether it can be executed, every link with where it leads. Empty
//! folders do not count, since git cannot hold them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    File { bytes: Vec<u8>, executable: bool },
    Link(PathBuf),
    Other,
}

/// Path relative to the folder, with what stands there.
pub(crate) type Tree = BTreeMap<String, Node>;

/// Read a folder; one that does not exist is empty.
pub(crate) fn read(folder: &Path) -> io::Result<Tree> {
    let mut tree = Tree::new();
    if folder.exists() {
        walk(folder, "", &mut tree)?;
    }
    Ok(tree)
}

/// Write a tree into an existing folder.
pub(crate) fn write(tree: &Tree, folder: &Path) -> io::Result<()> {
    for (name, node) in tree {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        match node {
            Node::File { bytes, executable } => {
                fs::write(&path, bytes)?;
                let mode = if *executable { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
            }
            Node::Link(target) => std::os::unix::fs::symlink(target, &path)?,
            Node::Other => {}
        }
    }
    Ok(())
}

fn walk(folder: &Path, prefix: &str, tree: &mut Tree) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{name}/"), tree)?;
        } else if kind.is_symlink() {
            tree.insert(name, Node::Link(fs::read_link(entry.path())?));
        } else if kind.is_file() {
            let executable = entry.metadata()?.permissions().mode() & 0o111 != 0;
            tree.insert(name, Node::File { bytes: fs::read(entry.path())?, executable });
        } else {
            tree.insert(name, Node::Other);
        }
    }
    Ok(())
}
