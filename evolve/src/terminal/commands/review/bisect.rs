//! `review bisect`: which landing made a command fail. The command runs in the room, on the files as each landing left them.

use crate::terminal::commands::interrupt;
use crate::terminal::commands::makings::{self, Wishes};
use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use crate::terminal::display::short;
use crate::terminal::streams;
use selfsmith::cycle;
use selfsmith::cycle::sanitize;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::proposer::room::{self, Kit, Run};
use selfsmith::review::bisect::{self, Answer, Found, State};
use selfsmith::texts::{EN, count, fill};
use selfsmith_sandbox::End;
use serde_json::json;
use std::ffi::OsString;

/// The exit code by which a command says that it cannot tell, as for `git bisect run`.
const UNTOLD: i32 = 125;

/// Run it.
pub fn run(
    place: &Place,
    (branch, command): (Option<String>, Vec<String>),
    json: bool,
    around: &Surroundings,
) -> Result<Exit, Stop> {
    let base = cycle::look(&place.repo, branch.as_deref())?;
    let states = bisect::states(&place.repo, &base.target)?;
    if states.is_empty() {
        return Err(Stop::usage(fill(EN.bisect_none, &[("target", &base.target)]), ""));
    }
    let cancel = interrupt::watched();
    let kit = makings::kit(place, &Wishes::default(), &cancel, around);
    let mut check = |at: usize| -> Result<Answer, Stop> {
        let Some(state) = states.get(at) else { return Ok(Answer::Untold) };
        let answer = checked(place, state, &command, &kit)?;
        if !json {
            say(at, states.len(), state, answer);
        }
        Ok(answer)
    };
    let found = bisect::search(states.len(), &mut check)?;
    Ok(tell(&states, found, json))
}

fn checked(place: &Place, state: &State, command: &[String], kit: &Kit) -> Result<Answer, Stop> {
    let could_not =
        |error: std::io::Error| Stop::failed(&format!("make a folder: {error}"), "make room in the temporary folder");
    let folder = tempfile::Builder::new().prefix("selfsmith-bisect-").tempdir().map_err(could_not)?;
    let dir = folder.path().join("tree");
    place.repo.materialise(&place.repo.tree_of(&state.commit.0)?, &dir, &[])?;
    let run = Run {
        shown: shell_words::join(command),
        argv: command.iter().map(OsString::from).collect(),
        dir: &dir,
        target: None,
        binds: Vec::new(),
        set: Vec::new(),
        stdin: Vec::new(),
        relay: None,
    };
    let finished = room::run(kit, run, &mut |_, _| {})?;
    Ok(match finished.end {
        End::Exit(0) => Answer::Holds,
        End::Exit(UNTOLD) => Answer::Untold,
        _ => Answer::Fails,
    })
}

fn say(at: usize, of: usize, state: &State, answer: Answer) {
    let answer = match answer {
        Answer::Holds => "holds",
        Answer::Fails => "fails",
        Answer::Untold => "?",
    };
    let goal = if state.candidate.is_some() { sanitize::line(&state.goal, 60) } else { EN.bisect_before.to_owned() };
    let values = [
        ("number", (at + 1).to_string()),
        ("count", of.to_string()),
        ("commit", short(&state.commit.0).to_owned()),
        ("answer", answer.to_owned()),
        ("goal", goal),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    streams::tell(&fill(EN.bisect_state, &values));
}

fn tell(states: &[State], found: Found, json: bool) -> Exit {
    let first = match found {
        Found::First { bad, good } => states.get(bad).map(|state| (state, bad - good)),
        _ => None,
    };
    let (word, exit) = match found {
        Found::First { bad, good } if bad - good == 1 => ("found", Exit::Done),
        Found::First { .. } => ("between", Exit::Inconclusive),
        Found::HoldsNow => ("holds-now", Exit::Done),
        Found::FailedBefore => ("failed-before", Exit::Done),
        Found::Untold => ("untold", Exit::Inconclusive),
    };
    if json {
        streams::print_json(
            &json!({ "found": word, "first": first.map(|(state, _)| state), "of": first.map(|(_, of)| of) }),
        );
        return exit;
    }
    let text = match (first, found) {
        (Some((state, between)), _) => {
            let candidate = state.candidate.as_deref().unwrap_or_default();
            let number = count(between as u64, "landing");
            let values = [("candidate", candidate), ("commit", &state.commit.0), ("count", &number)];
            fill(if between == 1 { EN.bisect_first } else { EN.bisect_between }, &values)
        }
        (None, Found::HoldsNow) => EN.bisect_holds_now.to_owned(),
        (None, Found::FailedBefore) => EN.bisect_failed_before.to_owned(),
        (None, _) => EN.bisect_untold.to_owned(),
    };
    streams::print(&text);
    exit
}
