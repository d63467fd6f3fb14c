//! The steps by which a generation is installed, marked, made current and left again, each killed, failed, torn and held up:
//! what is started afterwards is always a whole generation that nothing has denied, and the same work done again ends as it
//! would have.

use crate::inject::{self, Injects, Kind, REFUSED, Seen, Watches};
use selfsmith::store::faults::{Faults, NoFaults};
use selfsmith::store::generations::marks::Branch;
use selfsmith::store::generations::start::DEATHS;
use selfsmith::store::generations::{Parts, Store, StoreError};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Begins the orders that are for this file.
pub const LIFE: &str = "Generations";
const OLD: &str = "1111111111111111111111111111111111111111";
const NEW: &str = "2222222222222222222222222222222222222222";

/// A new generation is installed, booted and made current, dies again and again, and is left.
fn life(root: &Path, faults: &dyn Faults) -> Result<(), StoreError> {
    let store = installed(root, NEW, faults)?;
    store.count_try(NEW, faults)?;
    store.mark_good(NEW, faults)?;
    store.advance(NEW, faults)?;
    let starts = store.root().join("starts").join(NEW);
    fs::create_dir_all(&starts).unwrap();
    for death in 0..DEATHS {
        // No process has this number.
        fs::write(starts.join(format!("4194304.{death}")), "").unwrap();
    }
    store.choose(faults)?;
    Ok(())
}

fn installed(root: &Path, tree: &str, faults: &dyn Faults) -> Result<Store, StoreError> {
    let sources = root.join("sources");
    let program = sources.join("agent");
    let store = Store::new(root.join("generations"));
    let parts =
        Parts { commit: tree, tree, judge: "j", toolchain: "t", flags: "", program: &program, sources: &sources };
    store.install(parts, faults)?;
    Ok(store)
}

/// A store whose current generation is the old one.
fn begins() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(crate::world::quick_folder()).unwrap();
    let sources = folder.path().join("sources");
    fs::create_dir_all(sources.join("prompts")).unwrap();
    for (name, text) in [("config.yaml", "a: b\n"), ("prompts/one.md", "one\n"), ("agent", "#!/bin/sh\n")] {
        fs::write(sources.join(name), text).unwrap();
    }
    let store = installed(folder.path(), OLD, &NoFaults).unwrap();
    store.mark_good(OLD, &NoFaults).unwrap();
    store.advance(OLD, &NoFaults).unwrap();
    folder
}

/// Be the process to which it happens.
pub fn obey(at: usize, kind: Kind, variant: usize, root: &Path) -> ExitCode {
    match life(root, &Injects::new(at, kind, variant)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(REFUSED),
    }
}

/// Every step by every kind.
pub fn everywhere() -> Result<(), String> {
    let watches = Watches::default();
    life(begins().path(), &watches).map_err(|error| error.to_string())?;
    let points = watches.points.into_inner().unwrap();
    let names: Vec<&str> = points.iter().map(|point| point.name.as_str()).collect();
    for step in [
        "generation's files",
        "generation in place",
        "tries counted",
        "marked good",
        "link previous",
        "link current",
        "tree denied",
    ] {
        if !names.iter().any(|name| name.starts_with(step)) {
            return Err(format!("no fault reaches {step}: {names:?}"));
        }
    }
    for (at, point) in points.iter().enumerate() {
        for kind in [Kind::Kill, Kind::Error, Kind::Torn].into_iter().filter(|kind| kind.fits(point)) {
            one(at, kind, point).map_err(|why| format!("{kind:?} at {at} ({}): {why}", point.name))?;
        }
    }
    Ok(())
}

fn one(at: usize, kind: Kind, point: &Seen) -> Result<(), String> {
    let folder = begins();
    let order = format!("{LIFE} {at} {kind:?} {at} {}", folder.path().display());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(inject::ORDER, order).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(|error| error.to_string())?;
    if status.signal() != Some(9) && status.code() != Some(i32::from(REFUSED)) {
        return Err(format!("{} was not reached: {status}", point.name));
    }
    let store = Store::new(folder.path().join("generations"));
    let chosen = store.choose(&NoFaults).map_err(|error| error.to_string())?.ok_or("nothing is started")?;
    let tree = chosen.generation.tree.as_str();
    chosen.generation.verify().map_err(|error| format!("what is started is not whole: {error}"))?;
    if store.marks(tree).denied.is_some() || ![OLD, NEW].contains(&tree) {
        return Err(format!("{tree} is started"));
    }
    life(folder.path(), &NoFaults).map_err(|error| format!("it cannot go on: {error}"))?;
    let ends = (store.current_tree().ok().flatten(), store.marks(NEW).denied.map(|denied| denied.branch));
    if ends != (Some(OLD.to_owned()), Some(Branch::Revert)) {
        return Err(format!("done again it ends like this: {ends:?}"));
    }
    let unfinished = fs::read_dir(store.root()).unwrap().flatten();
    let left: Vec<_> =
        unfinished.map(|entry| entry.file_name()).filter(|name| name.to_string_lossy().starts_with(".new")).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("{left:?} is left behind")) }
}
