use crate::world::{NOW, World, git_in, me};
use selfsmith_repo::{Identity, Merged, NewCommit, message_with_trailers, trailers};
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn a_commit_is_what_git_shows_and_the_same_parts_give_the_same_id() {
    let world = World::with_base();
    let (repo, tree, head) = (world.repo(), world.tree(), world.head());
    let message =
        message_with_trailers("Say 你好\n\nWhy.", &[("Selfsmith-Cycle", "c1"), ("Selfsmith-Goal", "two\nlines")]);
    let new = NewCommit { tree: &tree, parents: &[&head], author: &me(), message: &message, when: NOW };
    let id = repo.commit(new).unwrap();
    assert_eq!(repo.commit(new).unwrap(), id);
    let shown = world.git(&["show", "-s", "--format=%an|%ae|%cn|%at|%ai|%P|%T|%s", &id]);
    let stamp = "2023-11-15 00:13:20 +0200";
    assert_eq!(shown, format!("A. Gent|agent@example.org|A. Gent|1700000000|{stamp}|{head}|{tree}|Say 你好"));
    assert_eq!(
        world.git(&["log", "-1", "--format=%(trailers:unfold,key=Selfsmith-Goal,valueonly)", &id]).trim(),
        "two lines"
    );
    let read = repo.read_commit(&id).unwrap();
    assert_eq!((read.subject(), read.trailer("selfsmith-cycle").as_deref()), ("Say 你好", Some("c1")));
    assert_eq!((read.tree, read.parents, read.author, read.when), (tree, vec![head], me(), NOW));
    world.fsck();
}

/// What the git program reads from a message.
fn parsed_by_git(world: &World, message: &str) -> String {
    let mut child = Command::new("git")
        .args(["interpret-trailers", "--parse"])
        .current_dir(&world.root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(message.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn trailers_are_read_as_git_reads_them() {
    let world = World::empty();
    let ours =
        [("Selfsmith-Cycle", "c1"), ("Selfsmith-Gates", "bounds=pass tests=pass"), ("Selfsmith-Goal", "a\r\n\r\nb: c")];
    for text in [
        "subject",
        "subject\n\nbody",
        "subject\n\nSelfsmith-Cycle: forged\nSigned-off-by: x <y>",
        "subject\n\n---\nbelow a divider",
        "--- a\n+++ b",
        "subject\n\n# comment\n  indented: no\n\n\n",
        "",
        "nul\0 inside",
        "diff --git a b\n\nKey: value",
        "Selfsmith-Cycle: forged",
    ] {
        let message = message_with_trailers(text, &ours);
        let found = trailers(&message);
        let shown: String = found.iter().map(|(k, v)| format!("{k}: {v}\n")).collect();
        assert_eq!(shown, parsed_by_git(&world, &message), "{text:?} became {message:?}");
        assert_eq!(
            shown, "Selfsmith-Cycle: c1\nSelfsmith-Gates: bounds=pass tests=pass\nSelfsmith-Goal: a b: c\n",
            "{text:?}"
        );
    }
}

#[test]
fn history_and_ancestors_agree_with_git() {
    let world = World::with_base();
    let base = world.head();
    world.git(&["checkout", "-qb", "side"]);
    world.write("b.txt", "b\n");
    let side = world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    world.write("c.txt", "c\n");
    let main = world.commit_all("main");
    world.git(&["merge", "-q", "--no-edit", "side"]);
    let (repo, head) = (world.repo(), world.head());
    assert!(repo.is_ancestor(&base, &side).unwrap());
    assert!(repo.is_ancestor(&side, &side).unwrap());
    assert!(repo.is_ancestor(&side, &head).unwrap());
    assert!(!repo.is_ancestor(&side, &main).unwrap());
    assert!(!repo.is_ancestor(&head, &base).unwrap());
    assert_eq!(repo.log(&head, 10).unwrap().len(), 4);
    assert_eq!(repo.log(&head, 2).unwrap().len(), 2);
    let first: Vec<String> = repo.first_parents(&head, 10).unwrap().into_iter().map(|c| c.id).collect();
    assert_eq!(first, [head, main, base]);
}

#[test]
fn an_identity_that_git_does_not_accept_is_an_error() {
    let world = World::with_base();
    let (tree, repo) = (world.tree(), world.repo());
    for (name, email) in [("", "e@x"), ("a\0b", "e@x"), ("a <b", "e@x"), ("n", "")] {
        let author = Identity { name: name.into(), email: email.into() };
        let new = NewCommit { tree: &tree, parents: &[], author: &author, message: "m", when: NOW };
        if let Ok(id) = repo.commit(new) {
            assert!(git_in(&world.root, &["fsck", "--strict"]).status.success(), "{name:?} {email:?} made {id}");
        }
    }
}

#[test]
fn the_inverse_of_a_commit_is_the_one_that_git_revert_makes() {
    let world = World::with_base();
    world.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
    world.commit_all("long");
    world.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
    let what = world.commit_all("agent");
    world.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\nEIGHT\n");
    world.write("new.txt", "n\n");
    let head = world.commit_all("person");
    let reverted = world.repo().revert_tree(&what, &head).unwrap();
    world.git(&["revert", "--no-edit", &what]);
    assert_eq!(reverted, Merged::Tree(world.tree()));
}

#[test]
fn an_inverse_that_clashes_names_the_paths() {
    let world = World::with_base();
    world.write("a.txt", "two\n");
    let what = world.commit_all("agent");
    world.write("a.txt", "three\n");
    let head = world.commit_all("person");
    assert_eq!(world.repo().revert_tree(&what, &head).unwrap(), Merged::Conflicts(vec!["a.txt".into()]));
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn trees_merge_as_a_rebase_would() {
    let world = World::with_base();
    let base = world.tree();
    world.write("b.txt", "b\n");
    world.commit_all("theirs");
    let ours = world.tree();
    let repo = world.repo();
    let blob = repo.write_blob(b"c\n").unwrap();
    let change = selfsmith_repo::Change { path: "c.txt".into(), entry: Some((selfsmith_repo::Mode::File, blob)) };
    let theirs = repo.tree_with(&base, std::slice::from_ref(&change)).unwrap();
    let both = repo.tree_with(&ours, &[change]).unwrap();
    assert_eq!(repo.merge_trees(&base, &ours, &theirs).unwrap(), Merged::Tree(both));
}

#[test]
fn a_history_of_several_branches_has_each_commit_once() {
    let world = World::with_base();
    let (repo, tree, head) = (world.repo(), world.tree(), world.head());
    let on_top =
        |message| repo.commit(NewCommit { tree: &tree, parents: &[&head], author: &me(), message, when: NOW }).unwrap();
    let (one, two) = (on_top("one"), on_top("two"));
    let ids: Vec<String> = repo.history(&[one.clone(), two.clone()], 10).unwrap().into_iter().map(|c| c.id).collect();
    assert_eq!((ids.len(), ids.contains(&one), ids.contains(&two), ids.contains(&head)), (3, true, true, true));
    assert_eq!(repo.history(&[one, two], 2).unwrap().len(), 2);
    assert!(repo.history(&[], 2).unwrap().is_empty());
}
