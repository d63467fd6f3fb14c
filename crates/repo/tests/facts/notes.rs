use crate::world::{NOW, World, me};
use selfsmith_repo::Repo;

const NOTES: &str = "refs/notes/selfsmith";

#[test]
fn git_notes_shows_our_note_and_we_read_its() {
    let world = World::with_base();
    let (repo, head) = (world.repo(), world.head());
    assert_eq!(repo.note_read(NOTES, &head).unwrap(), None);
    repo.note_write(NOTES, &head, "证据\n{\"a\":1}\n", (&me(), NOW)).unwrap();
    assert_eq!(world.git(&["notes", "--ref", NOTES, "show", &head]), "证据\n{\"a\":1}");
    repo.note_write(NOTES, &head, "second\n", (&me(), NOW)).unwrap();
    assert_eq!(repo.note_read(NOTES, &head).unwrap().as_deref(), Some("second\n"));
    let before = world.git(&["rev-parse", NOTES]);
    repo.note_write(NOTES, &head, "second\n", (&me(), NOW)).unwrap();
    assert_eq!(world.git(&["rev-parse", NOTES]), before, "the same note again writes nothing");
    world.git(&["notes", "--ref", NOTES, "add", "-f", "-m", "third", &head]);
    assert_eq!(repo.note_read(NOTES, &head).unwrap().as_deref(), Some("third\n"));
    world.fsck();
}

#[test]
fn a_note_is_replaced_where_git_has_spread_them_over_folders() {
    let world = World::with_base();
    let mut commits = Vec::new();
    for n in 0..300 {
        let tree = world.tree();
        let message = format!("{n}\n");
        let new = selfsmith_repo::NewCommit { tree: &tree, parents: &[], author: &me(), message: &message, when: NOW };
        commits.push(world.repo().commit(new).unwrap());
    }
    world.git(&["notes", "--ref", NOTES, "add", "-m", "x"]);
    // Gives every commit HEAD's note.
    let lines: String = commits.iter().map(|c| format!("{} {c}\n", world.head())).collect();
    world.write("copies", &lines);
    let copied = std::process::Command::new("git")
        .args(["notes", "--ref", NOTES, "copy", "--stdin"])
        .current_dir(&world.root)
        .stdin(std::fs::File::open(world.root.join("copies")).unwrap())
        .status();
    assert!(copied.unwrap().success());
    assert!(world.git(&["ls-tree", NOTES]).lines().all(|l| l.starts_with("040000")), "git spread the notes");
    let repo = world.repo();
    repo.note_write(NOTES, &commits[7], "ours\n", (&me(), NOW)).unwrap();
    assert_eq!(world.git(&["notes", "--ref", NOTES, "show", &commits[7]]), "ours");
    assert_eq!(world.git(&["notes", "--ref", NOTES, "list"]).lines().count(), 301, "replaced, not added");
    let new = world.git(&["commit-tree", "-m", "another", &world.tree()]);
    repo.note_write(NOTES, &new, "fresh\n", (&me(), NOW)).unwrap();
    assert_eq!(world.git(&["notes", "--ref", NOTES, "show", &new]), "fresh");
}

#[test]
fn writers_at_once_lose_no_note() {
    let world = World::with_base();
    let commits: Vec<String> =
        (0..6).map(|n| world.git(&["commit-tree", "-m", &n.to_string(), &world.tree()])).collect();
    std::thread::scope(|scope| {
        for commit in &commits {
            scope.spawn(|| {
                Repo::open(&world.root).unwrap().note_write(NOTES, commit, commit, (&me(), NOW)).unwrap();
            });
        }
    });
    for commit in &commits {
        assert_eq!(world.repo().note_read(NOTES, commit).unwrap().as_deref(), Some(commit.as_str()));
    }
}
