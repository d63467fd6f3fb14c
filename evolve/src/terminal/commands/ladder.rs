//! The ladder of gates for a run.

use crate::terminal::commands::evolve::Run;
use crate::terminal::commands::stop::Stop;
use selfsmith::cycle::Base;
use selfsmith::exit::Exit;
use selfsmith::texts::{EN, fill};
use selfsmith::weigh::Weigh;

/// Make it.
pub fn open(_run: &Run<'_>, _base: &Base) -> Result<Box<dyn Weigh>, Stop> {
    Err(Stop {
        exit: Exit::NotBuilt,
        what: fill(EN.not_built, &[("what", "the ladder of gates")]),
        hint: String::new(),
    })
}
