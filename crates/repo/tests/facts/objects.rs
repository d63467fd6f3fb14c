use crate::world::World;
use selfsmith_repo::{Change, Mode, RepoError, TreePath};

fn set(path: &str, id: &str) -> Change {
    Change { path: path.into(), entry: Some((Mode::File, id.to_owned())) }
}

fn gone(path: &str) -> Change {
    Change { path: path.into(), entry: None }
}

#[test]
fn a_changed_tree_is_the_one_that_git_itself_would_write() {
    let world = World::with_base();
    let repo = world.repo();
    let blob = repo.write_blob("新\n".as_bytes()).unwrap();
    let changes = [
        set("deep/er/x", &blob),
        Change { path: "run.sh".into(), entry: Some((Mode::Executable, blob.clone())) },
        gone("src/lib.rs"),
        gone("never/there"),
        Change { path: TreePath::new(b"caf\xe9".to_vec()), entry: Some((Mode::File, blob.clone())) },
    ];
    let tree = repo.tree_with(&world.tree(), &changes).unwrap();
    let listed = world.git(&["-c", "core.quotepath=on", "ls-tree", "-r", &tree]);
    let a = world.git(&["rev-parse", "HEAD:a.txt"]);
    assert_eq!(
        listed,
        format!(
            "100644 blob {a}\ta.txt\n100644 blob {blob}\t\"caf\\351\"\n100644 blob {blob}\tdeep/er/x\n100755 blob {blob}\trun.sh"
        )
    );
    world.fsck();
}

#[test]
fn a_file_may_take_a_folders_place_and_back() {
    let world = World::with_base();
    let repo = world.repo();
    let blob = repo.write_blob(b"x").unwrap();
    let file = repo.tree_with(&world.tree(), &[gone("src/lib.rs"), set("src", &blob)]).unwrap();
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", &file]), "a.txt\nsrc");
    let folder = repo.tree_with(&file, &[gone("src"), set("src/m.rs", &blob)]).unwrap();
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", &folder]), "a.txt\nsrc/m.rs");
    let clash = repo.tree_with(&file, &[set("n", &blob), set("n/m", &blob)]);
    assert!(matches!(clash, Err(RepoError::UnsafePath { .. })), "{clash:?}");
}

#[test]
fn removing_everything_gives_the_empty_tree() {
    let world = World::with_base();
    let repo = world.repo();
    let tree = repo.tree_with(&world.tree(), &[gone("a.txt"), gone("src/lib.rs")]).unwrap();
    assert_eq!(tree, repo.empty_tree().unwrap());
    assert_eq!(repo.entries(&tree).unwrap(), []);
}

#[test]
fn the_well_known_empty_tree_can_be_read_where_nobody_wrote_it() {
    let world = World::empty();
    assert_eq!(world.repo().entries("4b825dc642cb6eb9a060e54bf8d69288fbee4904").unwrap(), []);
}

#[test]
fn no_tree_is_written_with_a_path_that_leads_out() {
    let world = World::with_base();
    let repo = world.repo();
    let blob = repo.write_blob(b"x").unwrap();
    for bad in ["../x", "/etc/x", ".git/hooks/x", "a/.GIT/x", "a//b", ""] {
        let tree = repo.tree_with(&world.tree(), &[set(bad, &blob)]);
        assert!(matches!(tree, Err(RepoError::UnsafePath { .. })), "{bad}: {tree:?}");
    }
}

#[test]
fn entries_and_single_entries_agree_with_git() {
    let world = World::with_base();
    world.git(&["update-index", "--chmod=+x", "a.txt"]);
    std::os::unix::fs::symlink("a.txt", world.root.join("link")).unwrap();
    world.git(&["add", "link"]);
    world.git(&["commit", "-qm", "modes"]);
    let repo = world.repo();
    let entries = repo.entries(&world.tree()).unwrap();
    let shown: Vec<String> =
        entries.iter().map(|e| format!("{:06o} blob {}\t{}", e.mode.raw(), e.id, e.path)).collect();
    assert_eq!(shown.join("\n"), world.git(&["ls-tree", "-r", "HEAD"]));
    for entry in &entries {
        assert_eq!(repo.entry(&world.tree(), &entry.path).unwrap().as_ref(), Some(entry));
    }
    for none in ["src", "no", "a.txt/x", "src/no"] {
        assert_eq!(repo.entry(&world.tree(), &none.into()).unwrap(), None, "{none}");
    }
    let top = repo.top_entries(&world.tree()).unwrap();
    let shown: Vec<String> = top.iter().map(|e| format!("{:06o} {} {}", e.raw_mode, e.id, e.name)).collect();
    assert_eq!(shown.join("\n"), world.git(&["ls-tree", "--format=%(objectmode) %(objectname) %(path)", "HEAD"]));
}

#[test]
fn an_id_that_is_none_is_an_error_and_no_panic() {
    let world = World::with_base();
    let repo = world.repo();
    for bad in [
        "",
        "HEAD",
        "12",
        "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
        "日本語日本語日本語日本",
        "0000000000000000000000000000000000000000",
    ] {
        assert!(repo.blob(bad).is_err(), "{bad}");
        assert!(repo.tree_of(bad).is_err(), "{bad}");
        assert!(repo.entries(bad).is_err(), "{bad}");
    }
}
