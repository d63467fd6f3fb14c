//! `review`: what was proposed, and what a person decides.

use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use crate::terminal::display::Look;

/// The list, a line each.
pub fn lines(_place: &Place, _look: Look) -> Result<Vec<String>, Stop> {
    Ok(Vec::new())
}
