//! What must be so after a restart: the invariants of the judge, 1 to 5.

use crate::world::*;
use selfsmith::cycle;
use selfsmith::review;
use selfsmith::rules::Rules;
use selfsmith::store::evidence;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::lineage::{self, Link};
use selfsmith::store::ops;
use selfsmith::store::record::{End, Kind as Was};
use selfsmith_repo::Renames;
use std::collections::{BTreeMap, BTreeSet};

/// Files of the person's, as they were.
pub type Persons = BTreeMap<String, Vec<u8>>;

/// Everything that a run leaves: all refs, the operations, what git says of the checkout.
pub fn state_of(world: &World) -> String {
    let refs = world.repo().refs("refs/").unwrap();
    let refs: Vec<String> = refs.into_iter().map(|r| format!("{} {}", r.id, r.name)).collect();
    let ops: Vec<String> = ops::list(&world.state()).unwrap().into_iter().map(|op| format!("{op:?}")).collect();
    let status = world.git(&["status", "--porcelain"]);
    format!("{}\n{}\n{status}", refs.join("\n"), ops.join("\n"))
}

/// What a person or the next command does after a death: start the judge again.
pub fn restart(world: &World) -> Result<(), String> {
    let again = || with_hands(world, &NoFaults, |hands| cycle::recover(hands).map(|done| done.len())).0;
    again().map_err(|error| format!("invariant 5: it cannot go on: {error}"))?;
    match again() {
        Ok(0) => Ok(()),
        other => Err(format!("invariant 5: recovering twice does something again: {other:?}")),
    }
}

/// The invariants, and where the world stands among the ends of runs to which nothing happened.
pub fn holds(world: &World, before: &Persons, begins: &str, ends: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let repo = world.repo();
    let told = review::verify(&repo, &world.state()).map_err(|error| error.to_string())?;
    if !told.is_empty() {
        return Err(format!("invariant 1: `review verify` finds {told:?}"));
    }
    for link in lineage::list(&repo).map_err(|error| error.to_string())? {
        landed_as_judged(world, &link)?;
    }
    target_follows(world, begins)?;
    if world.rev("refs/stash").is_empty() {
        let status = world.git(&["status", "--porcelain"]);
        if !status.is_empty() {
            return Err(format!("invariant 4: the clean checkout did not follow: {status}"));
        }
    } else {
        let now = world.persons();
        let changed: Vec<&String> = before.keys().filter(|name| before.get(*name) != now.get(*name)).collect();
        if !changed.is_empty() || now.len() != before.len() {
            return Err(format!("invariant 4: {changed:?} of the person's changed"));
        }
    }
    if !repo.locks().is_empty() {
        return Err(format!("invariant 4: locks are left: {:?}", repo.locks()));
    }
    let state = state_of(world);
    if ends(&state) { Ok(()) } else { Err(format!("invariant 5: no run ends like this:\n{state}")) }
}

/// Invariants 1 and 3: what landed is the tree that was judged, by the base's rules, and differs from the base in nothing
/// that is sealed.
fn landed_as_judged(world: &World, link: &Link) -> Result<(), String> {
    let record = &link.record;
    let (Some(commit), Some(candidate)) = (&record.landed, &record.candidate) else { return Ok(()) };
    if record.end != End::Landed || record.kind == Was::Undo {
        return Ok(());
    }
    let repo = world.repo();
    let text = |error: selfsmith_repo::RepoError| error.to_string();
    let tree = repo.tree_of(&commit.0).map_err(text)?;
    if tree != candidate.tree.0 {
        return Err(format!("invariant 1: {} landed the tree {tree} and judged {}", record.id, candidate.tree));
    }
    let base = repo.tree_of(&candidate.base.0).map_err(text)?;
    for file in repo.diff(&base, &tree, Renames::AsTwo).map_err(text)? {
        let path = file.path.to_string();
        if !path.starts_with("src/") && path != "CHANGELOG.md" {
            return Err(format!("invariant 3: {} landed a change of {path}", record.id));
        }
    }
    let rules = world.git(&["show", &format!("{}:.selfsmith/evolve.yaml", candidate.base)]);
    let told = evidence::read(&repo, &link.evidence).map_err(text)?.rules;
    let rules = Rules::parse(&rules).map_err(|error| error.to_string())?.to_yaml();
    if record.kind == Was::Cycle && told != rules {
        return Err(format!("invariant 3: {} was judged by other rules than its base's:\n{told}\n{rules}", record.id));
    }
    Ok(())
}

/// Invariant 2: the target stands where it stood, or where the person put it, or where a recorded landing, undo or revert
/// brought it.
fn target_follows(world: &World, begins: &str) -> Result<(), String> {
    let now = world.rev(MAIN);
    let repo = world.repo();
    let landed: BTreeSet<String> = lineage::list(&repo)
        .map_err(|error| error.to_string())?
        .into_iter()
        .filter(|link| link.record.end == End::Landed)
        .filter_map(|link| link.record.landed)
        .map(|commit| commit.0)
        .collect();
    let mine = repo.read_commit(&now).is_ok_and(|commit| commit.author.name == "A Person");
    if now == begins || mine || landed.contains(&now) {
        return Ok(());
    }
    Err(format!("invariant 2: the target moved to {now}, and no record tells of it"))
}
