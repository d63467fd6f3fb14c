#![expect(clippy::unwrap_used, reason = "tests")]

use super::marks::{Branch, Denied};
use super::slots::Leaving;
use super::*;
use crate::store::faults::NoFaults;

const ONE: &str = "1111111111111111111111111111111111111111";
const TWO: &str = "2222222222222222222222222222222222222222";
const THREE: &str = "3333333333333333333333333333333333333333";

fn sources(dir: &Path) -> PathBuf {
    let sources = dir.join("checkout");
    fs::create_dir_all(sources.join("prompts/system")).unwrap();
    fs::write(sources.join("config.yaml"), "model: {}\n").unwrap();
    fs::write(sources.join("prompts/system/1.md"), "text\n").unwrap();
    fs::write(sources.join("agent"), "#!program").unwrap();
    sources
}

/// A store with these generations, each good, the first one current.
fn store(dir: &Path, trees: &[&str]) -> Store {
    let sources = sources(dir);
    let program = sources.join("agent");
    let store = Store::new(dir.join("generations"));
    for tree in trees {
        let parts = Parts {
            commit: ONE,
            tree,
            judge: "j",
            toolchain: "rustc 1",
            flags: "dev",
            program: &program,
            sources: &sources,
        };
        let generation = store.install(parts, &NoFaults).unwrap();
        store.first(&generation, &NoFaults).unwrap();
        store.mark_good(tree, &NoFaults).unwrap();
    }
    store
}

fn denied() -> Denied {
    Denied { why: "it died".to_owned(), branch: Branch::Revert }
}

fn spoil(generation: &Generation) {
    let path = generation.folder.join("config.yaml");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "model: []\n").unwrap();
}

#[test]
fn the_first_generation_becomes_current_and_a_later_one_when_it_has_landed() {
    let dir = tempfile::tempdir().unwrap();
    let empty = Store::new(dir.path().join("generations"));
    assert_eq!(empty.choose(&NoFaults).unwrap(), None);
    let store = store(dir.path(), &[ONE, TWO]);
    let chosen = store.choose(&NoFaults).unwrap().unwrap();
    assert_eq!((chosen.generation.tree.as_str(), chosen.instead), (ONE, None));
    assert_eq!(fs::read(chosen.generation.program()).unwrap(), b"#!program");
    let files = chosen.generation.manifest().unwrap().files;
    let paths: Vec<_> = files.into_iter().map(|item| item.path).collect();
    assert_eq!(paths, ["config.yaml", "prompts/system/1.md", "selfsmith-agent"]);
    assert!(store.advance(TWO, &NoFaults).unwrap());
    assert!(!store.advance(TWO, &NoFaults).unwrap(), "once more is no change");
    assert_eq!(store.current_tree().unwrap().as_deref(), Some(TWO));
    assert_eq!(store.previous_tree().unwrap().as_deref(), Some(ONE));
}

#[test]
fn what_no_probe_booted_and_what_is_denied_is_not_moved_to() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), &[ONE, TWO]);
    fs::remove_file(dir.path().join("generations/marks").join(TWO)).unwrap();
    assert!(!store.advance(TWO, &NoFaults).unwrap());
    store.mark_good(TWO, &NoFaults).unwrap();
    store.deny(TWO, denied(), &NoFaults).unwrap();
    assert!(!store.advance(TWO, &NoFaults).unwrap());
    assert_eq!(store.current_tree().unwrap().as_deref(), Some(ONE));
}

#[test]
fn a_changed_byte_a_new_file_and_another_manifest_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), &[ONE]);
    assert!(store.faults().is_empty());
    let generation = store.generation(ONE);
    let manifest = generation.folder.join(MANIFEST);
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("rustc 1", "rustc 2")).unwrap();
    assert_eq!(store.faults().len(), 1);
    fs::write(&manifest, text).unwrap();
    fs::write(generation.folder.join("extra"), "").unwrap();
    assert!(matches!(generation.verify(), Err(StoreError::Damaged { .. })));
    fs::remove_file(generation.folder.join("extra")).unwrap();
    spoil(&generation);
    assert!(matches!(generation.verify(), Err(StoreError::Damaged { .. })));
    assert_eq!(store.faults().len(), 1);
}

