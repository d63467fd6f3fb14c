use crate::world::{NOW, Us, World, me};
use selfsmith_repo::{Change, Mode, NewCommit, RepoError, Work};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const MAIN: &str = "refs/heads/main";

/// Moves main to a commit with these files set (none: removed), as a landing does. Gives the commits before and after.
fn land(world: &World, files: &[(&str, Option<&str>)]) -> (String, String) {
    let repo = world.repo();
    let changes: Vec<Change> = files
        .iter()
        .map(|(path, text)| {
            let entry = text.map(|text| (Mode::File, repo.write_blob(text.as_bytes()).unwrap()));
            Change { path: (*path).into(), entry }
        })
        .collect();
    let from = repo.read_ref(MAIN).unwrap().unwrap();
    let tree = repo.tree_with(&repo.tree_of(&from).unwrap(), &changes).unwrap();
    let new = NewCommit { tree: &tree, parents: &[&from], author: &me(), message: "land\n", when: NOW };
    let to = repo.commit(new).unwrap();
    repo.cas_ref(MAIN, Some(&from), Some(&to), "land", (&me(), NOW)).unwrap();
    (from, to)
}

fn works(world: &World, at: &str) -> Vec<(PathBuf, Work)> {
    let us = Us::new();
    let found = world.repo().checkouts_of(MAIN, at, us.caller()).unwrap();
    found.into_iter().map(|c| (c.path.canonicalize().unwrap(), c.work)).collect()
}

fn update(world: &World, path: &Path, from: &str, to: &str) -> Result<(), RepoError> {
    world.repo().update_checkout(path, from, to, Us::new().caller())
}

fn kept(result: Result<(), RepoError>) -> String {
    match result {
        Err(RepoError::CheckoutKept { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_clean_checkout_follows_and_untracked_files_stay() {
    let world = World::with_base();
    world.write("notes.txt", "mine\n");
    world.write(".git/info/exclude", "secret\n");
    world.write("secret", "s\n");
    assert_eq!(works(&world, &world.head()), [(world.root.clone(), Work { untracked: 1, ..Work::default() })]);
    let hook = world.root.join(".git/hooks/post-checkout");
    fs::write(&hook, "#!/bin/sh\ntouch ran\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let (from, to) = land(&world, &[("a.txt", Some("two\n")), ("src/lib.rs", None), ("new/x", Some("x\n"))]);
    assert!(!works(&world, &to)[0].1.is_clean(), "the files are still those of before");
    assert!(works(&world, &from)[0].1.is_clean());
    update(&world, &world.root, &from, &to).unwrap();
    assert_eq!(world.git(&["status", "--porcelain"]), "?? notes.txt");
    assert_eq!(fs::read_to_string(world.root.join("a.txt")).unwrap(), "two\n");
    assert!(!world.root.join("src").exists() && !world.root.join("ran").exists());
    assert_eq!(fs::read_to_string(world.root.join("secret")).unwrap(), "s\n");
    update(&world, &world.root, &from, &to).unwrap();
    assert!(works(&world, &to)[0].1.is_clean());
}

#[test]
fn a_file_that_only_looks_touched_is_clean() {
    let world = World::with_base();
    let file = fs::File::options().write(true).open(world.root.join("a.txt")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert!(works(&world, &world.head())[0].1.is_clean());
    let (from, to) = land(&world, &[("a.txt", Some("two\n"))]);
    update(&world, &world.root, &from, &to).unwrap();
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn whatever_a_person_has_changed_or_staged_keeps_the_checkout_as_it_is() {
    type Make = fn(&World);
    let cases: [(&str, Make); 6] = [
        ("changed", |w| w.write("a.txt", "mine\n")),
        ("removed", |w| fs::remove_file(w.root.join("src/lib.rs")).unwrap()),
        ("staged", |w| {
            w.write("a.txt", "mine\n");
            w.git(&["add", "a.txt"]);
        }),
        ("staged new", |w| {
            w.write("n", "mine\n");
            w.git(&["add", "n"]);
        }),
        ("merge", |w| w.write(".git/MERGE_HEAD", &format!("{}\n", w.head()))),
        ("locked", |w| w.write(".git/index.lock", "")),
    ];
    for (name, make) in cases {
        let world = World::with_base();
        make(&world);
        let before = (world.git(&["status", "--porcelain"]), fs::read(world.root.join(".git/index")).unwrap());
        let (from, to) = land(&world, &[("b.txt", Some("b\n"))]);
        let why = kept(update(&world, &world.root, &from, &to));
        assert!(!why.is_empty());
        assert!(!world.root.join("b.txt").exists(), "{name}");
        world.git(&["update-ref", MAIN, &from]);
        if name != "locked" {
            assert!(!works(&world, &from)[0].1.is_clean(), "{name}");
        }
        let entries = |w: &World| w.git(&["ls-files", "-s"]);
        assert_eq!(world.git(&["status", "--porcelain"]), before.0, "{name}: {}", entries(&world));
    }
}

#[test]
fn no_file_that_git_does_not_know_is_overwritten_not_even_an_ignored_one() {
    type Make = fn(&World);
    let cases: [(&str, Make); 5] = [
        ("new", |w| w.write("new", "mine")),
        ("new", |w| w.write("new/inside", "mine")),
        ("dir/new", |w| w.write("dir", "mine")),
        ("dir/new", |w| symlink("/etc", w.root.join("dir")).unwrap()),
        ("ignored.log", |w| w.write("ignored.log", "mine")),
    ];
    for (at, make) in cases {
        let world = World::with_base();
        world.write(".git/info/exclude", "*.log\n");
        make(&world);
        let (from, to) = land(&world, &[(at, Some("theirs\n")), ("a.txt", Some("two\n"))]);
        let why = kept(update(&world, &world.root, &from, &to));
        assert!(why.contains(at), "{at}: {why}");
        assert_eq!(fs::read_to_string(world.root.join("a.txt")).unwrap(), "one\n", "{at}");
    }
}

#[test]
fn a_known_file_may_become_a_folder_and_a_folder_a_file() {
    let world = World::with_base();
    let (from, to) =
        land(&world, &[("a.txt", None), ("a.txt/in", Some("x\n")), ("src/lib.rs", None), ("src", Some("y\n"))]);
    update(&world, &world.root, &from, &to).unwrap();
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(world.root.join("src")).unwrap(), "y\n");
}

#[test]
fn linked_work_trees_and_rebases_under_way_are_seen() {
    let world = World::with_base();
    world.git(&["checkout", "-q", "-b", "other"]);
    assert_eq!(works(&world, &world.head()), []);
    let linked = world.root.parent().unwrap().join("linked");
    world.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    let linked = linked.canonicalize().unwrap();
    assert_eq!(works(&world, &world.head()), [(linked.clone(), Work::default())]);
    let (from, to) = land(&world, &[("a.txt", Some("two\n"))]);
    update(&world, &linked, &from, &to).unwrap();
    assert_eq!(fs::read_to_string(linked.join("a.txt")).unwrap(), "two\n");
    assert_eq!(fs::read_to_string(world.root.join("a.txt")).unwrap(), "one\n");
    assert!(kept(update(&world, &world.root.join("src"), &from, &to)).contains("no work tree"));
    fs::remove_dir_all(&linked).unwrap();
    assert_eq!(works(&world, &to), [], "a work tree that is gone is no checkout");
    world.write(".git/rebase-merge/head-name", "refs/heads/main\n");
    world.git(&["checkout", "-q", "--detach"]);
    assert_eq!(works(&world, &from)[0].1.operation, Some("rebase"));
}
