use crate::world::World;
use selfsmith_repo::{Change, Mode, TreePath};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::SystemTime;

fn paths(list: &[TreePath]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn age(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

/// Gives a file a time long ago, so that a write is seen.
fn make_old(path: &Path) -> SystemTime {
    fs::File::options().write(true).open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    age(path)
}

#[test]
fn only_what_differs_is_written_and_always_with_a_fresh_time() {
    let world = World::with_base();
    let first = world.tree();
    let dir = world.outside("slot");
    let repo = world.repo();
    let made = repo.materialise(&first, &dir, &[]).unwrap();
    assert_eq!(paths(&made.written), ["a.txt", "src/lib.rs"]);
    let (a, lib) = (dir.join("a.txt"), dir.join("src/lib.rs"));
    let old = make_old(&lib);
    make_old(&a);
    world.write("a.txt", "two\n");
    world.commit_all("two");
    let again = repo.materialise(&world.tree(), &dir, &[]).unwrap();
    assert_eq!((paths(&again.written), again.unchanged), (vec!["a.txt".into()], 1));
    assert_eq!(fs::read_to_string(&a).unwrap(), "two\n");
    assert!(age(&a) > SystemTime::UNIX_EPOCH, "a written file is new, never as old as the commit");
    assert_eq!(age(&lib), old, "what is right is left alone");
    // Same length and an old time, but another content: contents count, not times.
    fs::write(&lib, "fn g() {}\n").unwrap();
    make_old(&lib);
    assert_eq!(paths(&repo.materialise(&world.tree(), &dir, &[]).unwrap().written), ["src/lib.rs"]);
    assert!(age(&lib) > SystemTime::UNIX_EPOCH);
}

#[test]
fn what_is_gone_is_removed_but_not_below_what_is_kept() {
    let world = World::with_base();
    let dir = world.outside("slot");
    for file in ["target/debug/x", "old/er/y", "src/gone.rs", "nested/target/z", "b.txt"] {
        fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
        fs::write(dir.join(file), "x").unwrap();
    }
    fs::create_dir(dir.join("empty")).unwrap();
    let done = world.repo().materialise(&world.tree(), &dir, &["target", "nested/target"]).unwrap();
    assert_eq!(paths(&done.removed), ["b.txt", "empty", "old", "src/gone.rs"]);
    assert!(dir.join("target/debug/x").exists() && dir.join("nested/target/z").exists());
    assert!(!dir.join("old").exists());
}

#[test]
fn no_link_is_followed_and_no_hard_link_written_through() {
    let world = World::with_base();
    let (dir, secret) = (world.outside("slot"), world.outside("secret"));
    for name in ["lib.rs", "a.txt"] {
        fs::write(secret.join(name), "mine").unwrap();
    }
    symlink(&secret, dir.join("src")).unwrap();
    fs::hard_link(secret.join("a.txt"), dir.join("a.txt")).unwrap();
    symlink(&secret, dir.join("kept")).unwrap();
    world.write("kept/a.txt", "ours\n");
    world.commit_all("kept");
    world.repo().materialise(&world.tree(), &dir, &["kept"]).unwrap();
    assert_eq!(fs::read_to_string(secret.join("lib.rs")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(secret.join("a.txt")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(dir.join("src/lib.rs")).unwrap(), "fn f() {}\n");
    assert_eq!(fs::read_to_string(dir.join("kept/a.txt")).unwrap(), "ours\n");
    assert_eq!(fs::metadata(dir.join("a.txt")).unwrap().nlink(), 1);
    // The right content under a second name elsewhere could be changed from there: it is written anew.
    fs::hard_link(dir.join("a.txt"), secret.join("second")).unwrap();
    assert_eq!(paths(&world.repo().materialise(&world.tree(), &dir, &[]).unwrap().written), ["a.txt"]);
}

#[test]
fn modes_links_and_names_of_bytes_come_out_as_they_are() {
    let world = World::with_base();
    let repo = world.repo();
    let blob = repo.write_blob(b"#!/bin/sh\n").unwrap();
    let target = repo.write_blob(b"run.sh").unwrap();
    let odd = TreePath::new(b"caf\xe9\n.txt".to_vec());
    let tree = repo
        .tree_with(
            &world.tree(),
            &[
                Change { path: "run.sh".into(), entry: Some((Mode::Executable, blob.clone())) },
                Change { path: "link".into(), entry: Some((Mode::Symlink, target)) },
                Change { path: odd.clone(), entry: Some((Mode::File, blob)) },
                Change { path: "sub".into(), entry: Some((Mode::Submodule, world.head())) },
            ],
        )
        .unwrap();
    let dir = world.outside("slot");
    let done = repo.materialise(&tree, &dir, &[]).unwrap();
    assert_eq!(paths(&done.left_out), ["sub"]);
    assert_eq!(fs::metadata(dir.join("run.sh")).unwrap().mode() & 0o700, 0o700);
    assert_eq!(fs::metadata(dir.join("a.txt")).unwrap().mode() & 0o700, 0o600);
    assert_eq!(fs::read_link(dir.join("link")).unwrap(), Path::new("run.sh"));
    assert!(dir.join(OsStr::from_bytes(odd.as_bytes())).exists());
    assert_eq!(repo.materialise(&tree, &dir, &[]).unwrap().written, []);
    fs::set_permissions(dir.join("run.sh"), Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(dir.join("a.txt"), Permissions::from_mode(0o4755)).unwrap();
    assert_eq!(paths(&repo.materialise(&tree, &dir, &[]).unwrap().written), ["a.txt", "run.sh"]);
}

#[test]
fn files_folders_and_pipes_change_places() {
    let world = World::with_base();
    let dir = world.outside("slot");
    fs::create_dir_all(dir.join("a.txt/deep")).unwrap();
    fs::write(dir.join("a.txt/deep/x"), "x").unwrap();
    fs::set_permissions(dir.join("a.txt/deep"), Permissions::from_mode(0o000)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(dir.join("src")).status().unwrap().success());
    world.repo().materialise(&world.tree(), &dir, &[]).unwrap();
    assert_eq!(fs::read_to_string(dir.join("a.txt")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(dir.join("src/lib.rs")).unwrap(), "fn f() {}\n");
}

#[test]
fn a_folder_that_is_read_back_gives_the_same_tree() {
    let world = World::with_base();
    let repo = world.repo();
    let dir = world.outside("slot");
    repo.materialise(&world.tree(), &dir, &[]).unwrap();
    let back = repo.snapshot(&dir, &selfsmith_repo::SnapshotRules::of(&world.tree())).unwrap();
    assert_eq!((back.tree, back.problems), (world.tree(), vec![]));
}

#[test]
fn a_tree_made_to_lead_out_of_its_folder_is_refused() {
    let world = World::with_base();
    let blob = world.git(&["rev-parse", "HEAD:a.txt"]);
    let sha: Vec<u8> =
        (0..40).step_by(2).map(|at| u8::from_str_radix(blob.get(at..at + 2).unwrap(), 16).unwrap()).collect();
    for name in ["../escaped", "..", ".git"] {
        let mut raw = format!("100644 {name}\0").into_bytes();
        raw.extend_from_slice(&sha);
        fs::write(world.root.join("raw"), raw).unwrap();
        let tree = world.git(&["hash-object", "-t", "tree", "-w", "--literally", "raw"]);
        let dir = world.outside("slot");
        assert!(world.repo().materialise(&tree, &dir, &[]).is_err(), "{name}");
        assert!(!world.root.parent().unwrap().join("escaped").exists());
    }
}
