//! The first generation: when the judge works on the project itself from a checkout, what that checkout holds is installed
//! once, so that there is something to fall back to. Later ones the boot gate installs.

use crate::terminal::commands::JUDGE;
use crate::terminal::commands::place::Place;
use crate::terminal::display::Display;
use selfsmith::cycle::Base;
use selfsmith::doctor;
use selfsmith::launcher::{self, Origin};
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::generations::{Parts, Store, StoreError};
use selfsmith::texts::{EN, fill};
use selfsmith_repo::{Caller, RepoError};
use selfsmith_sandbox::Cancel;
use std::path::Path;

/// Install it, where there is none and the running agent is exactly the base's. That it cannot be installed is said and
/// stops nothing.
pub fn install(place: &Place, base: &Base, display: &Display, around: &Surroundings) {
    match installed(place, base, around) {
        Ok(Some(tree)) => display.say(&fill(EN.first_generation, &[("tree", &tree)])),
        Ok(None) => {}
        Err(why) => display.say(&fill(EN.notice, &[("text", &why)])),
    }
}

fn installed(place: &Place, base: &Base, around: &Surroundings) -> Result<Option<String>, String> {
    let Ok(agent) = launcher::find(around, crate::built_in()) else { return Ok(None) };
    let (Origin::Dev(target), Some(home)) = (&agent.origin, &agent.home) else { return Ok(None) };
    let Ok(root) = around.generations() else { return Ok(None) };
    let store = Store::new(root);
    let said = |error: StoreError| format!("could not {error}; {}", error.hint());
    let is_this = place.workdir().ok().and_then(|dir| dir.canonicalize().ok()) == home.canonicalize().ok();
    if !is_this || target.is_stale() || store.current_tree().map_err(said)?.is_some() {
        return Ok(None);
    }
    if !as_committed(place, base, home, around).map_err(|error| format!("could not {error}; {}", error.hint()))? {
        return Ok(None);
    }
    let toolchain = which::which_in("rustc", around.var("PATH"), &around.cwd)
        .map_err(|error| error.to_string())
        .and_then(|rustc| doctor::ask(around, &rustc, &["-V"]))
        .unwrap_or_else(|why| format!("unknown: {why}"));
    let parts = Parts {
        commit: &base.commit.0,
        tree: &base.tree.0,
        judge: JUDGE,
        toolchain: &toolchain,
        flags: &target.profile,
        program: &agent.program,
        sources: home,
    };
    let generation = store.install(parts, &NoFaults).map_err(said)?;
    store.first(&generation, &NoFaults).map_err(said)?;
    Ok(Some(generation.tree))
}

/// Whether the checkout that the agent was built from holds the base and nothing else.
fn as_committed(place: &Place, base: &Base, home: &Path, around: &Surroundings) -> Result<bool, RepoError> {
    let cancel = Cancel::default();
    let caller = Caller { environment: &around.vars, cancel: &cancel };
    let checkouts = place.repo.checkouts_of(&base.target, &base.commit.0, caller)?;
    let home = home.canonicalize().ok();
    let here = checkouts.iter().find(|checkout| checkout.path.canonicalize().ok() == home);
    Ok(here.is_some_and(|checkout| checkout.work.is_clean() && checkout.work.untracked == 0))
}
