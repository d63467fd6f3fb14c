//! No path leads out.

use super::*;
use std::os::unix::fs::symlink;

fn workspace() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("proj");
    fs::create_dir_all(root.join("src")).expect("folders");
    fs::write(root.join("src/a&b.rs"), "x").expect("a file");
    fs::write(folder.path().join("secret"), "s").expect("a file");
    let workspace = Workspace::new(&root);
    (folder, workspace)
}

fn outcome(workspace: &Workspace, path: &str, purpose: Purpose) -> Result<String, &'static str> {
    workspace.resolve(path, purpose).map(|place| place.relative).map_err(|error| error.class())
}

#[test]
fn nothing_outside_is_reached_by_any_way() {
    let (folder, workspace) = workspace();
    symlink("../secret", workspace.root().join("link")).expect("a link");
    symlink("..", workspace.root().join("up")).expect("a link");
    symlink("../not-there", workspace.root().join("dangling")).expect("a link");
    let absolute = folder.path().join("secret").to_string_lossy().into_owned();
    for path in ["link", "up/secret", "../secret", "src/../../secret", "dangling", &absolute, "~/x", "new/../../x"] {
        for purpose in [Purpose::Look, Purpose::Edit, Purpose::Write, Purpose::Create] {
            assert_eq!(outcome(&workspace, path, purpose), Err("outside_root"), "{path} {purpose:?}");
        }
    }
}

#[test]
fn a_folder_that_the_person_opened_is_reached_and_guarded_and_nothing_beside_it() {
    let (folder, workspace) = workspace();
    let other = folder.path().join("other");
    fs::create_dir_all(other.join(".git")).expect("folders");
    fs::write(other.join("a.txt"), "x").expect("a file");
    let more = More::default();
    let workspace = workspace.with_more(&more);
    let path = |name: &str| fs::canonicalize(&other).expect("it is there").join(name).display().to_string();
    assert_eq!(outcome(&workspace, &path("a.txt"), Purpose::Edit), Err("outside_root"));
    more.open(&other).expect("a folder");
    assert_eq!(outcome(&workspace, &path("a.txt"), Purpose::Edit), Ok(path("a.txt")));
    assert_eq!(outcome(&workspace, "../other/new", Purpose::Create), Ok(path("new")));
    assert_eq!(outcome(&workspace, &path(".git/config"), Purpose::Write), Err("protected"));
    assert_eq!(outcome(&workspace, "../secret", Purpose::Look), Err("outside_root"));
    assert!(more.open(&folder.path().join("secret")).is_err());
}

#[test]
fn slips_are_forgiven_where_the_file_exists() {
    let (_folder, workspace) = workspace();
    let absolute = workspace.root().join("src/a&b.rs").to_string_lossy().into_owned();
    for path in [" src/a&b.rs\n", "./src/a&amp;b.rs", "'src/a&b.rs'", "src\\a&b.rs", "up/../src/a&b.rs", &absolute] {
        assert_eq!(outcome(&workspace, path, Purpose::Edit), Ok("src/a&b.rs".to_owned()), "{path}");
    }
    let missing = workspace.resolve("lib/a&b.rs", Purpose::Look).expect_err("a missing file");
    assert!(missing.to_string().contains("src/a&b.rs"), "{missing}");
}

#[test]
fn what_is_no_file_is_told_by_its_kind() {
    let (_folder, workspace) = workspace();
    symlink("loop", workspace.root().join("loop")).expect("a link");
    let long = "x".repeat(300);
    for (path, class) in [
        ("src", "is_directory"),
        ("src/a&b.rs/x", "not_a_file"),
        ("a\0b", "bad_path"),
        ("  ", "bad_path"),
        ("loop", "bad_path"),
        (&long, "bad_path"),
        (".git/config", "protected"),
    ] {
        assert_eq!(outcome(&workspace, path, Purpose::Write), Err(class), "{path}");
    }
}

#[test]
fn capitals_collide_on_a_disk_that_does_not_tell_them() {
    let (_folder, workspace) = workspace();
    assert_eq!(outcome(&workspace, "SRC/x", Purpose::Create), Ok("SRC/x".to_owned()));
    let untold = workspace.with_letters(Letters::Untold);
    assert_eq!(outcome(&untold, "SRC/x", Purpose::Create), Err("case_collision"));
    assert_eq!(outcome(&untold, "SRC/A&B.rs", Purpose::Look), Ok("src/a&b.rs".to_owned()));
}
