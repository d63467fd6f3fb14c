use super::{in_folder, in_tree, refused};
use crate::world::{Us, World, git_in};
use selfsmith_repo::person::{Class, WorkTree};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

fn names(world: &World) -> Vec<String> {
    in_tree(world, |tree| tree.changed_files())
        .unwrap()
        .into_iter()
        .map(|c| format!("{:?} {}", c.difference, c.path))
        .collect()
}

#[test]
fn every_kind_of_change_is_listed_whatever_the_settings() {
    let world = World::with_base();
    for setting in [
        "status.showUntrackedFiles no",
        "color.ui always",
        "core.quotePath true",
        "status.short true",
        "alias.status log",
    ] {
        let (name, value) = setting.split_once(' ').unwrap();
        world.git(&["config", name, value]);
    }
    world.write("new/deep.txt", "x\n");
    world.write("a.txt", "two\n");
    world.git(&["mv", "src/lib.rs", "src/b -> c.rs"]);
    world.write("staged", "s\n");
    world.git(&["add", "staged"]);
    world.write("vendor/x", "x\n");
    git_in(&world.root.join("vendor"), &["init", "-q"]);
    fs::write(world.root.join(OsStr::from_bytes(b"caf\xe9\n")), "x").unwrap();
    world.git(&["config", "core.fsmonitor", "touch ran; false"]);
    assert_eq!(
        names(&world),
        [
            "Changed a.txt",
            "Untracked caf\\xe9\\n",
            "Untracked new/deep.txt",
            "Renamed src/b -> c.rs",
            "Added staged",
            "Embedded vendor"
        ]
    );
    assert!(!world.root.join("ran").exists());
}

#[test]
fn a_repository_without_a_commit_has_status_and_diff() {
    let world = World::empty();
    world.write("a", "x\n");
    world.write("b", "y\n");
    world.git(&["add", "b"]);
    assert_eq!(names(&world), ["Untracked a", "Added b"]);
    let diff = in_tree(&world, |tree| tree.diff()).unwrap();
    assert_eq!((diff.files, diff.untracked), (vec!["b".into()], vec!["a".into()]));
    assert!(diff.patch.contains("+y"));
}

#[test]
fn looking_changes_not_even_the_index() {
    let world = World::with_base();
    let file = fs::File::options().write(true).open(world.root.join("a.txt")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let before = fs::read(world.root.join(".git/index")).unwrap();
    assert_eq!(names(&world), [""; 0]);
    in_tree(&world, |tree| tree.diff()).unwrap();
    assert_eq!(fs::read(world.root.join(".git/index")).unwrap(), before);
}

#[test]
fn a_diff_runs_no_program_of_the_repository_and_bears_any_bytes() {
    let world = World::with_base();
    world.git(&["config", "diff.external", "touch ran; false"]);
    world.git(&["config", "diff.x.textconv", "touch ran; false"]);
    world.git(&["config", "diff.noprefix", "true"]);
    world.git(&["config", "core.pager", "touch ran"]);
    world.git(&["config", "color.diff", "always"]);
    world.write(".gitattributes", "*.txt diff=x\n");
    fs::write(world.root.join("a.txt"), b"caf\xe9\n").unwrap();
    let diff = in_tree(&world, |tree| tree.diff()).unwrap();
    assert_eq!(diff.files, ["a.txt".into()]);
    assert!(diff.patch.contains("--- a/a.txt") && diff.patch.contains("+caf\u{fffd}"), "{}", diff.patch);
    assert!(!world.root.join("ran").exists());
}

#[test]
fn variables_of_the_caller_do_not_lead_to_another_repository() {
    let (here, there) = (World::with_base(), World::with_base());
    here.write("here.txt", "x\n");
    there.write("there.txt", "x\n");
    let mut us = Us::new();
    let other = |path: &str| there.root.join(path).into_os_string();
    us.environment.extend([
        ("GIT_DIR".into(), other(".git")),
        ("GIT_WORK_TREE".into(), there.root.clone().into_os_string()),
        ("GIT_INDEX_FILE".into(), other(".git/index")),
        ("GIT_OBJECT_DIRECTORY".into(), other(".git/objects")),
        ("GIT_NAMESPACE".into(), "x".into()),
        ("GIT_CONFIG_COUNT".into(), "1".into()),
        ("GIT_CONFIG_KEY_0".into(), "core.worktree".into()),
        ("GIT_CONFIG_VALUE_0".into(), there.root.clone().into_os_string()),
        ("GIT_LITERAL_PATHSPECS".into(), "0".into()),
    ]);
    let tree = WorkTree::open(&here.root, us.caller()).unwrap();
    let changed = tree.changed_files().unwrap();
    assert_eq!(changed.iter().map(|c| c.path.to_string()).collect::<Vec<_>>(), ["here.txt"]);
    tree.commit_all("m", super::SOON).unwrap();
    assert_eq!(here.git(&["log", "-1", "--format=%s"]), "m");
    assert_eq!(there.git(&["log", "-1", "--format=%s"]), "base");
}

#[test]
fn the_top_folder_keeps_its_blanks_and_line_breaks() {
    let world = World::empty();
    for name in ["repo ", " repo", "re\npo", "repo\n", "库"] {
        let dir = world.outside(name);
        git_in(&dir, &["init", "-q"]);
        fs::create_dir_all(dir.join("below")).unwrap();
        assert_eq!(in_folder(&dir.join("below"), |tree| Ok(tree.toplevel_name())).unwrap(), name);
    }
}

#[test]
fn what_is_no_work_tree_is_said_by_its_kind() {
    let world = World::with_base();
    let open = |dir: &std::path::Path| refused(in_folder(dir, |_| Ok(()))).0;
    assert_eq!(open(&world.outside("plain")), Class::NotARepository);
    assert_eq!(open(&world.root.join("none")), Class::NoSuchFile);
    let bare = world.outside("bare");
    git_in(&bare, &["init", "-q", "--bare"]);
    assert_eq!(open(&bare), Class::Bare);
    assert_eq!(open(&world.root.join(".git")), Class::Bare);
    let damaged = world.outside("damaged");
    fs::write(damaged.join(".git"), "gitdir: /nowhere/at/all\n").unwrap();
    assert_eq!(open(&damaged), Class::NotARepository);
    if std::process::Command::new("chown").args(["-R", "12345:12345"]).arg(&world.root).status().unwrap().success() {
        let (class, message) = refused(in_tree(&world, |_| Ok(())));
        assert_eq!(class, Class::Ownership);
        assert!(message.contains("another user"), "{message}");
    }
}

#[test]
fn line_ends_that_git_converts_are_no_change() {
    let world = World::empty();
    world.git(&["config", "core.autocrlf", "true"]);
    world.write("w.txt", "a\r\nb\r\n");
    world.commit_all("crlf");
    let file = fs::File::options().write(true).open(world.root.join("w.txt")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(names(&world), [""; 0]);
    assert_eq!(in_tree(&world, |tree| tree.diff()).unwrap().files, []);
}
