//! What a person asks for in their work tree.

mod checkpoint;
mod commit;
mod look;
mod undo;

use crate::world::{Us, World};
use selfsmith_repo::person::{Class, PersonError, WorkTree};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);

/// Does something in the world's work tree.
fn in_tree<T>(world: &World, act: impl FnOnce(&WorkTree<'_>) -> Result<T, PersonError>) -> Result<T, PersonError> {
    in_folder(&world.root, act)
}

fn in_folder<T>(dir: &Path, act: impl FnOnce(&WorkTree<'_>) -> Result<T, PersonError>) -> Result<T, PersonError> {
    let us = Us::new();
    act(&WorkTree::open(dir, us.caller())?)
}

/// The class of the refusal, which also has something to say.
fn refused<T: std::fmt::Debug>(result: Result<T, PersonError>) -> (Class, String) {
    let error = result.expect_err("it was refused");
    assert!(!error.hint().is_empty() && !error.to_string().is_empty());
    (error.class, error.to_string())
}

/// Writes an executable hook.
fn hook(world: &World, name: &str, script: &str) {
    let path = world.root.join(".git/hooks").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Index entries, staged names, branch, stash: what an operation that was refused may not have changed.
fn state(world: &World) -> String {
    ["ls-files -s", "status --porcelain", "for-each-ref", "symbolic-ref -q HEAD", "stash list"]
        .map(|command| {
            let args: Vec<&str> = command.split(' ').collect();
            String::from_utf8_lossy(&crate::world::git_in(&world.root, &args).stdout).into_owned()
        })
        .join("--\n")
}
