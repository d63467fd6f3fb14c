//! What is a person's stays byte for byte, whatever the judge calls.

use crate::world::{NOW, Us, World, me};
use selfsmith_repo::{Change, Mode, NewCommit, Renames, SnapshotRules};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file below a folder but objects, with its bytes.
fn photograph(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(dir) = pending.pop() {
        for child in fs::read_dir(&dir).unwrap() {
            let path = child.unwrap().path();
            if path.is_dir() && !path.ends_with(".git/objects") {
                pending.push(path);
            } else if path.is_file() {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn index_stash_config_head_and_files_are_the_same_after_every_call_of_the_judges_side() {
    let world = World::with_base();
    world.write("a.txt", "stashed\n");
    world.git(&["stash", "-q"]);
    world.write("a.txt", "staged\n");
    world.git(&["add", "a.txt"]);
    world.write("a.txt", "unstaged\n");
    world.write("untracked", "u\n");
    fs::write(world.root.join(".git/hooks/reference-transaction"), "#!/bin/sh\ntouch ran\n").unwrap();
    let before = photograph(&world.root);

    let (repo, base, head) = (world.repo().durable().unwrap(), world.tree(), world.head());
    let who = (&me(), NOW);
    let blob = repo.write_blob(b"x\n").unwrap();
    let change = Change { path: "a.txt".into(), entry: Some((Mode::File, blob)) };
    let tree = repo.tree_with(&base, &[change]).unwrap();
    repo.diff(&base, &tree, Renames::Found).unwrap();
    let new = NewCommit { tree: &tree, parents: &[&head], author: &me(), message: "m\n", when: NOW };
    let commit = repo.commit(new).unwrap();
    repo.revert_tree(&commit, &commit).unwrap();
    repo.merge_trees(&base, &base, &tree).unwrap();
    let dir = world.outside("slot");
    repo.materialise(&tree, &dir, &[]).unwrap();
    repo.snapshot(&dir, &SnapshotRules::of(&base)).unwrap();
    repo.filtered(&tree, &["a.txt".into()]).unwrap();
    repo.log(&commit, 10).unwrap();
    repo.head().unwrap();
    let us = Us::new();
    assert_eq!(repo.checkouts_of("refs/heads/main", &head, us.caller()).unwrap().len(), 1);
    let kept = repo.update_checkout(&world.root, &head, &commit, us.caller());
    assert!(kept.is_err(), "a dirty checkout");
    repo.refs("refs/").unwrap();
    for _ in 0..2 {
        repo.cas_ref("refs/selfsmith/candidates/x", None, Some(&commit), "keep", who).unwrap();
        repo.cas_ref("refs/selfsmith/candidates/x", Some(&commit), None, "drop", who).unwrap();
    }
    repo.note_write("refs/notes/selfsmith", &commit, "n", who).unwrap();

    let mut after = photograph(&world.root);
    after.retain(|path, _| !path.starts_with(world.root.join(".git/refs/notes")));
    after.retain(|path, _| !path.starts_with(world.root.join(".git/logs/refs/notes")));
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert_eq!(after, before);
    assert_eq!(world.git(&["stash", "list"]).lines().count(), 1);
}
