//! A byte that flips anywhere in what is remembered is found by the check: every object of the lineage, its evidence and the
//! notes, at its beginning, its end and between; and the journals and the operation log.

use crate::world::*;
use selfsmith::review::{self, undo::undo};
use selfsmith::store::lineage::{LINEAGE_REF, NOTES_REF};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A cycle that landed after a repair, one that was refused, one that a person approved, and an undo of it.
fn history() -> World {
    let world = World::new();
    let edits = |text: &str| vec![("src/lib.rs", Some(text.to_owned()))];
    run(&world, &auto("c1"), Edits(vec![edits("// REPAIR\n"), edits("// better\n")]));
    run(&world, &auto("c2"), edit("src/lib.rs", "// BREAK\n"));
    run(&world, &review("c3"), edit("src/new.rs", "// new\n"));
    decide(&world, "d1", |d| review::approve(d, "c3")).unwrap();
    decide(&world, "u1", |d| undo(d, None)).unwrap();
    world
}

fn faults(world: &World) -> Vec<String> {
    match review::verify(&world.repo(), &world.state()) {
        Ok(faults) => faults.into_iter().map(|fault| format!("{}: {}", fault.id, fault.what)).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// Flip one byte, look, and put it back.
fn flipped(world: &World, file: &Path, at: usize) -> Vec<String> {
    let before = fs::read(file).unwrap();
    let mut bytes = before.clone();
    bytes[at] ^= 0xff;
    let writable = fs::metadata(file).unwrap().permissions();
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    fs::write(file, bytes).unwrap();
    let found = faults(world);
    fs::write(file, before).unwrap();
    fs::set_permissions(file, writable).unwrap();
    found
}

/// The files of every object that lineage and notes lead to, each once; they are loose here.
fn objects(world: &World) -> Vec<PathBuf> {
    let listed = world.git(&["rev-list", "--objects", LINEAGE_REF, NOTES_REF]);
    let ids: BTreeSet<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    let path = |id: &&str| {
        let (folder, file) = id.split_at(2);
        world.repo_path().join(".git/objects").join(folder).join(file)
    };
    ids.iter().map(path).filter(|path| path.exists()).collect()
}

#[test]
fn a_flipped_byte_in_lineage_evidence_or_note_is_found_wherever_it_is() {
    let world = history();
    assert_eq!(faults(&world), Vec::<String>::new());
    let objects = objects(&world);
    assert!(objects.len() > 40, "{}", objects.len());
    let mut flips = 0;
    for file in &objects {
        let length = usize::try_from(fs::metadata(file).unwrap().len()).unwrap();
        let spread = (0..4).map(|part| part * (length - 1) / 4);
        for at in BTreeSet::from_iter(spread.chain([1, length - 4, length - 1])) {
            assert!(!flipped(&world, file, at).is_empty(), "{} at {at} of {length}", file.display());
            flips += 1;
        }
    }
    assert_eq!(faults(&world), Vec::<String>::new(), "all is as it was");
    println!("{flips} flips in {} objects", objects.len());
}

#[test]
fn a_flipped_byte_in_a_journal_or_the_operation_log_is_found() {
    let world = history();
    let state = world.state();
    let mut files: Vec<PathBuf> = ["c1", "c2", "c3", "d1", "u1"].iter().map(|id| state.cycle(id).journal()).collect();
    files.push(state.ops());
    for file in files {
        let length = usize::try_from(fs::metadata(&file).unwrap().len()).unwrap();
        for at in (0..12).map(|part| part * (length - 1) / 12).chain([length - 2, length - 1]) {
            assert!(!flipped(&world, &file, at).is_empty(), "{} at {at} of {length}", file.display());
        }
    }
}
