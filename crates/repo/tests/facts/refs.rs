use crate::world::{NOW, World, me};
use selfsmith_repo::{NewCommit, Ref, Repo, RepoError};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A commit on top of HEAD that nothing leads to.
fn loose_commit(world: &World, message: &str) -> String {
    let repo = world.repo();
    let (tree, head) = (world.tree(), world.head());
    repo.commit(NewCommit { tree: &tree, parents: &[&head], author: &me(), message, when: NOW }).unwrap()
}

#[test]
fn a_ref_moves_only_from_where_it_was_expected() {
    let world = World::with_base();
    let repo = world.repo();
    let (base, next) = (world.head(), loose_commit(&world, "next\n"));
    let who = (&me(), NOW);
    let wrong = repo.cas_ref("refs/heads/main", Some(&next), Some(&next), "wrong", who);
    match wrong {
        Err(RepoError::Moved { found, .. }) => assert_eq!(found.as_deref(), Some(base.as_str())),
        other => panic!("{other:?}"),
    }
    assert!(matches!(repo.cas_ref("refs/heads/main", None, Some(&next), "wrong", who), Err(RepoError::Moved { .. })));
    assert_eq!(world.head(), base);
    repo.cas_ref("refs/heads/main", Some(&base), Some(&next), "land: next", who).unwrap();
    assert_eq!(world.head(), next);
    assert_eq!(world.git(&["reflog", "-1", "--format=%gs %gn", "main"]), "land: next A. Gent");
    assert_eq!(world.git(&["reflog", "-1", "--format=%gs", "HEAD"]), "land: next");
}