#[test]
fn a_damaged_generation_and_a_broken_link_give_way_to_the_previous_one() {
    for spoils in [
        (|store: &Store| spoil(&store.generation(TWO))) as fn(&Store),
        |store| fs::remove_dir_all(store.generation(TWO).folder).unwrap(),
        |store| fs::write(store.generation(TWO).folder.join(MANIFEST), "{").unwrap(),
        |store| {
            fs::remove_file(store.root().join("current")).unwrap();
            std::os::unix::fs::symlink("nowhere", store.root().join("current")).unwrap();
        },
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path(), &[ONE, TWO]);
        store.advance(TWO, &NoFaults).unwrap();
        spoils(&store);
        let chosen = store.choose(&NoFaults).unwrap().unwrap();
        assert_eq!(chosen.generation.tree, ONE);
        assert!(chosen.instead.is_some(), "it says so");
        let again = store.choose(&NoFaults).unwrap().unwrap();
        assert_eq!((again.generation.tree.as_str(), again.instead), (ONE, None));
        assert!(store.to_revert().is_empty(), "the code is not at fault");
    }
}

#[test]
fn a_copy_with_other_times_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), &[ONE]);
    let file = fs::File::open(store.generation(ONE).program()).unwrap();
    file.set_modified(UNIX_EPOCH).unwrap();
    assert!(store.generation(ONE).glance().is_err());
    assert_eq!(store.choose(&NoFaults).unwrap().unwrap().instead, None);
}

#[test]
fn what_died_again_and_again_is_left_denied_and_its_branch_reverted() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), &[ONE, TWO, THREE]);
    store.advance(TWO, &NoFaults).unwrap();
    store.advance(THREE, &NoFaults).unwrap();
    let starts = store.starts_of(THREE);
    let alive = store.count_start(THREE).unwrap();
    for death in 0..start::DEATHS {
        assert_eq!(store.choose(&NoFaults).unwrap().unwrap().generation.tree, THREE, "{death} deaths");
        fs::write(starts.join(format!("4194304.{death}")), "").unwrap();
    }
    assert!(alive.exists() && store.deaths(THREE) == start::DEATHS, "one that lives has not died");
    let chosen = store.choose(&NoFaults).unwrap().unwrap();
    assert_eq!(chosen.generation.tree, TWO);
    assert!(chosen.instead.unwrap().denied.why.contains("3 times"));
    assert_eq!(store.to_revert().len(), 1);
    assert!(!store.advance(THREE, &NoFaults).unwrap(), "what was left is not taken up again");
    let (tree, denied) = store.to_revert().remove(0);
    store.reverted(&tree, denied, &NoFaults).unwrap();
    assert!(store.to_revert().is_empty());
}

#[test]
fn with_no_other_generation_the_one_there_is_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), &[ONE]);
    fs::create_dir_all(store.starts_of(ONE)).unwrap();
    for death in 0..start::DEATHS {
        fs::write(store.starts_of(ONE).join(format!("4194304.{death}")), "").unwrap();
    }
    assert_eq!(store.choose(&NoFaults).unwrap().unwrap().generation.tree, ONE);
    let leaving = Leaving { tree: ONE.to_owned(), denied: denied() };
    assert_eq!(store.fall_back(&leaving, &NoFaults).unwrap(), None);
    spoil(&store.generation(ONE));
    assert!(store.choose(&NoFaults).is_err());
}

#[test]
fn old_generations_go_and_those_in_use_stay() {
    let dir = tempfile::tempdir().unwrap();
    let trees: Vec<String> = (0..9).map(|n| format!("{n}").repeat(40)).collect();
    let names: Vec<&str> = trees.iter().map(String::as_str).collect();
    let store = store(dir.path(), &names);
    let left = store.installed().len();
    assert!((2..=6).contains(&left), "{left} are kept");
    assert!(store.generation(&trees[0]).verify().is_ok(), "current stays");
    assert!(store.generation(&trees[8]).verify().is_ok(), "so does the newest");
}
