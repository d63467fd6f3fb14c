//! `gc`: forget candidates that are over and old, on a person's word.

use crate::terminal::cli::GcArgs;
use crate::terminal::commands::person::{self, Asked};
use crate::terminal::commands::place::{Place, new_id, now};
use crate::terminal::commands::stop::Stop;
use crate::terminal::commands::{as_typed, review};
use crate::terminal::display::{Audience, Display, Look};
use crate::terminal::streams;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::review::Deciding;
use selfsmith::review::forget::{self, Forgotten};
use selfsmith::texts::{EN, count, fill};

/// Seconds of a day.
const DAY: i64 = 86_400;

/// Run it.
pub fn run(arguments: &GcArgs, around: &Surroundings) -> Result<Exit, Stop> {
    let place = Place::open(&arguments.place, around)?;
    // What was judged this very second is older than none.
    let before = now() + 1 - i64::from(arguments.days) * DAY;
    if arguments.dry_run {
        let would = forget::forgettable(&place.repo, before)?;
        tell(&would, arguments, EN.gc_would, around);
        return Ok(Exit::Done);
    }
    let authority = person::word(&place, Asked::Forget)?;
    let display = Display::new(around, Audience::of(arguments.json));
    let report = |progress| display.show(&progress);
    let deciding = Deciding { hands: place.hands(&report, around), id: new_id(), authority };
    let forgotten = forget::forget(&deciding, before)?;
    display.rest();
    tell(&forgotten, arguments, EN.gc_done, around);
    Ok(Exit::Done)
}

fn tell(forgotten: &Forgotten, arguments: &GcArgs, text: &str, around: &Surroundings) {
    if arguments.json {
        streams::print_json(forgotten);
        return;
    }
    if forgotten.candidates.is_empty() {
        streams::tell(&fill(EN.gc_none, &[("days", &count(arguments.days.into(), "day"))]));
        return;
    }
    let look = Look::new(around, &std::io::stdout());
    streams::tell(&as_typed(&fill(text, &[("count", &count(forgotten.candidates.len() as u64, "candidate"))]), around));
    for item in &forgotten.candidates {
        if !streams::print(&review::line(item, look)) {
            break;
        }
    }
}
