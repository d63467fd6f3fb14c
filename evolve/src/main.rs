//! The program `selfsmith`: what people type. The judge's own words run here; everything else is handed to the agent.
//!
//! The path to the agent is kept short: it starts no runtime, reads no settings, and becomes the agent by `exec`.

mod terminal;

use clap::Parser;
use clap::error::ErrorKind;
use selfsmith::launcher;
use selfsmith::owner::exit::Exit;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::texts::{EN, fill};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use terminal::cli::{Cli, is_own};
use terminal::{commands, streams};

fn main() -> ExitCode {
    // In a process that the sandbox re-executed this never returns.
    selfsmith_sandbox::entry();
    let mut arguments = std::env::args_os();
    let _ = arguments.next();
    let arguments: Vec<OsString> = arguments.collect();
    let around = surroundings();
    let exit = if is_own(arguments.first().map(OsString::as_os_str)) {
        own(&arguments, &around)
    } else if let Some(near) = arguments.first().and_then(|word| terminal::cli::nearly_own(word)) {
        let word = arguments.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let hint = commands::as_typed(&fill(EN.did_you_mean, &[("command", &near)]), &around);
        streams::fail(&fill(EN.no_command, &[("word", &word)]), &hint);
        Exit::Usage
    } else {
        hand_over(&arguments, &around)
    };
    ExitCode::from(exit.code())
}

/// Gathered once; nothing below reads the environment.
fn surroundings() -> Surroundings {
    Surroundings {
        vars: std::env::vars_os().collect(),
        exe: std::env::current_exe().unwrap_or_default(),
        cwd: std::env::current_dir().unwrap_or_default(),
    }
}

fn hand_over(arguments: &[OsString], around: &Surroundings) -> Exit {
    let error = match commands::agent_ready(around) {
        Ok(agent) => launcher::become_agent(&agent, arguments, around),
        Err(error) => error,
    };
    streams::fail(&fill(EN.error, &[("what", &streams::chain(&error))]), &error.hint());
    Exit::Failed
}

fn own(arguments: &[OsString], around: &Surroundings) -> Exit {
    if arguments.first().is_some_and(|word| word == "--version" || word == "-V") {
        return commands::version();
    }
    match Cli::try_parse_from(std::iter::once(OsString::from("selfsmith")).chain(arguments.iter().cloned())) {
        Ok(cli) => {
            // One provider for every TLS client of the process; a second call would be the only error.
            let _ = rustls::crypto::ring::default_provider().install_default();
            commands::run(cli.command, around)
        }
        Err(error) => {
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Help goes to stdout, errors to stderr; a closed pipe is a normal end.
            let _ = error.print();
            if asked { Exit::Done } else { Exit::Usage }
        }
    }
}

/// The folder of the judge's package when it was built; finds the checkout where the target folder lies elsewhere.
pub fn built_in() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
