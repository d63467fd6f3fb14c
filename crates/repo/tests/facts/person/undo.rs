use super::{SOON, hook, in_tree, refused, state};
use crate::world::{NOW, World, git_in};
use selfsmith_repo::person::{Class, PersonError};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

fn undo_changes(world: &World, files: &[&str]) -> Result<Option<String>, PersonError> {
    let files: Vec<&[u8]> = files.iter().map(|f| f.as_bytes()).collect();
    in_tree(world, |tree| tree.undo_agent_changes(&files, NOW))
}

fn revert(world: &World, rev: &str) -> Result<String, PersonError> {
    in_tree(world, |tree| tree.revert_commit(rev, SOON))
}

fn undo_last(world: &World) -> Result<String, PersonError> {
    in_tree(world, |tree| tree.undo_last_commit())
}

fn rename(world: &World, from: &str, to: &str) -> Result<(), PersonError> {
    in_tree(world, |tree| tree.rename(from.as_bytes(), to.as_bytes()))
}

fn discard(world: &World, file: &[u8]) -> Result<(), PersonError> {
    in_tree(world, |tree| tree.discard_untracked(file))
}

#[test]
fn the_agents_files_go_back_and_nothing_else_does() {
    let world = World::with_base();
    world.write("b.txt", "b\n");
    world.write("n[1].txt", "1\n");
    world.write("n1.txt", "1\n");
    world.commit_all("more");
    world.write("a.txt", "agent\n");
    world.write("n[1].txt", "agent\n");
    world.write("n1.txt", "person\n");
    world.write("b.txt", "person\n");
    world.git(&["add", "b.txt"]);
    world.write("made/by.agent", "agent\n");
    world.write("made/by.person", "person\n");
    world.write("staged.agent", "agent\n");
    world.git(&["add", "staged.agent"]);
    fs::remove_file(world.root.join("src/lib.rs")).unwrap();
    world.write(".gitignore", "made/\n");
    let kept = undo_changes(&world, &["a.txt", "n[1].txt", "made/by.agent", "staged.agent", "src/lib.rs", "never.was"])
        .unwrap()
        .unwrap();
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", &kept]), "a.txt\nmade/by.agent\nn[1].txt\nstaged.agent");
    assert_eq!(world.git(&["show", &format!("{kept}:a.txt")]), "agent", "what was taken back can still be found");
    assert_eq!(world.git(&["status", "--porcelain"]), "M  b.txt\n M n1.txt\n?? .gitignore");
    assert_eq!(fs::read_to_string(world.root.join("made/by.person")).unwrap(), "person\n");
    assert!(!world.root.join("made/by.agent").exists() && !world.root.join("staged.agent").exists());
}

#[test]
fn an_undo_that_would_leave_the_tree_or_a_file_is_refused_whole() {
    let world = World::with_base();
    let outside = world.outside("outside");
    fs::write(outside.join("lib.rs"), "mine").unwrap();
    fs::remove_dir_all(world.root.join("src")).unwrap();
    symlink(&outside, world.root.join("src")).unwrap();
    world.write("a.txt", "agent\n");
    fs::create_dir(world.root.join("folder")).unwrap();
    let before = state(&world);
    for (path, class) in [
        ("src/lib.rs", Class::OutsideRoot),
        ("../outside/lib.rs", Class::OutsideRoot),
        (".git/HEAD", Class::Protected),
        ("folder", Class::IsDirectory),
        ("", Class::BadPath),
    ] {
        assert_eq!(refused(undo_changes(&world, &["a.txt", path])).0, class, "{path}");
    }
    assert_eq!(state(&world), before);
    // A link that the agent made itself goes, and what it hid comes back.
    undo_changes(&world, &["src/lib.rs", "src"]).unwrap();
    assert_eq!(fs::read_to_string(world.root.join("src/lib.rs")).unwrap(), "fn f() {}\n");
    assert_eq!(fs::read_to_string(outside.join("lib.rs")).unwrap(), "mine");
}

