//! The ladder of gates for a run.

use crate::terminal::commands::makings::Wishes;
use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use selfsmith::cycle::Base;
use selfsmith::exit::Exit;
use selfsmith::surroundings::Surroundings;
use selfsmith::texts::{EN, fill};
use selfsmith::weigh::Weigh;
use selfsmith_sandbox::Cancel;

/// Make it.
pub fn open(
    _place: &Place,
    _base: &Base,
    _wishes: &Wishes,
    _cancel: &Cancel,
    _around: &Surroundings,
) -> Result<Box<dyn Weigh>, Stop> {
    Err(Stop {
        exit: Exit::NotBuilt,
        what: fill(EN.not_built, &[("what", "the ladder of gates")]),
        hint: String::new(),
    })
}
