//! The program `selfsmith-agent`: reads its arguments and its surroundings, and hands them to the library.
//!
//! This folder is the only place that knows a terminal, the environment, the standard streams and signals. It promises
//! one exit code per ending (docs/contract.md), answers on stdout and everything else on stderr. What the agent does is
//! in the library; the library cannot import this folder.

mod activity;
mod case;
mod clean;
mod cli;
mod frontends;
mod markdown;
mod repl;
mod signals;
mod streams;

use clap::Parser;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::texts::{EN, fill};
use std::process::ExitCode;

fn main() -> ExitCode {
    // One provider for every TLS client of the process; the only other way to see an error here is a second call.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let cli = cli::Cli::parse();
    ExitCode::from(run(cli).exit_code())
}

fn run(cli: cli::Cli) -> Ending {
    match cli.command {
        Some(cli::Command::Case { kind }) => case::serve(&kind),
        Some(cli::Command::Exec(_)) => not_built("exec"),
        Some(cli::Command::Resume { .. }) => not_built("resume"),
        Some(cli::Command::Config { .. }) => not_built("config"),
        Some(cli::Command::Doctor { .. }) => not_built("doctor"),
        None => not_built("the REPL"),
    }
}

/// What has no builder yet says so, and ends with a code of its own.
fn not_built(what: &str) -> Ending {
    streams::tell(&fill(EN.not_built, &[("what", what)]));
    Ending::NotBuilt
}