#[test]
fn one_untracked_file_is_discarded_by_its_bytes() {
    let world = World::with_base();
    let (odd, twin) = (world.root.join(OsStr::from_bytes(b"caf\xe9.txt")), world.root.join("caf\u{fffd}.txt"));
    fs::write(&odd, "x").unwrap();
    fs::write(&twin, "y").unwrap();
    world.write("dir/x", "x");
    symlink("/etc", world.root.join("etc")).unwrap();
    discard(&world, b"caf\xe9.txt").unwrap();
    assert!(!odd.exists() && twin.exists());
    for (path, class) in [
        (&b"a.txt"[..], Class::BadPath),
        (b"dir", Class::IsDirectory),
        (b"none", Class::NoSuchFile),
        (b"etc/hostname", Class::OutsideRoot),
        (b"../x", Class::OutsideRoot),
        (b".git/config", Class::Protected),
        (b".", Class::IsDirectory),
        (b"a\0b", Class::BadPath),
    ] {
        assert_eq!(refused(discard(&world, path)).0, class, "{path:?}");
    }
    discard(&world, b"etc").unwrap();
    discard(&world, b"dir/x").unwrap();
    assert!(std::path::Path::new("/etc").exists());
}

#[test]
fn a_commit_is_reverted_by_a_new_one_past_unrelated_changes() {
    let world = World::with_base();
    world.git(&["config", "core.editor", "sleep 600"]);
    world.write("a.txt", "two\n");
    let what = world.commit_all("agent");
    world.write("b.txt", "b\n");
    world.commit_all("later");
    world.write("b.txt", "mine\n");
    world.write("untracked", "u\n");
    hook(&world, "commit-msg", "echo hook ran >> \"$1\"");
    let id = revert(&world, &what).unwrap();
    assert_eq!(id, world.head());
    assert_eq!(world.git(&["show", "HEAD:a.txt"]), "one");
    assert!(world.git(&["log", "-1", "--format=%B"]).contains("hook ran"));
    assert_eq!(world.git(&["status", "--porcelain"]), " M b.txt\n?? untracked");
}

#[test]
fn a_revert_that_cannot_be_leaves_everything_as_it_was() {
    let world = World::with_base();
    world.write("a.txt", "two\n");
    let what = world.commit_all("agent");
    let check = |rev: &str, class: Class| {
        let before = state(&world);
        assert_eq!(refused(revert(&world, rev)).0, class, "{rev}");
        assert_eq!(state(&world), before, "{rev} {class:?}");
        assert!(!world.root.join(".git/REVERT_HEAD").exists());
    };
    world.write("a.txt", "mine\n");
    check(&what, Class::Dirty);
    world.git(&["checkout", "-q", "a.txt"]);
    for rev in ["nothing", "--help", "", "HEAD:a.txt", "a\0b", "HEAD~9"] {
        check(rev, Class::NotFound);
    }
    world.write("b.txt", "mine\n");
    world.git(&["add", "b.txt"]);
    check(&what, Class::Dirty);
    world.git(&["rm", "-q", "--cached", "b.txt"]);
    hook(&world, "commit-msg", "echo no >&2; exit 1");
    check(&what, Class::Hook);
    fs::remove_file(world.root.join(".git/hooks/commit-msg")).unwrap();
    world.write("a.txt", "three\n");
    world.commit_all("on top");
    world.write("src/lib.rs", "mine\n");
    check(&what, Class::Conflict);
    world.git(&["checkout", "-q", "src/lib.rs"]);
    world.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    world.write("c.txt", "c\n");
    world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    world.git(&["merge", "-q", "--no-edit", "side"]);
    check("HEAD", Class::Merge);
    world.git(&["checkout", "-q", "--detach"]);
    check("HEAD~1", Class::Detached);
}

