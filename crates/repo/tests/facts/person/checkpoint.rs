use super::{in_tree, refused, state};
use crate::world::{NOW, World, git_in};
use selfsmith_repo::person::{Checkpoint, Class, PersonError, Restored};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

fn checkpoint(world: &World) -> Checkpoint {
    in_tree(world, |tree| tree.checkpoint(NOW)).unwrap()
}

fn restore(world: &World, name: &str) -> Result<Restored, PersonError> {
    in_tree(world, |tree| tree.restore_checkpoint(name, NOW))
}

/// Files of the work tree, links by their target, with their modes.
fn files(world: &World) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut pending = vec![world.root.clone()];
    while let Some(dir) = pending.pop() {
        for child in fs::read_dir(dir).unwrap().flatten() {
            let (path, meta) = (child.path(), child.metadata().unwrap());
            if meta.is_dir() && child.file_name() != ".git" {
                pending.push(path);
            } else if meta.is_symlink() {
                found.insert(path.clone(), (0, fs::read_link(path).unwrap().into_os_string().into_encoded_bytes()));
            } else if meta.is_file() {
                found.insert(path.clone(), (meta.permissions().mode(), fs::read(path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn files_come_back_as_they_were_and_git_has_noticed_nothing() {
    let world = World::with_base();
    world.git(&["config", "core.autocrlf", "true"]);
    world.write(".gitattributes", "*.x filter=missing\n");
    world.write("a.txt", "stashed\n");
    world.git(&["stash", "-q"]);
    world.write("a.txt", "staged\n");
    world.git(&["add", "a.txt"]);
    world.write("a.txt", "dos\r\nand unix\n");
    world.write("new/untracked", "u\n");
    world.write("secret", "s\n");
    world.write("run.sh", "#!/bin/sh\n");
    world.write("b.x", "raw\n");
    symlink("a.txt", world.root.join("link")).unwrap();
    fs::set_permissions(world.root.join("run.sh"), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(world.root.join("secret"), Permissions::from_mode(0o600)).unwrap();
    let (before, state_before) = (files(&world), state(&world));
    let log = world.git(&["log", "--all", "--oneline"]);
    let made = checkpoint(&world);
    let refs = |text: &str| text.lines().filter(|l| !l.contains("refs/selfsmith/")).collect::<Vec<_>>().join("\n");
    assert_eq!(refs(&state(&world)), refs(&state_before));

    world.write("a.txt", "spoiled\n");
    world.write("secret", "spoiled\n");
    fs::remove_dir_all(world.root.join("new")).unwrap();
    world.write("new", "now a file\n");
    fs::remove_file(world.root.join("src/lib.rs")).unwrap();
    fs::remove_file(world.root.join("link")).unwrap();
    symlink("/etc/passwd", world.root.join("link")).unwrap();
    fs::set_permissions(world.root.join("run.sh"), Permissions::from_mode(0o644)).unwrap();
    world.write("made/since", "x\n");
    let spoiled = files(&world);
    let done = restore(&world, &made.name).unwrap();
    assert_eq!(files(&world), before);
    assert_eq!((done.kept, done.before.left_out.len()), (vec![], 0));
    assert_eq!(refs(&state(&world)), refs(&state_before));
    assert_eq!(world.git(&["log", "--all", "--oneline"]), log, "no history shows a checkpoint");
    world.git(&["gc", "-q", "--prune=now"]);
    world.fsck();
    restore(&world, &done.before.name).unwrap();
    let contents =
        |files: BTreeMap<PathBuf, (u32, Vec<u8>)>| files.into_iter().map(|(p, (_, b))| (p, b)).collect::<Vec<_>>();
    assert_eq!(contents(files(&world)), contents(spoiled), "and the way back leads back");
}

#[test]
fn what_was_ignored_at_the_checkpoint_stays_whatever_the_ignore_files_say_since() {
    let world = World::with_base();
    world.write(".gitignore", "data/\n*.log\n");
    world.write("data/x", "keep\n");
    world.write("y.log", "keep\n");
    let made = checkpoint(&world);
    world.write(".gitignore", "new\n");
    world.write("src/.gitignore", "*.rs\n");
    world.write("new", "made since, and hidden\n");
    world.write("src/more.rs", "made since\n");
    restore(&world, &made.name).unwrap();
    assert_eq!(fs::read_to_string(world.root.join("data/x")).unwrap(), "keep\n");
    assert_eq!(fs::read_to_string(world.root.join("y.log")).unwrap(), "keep\n");
    assert_eq!(fs::read_to_string(world.root.join(".gitignore")).unwrap(), "data/\n*.log\n");
    assert!(!world.root.join("src/.gitignore").exists());
    assert!(world.root.join("new").exists(), "what was not saved is not removed");
}

#[test]
fn dependency_folders_embedded_repositories_and_large_files_are_left_alone() {
    let world = World::with_base();
    world.write("node_modules/p/x.js", "x\n");
    world.write("target/tracked", "t\n");
    world.git(&["add", "-f", "target/tracked"]);
    world.write("target/made", "m\n");
    world.write("vendor/x", "x\n");
    git_in(&world.root.join("vendor"), &["init", "-q"]);
    let large = fs::File::create(world.root.join("large")).unwrap();
    large.set_len(30 << 20).unwrap();
    let made = checkpoint(&world);
    assert_eq!(made.left_out.iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>(), ["large"]);
    for path in ["node_modules/p/x.js", "target/tracked", "target/made", "vendor/x"] {
        world.write(path, "since\n");
    }
    world.write("node_modules/new", "since\n");
    large.set_len(31 << 20).unwrap();
    let done = restore(&world, &made.name).unwrap();
    assert_eq!(done.written, ["target/tracked".into()]);
    assert_eq!(done.removed, []);
    assert_eq!(fs::read_to_string(world.root.join("node_modules/p/x.js")).unwrap(), "since\n");
    assert_eq!(fs::metadata(world.root.join("large")).unwrap().len(), 31 << 20);
    assert!(world.git(&["ls-files", "node_modules"]).is_empty());
}

#[test]
fn a_file_that_grew_too_large_to_save_is_not_overwritten() {
    let world = World::with_base();
    let made = checkpoint(&world);
    fs::File::create(world.root.join("a.txt")).unwrap().set_len(30 << 20).unwrap();
    let done = restore(&world, &made.name).unwrap();
    assert_eq!((done.kept, done.written), (vec!["a.txt".into()], vec![]));
    assert_eq!(fs::metadata(world.root.join("a.txt")).unwrap().len(), 30 << 20);
}

#[test]
fn nothing_outside_is_written_through_a_link_made_since() {
    let world = World::with_base();
    let made = checkpoint(&world);
    let outside = world.outside("outside");
    fs::write(outside.join("lib.rs"), "mine").unwrap();
    fs::remove_dir_all(world.root.join("src")).unwrap();
    symlink(&outside, world.root.join("src")).unwrap();
    restore(&world, &made.name).unwrap();
    assert_eq!(fs::read_to_string(outside.join("lib.rs")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(world.root.join("src/lib.rs")).unwrap(), "fn f() {}\n");
    assert!(!fs::symlink_metadata(world.root.join("src")).unwrap().is_symlink());
}

#[test]
fn checkpoints_work_before_the_first_commit_and_unknown_ones_are_refused() {
    let world = World::empty();
    world.write("a", "x\n");
    let made = checkpoint(&world);
    world.write("a", "y\n");
    restore(&world, &made.name).unwrap();
    assert_eq!(fs::read_to_string(world.root.join("a")).unwrap(), "x\n");
    for name in [
        "",
        "refs/heads/main",
        "refs/selfsmith/checkpoints/none",
        "refs/selfsmith/checkpoints/../../heads/main",
        "x\0y",
    ] {
        assert_eq!(refused(restore(&world, name)).0, Class::NotFound, "{name:?}");
    }
}
