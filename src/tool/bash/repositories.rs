//! What of git's own files runs or steers something later, in every repository of a folder.
//!
//! Hooks and settings of a repository are what the person's next `git status` obeys, outside of the walls. Git is led to
//! other ones by `commondir`, by `config.worktree`, by a `.git` that is a file, and by the repositories of submodules and
//! linked worktrees, which lie in `.git` too. What is missing is made impossible to make.

use selfsmith_sandbox::{ProtectedFile, Workspace};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Folders that are looked into for repositories, the nearest first.
const MOST_FOLDERS: usize = 4_000;
/// How deep.
const DEPTH: usize = 8;
/// The most repositories of one folder, those in `.git` counted by themselves.
const MOST: usize = 64;
/// Folders of what tools made and fetched.
const BULK: [&str; 3] = ["node_modules", "target", ".venv"];
/// Stands where git has no `commondir`, and says what its absence says: this folder itself. libgit2 takes a name for relative
/// to the folder only where it begins with `./`.
const ITSELF: &str = "./\n";

/// What is called `.git` below a folder, the folder's own not among them.
pub(super) fn below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([(root.to_owned(), 0)]);
    let mut looked = 0;
    while let Some((folder, depth)) = waiting.pop_front() {
        looked += 1;
        if looked > MOST_FOLDERS || found.len() >= MOST {
            break;
        }
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            if name == ".git" {
                found.extend((folder != root).then_some(path));
            } else if depth < DEPTH
                && !BULK.iter().any(|bulk| name == *bulk)
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
            {
                waiting.push_back((path, depth + 1));
            }
        }
    }
    found
}

/// Protects one, be it a folder or the file that names it.
pub(super) fn protect(git: &Path, walls: &mut Workspace) {
    if git.is_symlink() || git.is_file() {
        walls.protected.push(git.to_owned());
    }
    if git.is_dir() {
        protect_folder(git, walls);
    }
}

/// Protects what steers git in a folder of git's, and in those of submodules and linked worktrees within.
pub(super) fn protect_folder(folder: &Path, walls: &mut Workspace) {
    walls.protected.push(folder.join("hooks"));
    for (name, text) in [("config", ""), ("config.worktree", ""), ("commondir", ITSELF)] {
        walls.files.push(ProtectedFile { path: folder.join(name), text: text.to_owned() });
    }
    for linked in folders_in(&folder.join("worktrees")) {
        protect_linked(&linked, walls);
    }
    let mut waiting = VecDeque::from(folders_in(&folder.join("modules")));
    let mut looked = 0;
    while let Some(module) = waiting.pop_front() {
        looked += 1;
        if looked > MOST {
            break;
        }
        if module.join("HEAD").is_file() {
            protect_folder(&module, walls);
        } else {
            // A submodule's name may have slashes.
            waiting.extend(folders_in(&module));
        }
    }
}

/// The folder of a linked worktree: its hooks and settings are the repository's.
pub(super) fn protect_linked(folder: &Path, walls: &mut Workspace) {
    walls
        .protected
        .extend(["gitdir", "commondir"].map(|name| folder.join(name)).into_iter().filter(|path| path.exists()));
    walls.files.push(ProtectedFile { path: folder.join("config.worktree"), text: String::new() });
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let folders = folder.read_dir().into_iter().flatten().flatten();
    folders
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .take(MOST)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_below_are_found_by_folder_and_by_file() {
        let root = tempfile::tempdir().expect("a folder");
        for name in [".git", "a/.git", "b/c", "node_modules/x/.git"] {
            std::fs::create_dir_all(root.path().join(name)).expect("a folder");
        }
        std::fs::write(root.path().join("b/c/.git"), "gitdir: ../..").expect("a file");
        let mut found = below(root.path());
        found.sort();
        assert_eq!(found, ["a/.git", "b/c/.git"].map(|name| root.path().join(name)));
    }

    #[test]
    fn repositories_within_git_are_protected_too() {
        let git = tempfile::tempdir().expect("a folder");
        for name in ["modules/a/b/hooks", "worktrees/w"] {
            std::fs::create_dir_all(git.path().join(name)).expect("a folder");
        }
        for name in ["modules/a/b/HEAD", "worktrees/w/commondir"] {
            std::fs::write(git.path().join(name), "").expect("a file");
        }
        let mut walls = Workspace::default();
        protect_folder(git.path(), &mut walls);
        let named = |name: &str| git.path().join(name);
        for name in ["hooks", "modules/a/b/hooks", "worktrees/w/commondir"] {
            assert!(walls.protected.contains(&named(name)), "{name}");
        }
        for name in ["config", "commondir", "config.worktree", "modules/a/b/config", "worktrees/w/config.worktree"] {
            assert!(walls.files.iter().any(|file| file.path == named(name)), "{name}");
        }
    }
}
