use crate::world::World;
use selfsmith_repo::{Delta, Renames, TreePath};
use std::os::unix::ffi::OsStrExt;

#[test]
fn counts_and_patch_are_those_of_git() {
    let world = World::with_base();
    let old = world.tree();
    world.write("a.txt", "one\ntwo\n");
    world.write("bin", "a\0b");
    std::fs::remove_file(world.root.join("src/lib.rs")).unwrap();
    std::fs::write(world.root.join("latin.txt"), b"caf\xe9\n").unwrap();
    std::fs::write(world.root.join(std::ffi::OsStr::from_bytes(b"n\xe9")), "x\n").unwrap();
    world.commit_all("next");
    let new = world.tree();
    let files = world.repo().diff(&old, &new, Renames::AsTwo).unwrap();
    let shown: Vec<String> = files
        .iter()
        .map(|f| match f.binary {
            true => format!("-\t-\t{}", f.path),
            false => format!("{}\t{}\t{}", f.added, f.removed, f.path),
        })
        .collect();
    let by_git = world.git(&["diff-tree", "-r", "--numstat", "--no-renames", "-z", &old, &new]).replace('\0', "\n");
    assert_eq!(shown.join("\n").replace("\\xe9", "\u{fffd}"), by_git.trim_end());
    let a = files.iter().find(|f| f.path == "a.txt".into()).unwrap();
    assert_eq!(a.delta, Delta::Changed);
    assert_eq!(a.patch, (world.git(&["diff-tree", "-p", &old, &new, "--", "a.txt"]) + "\n").as_bytes());
    let latin = files.iter().find(|f| f.path == "latin.txt".into()).unwrap();
    assert!(latin.patch.windows(4).any(|w| w == b"caf\xe9"), "bytes are carried as they are");
    assert!(files.iter().any(|f| f.path == TreePath::new(b"n\xe9".to_vec()) && f.delta == Delta::Added));
}

#[test]
fn moves_are_found_only_when_asked_for() {
    let world = World::with_base();
    let old = world.tree();
    world.git(&["mv", "src/lib.rs", "src/b -> c.rs"]);
    world.git(&["commit", "-qm", "move"]);
    let (repo, new) = (world.repo(), world.tree());
    let found = repo.diff(&old, &new, Renames::Found).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].delta, found[0].old.as_ref().map(|s| s.path.clone())),
        (Delta::Renamed, Some("src/lib.rs".into()))
    );
    assert_eq!(found[0].path, "src/b -> c.rs".into());
    let two: Vec<Delta> = repo.diff(&old, &new, Renames::AsTwo).unwrap().iter().map(|f| f.delta).collect();
    assert_eq!(two, [Delta::Added, Delta::Removed]);
}

#[test]
fn a_mode_or_kind_alone_is_a_change() {
    let world = World::with_base();
    let old = world.tree();
    world.git(&["update-index", "--chmod=+x", "a.txt"]);
    world.git(&["commit", "-qm", "mode"]);
    let mode = world.repo().diff(&old, &world.tree(), Renames::AsTwo).unwrap();
    assert_eq!((mode.len(), mode[0].delta, mode[0].added), (1, Delta::Changed, 0));
    std::fs::remove_file(world.root.join("a.txt")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.root.join("a.txt")).unwrap();
    world.commit_all("link");
    let kind = world.repo().diff(&old, &world.tree(), Renames::AsTwo).unwrap();
    assert!(kind.iter().all(|f| f.path == "a.txt".into()), "{kind:?}");
    assert!(kind.iter().any(|f| f.new.as_ref().is_some_and(|s| s.mode == selfsmith_repo::Mode::Symlink)), "{kind:?}");
}
