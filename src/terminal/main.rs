//! The program `selfsmith-agent`: reads its arguments and its surroundings, and hands them to the library.
//!
//! This folder is the only place that knows a terminal, the environment, the standard streams and signals. It promises
//! one exit code per ending (docs/contract.md), answers on stdout and everything else on stderr. What the agent does is
//! in the library; the library cannot import this folder.

mod activity;
mod case;
mod clean;
mod cli;
mod config_command;
mod doctor;
mod exec;
mod export;
mod frontends;
mod keys;
mod markdown;
mod open;
mod person;
mod probe;
mod repl;
mod sessions;
mod signals;
mod start;
mod stdin;
mod streams;
mod surroundings;
mod talk;
mod trust;
mod undo;
mod when;

use clap::Parser;
use cli::Command;
use open::Refusal;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::texts::{EN, fill};
use selfsmith_agent::wire::Which;
use std::collections::BTreeMap;
use std::process::ExitCode;
use surroundings::Surroundings;

fn main() -> ExitCode {
    // In a process that the sandbox re-executed this never returns.
    selfsmith_sandbox::entry();
    // One provider for every TLS client of the process; the only way to see an error here is a second call.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let cli = cli::Cli::try_parse().unwrap_or_else(|error| {
        start::has_worked();
        error.exit()
    });
    let mut ending = run(&cli);
    if let Some(error) = streams::lost() {
        streams::tell(&fill(EN.unwritable_stdout, &[("error", error)]));
        ending = Ending::Failed;
    }
    if ending != Ending::Failed {
        start::has_worked();
    }
    ExitCode::from(ending.exit_code())
}

fn run(cli: &cli::Cli) -> Ending {
    if let Some(Command::Case { kind }) = &cli.command {
        return case::serve(kind);
    }
    let environment = surroundings::environment();
    let surroundings = match Surroundings::look(environment.clone(), cli.flags.directory.as_deref()) {
        Ok(surroundings) => surroundings,
        Err(error) => {
            let folder = cli.flags.directory.as_ref().map_or(".".to_owned(), |folder| folder.display().to_string());
            let text = fill(EN.no_folder, &[("folder", &folder), ("error", &error.to_string())]);
            return unready(cli, &environment, Refusal { ending: Ending::Usage, text });
        }
    };
    if let Some(Command::Config { what }) = &cli.command {
        return config_command::run(&cli.flags, what, &surroundings);
    }
    if let Some(Command::Trust { what }) = &cli.command {
        return trust::run(what.as_ref(), &surroundings);
    }
    // One thread: what waits, waits here; what computes or looks at files has threads of its own. A second one would be woken
    // for every piece of a streamed reply.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let text = fill(EN.no_runtime, &[("error", &error.to_string())]);
            return unready(cli, &environment, Refusal { ending: Ending::Failed, text });
        }
    };
    let ending = match &cli.command {
        Some(Command::Exec(args)) => {
            let which = if cli.continued || args.continued { Which::Resumed(None) } else { Which::New };
            exec::run(&cli.flags, args, which, &surroundings, &runtime)
        }
        Some(Command::Resume { session }) => {
            talk::run(&cli.flags, Which::Resumed(session.clone()), &surroundings, &runtime)
        }
        Some(Command::Fork { session }) => {
            talk::run(&cli.flags, Which::Forked(session.clone()), &surroundings, &runtime)
        }
        Some(Command::Sessions(args)) => sessions::run(&cli.flags, args, &surroundings),
        Some(Command::Export(args)) => export::run(&cli.flags, args, &surroundings),
        Some(Command::Run { .. }) => {
            streams::tell(&fill(EN.not_built, &[("what", "run")]));
            Ending::NotBuilt
        }
        Some(Command::Setup) => talk::setup(&cli.flags, &surroundings, &runtime),
        Some(Command::Probe) => probe::run(&cli.flags, &surroundings, &runtime),
        Some(Command::Undo(args)) => undo::run(&cli.flags, args, &surroundings),
        Some(Command::Doctor { json }) => doctor::run(&cli.flags, *json, &surroundings),
        Some(Command::Case { .. } | Command::Config { .. } | Command::Trust { .. }) | None => {
            let which = if cli.continued { Which::Resumed(None) } else { Which::New };
            talk::run(&cli.flags, which, &surroundings, &runtime)
        }
    };
    // A thread that still reads the keyboard or waits for a child must not keep the program.
    runtime.shutdown_background();
    ending
}

/// It cannot even begin. Whoever asked for event lines is told in them.
fn unready(cli: &cli::Cli, environment: &BTreeMap<String, String>, refusal: Refusal) -> Ending {
    let json = matches!(&cli.command, Some(Command::Exec(args)) if args.json);
    exec::refused(&refusal, json.then(|| exec::lines(environment, Default::default())).as_deref(), environment, &EN)
}
