//! Goals from the failures of the agent's own sessions in this repository, one for each session, and only once.

use crate::terminal::commands::place::Place;
use crate::terminal::commands::stop::Stop;
use selfsmith::launcher;
use selfsmith::owner::inbox::Inbox;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::review::failures;
use selfsmith_sandbox::{Cancel, End, Environment, Job, Limits, Program, Walls};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Sessions that are looked at, newest first.
const MOST: usize = 50;

/// Put a goal into the inbox for each failed session that has none yet. Gives the files.
pub fn gather(place: &Place, inbox: &Path, cancel: &Cancel, around: &Surroundings) -> Result<Vec<PathBuf>, Stop> {
    let listed = ask(&["sessions", "--json"], place, cancel, around)?;
    let sessions = listed.get("sessions").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut made = Vec::new();
    for id in sessions.iter().filter_map(|session| session.get("id")?.as_str()).take(MOST) {
        let name = format!("session-{id}");
        let is_known =
            ["", "done", "failed"].iter().any(|folder| inbox.join(folder).join(format!("{name}.md")).exists());
        if is_known || cancel.is_cancelled() {
            continue;
        }
        let export = ask(&["export", id, "--json"], place, cancel, around)?;
        if let Some(goal) = failures::goal(id, &export) {
            made.push(Inbox::put(inbox, &name, &goal)?);
        }
    }
    Ok(made)
}

/// What the agent answers, as JSON. It sees what the person's agent would see: these are its own records.
fn ask(words: &[&str], place: &Place, cancel: &Cancel, around: &Surroundings) -> Result<Value, Stop> {
    let agent = launcher::find(around, crate::built_in())?;
    let mut argv: Vec<OsString> = vec![agent.program.clone().into()];
    argv.extend(words.iter().map(OsString::from));
    let vars = launcher::for_agent(&around.vars);
    let named = |name: &OsString| name.to_str().map(str::to_owned);
    let job = Job {
        program: Program::Argv(argv),
        dir: place.workdir()?,
        environment: Environment {
            keep: Vec::new(),
            set: vars.iter().filter_map(|(name, value)| Some((named(name)?, value.clone()))).collect(),
        },
        stdin: Vec::new(),
        limits: Limits { wall: Duration::from_secs(60), output: 64 << 20, ..Limits::default() },
        walls: Walls::None,
    };
    let could_not = |why: String| {
        let what = format!("read the agent's sessions (`{} {}`): {why}", agent.program.display(), words.join(" "));
        Stop::failed(&what, "run that command yourself to see more, or go on without --failures")
    };
    let finished = selfsmith_sandbox::run(&job, &around.vars, cancel, &mut |_, _| {});
    let finished = finished.map_err(|error| could_not(error.to_string()))?;
    if finished.end != End::Exit(0) {
        return Err(could_not(finished.stderr.text(|_| " … ".to_owned()).trim().to_owned()));
    }
    let said = finished.stdout.text(|_| String::new());
    serde_json::from_str(said.trim()).map_err(|error| could_not(error.to_string()))
}
