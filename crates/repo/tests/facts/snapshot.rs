use crate::world::World;
use selfsmith_repo::{Problem, ProblemKind, SnapshotRules, TreePath};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// The base tree written out beside the repository.
fn candidate(world: &World) -> PathBuf {
    let dir = world.outside("candidate");
    world.repo().materialise(&world.tree(), &dir, &[]).unwrap();
    dir
}

fn problem(path: impl Into<Vec<u8>>, kind: ProblemKind) -> Problem {
    Problem { path: TreePath::new(path), kind }
}

#[test]
fn what_was_changed_added_and_removed_is_in_the_tree() {
    let world = World::with_base();
    let dir = candidate(&world);
    fs::write(dir.join("a.txt"), "two\n").unwrap();
    fs::remove_file(dir.join("src/lib.rs")).unwrap();
    fs::write(dir.join("run.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(dir.join("run.sh"), Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(dir.join("target")).unwrap();
    fs::write(dir.join("target/x"), "x").unwrap();
    let rules = SnapshotRules { skip: &["target"], ..SnapshotRules::of(&world.tree()) }.tree(&world);
    assert_eq!(rules.1, vec![]);
    world.write("a.txt", "two\n");
    fs::remove_file(world.root.join("src/lib.rs")).unwrap();
    fs::copy(dir.join("run.sh"), world.root.join("run.sh")).unwrap();
    world.commit_all("the same by git");
    assert_eq!(rules.0, world.tree());
}

trait Take {
    fn tree(&self, world: &World) -> (String, Vec<Problem>);
}

impl Take for SnapshotRules<'_> {
    fn tree(&self, world: &World) -> (String, Vec<Problem>) {
        let snapshot = world.repo().snapshot(&world.root.parent().unwrap().join("candidate"), self).unwrap();
        (snapshot.tree, snapshot.problems)
    }
}

#[test]
fn everything_that_a_tree_should_not_hold_is_reported_and_nothing_is_followed() {
    let world = World::with_base();
    let dir = candidate(&world);
    let secret = world.outside("secret");
    fs::write(secret.join("key"), "hidden").unwrap();
    symlink(&secret, dir.join("folder")).unwrap();
    symlink(secret.join("key"), dir.join("file")).unwrap();
    fs::hard_link(secret.join("key"), dir.join("hard")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(dir.join("pipe")).status().unwrap().success());
    fs::write(dir.join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    fs::write(dir.join("A.TXT"), "x").unwrap();
    fs::create_dir_all(dir.join("SRC")).unwrap();
    fs::write(dir.join("SRC/x.rs"), "x").unwrap();
    fs::write(dir.join("big"), vec![b'x'; 101]).unwrap();
    fs::create_dir_all(dir.join("sub/.git/hooks")).unwrap();
    fs::write(dir.join("sub/.git/config"), "x").unwrap();
    let base = world.tree();
    let (tree, problems) = SnapshotRules { max_file: 100, ..SnapshotRules::of(&base) }.tree(&world);
    let mut expected = vec![
        problem("A.TXT", ProblemKind::CaseTwin),
        problem("SRC", ProblemKind::CaseTwin),
        problem("big", ProblemKind::TooLarge),
        problem(b"caf\xe9".to_vec(), ProblemKind::NotUtf8),
        problem("file", ProblemKind::Symlink),
        problem("folder", ProblemKind::Symlink),
        problem("hard", ProblemKind::HardLink),
        problem("pipe", ProblemKind::Special),
        problem("sub/.git", ProblemKind::NestedGit),
    ];
    expected.sort();
    assert_eq!(problems, expected);
    let listed = world.git(&["ls-tree", "-r", "-z", "--name-only", &tree]);
    assert!(!listed.contains("key") && !listed.contains("pipe") && !listed.contains("big"), "{listed}");
    let links = world.git(&["cat-file", "blob", &format!("{tree}:folder")]);
    assert_eq!(links, secret.to_string_lossy(), "a link is kept as its target's name");
}

#[test]
fn what_the_base_holds_already_is_no_problem() {
    let world = World::with_base();
    symlink("a.txt", world.root.join("link")).unwrap();
    fs::write(world.root.join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    fs::write(world.root.join("README"), "x").unwrap();
    fs::write(world.root.join("readme"), "x").unwrap();
    world.commit_all("odd, but so");
    candidate(&world);
    let base = world.tree();
    assert_eq!(SnapshotRules::of(&base).tree(&world), (base.clone(), vec![]));
}

#[test]
fn the_bases_ignore_files_hold_and_the_candidates_do_not() {
    let world = World::with_base();
    world.write(".gitignore", "*.log\n/build/\n!keep.log\n");
    world.write("src/.gitignore", "gen\n");
    world.write("build/tracked", "t\n");
    world.git(&["add", "-f", "."]);
    world.git(&["commit", "-qm", "ignore"]);
    let dir = candidate(&world);
    for file in ["x.log", "keep.log", "src/deep/y.log", "src/gen/z", "gen/z", "build/new", "build/tracked", "odd.tmp"] {
        fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
        fs::write(dir.join(file), "new\n").unwrap();
    }
    fs::write(dir.join(".gitignore"), "*\n").unwrap();
    let base = world.tree();
    let (tree, problems) = SnapshotRules::of(&base).tree(&world);
    assert_eq!(problems, []);
    let listed = world.git(&["diff-tree", "-r", "--name-status", &base, &tree]);
    assert_eq!(listed, "M\t.gitignore\nM\tbuild/tracked\nA\tgen/z\nA\tkeep.log\nA\todd.tmp");
    let by_git = {
        for file in
            ["x.log", "keep.log", "src/deep/y.log", "src/gen/z", "gen/z", "build/new", "build/tracked", "odd.tmp"]
        {
            world.write(file, "new\n");
        }
        world.git(&["add", "-A"]); // with the base's ignore files still in place
        world.write(".gitignore", "*\n");
        world.git(&["add", "-f", ".gitignore"]);
        world.git(&["write-tree"])
    };
    assert_eq!(tree, by_git);
}

#[test]
fn numbers_bytes_and_depth_are_bounded() {
    let world = World::with_base();
    let dir = candidate(&world);
    let base = world.tree();
    let deep: PathBuf = std::iter::once(dir.clone()).chain((0..300).map(|_| PathBuf::from("d"))).collect();
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("x"), "x").unwrap();
    let (_, problems) = SnapshotRules::of(&base).tree(&world);
    assert!(matches!(problems.as_slice(), [Problem { kind: ProblemKind::TooDeep, .. }]), "{problems:?}");
    fs::remove_dir_all(dir.join("d")).unwrap();
    for n in 0..20 {
        fs::write(dir.join(format!("{n}")), "0123456789").unwrap();
    }
    for rules in [
        SnapshotRules { max_files: 5, ..SnapshotRules::of(&base) },
        SnapshotRules { max_bytes: 50, ..SnapshotRules::of(&base) },
    ] {
        let (_, problems) = rules.tree(&world);
        assert!(problems.iter().any(|p| p.kind == ProblemKind::TooMuch), "{rules:?}: {problems:?}");
    }
}

#[test]
fn filters_and_attributes_of_the_folder_change_nothing() {
    let world = World::with_base();
    world.git(&["config", "core.autocrlf", "true"]);
    world.git(&["config", "filter.x.clean", "touch ran; cat"]);
    let dir = candidate(&world);
    fs::write(dir.join(".gitattributes"), "* filter=x text eol=lf\n").unwrap();
    fs::write(dir.join("dos.txt"), "a\r\nb\r\n").unwrap();
    let base = world.tree();
    let (tree, _) = SnapshotRules::of(&base).tree(&world);
    assert_eq!(world.git(&["cat-file", "-s", &format!("{tree}:dos.txt")]), "6");
    assert!(!dir.join("ran").exists() && !world.root.join("ran").exists());
}

#[test]
fn a_folder_that_is_none_is_an_error() {
    let world = World::with_base();
    let base = world.tree();
    let repo = world.repo();
    assert!(repo.snapshot(&world.root.join("none"), &SnapshotRules::of(&base)).is_err());
    assert!(repo.snapshot(&world.root.join("a.txt"), &SnapshotRules::of(&base)).is_err());
    symlink(&world.root, world.root.parent().unwrap().join("link")).unwrap();
    assert!(repo.snapshot(&world.root.parent().unwrap().join("link"), &SnapshotRules::of(&base)).is_err());
}
