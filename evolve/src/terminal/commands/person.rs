//! On whose word something is done that sets policy, decides or forgets: a person's at a terminal, or the owner's settings.

use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use selfsmith::owner::settings::{Forgetting, Landing};
use selfsmith::store::authority::{self, Authority};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// To land something, or to take a landing back.
    Decide,
    /// To forget what was kept.
    Forget,
}

/// Whose word it is, or why it is nobody's. The owner's settings speak for a person only where they allow just this.
pub fn word(place: &Place, asked: Asked) -> Result<Authority, Stop> {
    let settings = &place.settings;
    let (allowed, key) = match asked {
        Asked::Decide => (settings.landing == Landing::Auto, "landing: auto"),
        Asked::Forget => (settings.forgetting == Forgetting::Unattended, "forgetting: unattended"),
    };
    let file = place.settings_file.as_path();
    authority::person(allowed.then_some(file), &settings.agents).map_err(|e| Stop::no_authority(&e, (key, file)))
}
