//! `doctor`: what works here for the agent, each check on its own feet, with cause, measured, expected and remedy.
//!
//! Read-only, and free of cost: nothing is asked of any server. The judge's part is the judge's (`selfsmith doctor`).

use crate::cli::Flags;
use crate::open;
use crate::streams;
use crate::surroundings::Surroundings;
use selfsmith_agent::config;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::wire;
use selfsmith_sandbox::WallState;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Version of the JSON form.
const VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Bad,
}

#[derive(Debug, Clone, Serialize)]
struct Check {
    name: String,
    state: State,
    measured: String,
    expected: String,
    cause: String,
    remedy: String,
}

/// Run it.
pub fn run(flags: &Flags, as_json: bool, surroundings: &Surroundings) -> Ending {
    let mut checks = settings(flags, surroundings);
    checks.push(prompts(surroundings));
    checks.push(sessions(surroundings));
    checks.push(shell(surroundings));
    checks.extend(walls());
    if as_json {
        streams::data(&format!("{}\n", json!({ "version": VERSION, "checks": checks })));
    } else {
        for check in &checks {
            streams::data(&said(check));
        }
    }
    if checks.iter().all(|check| check.state == State::Ok) { Ending::Done } else { Ending::Failed }
}

fn said(check: &Check) -> String {
    match check.state {
        State::Ok => format!("ok   {}: {}\n", check.name, check.measured),
        State::Bad => {
            format!("BAD  {}: {}\n     {}\n     → {}\n", check.name, check.measured, check.cause, check.remedy)
        }
    }
}

fn ok(name: &str, measured: impl Into<String>, expected: &str) -> Check {
    Check {
        name: name.to_owned(),
        state: State::Ok,
        measured: measured.into(),
        expected: expected.to_owned(),
        cause: String::new(),
        remedy: String::new(),
    }
}

fn bad(name: &str, measured: &str, expected: &str, cause: String, remedy: String) -> Check {
    Check { state: State::Bad, cause, remedy, ..ok(name, measured, expected) }
}

fn settings(flags: &Flags, surroundings: &Surroundings) -> Vec<Check> {
    let expected = "every layer can be read";
    let loaded = match config::load(&open::sources(flags, surroundings)) {
        Ok(loaded) => loaded,
        Err(error) => return vec![bad("config", "not usable", expected, error.to_string(), error.hint())],
    };
    let notices = loaded.notices(surroundings.texts);
    let config = ok("config", if notices.is_empty() { "sound".to_owned() } else { notices.join("; ") }, expected);
    let expected = "an endpoint, a model's name, and a key where the endpoint needs one";
    let api = match wire::reach(&loaded.config.model, loaded.config.growth, &surroundings.around(&surroundings.folder))
    {
        Ok(place) => ok("api", format!("{place} (not asked)"), expected),
        Err(error) => bad("api", "not set up", expected, error.to_string(), open::hint(&error, surroundings)),
    };
    vec![config, api]
}

fn prompts(surroundings: &Surroundings) -> Check {
    let expected = "every prompt renders";
    match wire::check_prompts(&surroundings.around(&surroundings.folder)) {
        Ok(()) => ok("prompts", "sound", expected),
        Err(error) => bad("prompts", "not usable", expected, error.to_string(), error.hint()),
    }
}

fn sessions(surroundings: &Surroundings) -> Check {
    let (name, expected) = ("sessions", "a folder that can be written");
    let Some(folder) = surroundings.sessions() else {
        let remedy = "set HOME or XDG_STATE_HOME".to_owned();
        return bad(name, "no folder", expected, "neither HOME nor XDG_STATE_HOME is set".to_owned(), remedy);
    };
    // The nearest folder that exists decides: the rest is made when the first session is.
    let there = folder.ancestors().find(|path| path.is_dir()).map(Path::to_owned).unwrap_or_default();
    let readonly = there.metadata().is_ok_and(|info| info.permissions().readonly());
    if readonly {
        let cause = format!("{} cannot be written", there.display());
        return bad(name, "read-only", expected, cause, "change its mode, or set code_project.logs_root".to_owned());
    }
    ok(name, folder.display().to_string(), expected)
}

fn shell(surroundings: &Surroundings) -> Check {
    let (name, expected) = ("shell", "bash, or sh");
    let path = surroundings.environment.get("PATH").cloned().unwrap_or_default();
    let found = |program: &str| -> Option<PathBuf> {
        std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
    };
    match found("bash").or_else(|| found("sh")) {
        Some(path) => ok(name, path.display().to_string(), expected),
        None => bad(name, "none", expected, "there is neither on PATH".to_owned(), "install bash".to_owned()),
    }
}

/// The walls that the agent's own commands stand behind, each by itself.
fn walls() -> Vec<Check> {
    let found = match selfsmith_sandbox::probe_workspace() {
        Ok(found) => found,
        Err(error) => {
            let remedy = "make the folder for temporary files writable".to_owned();
            return vec![bad("sandbox", "not tried", "walls that can be tried", error.to_string(), remedy)];
        }
    };
    let check = |state: WallState| {
        let name = format!("sandbox: {}", state.wall.name());
        let open = state.wall.open_without();
        let expected = format!("holds; without it {open}");
        if state.holds {
            ok(&name, format!("holds {}", state.why).trim_end(), &expected)
        } else {
            bad(&name, &format!("does not hold in full: {open}"), &expected, state.why, state.wall.hint().to_owned())
        }
    };
    found.into_iter().map(check).collect()
}
