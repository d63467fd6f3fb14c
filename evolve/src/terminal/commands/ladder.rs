//! The ladder of gates for a run, and the proposer that works with the same tools.

use crate::terminal::commands::makings::Wishes;
use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use selfsmith::cycle::Base;
use selfsmith::defence::Defences;
use selfsmith::ladder::Ladder;
use selfsmith::launcher;
use selfsmith::proposer::Proposer;
use selfsmith::proposer::fix::Fix;
use selfsmith::surroundings::Surroundings;
use selfsmith::workshop::Given;
use selfsmith_sandbox::Cancel;

/// Make it. What cargo leaked into our own environment is no wish of the person about the judged repository.
pub fn open(
    place: &Place,
    base: &Base,
    wishes: &Wishes,
    cancel: &Cancel,
    around: &Surroundings,
) -> Result<Ladder, Stop> {
    let given = given(place, wishes, cancel, around);
    Ok(Ladder::new(place.repo.reopen()?, base.rules.clone(), given))
}

/// The proposer `fix`, which needs what the ladder needs.
pub fn fix(
    place: &Place,
    base: &Base,
    wishes: &Wishes,
    cancel: &Cancel,
    around: &Surroundings,
) -> Result<Box<dyn Proposer>, Stop> {
    let given = given(place, wishes, cancel, around);
    Ok(Box::new(Fix::new(place.repo.reopen()?, base.tree.clone(), base.rules.clone(), given)))
}

fn given(place: &Place, wishes: &Wishes, cancel: &Cancel, around: &Surroundings) -> Given {
    Given {
        environment: launcher::for_agent(&around.vars),
        slots: place.state.slots(),
        cancel: cancel.clone(),
        accept_weaker_room: wishes.accept_weaker || place.settings.room.accept_weaker,
        defences: Defences::all(),
    }
}
