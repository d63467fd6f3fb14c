//! The ladder of gates for a run.

use crate::terminal::commands::JUDGE;
use crate::terminal::commands::makings::Wishes;
use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use selfsmith::cycle::Base;
use selfsmith::gates::boot::Boot;
use selfsmith::gates::mutants::PROGRAM;
use selfsmith::judgement::defence::Defences;
use selfsmith::ladder::Ladder;
use selfsmith::launcher;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::rules::own;
use selfsmith::store::generations::Store;
use selfsmith::workshop::deps::DependenciesError;
use selfsmith::workshop::{Given, Mutants};
use selfsmith_sandbox::Cancel;

/// What gates, and proposers that compile, are given. What cargo leaked into our own environment is no wish of the person
/// about the judged repository.
pub fn given(place: &Place, wishes: &Wishes, cancel: &Cancel, around: &Surroundings) -> Given {
    Given {
        environment: launcher::for_agent(&around.vars),
        slots: place.state.slots(),
        cancel: cancel.clone(),
        accept_weaker_room: wishes.accept_weaker || place.settings.room.accept_weaker,
        defences: Defences::all(),
        mutants: mutants(place, around),
    }
}

/// cargo-mutants: what the owner names, or what lies on the path.
fn mutants(place: &Place, around: &Surroundings) -> Option<Mutants> {
    let asked = &place.settings.mutants;
    let found = || which::which_in(PROGRAM, around.var("PATH"), &around.cwd).ok();
    let program = asked.program.as_ref().map(|program| around.absolute(program)).or_else(found)?;
    (asked.seconds > 0).then_some(Mutants { program, seconds: asked.seconds })
}

/// Make it; on the project itself it boots what passes. A base that no cycle could build is met here, before one is begun.
pub fn open(place: &Place, base: &Base, given: Given, around: &Surroundings) -> Result<Ladder, Stop> {
    let generations = around.generations().ok();
    let has = |name: &str| place.repo.entry(&base.tree.0, &name.into()).map(|entry| entry.is_some());
    if has("Cargo.toml")? && !has("Cargo.lock")? {
        let error = DependenciesError::NoLock;
        return Err(Stop::could_not(Exit::Settings, &error.to_string(), error.hint()));
    }
    let ladder = Ladder::new(place.repo.reopen()?, base.rules.clone(), given);
    let is_self = own::digest(&place.repo, &base.tree)?.is_some();
    Ok(match generations.filter(|_| is_self) {
        Some(root) => ladder.booting(Boot { store: Store::new(root), judge: JUDGE.to_owned() }),
        None => ladder,
    })
}
