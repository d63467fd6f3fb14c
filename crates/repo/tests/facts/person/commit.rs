use super::{SOON, hook, in_folder, in_tree, refused, state};
use crate::world::{World, git_in};
use selfsmith_repo::person::{Class, Warning};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

fn commit_all(
    world: &World,
    message: &str,
) -> Result<selfsmith_repo::person::Committed, selfsmith_repo::person::PersonError> {
    in_tree(world, |tree| tree.commit_all(message, SOON))
}

fn commit_paths(
    world: &World,
    paths: &[&str],
) -> Result<selfsmith_repo::person::Committed, selfsmith_repo::person::PersonError> {
    let paths: Vec<&[u8]> = paths.iter().map(|p| p.as_bytes()).collect();
    in_tree(world, |tree| tree.commit_paths(&paths, "m", SOON))
}

fn committed(world: &World) -> String {
    world.git(&["show", "--format=", "--name-status", "--no-renames", "HEAD"])
}

#[test]
fn everything_is_committed_with_the_message_as_it_is() {
    let world = World::with_base();
    world.git(&["config", "commit.template", "/nowhere"]);
    world.git(&["config", "commit.verbose", "true"]);
    world.git(&["config", "commit.cleanup", "strip"]);
    world.git(&["config", "core.editor", "sleep 600"]);
    world.write("a.txt", "two\n");
    world.write("new/n[1].txt", "n\n");
    world.write("-rf", "dash\n");
    fs::remove_file(world.root.join("src/lib.rs")).unwrap();
    let done = commit_all(&world, "--amend\n\n# heading\n\"quoted\" 中文\n").unwrap();
    assert_eq!(done.id, world.head());
    assert_eq!(committed(&world), "A\t-rf\nM\ta.txt\nA\tnew/n[1].txt\nD\tsrc/lib.rs");
    assert_eq!(world.git(&["log", "-1", "--format=%B"]), "--amend\n\n# heading\n\"quoted\" 中文");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_message_of_nothing_gets_one() {
    for empty in ["", " \n\t\n", "\0"] {
        let world = World::with_base();
        world.write("a.txt", "two\n");
        commit_all(&world, empty).unwrap();
        assert_eq!(world.git(&["log", "-1", "--format=%s"]), "Update a.txt", "{empty:?}");
    }
}

#[test]
fn the_first_commit_works_in_both_ways() {
    let world = World::empty();
    world.write("a", "a\n");
    world.write("b", "b\n");
    commit_paths(&world, &["a"]).unwrap();
    assert_eq!(committed(&world), "A\ta");
    commit_all(&world, "b").unwrap();
    assert_eq!(committed(&world), "A\tb");
}

#[test]
fn named_paths_and_nothing_else_are_committed() {
    let world = World::with_base();
    world.write("a.txt", "mine, staged\n");
    world.git(&["add", "a.txt"]);
    for name in ["n[1].txt", "n1.txt", ":(top)x", "*", "dir/in", "-x"] {
        world.write(name, "x\n");
    }
    fs::remove_file(world.root.join("src/lib.rs")).unwrap();
    commit_paths(&world, &["n[1].txt", ":(top)x", "*", "-x", "./dir/../dir/in", "src/lib.rs"]).unwrap();
    assert_eq!(committed(&world), "A\t*\nA\t-x\nA\t:(top)x\nA\tdir/in\nA\tn[1].txt\nD\tsrc/lib.rs");
    assert_eq!(world.git(&["status", "--porcelain"]), "M  a.txt\n?? n1.txt");
}

#[test]
fn paths_are_meant_from_the_folder_where_one_stands() {
    let world = World::with_base();
    world.write("src/x", "x\n");
    world.write("x", "x\n");
    in_folder(&world.root.join("src"), |tree| tree.commit_paths(&[b"x"], "m", SOON)).unwrap();
    assert_eq!(committed(&world), "A\tsrc/x");
    let absolute = world.root.join("x").into_os_string().into_encoded_bytes();
    in_folder(&world.root.join("src"), |tree| tree.commit_paths(&[&absolute], "m", SOON)).unwrap();
    assert_eq!(committed(&world), "A\tx");
}

#[test]
fn paths_that_name_no_change_here_are_refused_and_nothing_is_committed() {
    let world = World::with_base();
    world.write(".gitignore", "*.log\n");
    world.write("x.log", "x\n");
    std::os::unix::fs::symlink("/etc", world.root.join("etc")).unwrap();
    world.commit_all("more");
    world.write("a.txt", "two\n");
    let before = state(&world);
    for (path, class) in [
        ("none", Class::NoSuchFile),
        ("../repo2/x", Class::OutsideRoot),
        ("/etc/passwd", Class::OutsideRoot),
        ("etc/passwd", Class::OutsideRoot),
        (".git/config", Class::Protected),
        ("", Class::BadPath),
        ("x.log", Class::BadPath),
        ("src/lib.rs", Class::NoChange),
    ] {
        assert_eq!(refused(commit_paths(&world, &[path])).0, class, "{path}");
        if class != Class::NoChange {
            assert_eq!(refused(commit_paths(&world, &["a.txt", path])).0, class, "a.txt and {path}");
        }
    }
    assert_eq!(refused(commit_paths(&world, &[])).0, Class::NoChange);
    assert_eq!(state(&world), before);
}

#[test]
fn a_hook_that_refuses_is_shown_and_everything_is_as_before() {
    for name in ["pre-commit", "commit-msg", "prepare-commit-msg"] {
        let world = World::with_base();
        hook(
            &world,
            name,
            "echo \"Unable to create 'x.lock': File exists.\"; echo lint failed >&2; git status >/dev/null; exit 1",
        );
        world.write("a.txt", "two\n");
        world.write("new", "n\n");
        world.write("src/lib.rs", "staged\n");
        world.git(&["add", "src/lib.rs"]);
        let before = state(&world);
        for result in [commit_all(&world, "m"), commit_paths(&world, &["a.txt", "new"])] {
            let (class, message) = refused(result);
            assert_eq!(class, Class::Hook, "{message}");
            assert!(message.contains("lint failed") && message.contains(name), "{message}");
        }
        assert_eq!(state(&world), before);
    }
}

#[test]
fn hooks_run_and_may_change_the_commit() {
    let world = World::with_base();
    hook(&world, "pre-commit", "echo formatted > a.txt; git add a.txt");
    hook(&world, "commit-msg", "echo 'Reviewed-by: hook' >> \"$1\"");
    world.write("a.txt", "two\n");
    commit_all(&world, "m").unwrap();
    assert_eq!(world.git(&["show", "HEAD:a.txt"]), "formatted");
    assert!(world.git(&["log", "-1", "--format=%B"]).contains("Reviewed-by: hook"));
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_takes_too_long_is_ended_named_and_leaves_no_lock() {
    let world = World::with_base();
    world.write("a.txt", "two\n");
    world.write("new", "n\n");
    let before = state(&world);
    let limited = || in_tree(&world, |tree| tree.commit_all("m", Duration::from_millis(700)));
    hook(&world, "pre-commit", "sleep 600");
    let start = Instant::now();
    let (class, message) = refused(limited());
    assert_eq!(class, Class::TimedOut);
    assert!(message.contains("pre-commit"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(state(&world), before);
    fs::remove_file(world.root.join(".git/hooks/pre-commit")).unwrap();
    let signer = world.outside("bin").join("sign.sh");
    fs::write(&signer, "#!/bin/sh\nsleep 600\n").unwrap();
    fs::set_permissions(&signer, fs::Permissions::from_mode(0o755)).unwrap();
    world.git(&["config", "commit.gpgsign", "true"]);
    world.git(&["config", "gpg.program", signer.to_str().unwrap()]);
    let (class, message) = refused(limited());
    assert_eq!(class, Class::TimedOut);
    assert!(message.contains("sign.sh") && message.contains("passphrase"), "{message}");
    let paths = in_tree(&world, |tree| tree.commit_paths(&[b"new"], "m", Duration::from_millis(700)));
    assert_eq!(refused(paths).0, Class::TimedOut);
    assert_eq!(state(&world), before);
    let locks = fs::read_dir(world.root.join(".git"))
        .unwrap()
        .flatten()
        .filter(|f| f.path().extension().is_some_and(|e| e == "lock"));
    assert_eq!(locks.count(), 0);
    world.git(&["config", "commit.gpgsign", "false"]);
    commit_all(&world, "m").unwrap();
}

#[test]
fn a_signer_that_fails_or_is_missing_is_named() {
    for settings in [
        &[("gpg.program", "false")][..],
        &[("gpg.program", "/nowhere/gpg")][..],
        &[("gpg.format", "ssh")][..],
        &[("gpg.format", "ssh"), ("user.signingkey", "/nowhere/key")][..],
    ] {
        let world = World::with_base();
        world.git(&["config", "commit.gpgsign", "true"]);
        for (name, value) in settings {
            world.git(&["config", name, value]);
        }
        world.write("a.txt", "two\n");
        let before = state(&world);
        let (class, message) = refused(commit_all(&world, "m"));
        assert_eq!(class, Class::Sign, "{settings:?}: {message}");
        assert_eq!(state(&world), before);
    }
}

#[test]
fn a_filter_that_is_missing_fails_or_is_unknown_never_lets_the_raw_file_in() {
    for (attribute, settings) in [
        ("lfs", &[("filter.lfs.clean", "no-such-lfs clean %f"), ("filter.lfs.required", "true")][..]),
        ("lfs", &[("filter.lfs.clean", "no-such-lfs clean %f")][..]),
        ("lfs", &[("filter.lfs.process", "no-such-lfs process")][..]),
        ("lfs", &[][..]),
        ("git-crypt", &[][..]),
    ] {
        let world = World::with_base();
        for (name, value) in settings {
            world.git(&["config", name, value]);
        }
        world.write(".gitattributes", &format!("*.bin filter={attribute}\n"));
        world.write("m.bin", "raw\n");
        let before = state(&world);
        for result in [commit_paths(&world, &["m.bin"]), commit_all(&world, "m")] {
            let (class, message) = refused(result);
            assert_eq!(class, Class::Filter, "{settings:?}: {message}");
            assert!(message.contains(attribute), "{message}");
        }
        assert_eq!(state(&world), before, "{settings:?}");
        commit_paths(&world, &[".gitattributes"]).unwrap();
    }
    let world = World::with_base();
    world.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    world.write(".gitattributes", "*.up filter=up\n");
    world.write("m.up", "raw\n");
    commit_all(&world, "m").unwrap();
    assert_eq!(world.git(&["show", "HEAD:m.up"]), "RAW");
}

#[test]
fn no_commit_without_a_branch_an_identity_or_during_an_operation() {
    let world = World::with_base();
    world.write("a.txt", "two\n");
    world.git(&["config", "--unset", "user.email"]);
    assert_eq!(refused(commit_all(&world, "m")).0, Class::Identity);
    world.git(&["config", "user.email", "t@example.org"]);
    world.write(".git/index.lock", "");
    assert_eq!(refused(commit_all(&world, "m")).0, Class::Locked);
    assert_eq!(refused(commit_paths(&world, &["a.txt"])).0, Class::Locked);
    assert!(world.root.join(".git/index.lock").exists(), "another process's lock stays");
    fs::remove_file(world.root.join(".git/index.lock")).unwrap();
    world.git(&["checkout", "-q", "--detach"]);
    let (class, message) = refused(commit_all(&world, "m"));
    assert_eq!(class, Class::Detached);
    assert!(message.contains("detached"), "{message}");
    world.git(&["checkout", "-q", "main"]);
    for (mark, operation) in [
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("rebase-merge/x", "rebase"),
    ] {
        world.write(&format!(".git/{mark}"), &format!("{}\n", world.head()));
        let (class, message) = refused(commit_all(&world, "m"));
        assert_eq!(class, Class::InProgress);
        assert!(message.contains(operation), "{message}");
        let _ = fs::remove_file(world.root.join(".git").join(mark));
        let _ = fs::remove_dir(world.root.join(".git/rebase-merge"));
    }
    commit_all(&world, "m").unwrap();
    assert_eq!(refused(commit_all(&world, "m")).0, Class::NoChange);
}

#[test]
fn an_embedded_repository_is_left_out_and_told() {
    let world = World::with_base();
    world.write("vendor/x", "x\n");
    git_in(&world.root.join("vendor"), &["init", "-q"]);
    assert_eq!(refused(commit_all(&world, "m")).0, Class::NoChange);
    world.write("a.txt", "two\n");
    let done = commit_all(&world, "m").unwrap();
    assert_eq!(done.warnings, [Warning::EmbeddedRepository("vendor".into())]);
    assert_eq!(committed(&world), "M\ta.txt");
    let outer = World::with_base();
    outer.write("lib/vendor/x", "x\n");
    outer.write("lib/y", "y\n");
    git_in(&outer.root.join("lib/vendor"), &["init", "-q"]);
    git_in(
        &outer.root.join("lib/vendor"),
        &["-c", "user.name=T", "-c", "user.email=t@e", "commit", "-q", "--allow-empty", "-m", "v"],
    );
    commit_paths(&outer, &["lib"]).unwrap();
    assert_eq!(committed(&outer), "A\tlib/y");
}

#[test]
fn a_linked_work_tree_commits_on_its_own_branch() {
    let world = World::with_base();
    let linked = world.root.parent().unwrap().join("linked");
    world.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    fs::write(linked.join("a.txt"), "side\n").unwrap();
    hook(&world, "pre-commit", "test -f ok");
    let before = fs::read(world.root.join(".git/index")).unwrap();
    assert_eq!(refused(in_folder(&linked, |tree| tree.commit_all("m", SOON))).0, Class::Hook);
    fs::write(linked.join("ok"), "").unwrap();
    in_folder(&linked, |tree| tree.commit_all("m", SOON)).unwrap();
    assert_eq!(world.git(&["log", "-1", "--format=%s", "side"]), "m");
    assert_eq!(world.git(&["log", "-1", "--format=%s", "main"]), "base");
    assert_eq!(fs::read(world.root.join(".git/index")).unwrap(), before);
}
