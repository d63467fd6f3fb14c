//! `review comment`: what a person says of a candidate becomes the next goal, in the repository's inbox.

use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use crate::terminal::streams;
use selfsmith::cycle::sanitize;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::inbox::Inbox;
use selfsmith::review::hunks;
use selfsmith::review::remake::{self, LeftOut};
use selfsmith::review::{self, Item};
use selfsmith::texts::{EN, fill};
use std::path::PathBuf;

/// Lines of a hunk that go along with a comment.
const QUOTED: usize = 40;
/// Characters of a quoted line.
const WIDTH: usize = 200;

/// Run it.
pub fn run(place: &Place, (id, text, at): (&str, &str, Option<String>)) -> Result<Exit, Stop> {
    let item = review::show(&place.repo, id)?.item;
    let at = at.map(|at| LeftOut::parse(&at));
    let path = put(place, &item, text, at.as_ref())?;
    streams::tell(&fill(EN.commented, &[("path", &path.display().to_string())]));
    Ok(Exit::Done)
}

/// Put it into the inbox. The person's words come first: the first line names the goal everywhere.
pub fn put(place: &Place, item: &Item, text: &str, at: Option<&LeftOut>) -> Result<PathBuf, Stop> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Stop::usage(EN.empty_goal, "say what is to be different"));
    }
    let mut goal = format!(
        "{text}\n\nSaid of the candidate {} ({}), whose goal was: {}\n",
        item.id,
        item.status.word(),
        sanitize::line(&item.goal, WIDTH)
    );
    if let Some(at) = at {
        goal.push_str(&quoted(place, item, at)?);
    }
    Ok(Inbox::put(&place.state.inbox(), &format!("{}-comment", item.id), &goal)?)
}

/// The part that it is about, as the candidate has it.
fn quoted(place: &Place, item: &Item, at: &LeftOut) -> Result<String, Stop> {
    let file = remake::parts(&place.repo, &item.id)?.into_iter().find(|file| file.path.to_string() == at.path);
    let unknown =
        || Stop::usage(format!("there is no {} in {}", at.path, item.id), "`selfsmith review show` lists its files");
    let parts = hunks::parse(&file.ok_or_else(unknown)?.patch);
    let chosen = match at.hunk {
        Some(hunk) => vec![parts.get(hunk.saturating_sub(1)).ok_or_else(unknown)?],
        None => parts.iter().collect(),
    };
    let mut text = format!("\nIt is about {}, where the candidate has:\n\n", at.path);
    for line in chosen.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.side != hunks::Side::Old).take(QUOTED) {
        text.push_str(&format!("    {}\n", sanitize::line(&String::from_utf8_lossy(&line.bytes), WIDTH)));
    }
    Ok(text)
}