#[test]
fn reverting_twice_is_no_change() {
    let world = World::with_base();
    world.write("a.txt", "two\n");
    let what = world.commit_all("agent");
    revert(&world, &what).unwrap();
    let before = state(&world);
    assert_eq!(refused(revert(&world, &what)).0, Class::NoChange);
    assert_eq!(state(&world), before);
}

#[test]
fn the_last_commit_is_taken_back_and_its_content_stays() {
    let world = World::with_base();
    let base = world.head();
    world.write("a.txt", "two\n");
    world.write("new", "n\n");
    let last = world.commit_all("agent");
    world.write("src/lib.rs", "mine\n");
    assert_eq!(undo_last(&world).unwrap(), last);
    assert_eq!(world.head(), base);
    assert_eq!(world.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(world.git(&["status", "--porcelain"]), "M  a.txt\nA  new\n M src/lib.rs");
    assert_eq!(world.git(&["rev-parse", "main@{1}"]), last);
}

#[test]
fn a_last_commit_that_is_first_published_or_built_upon_stays() {
    let first = World::with_base();
    assert_eq!(refused(undo_last(&first)).0, Class::NoParent);
    assert_eq!(refused(undo_last(&World::empty())).0, Class::NoParent);
    let world = World::with_base();
    world.write("a.txt", "two\n");
    world.commit_all("agent");
    world.write("a.txt", "on top\n");
    assert_eq!(refused(undo_last(&world)).0, Class::Dirty);
    world.git(&["add", "a.txt"]);
    assert_eq!(refused(undo_last(&world)).0, Class::Dirty);
    assert_eq!(fs::read_to_string(world.root.join("a.txt")).unwrap(), "on top\n");
    world.git(&["commit", "-qm", "second"]);
    world.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    assert_eq!(refused(undo_last(&world)).0, Class::Published);
    world.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    world.git(&["checkout", "-q", "--detach"]);
    assert_eq!(refused(undo_last(&world)).0, Class::Detached);
    let shallow = first.outside("shallow");
    let url = format!("file://{}", world.root.display());
    assert!(git_in(&shallow, &["clone", "-q", "--depth", "1", "-b", "main", &url, "."]).status.success());
    let (class, message) = refused(super::in_folder(&shallow, |tree| tree.undo_last_commit()));
    assert_eq!(class, Class::NoParent);
    assert!(message.contains("shallow"), "{message}");
}

#[test]
fn a_tracked_file_moves_with_what_is_uncommitted_in_it() {
    let world = World::with_base();
    world.write("a.txt", "mine\n");
    rename(&world, "a.txt", "new/folder/-b [1].txt").unwrap();
    assert_eq!(fs::read_to_string(world.root.join("new/folder/-b [1].txt")).unwrap(), "mine\n");
    rename(&world, "src/lib.rs", "src/Lib.rs").unwrap();
    assert_eq!(world.git(&["ls-files"]), "new/folder/-b [1].txt\nsrc/Lib.rs");
}

#[test]
fn a_rename_overwrites_nothing_and_stays_inside() {
    let world = World::with_base();
    world.write("untracked", "mine\n");
    world.write("d/x", "x\n");
    symlink("/tmp", world.root.join("tmp")).unwrap();
    let before = state(&world);
    for (from, to, class) in [
        ("a.txt", "src/lib.rs", Class::Exists),
        ("a.txt", "untracked", Class::Exists),
        ("a.txt", "d", Class::Exists),
        ("a.txt", "../x", Class::OutsideRoot),
        ("a.txt", "tmp/x", Class::OutsideRoot),
        ("a.txt", ".git/hooks/pre-commit", Class::Protected),
        ("a.txt", "untracked/x", Class::BadPath),
        ("a.txt", "a.txt/x", Class::BadPath),
        ("a.txt", "a.txt", Class::NoChange),
        ("a.txt", "", Class::BadPath),
        ("none", "x", Class::NoSuchFile),
        ("untracked", "x", Class::NotFound),
    ] {
        assert_eq!(refused(rename(&world, from, to)).0, class, "{from} to {to}");
    }
    assert_eq!(state(&world), before);
}
