//! Runs a proposer's program in the room: the candidate's folder, the programs of the system, and what else it was given.

use crate::proposer::ProposerError;
use crate::workshop::deps::{CARGO_HOME, Dependencies};
use selfsmith_sandbox::{
    Bind, BindMode, Cancel, Captured, End, Environment, Finished, Forward, Job, Limits, Program, Room, Stream, Walls,
};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the candidate's folder is seen.
pub const CANDIDATE: &str = "/candidate";
/// Where a proposer's builds go: below the temporary folder, which an agent's own walls leave open.
pub const TARGET: &str = "/tmp/target";
/// Port in the room that leads to the relay.
pub const RELAY_PORT: u16 = 4891;
/// Bytes of one environment variable at most (the system's own bound is 128 KiB).
const VARIABLE: usize = 96 * 1024;

/// What every proposer's room has in common.
#[derive(Debug, Clone, Default)]
pub struct Kit {
    /// Further folders, such as a toolchain's.
    pub binds: Vec<Bind>,
    /// Packages that are unpacked already, for builds without a network.
    pub packages: Dependencies,
    /// Variables for it.
    pub set: Vec<(String, OsString)>,
    /// Variables of the caller that may go in: locale, terminal, time zone.
    pub caller: Vec<(OsString, OsString)>,
    /// Wall time of one attempt.
    pub wall: Duration,
    /// Bytes of memory.
    pub memory: u64,
    /// Whether missing walls are accepted.
    pub accept_weaker: bool,
    /// Ends it early.
    pub cancel: Cancel,
}

/// One run.
#[derive(Debug)]
pub struct Run<'a> {
    /// What people call it: as it was typed, never as the room sees it.
    pub shown: String,
    /// Program and arguments as seen inside.
    pub argv: Vec<OsString>,
    /// The candidate's folder, outside.
    pub dir: &'a Path,
    /// A target folder for cargo, outside, to be written.
    pub target: Option<&'a Path>,
    /// Further files, read-only.
    pub binds: Vec<Bind>,
    /// Variables.
    pub set: Vec<(String, OsString)>,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// Socket of the relay, where a model may be reached.
    pub relay: Option<&'a Path>,
}

/// Names of the caller's variables that a proposer may see.
const KEPT: [&str; 7] = ["LANG", "LC_ALL", "LC_CTYPE", "LANGUAGE", "TZ", "TERM", "NO_COLOR"];

/// Run it; `on_output` gets its output as it comes.
pub fn run(kit: &Kit, run: Run<'_>, on_output: &mut dyn FnMut(Stream, &[u8])) -> Result<Finished, ProposerError> {
    let shown = run.shown;
    let broken = |what: String, hint: String| ProposerError { what, hint };
    selfsmith_sandbox::give_to_room(run.dir).map_err(|error| broken(format!("could not {error}"), error.hint()))?;
    let mut binds = vec![Bind { source: run.dir.to_owned(), at: PathBuf::from(CANDIDATE), mode: BindMode::ReadWrite }];
    binds.extend(kit.binds.iter().cloned());
    let cargo = cargo_home(&kit.packages).map_err(|error| {
        broken(format!("could not make a folder for cargo: {error}"), "make room in the temporary folder".to_owned())
    })?;
    binds.push(Bind { source: cargo.path().to_owned(), at: CARGO_HOME.into(), mode: BindMode::ReadWrite });
    binds.extend(kit.packages.binds.iter().cloned());
    binds.extend(run.binds);
    if let Some(target) = run.target {
        selfsmith_sandbox::give_to_room(target).map_err(|error| broken(format!("could not {error}"), error.hint()))?;
        binds.push(Bind { source: target.to_owned(), at: TARGET.into(), mode: BindMode::ReadWrite });
    }
    let forwards = run.relay.map(|socket| Forward { port: RELAY_PORT, socket: socket.to_owned() });
    let mut set = kit.set.clone();
    set.push(("CARGO_HOME".to_owned(), CARGO_HOME.into()));
    if run.target.is_some() {
        set.retain(|(name, _)| name != "CARGO_TARGET_DIR");
        set.push(("CARGO_TARGET_DIR".to_owned(), TARGET.into()));
    }
    set.extend(run.set);
    let job = Job {
        program: Program::Argv(run.argv),
        dir: PathBuf::from(CANDIDATE),
        environment: Environment { keep: KEPT.iter().map(|name| (*name).to_owned()).collect(), set },
        stdin: run.stdin,
        limits: Limits {
            wall: kit.wall,
            memory: Some(kit.memory),
            processes: Some(512),
            descriptors: Some(4096),
            file_size: Some(1 << 30),
            disk: Some(16 << 30),
            output: 256 * 1024,
            ..Limits::default()
        },
        walls: Walls::Room(Room {
            binds,
            tmp_bytes: 2 << 30,
            forwards: forwards.into_iter().collect(),
            accept_weaker: kit.accept_weaker,
        }),
    };
    let finished = selfsmith_sandbox::run(&job, &kit.caller, &kit.cancel, on_output)
        .map_err(|error| broken(format!("could not run `{shown}` in the room: {error}"), error.hint()))?;
    match finished.end {
        End::TimedOut => Err(broken(
            format!("`{shown}` was ended after {} s", kit.wall.as_secs()),
            "give it more time with limits.propose_seconds in the judge's settings, or a smaller goal".to_owned(),
        )),
        End::LimitExceeded(limit) => Err(broken(
            format!("`{shown}` was ended: it used more than permitted ({limit:?})"),
            "raise the limit in the judge's settings if that use is right".to_owned(),
        )),
        End::Cancelled => Err(broken(format!("`{shown}` was stopped"), "start the same command again".to_owned())),
        End::Exit(_) | End::Signal(_) => Ok(finished),
    }
}

/// Cargo's home for one run, gone afterwards.
fn cargo_home(packages: &Dependencies) -> io::Result<tempfile::TempDir> {
    let home = tempfile::Builder::new().prefix("selfsmith-cargo-").tempdir()?;
    for bind in &packages.binds {
        if let Ok(inner) = bind.at.strip_prefix(CARGO_HOME) {
            fs::create_dir_all(home.path().join(inner))?;
        }
    }
    fs::write(home.path().join("config.toml"), &packages.config)?;
    selfsmith_sandbox::give_to_room(home.path()).map_err(io::Error::other)?;
    Ok(home)
}

/// A text for a variable, cut where the system would refuse it.
pub fn variable(text: &str) -> OsString {
    let mut end = text.len().min(VARIABLE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let whole = text.split_at_checked(end).map_or(text, |(head, _)| head);
    // A variable cannot hold the byte 0.
    OsString::from(whole.replace('\0', ""))
}

/// The last lines of a stream, for a person.
pub fn last_lines(stream: &Captured, lines: usize) -> String {
    let text = stream.text(|dropped| format!("\n… {dropped} bytes left out …\n"));
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    all.get(all.len().saturating_sub(lines)..).unwrap_or_default().join("\n")
}

/// How a program ended, in words that complete "it".
pub fn ended(end: &End) -> String {
    match end {
        End::Exit(code) => format!("ended with exit code {code}"),
        End::Signal(signal) => format!("was ended by signal {signal}"),
        other => format!("ended by {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_for_a_variable_is_cut_between_characters() {
        let text = "漢".repeat(VARIABLE);
        let cut = variable(&text);
        let cut = cut.to_str().expect("is text");
        assert!(cut.len() <= VARIABLE && cut.chars().all(|c| c == '漢'), "{} bytes", cut.len());
        assert_eq!(variable("a\0b"), OsString::from("ab"));
    }
}
