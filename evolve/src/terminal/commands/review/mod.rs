//! `review`: what was proposed, and what a person decides about it. The list here, the rest a file each.

mod bisect;
mod comment;
mod decide;
mod page;
mod walk;

use crate::terminal::cli::{ReviewArgs, ReviewCommand};
use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use crate::terminal::commands::{as_typed, records};
use crate::terminal::display::Look;
use crate::terminal::streams;
use decide::Desk;
use selfsmith::cycle::sanitize;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::review::{self, Item, Status};
use selfsmith::texts::{EN, count, fill};

pub use decide::tell;
pub use page::spoken;

/// Run it.
pub fn run(arguments: ReviewArgs, around: &Surroundings) -> Result<Exit, Stop> {
    let place = Place::open(&arguments.place, around)?;
    let look = Look::new(around, &std::io::stdout());
    match arguments.command.unwrap_or(ReviewCommand::List { all: false }) {
        ReviewCommand::List { all } => list(&place, look, (all, arguments.json), around),
        ReviewCommand::Show { candidate } => show(&place, &candidate, look, arguments.json),
        ReviewCommand::Verify => records::verify(&place, arguments.json, around),
        ReviewCommand::Comment { candidate, text, at } => comment::run(&place, (&candidate, &text, at)),
        ReviewCommand::Bisect { branch, command } => bisect::run(&place, (branch, command), arguments.json, around),
        ReviewCommand::Walk { candidate } => walk::run(&place, &candidate, look, around),
        ReviewCommand::Approve { candidate, leave_out } => {
            let desk = Desk::open(&place, arguments.json, around)?;
            Ok(tell(&desk.approve(&candidate, &leave_out)?, arguments.json))
        }
        ReviewCommand::Reject { candidate, why } => {
            let desk = Desk::open(&place, arguments.json, around)?;
            Ok(tell(&desk.reject(&candidate, &why)?, arguments.json))
        }
        ReviewCommand::Revert { commit } => {
            let desk = Desk::open(&place, arguments.json, around)?;
            Ok(tell(&desk.revert(&commit)?, arguments.json))
        }
    }
}

fn list(place: &Place, look: Look, (all, json): (bool, bool), around: &Surroundings) -> Result<Exit, Stop> {
    let (items, hidden) = items(place, all)?;
    if json {
        for item in items {
            if !streams::print_json(&item) {
                break;
            }
        }
        return Ok(Exit::Done);
    }
    if items.is_empty() && hidden == 0 {
        streams::tell(&as_typed(EN.review_empty, around));
    }
    for item in &items {
        if !streams::print(&line(item, look)) {
            break;
        }
    }
    if hidden > 0 {
        let hidden = fill(EN.review_hidden, &[("count", &count(hidden as u64, "cycle"))]);
        streams::tell(&look.dim(&as_typed(&hidden, around)));
    }
    Ok(Exit::Done)
}

/// The list, a line each, newest first.
pub fn lines(place: &Place, look: Look) -> Result<Vec<String>, Stop> {
    Ok(items(place, false)?.0.iter().map(|item| line(item, look)).collect())
}

/// What there is to look at, and how many cycles are left out because they came to no candidate.
fn items(place: &Place, all: bool) -> Result<(Vec<Item>, usize), Stop> {
    let mut items = review::list(&place.repo)?;
    let before = items.len();
    items.retain(|item| all || item.id != item.cycle || item.status != Status::Inconclusive);
    let hidden = before - items.len();
    Ok((items, hidden))
}

pub fn line(item: &Item, look: Look) -> String {
    let (gate, _) = item.verdict.said();
    let verdict = match gate {
        Some(gate) => format!("{} at {gate}", item.verdict.word()),
        None => item.verdict.word().to_owned(),
    };
    let status = format!("{:<12}", item.status.word());
    let status = match item.status {
        Status::Landed => look.good(&status),
        Status::Waiting => look.asks(&status),
        Status::Refused | Status::Rejected => look.bad(&status),
        Status::Stale
        | Status::Inconclusive
        | Status::Reverted
        | Status::Undone
        | Status::Superseded
        | Status::Forgotten => look.dim(&status),
    };
    format!("{}  {status}  {verdict:<22}  {}", item.id, sanitize::line(&item.goal, 70))
}

fn show(place: &Place, id: &str, look: Look, json: bool) -> Result<Exit, Stop> {
    let found = review::show(&place.repo, id)?;
    if json {
        streams::print_json(&page::as_json(&found));
        return Ok(Exit::Done);
    }
    for line in page::lines(&found, look) {
        if !streams::print(&line) {
            break;
        }
    }
    Ok(Exit::Done)
}
