//! `doctor`: the judge's checks, then the agent's own, which the agent prints itself.

use crate::terminal::commands::JUDGE;
use crate::terminal::display::Look;
use crate::terminal::streams;
use selfsmith::doctor::{self, Check, State};
use selfsmith::launcher;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::texts::{EN, fill};
use selfsmith_sandbox::{Cancel, End, Environment, Job, Limits, Program, Walls};
use std::ffi::OsString;
use std::time::Duration;

/// Run it. Ends with 1 if a check fails.
pub fn run(json: bool, around: &Surroundings) -> Exit {
    let checks = doctor::examine(around, crate::built_in());
    if !json {
        show(&checks, around);
    }
    let agent = of_agent(json, around);
    if json {
        let agent_part = match &agent {
            Ok((said, _)) => serde_json::from_str::<serde_json::Value>(said.trim()).unwrap_or_default(),
            Err(why) => serde_json::json!({ "error": why }),
        };
        streams::print_json(&serde_json::json!({
            "version": doctor::VERSION,
            "judge": JUDGE,
            "checks": checks,
            "agent": agent_part,
        }));
    } else {
        let look = Look::new(around, &std::io::stdout());
        streams::print(&look.strong(EN.doctor_agent));
        match &agent {
            Ok((said, _)) => streams::print(said.trim_end()),
            Err(why) => streams::print(&look.bad(why)),
        };
    }
    let holds = checks.iter().all(|check| check.state == State::Ok) && agent.is_ok_and(|(_, holds)| holds);
    if holds { Exit::Done } else { Exit::Failed }
}

fn show(checks: &[Check], around: &Surroundings) {
    let look = Look::new(around, &std::io::stdout());
    streams::print(&look.strong(EN.doctor_judge));
    for check in checks {
        let line = match check.state {
            State::Ok => look.good(&fill(EN.doctor_ok, &[("name", &check.name), ("measured", &check.measured)])),
            State::Bad => {
                let measured = format!("{} ({})", check.measured, check.cause);
                let values = [
                    ("name", check.name.as_str()),
                    ("measured", &measured),
                    ("expected", &check.expected),
                    ("remedy", &check.remedy),
                ];
                look.bad(&fill(EN.doctor_bad, &values))
            }
        };
        streams::print(&line);
    }
}

/// What the agent's own doctor says, and whether all of it holds (docs/contract.md: 0, else 1).
fn of_agent(json: bool, around: &Surroundings) -> Result<(String, bool), String> {
    let agent = launcher::find(around, crate::built_in()).map_err(|error| error.to_string())?;
    let mut argv: Vec<OsString> = vec![agent.program.clone().into(), "doctor".into()];
    if json {
        argv.push("--json".into());
    }
    let vars = launcher::for_agent(&around.vars);
    let named = |name: &OsString| name.to_str().map(str::to_owned);
    let job = Job {
        program: Program::Argv(argv),
        dir: around.cwd.clone(),
        // It checks the person's own settings and keys: it sees what the person's agent would see.
        environment: Environment {
            keep: Vec::new(),
            set: vars.iter().filter_map(|(name, value)| Some((named(name)?, value.clone()))).collect(),
        },
        stdin: Vec::new(),
        limits: Limits { wall: Duration::from_secs(60), output: 1 << 20, ..Limits::default() },
        walls: Walls::None,
    };
    let finished = selfsmith_sandbox::run(&job, &around.vars, &Cancel::default(), &mut |_, _| {});
    let finished = finished.map_err(|error| error.to_string())?;
    let said = finished.stdout.text(|dropped| format!("\n… {dropped} bytes left out …\n"));
    match finished.end {
        End::Exit(code) if !said.trim().is_empty() => Ok((said, code == 0)),
        other => {
            let words = finished.stderr.text(|_| " … ".to_owned());
            Err(format!("the agent's doctor ended by {other:?}: {}", words.trim()))
        }
    }
}
