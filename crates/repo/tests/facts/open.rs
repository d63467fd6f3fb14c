use crate::world::{World, git_in};
use selfsmith_repo::{Head, Repo, RepoError, TreePath};
use std::path::Path;

fn refused(path: &Path) -> RepoError {
    match Repo::open(path) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(e) => e,
    }
}

#[test]
fn a_repository_is_found_from_below_and_knows_itself() {
    let world = World::with_base();
    let repo = Repo::open(&world.root.join("src")).unwrap();
    assert_eq!(repo.workdir().unwrap().canonicalize().unwrap(), world.root);
    assert_eq!(repo.git_dir().canonicalize().unwrap(), world.root.join(".git"));
    assert_eq!(repo.head().unwrap(), Head::Branch { name: "refs/heads/main".into(), commit: world.head() });
    assert_eq!(repo.resolve("HEAD").unwrap(), world.head());
    assert!(repo.resolve("nothing-such").is_err() && repo.resolve("a\0b").is_err() && repo.resolve("").is_err());
}

#[test]
fn head_may_be_unborn_or_detached() {
    let world = World::empty();
    assert_eq!(world.repo().head().unwrap(), Head::Unborn { name: "refs/heads/main".into() });
    world.write("a", "a");
    world.commit_all("a");
    world.git(&["checkout", "-q", "--detach"]);
    assert_eq!(world.repo().head().unwrap(), Head::Detached { commit: world.head() });
    assert_eq!(world.repo().head_branch().unwrap(), None);
}

#[test]
fn the_id_is_the_same_from_every_work_tree_and_through_links() {
    let world = World::with_base();
    let id = world.repo().id().unwrap();
    assert!(id.starts_with("repo-") && id.len() == "repo-".len() + 12, "{id}");
    let linked = world.root.parent().unwrap().join("linked");
    world.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    assert_eq!(Repo::open(&linked).unwrap().id().unwrap(), id);
    let alias = world.root.parent().unwrap().join("alias");
    std::os::unix::fs::symlink(&world.root, &alias).unwrap();
    assert_eq!(Repo::open(&alias).unwrap().id().unwrap(), id);
    assert_ne!(World::with_base().repo().id().unwrap(), id);
}

#[test]
fn what_would_be_misread_is_refused_with_a_hint() {
    let told = |world: &World| {
        let error = refused(&world.root);
        assert!(!error.hint().is_empty());
        error.to_string()
    };
    let partial = World::with_base();
    partial.git(&["config", "core.repositoryformatversion", "1"]);
    partial.git(&["config", "extensions.partialClone", "origin"]);
    assert!(told(&partial).contains("partial clone"));
    let promisor = World::with_base();
    promisor.git(&["config", "remote.origin.promisor", "true"]);
    assert!(told(&promisor).contains("partial clone"));
    let sparse = World::with_base();
    sparse.git(&["sparse-checkout", "set", "src"]);
    assert!(told(&sparse).contains("sparse"));
    let odd = World::with_base();
    odd.git(&["config", "core.repositoryformatversion", "1"]);
    odd.git(&["config", "extensions.somethingNew", "true"]);
    assert!(refused(&odd.root).to_string().contains("extension"));
    for (flag, word) in [("--object-format=sha256", "sha256"), ("--ref-format=reftable", "reftable")] {
        let world = World::empty();
        let other = world.outside("other");
        if git_in(&other, &["init", "-q", flag]).status.success() {
            let told = refused(&other).to_string();
            assert!(told.contains(word), "{flag}: {told}");
        }
    }
}

#[test]
fn no_repository_is_said_and_a_bare_one_has_no_files() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(refused(dir.path()), RepoError::NotARepository { .. }));
    assert!(matches!(refused(&dir.path().join("none")), RepoError::NotARepository { .. }));
    git_in(dir.path(), &["init", "-q", "--bare"]);
    assert!(matches!(Repo::open(dir.path()).unwrap().workdir(), Err(RepoError::Bare { .. })));
}

#[test]
fn a_repository_of_another_user_is_refused_by_its_owner() {
    let world = World::with_base();
    let chown = std::process::Command::new("chown").args(["-R", "12345:12345"]).arg(&world.root).output().unwrap();
    if chown.status.success() {
        assert!(matches!(refused(&world.root), RepoError::Owner { .. }));
    }
}

#[test]
fn submodules_and_filtered_paths_are_known() {
    let world = World::with_base();
    world.write(".gitattributes", "*.bin filter=lfs diff=lfs\nsub/*.dat filter=x\nplain.bin -filter\n");
    world.write("sub/.gitattributes", "b.dat !filter\n");
    world.git(&["config", "filter.lfs.clean", "cat"]);
    world.commit_all("attributes");
    let (repo, tree) = (world.repo(), world.tree());
    let asked: Vec<TreePath> =
        ["a.bin", "plain.bin", "sub/a.dat", "sub/b.dat", "a.txt", "no/such.bin"].map(TreePath::from).to_vec();
    let found = repo.filtered(&tree, &asked).unwrap();
    assert_eq!(found, ["a.bin", "sub/a.dat", "no/such.bin"].map(TreePath::from));
    // What lies in the work tree does not matter, what the tree says does.
    std::fs::remove_file(world.root.join(".gitattributes")).unwrap();
    assert_eq!(repo.filtered(&tree, &asked).unwrap(), found);
    world.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},vendor", world.head())]);
    world.git(&["commit", "-qm", "submodule"]);
    assert_eq!(repo.submodules(&world.tree()).unwrap(), ["vendor".into()]);
}
