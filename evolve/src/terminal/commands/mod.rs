//! The judge's commands, one file each.

mod demo;
mod doctor;
mod evolve;
mod failures;
mod first;
mod forget;
mod generations;
mod interrupt;
mod ladder;
mod makings;
mod person;
mod place;
mod records;
mod review;
mod stop;

use crate::terminal::cli::Command;
use crate::terminal::{display, streams};
use selfsmith::launcher::{self, Agent, LaunchError, Origin, Shown};
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::store::generations::slots::Leaving;
use selfsmith::texts::{EN, fill};
use std::io::{self, IsTerminal, Write};

/// Digest of what is compiled into this judge.
pub const JUDGE: &str = env!("SELFSMITH_JUDGE_TREE");

/// Run one.
pub fn run(command: Command, around: &Surroundings) -> Exit {
    let done = match command {
        Command::Doctor { json } => Ok(doctor::run(json, around)),
        Command::Evolve(arguments) => evolve::run(arguments, around),
        Command::Review(arguments) => review::run(arguments, around),
        Command::Undo(arguments) => records::take_back(&arguments, around),
        Command::Ops(arguments) => records::operations(&arguments, around),
        Command::Lineage(arguments) => records::chain(&arguments, around),
        Command::Demo(arguments) => demo::run(arguments, around),
        Command::Rollback(arguments) => generations::rollback(&arguments, around),
        Command::At(arguments) => records::at(&arguments, around),
        Command::Gc(arguments) => forget::run(&arguments, around),
    };
    match done {
        Ok(exit) => exit,
        Err(stop) => {
            streams::fail(&as_typed(&stop.what, around), &as_typed(&stop.hint, around));
            stop.exit
        }
    }
}

/// What people type for this program: its name where the search path leads to it, else its whole path.
pub fn typed(around: &Surroundings) -> String {
    let found = which::which_in("selfsmith", around.var("PATH"), &around.cwd).ok();
    let same = |found: &std::path::Path| found.canonicalize().ok() == around.exe.canonicalize().ok();
    if found.is_some_and(|found| same(&found)) {
        return "selfsmith".to_owned();
    }
    let path = around.exe.display().to_string();
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-+".contains(c));
    if plain { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// A text with commands in it, so that each can be typed here as it stands.
pub fn as_typed(text: &str, around: &Surroundings) -> String {
    text.replace("`selfsmith ", &format!("`{} ", typed(around)))
}

/// `--version`.
pub fn version() -> Exit {
    let judge = JUDGE.get(..12).unwrap_or(JUDGE);
    streams::print(&fill(EN.version, &[("version", env!("CARGO_PKG_VERSION")), ("judge", judge)]));
    Exit::Done
}

/// The agent, brought up to date where it lies in a checkout; cargo's own words and progress go to stderr.
pub fn agent_ready(around: &Surroundings) -> Result<Agent, LaunchError> {
    let mut begun = false;
    let shown = if io::stderr().is_terminal() { Shown::ToPerson } else { Shown::ToLog };
    let found = launcher::find(around, crate::built_in())?;
    tell_instead(&found);
    let profile = match &found.origin {
        Origin::Dev(target) => target.profile.clone(),
        _ => String::new(),
    };
    launcher::ready(found, around, shown, &mut |bytes| {
        if !begun {
            streams::tell(&fill(EN.building_agent, &[("profile", &profile)]));
            begun = true;
        }
        let _ = io::stderr().write_all(bytes);
    })
}

/// That a generation was left for the one before it is said once, when it happens.
fn tell_instead(agent: &Agent) {
    if let Origin::Generation { tree, instead: Some(Leaving { tree: left, denied }) } = &agent.origin {
        let values = [("left", display::short(left)), ("tree", display::short(tree)), ("why", denied.why.as_str())];
        streams::tell(&fill(EN.fell_back, &values));
    }
}