#[test]
fn refs_are_created_and_removed_loose_or_packed() {
    let world = World::with_base();
    let repo = world.repo();
    let (base, who) = (world.head(), (&me(), NOW));
    let name = "refs/selfsmith/candidates/c1-0";
    repo.cas_ref(name, None, Some(&base), "keep", who).unwrap();
    assert_eq!(world.git(&["rev-parse", name]), base);
    world.git(&["pack-refs", "--all", "--prune"]);
    assert_eq!(repo.read_ref(name).unwrap(), Some(base.clone()));
    let next = loose_commit(&world, "next\n");
    assert!(matches!(repo.cas_ref(name, Some(&next), None, "drop", who), Err(RepoError::Moved { .. })));
    repo.cas_ref(name, Some(&base), Some(&next), "move a packed ref", who).unwrap();
    repo.cas_ref(name, Some(&next), None, "drop", who).unwrap();
    assert_eq!(world.git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    assert_eq!(repo.read_ref(name).unwrap(), None);
    repo.cas_ref(name, None, None, "nothing to do", who).unwrap();
}

#[test]
fn of_many_that_move_one_ref_from_the_same_commit_exactly_one_wins() {
    let world = World::with_base();
    let commits: Vec<String> = (0..8).map(|n| loose_commit(&world, &format!("n{n}\n"))).collect();
    let base = world.head();
    let (wins, moved, start) = (AtomicUsize::new(0), AtomicUsize::new(0), Barrier::new(commits.len()));
    std::thread::scope(|scope| {
        for commit in &commits {
            scope.spawn(|| {
                let repo = Repo::open(&world.root).unwrap(); // a handle of its own, as another process has
                start.wait();
                match repo.cas_ref("refs/heads/main", Some(&base), Some(commit), "race", (&me(), NOW)) {
                    Ok(()) => wins.fetch_add(1, Ordering::SeqCst),
                    Err(RepoError::Moved { .. }) => moved.fetch_add(1, Ordering::SeqCst),
                    Err(other) => panic!("{other}"),
                };
            });
        }
    });
    assert_eq!((wins.into_inner(), moved.into_inner()), (1, 7));
    assert!(commits.contains(&world.head()));
}

#[test]
fn a_race_with_the_git_program_has_one_winner_too() {
    let world = World::with_base();
    let base = world.head();
    for round in 0..10 {
        let (ours, theirs) =
            (loose_commit(&world, &format!("o{round}\n")), loose_commit(&world, &format!("t{round}\n")));
        let start = Barrier::new(2);
        let (won, git_won) = std::thread::scope(|scope| {
            let us = scope.spawn(|| {
                let repo = world.repo();
                start.wait();
                repo.cas_ref("refs/x/y", None, Some(&ours), "race", (&me(), NOW)).is_ok()
            });
            let git = scope.spawn(|| {
                start.wait();
                let zero = "0".repeat(40);
                crate::world::git_in(&world.root, &["update-ref", "refs/x/y", &theirs, &zero]).status.success()
            });
            (us.join().unwrap(), git.join().unwrap())
        });
        assert!(won != git_won, "round {round}: we {won}, git {git_won}");
        assert_eq!(world.git(&["rev-parse", "refs/x/y"]), if won { ours } else { theirs });
        world.git(&["update-ref", "-d", "refs/x/y"]);
    }
    assert_eq!(world.head(), base);
}

#[test]
fn a_name_that_another_ref_excludes_is_refused_even_if_that_one_is_packed() {
    let world = World::with_base();
    world.git(&["branch", "evolve"]);
    let (repo, base, who) = (world.repo(), world.head(), (&me(), NOW));
    for packed in [false, true] {
        if packed {
            world.git(&["pack-refs", "--all", "--prune"]);
        }
        match repo.cas_ref("refs/heads/evolve/c1", None, Some(&base), "branch", who) {
            Err(RepoError::InTheWay { other, .. }) => assert_eq!(other, "refs/heads/evolve"),
            other => panic!("packed {packed}: {other:?}"),
        }
    }
    repo.cas_ref("refs/heads/a/b", None, Some(&base), "branch", who).unwrap();
    world.git(&["pack-refs", "--all", "--prune"]);
    let above = repo.cas_ref("refs/heads/a", None, Some(&base), "branch", who);
    assert!(matches!(above, Err(RepoError::InTheWay { .. })), "{above:?}");
    world.fsck();
}

#[test]
fn bad_names_symbolic_refs_and_missing_objects_are_refused() {
    let world = World::with_base();
    world.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    let (repo, base, who) = (world.repo(), world.head(), (&me(), NOW));
    for name in
        ["HEAD", "main", "refs/heads/a..b", "refs/heads/", "refs/heads/x.lock", "../refs/heads/x", "refs/heads/a\0b"]
    {
        let result = repo.cas_ref(name, None, Some(&base), "x", who);
        assert!(matches!(result, Err(RepoError::BadRef { .. })), "{name:?}: {result:?}");
    }
    let alias = repo.cas_ref("refs/heads/alias", Some(&base), Some(&base), "x", who);
    assert!(matches!(alias, Err(RepoError::BadRef { .. })), "{alias:?}");
    let lost = repo.cas_ref("refs/heads/lost", None, Some(&"1".repeat(40)), "x", who);
    assert!(matches!(lost, Err(RepoError::NotFound { .. })), "{lost:?}");
}

#[test]
fn a_lock_that_stays_is_named_and_the_ref_stays() {
    let world = World::with_base();
    let (repo, base, next) = (world.repo(), world.head(), loose_commit(&world, "n\n"));
    world.write(".git/refs/heads/main.lock", "");
    let held = repo.cas_ref("refs/heads/main", Some(&base), Some(&next), "x", (&me(), NOW));
    assert!(matches!(held, Err(RepoError::Locked { .. })), "{held:?}");
    assert_eq!(world.head(), base);
}

#[test]
fn refs_are_listed_by_prefix() {
    let world = World::with_base();
    world.git(&["branch", "b"]);
    world.git(&["tag", "t"]);
    let base = world.head();
    let named = |name: &str| Ref { name: name.into(), id: base.clone() };
    assert_eq!(world.repo().refs("refs/heads/").unwrap(), [named("refs/heads/b"), named("refs/heads/main")]);
    assert_eq!(world.repo().refs("refs/").unwrap().len(), 3);
    assert_eq!(world.repo().refs("refs/none/").unwrap(), []);
}
