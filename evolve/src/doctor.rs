//! What works on this machine for the judge, measured: each check on its own feet, with cause, measured, expected, remedy.
//!
//! Read-only and free of cost: no request leaves the machine. The agent's own part is the agent's (`selfsmith-agent doctor`).

use crate::launcher::{self, Origin};
use crate::owner::settings::{Settings, SettingsError};
use crate::owner::surroundings::Surroundings;
use crate::store::generations::{Store, StoreError};
use selfsmith_sandbox::{Cancel, End, Environment, Job, Limits, Program, Walls};
use serde::Serialize;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the JSON form.
pub const VERSION: u32 = 1;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It holds.
    Ok,
    /// It does not, and something will not work.
    Bad,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// How it came out.
    pub state: State,
    /// What was found.
    pub measured: String,
    /// What should be.
    pub expected: String,
    /// Why it is not; empty where it is.
    pub cause: String,
    /// What to do; empty where there is nothing to do.
    pub remedy: String,
}

impl Check {
    fn ok(name: &str, measured: impl Into<String>, expected: &str) -> Self {
        Self {
            name: name.to_owned(),
            state: State::Ok,
            measured: measured.into(),
            expected: expected.to_owned(),
            cause: String::new(),
            remedy: String::new(),
        }
    }

    fn bad(name: &str, measured: &str, expected: &str, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            state: State::Bad,
            measured: measured.to_owned(),
            expected: expected.to_owned(),
            cause: cause.into(),
            remedy: remedy.into(),
        }
    }
}

/// Every check of the judge's part.
pub fn examine(around: &Surroundings, built_in: &Path) -> Vec<Check> {
    let mut checks = walls();
    checks.push(program(around, "git", "any version from 2.30 on", "install git with the system's package manager"));
    let rust = "install Rust from https://rustup.rs";
    checks.push(program(around, "cargo", "the toolchain of the repositories to judge", rust));
    checks.push(program(around, "rustc", "the toolchain of the repositories to judge", rust));
    checks.push(target(around));
    checks.push(agent(around, built_in));
    checks.push(folder("state folder", around.state().map_err(|error| (error.to_string(), error.hint()))));
    checks.push(folder("generations", around.generations().map_err(|error| (error.to_string(), error.hint()))));
    checks.extend(around.generations().ok().and_then(installed));
    checks.push(settings(around));
    checks.extend(model(around));
    checks.extend(git_locks(around));
    checks
}

fn walls() -> Vec<Check> {
    let expected = "holds, so that what a candidate does stays in the room";
    let probe = selfsmith_sandbox::probe();
    // No wall: where only what everybody may read can be read, most projects build all the same.
    let private = match &probe.private_files {
        files if files.readable => "read in the room".to_owned(),
        files => format!("not read in the room ({})", files.why),
    };
    let private =
        Check::ok("files for their owner alone", private, "packages and toolchains can be read by the builds");
    let walls = probe.walls.into_iter();
    walls
        .map(|wall| {
            let name = format!("wall: {}", wall.wall.name());
            if wall.holds {
                let measured = if wall.why.is_empty() { "holds".to_owned() } else { format!("holds ({})", wall.why) };
                Check::ok(&name, measured, expected)
            } else {
                Check::bad(&name, "does not hold", expected, wall.why, wall.wall.hint())
            }
        })
        .chain(std::iter::once(private))
        .collect()
}

/// Every byte of what is installed; nothing where nothing is.
fn installed(root: PathBuf) -> Option<Check> {
    let store = Store::new(root);
    let count = store.installed().len();
    let (name, expected) = ("installed generations", "every file as it was booted");
    let whole = || Check::ok(name, format!("{count} looked through, all whole"), expected);
    let damaged = |error: &StoreError| {
        let remedy = "`selfsmith rollback` starts the one before; a session does so by itself";
        Check::bad(name, &error.to_string(), expected, "a file changed after it was installed", remedy)
    };
    (count > 0).then(|| store.faults().first().map_or_else(whole, damaged))
}

fn program(around: &Surroundings, name: &str, expected: &str, remedy: &str) -> Check {
    let Ok(path) = which::which_in(name, around.var("PATH"), &around.cwd) else {
        return Check::bad(name, "not found", expected, "it is not on the search path (PATH)", remedy);
    };
    match ask(around, &path, &["--version"]) {
        Ok(said) => Check::ok(name, format!("{said} ({})", path.display()), expected),
        Err(why) => Check::bad(name, "does not answer", expected, why, remedy),
    }
}

/// Cargo's target folder, where the environment moves it: candidates must not share it, so it is cleared for them.
fn target(around: &Surroundings) -> Check {
    let named = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"].iter().find_map(|name| Some((name, around.text(name)?)));
    let measured = match named {
        Some((name, value)) => format!("{name}={value} is set; it is cleared in the room"),
        None => "as cargo has it; a kept folder for each repository in the state folder".to_owned(),
    };
    Check::ok("cargo target", measured, "no folder shared between candidates")
}

fn agent(around: &Surroundings, built_in: &Path) -> Check {
    let expected = "a program that the judge can start";
    match launcher::find(around, built_in) {
        Ok(agent) => {
            let place = agent.program.display().to_string();
            match (&agent.origin, agent.program.is_file()) {
                (Origin::Dev(target), there) => {
                    let state = match (there, target.is_stale()) {
                        (false, _) => "not built yet; the next command builds it",
                        (true, true) => "older than the sources; the next command builds it",
                        (true, false) => "up to date",
                    };
                    Check::ok("agent", format!("dev, {place}: {state}"), expected)
                }
                (_, true) => Check::ok("agent", format!("{}, {place}", agent.generation()), expected),
                (_, false) => Check::bad("agent", &place, expected, "the file is not there", "install the agent again"),
            }
        }
        Err(error) => Check::bad("agent", "not found", expected, error.to_string(), error.hint()),
    }
}

fn folder(name: &str, place: Result<PathBuf, (String, String)>) -> Check {
    let expected = "a folder that may be written";
    let path = match place {
        Ok(path) => path,
        Err((cause, remedy)) => return Check::bad(name, "no place for it", expected, cause, remedy),
    };
    let shown = path.display().to_string();
    // The nearest part that exists says whether the rest can be made.
    let Some(there) = path.ancestors().find(|part| part.exists()) else {
        return Check::bad(name, &shown, expected, "no part of the path exists", "set HOME to a folder of yours");
    };
    match tempfile::Builder::new().prefix(".selfsmith-doctor-").tempdir_in(there) {
        Ok(probe) => {
            drop(probe);
            let made = if path.exists() { "" } else { " (made when it is needed)" };
            Check::ok(name, format!("{shown}{made}"), expected)
        }
        Err(error) => {
            Check::bad(name, &shown, expected, error.to_string(), format!("make {} writable", there.display()))
        }
    }
}

fn settings(around: &Surroundings) -> Check {
    let expected = "no file (the defaults hold), or one that is right";
    let path = match around.settings_file() {
        Ok(path) => path,
        Err(error) => return Check::bad("settings", "no place for them", expected, error.to_string(), error.hint()),
    };
    match Settings::read(&path) {
        Ok(_) if fs::metadata(&path).is_err() => {
            Check::ok("settings", format!("{} does not exist; the defaults hold", path.display()), expected)
        }
        Ok(settings) => {
            let missing = settings.model.api_key_env.filter(|name| around.var(name).is_none());
            match missing {
                Some(name) => Check::bad(
                    "settings",
                    &path.display().to_string(),
                    expected,
                    format!("the variable {name}, named for the key, is not set"),
                    format!("set {name}, or remove model.api_key_env if the endpoint wants no key"),
                ),
                None => Check::ok("settings", path.display().to_string(), expected),
            }
        }
        Err(error) => {
            let cause = match &error {
                SettingsError::Wrong { line, column, why, .. } => format!("line {line}, column {column}: {why}"),
                SettingsError::Read { source, .. } => source.to_string(),
            };
            Check::bad("settings", &path.display().to_string(), expected, cause, error.hint())
        }
    }
}

/// The model behind the relay; nothing where the settings cannot be read, which is said already.
fn model(around: &Surroundings) -> Option<Check> {
    let path = around.settings_file().ok()?;
    let model = Settings::read(&path).ok()?.model;
    let expected = "a model, where proposals come from the agent";
    let measured = match (model.base_url, model.name) {
        (Some(base_url), Some(name)) => format!("{name} at {base_url}"),
        (Some(base_url), None) => {
            format!("{base_url}, named by evolve --model (model.name is not set in {})", path.display())
        }
        (None, _) => format!("none (evolve --proposer agent needs one in {})", path.display()),
    };
    Some(Check::ok("model", measured, expected))
}

/// How old a lock is before it is taken for one that a killed process left.
const LEFT: Duration = Duration::from_secs(10);

/// Locks in the repository of the working folder that nobody gives back; nothing where there is no repository.
fn git_locks(around: &Surroundings) -> Option<Check> {
    let repo = selfsmith_repo::Repo::open(&around.cwd).ok()?;
    let expected = "no lock that a killed process left";
    let age = |path: &PathBuf| fs::metadata(path).ok()?.modified().ok()?.elapsed().ok();
    let left: Vec<PathBuf> = repo.locks().into_iter().filter(|path| age(path).is_some_and(|age| age >= LEFT)).collect();
    let shown: Vec<String> = left.iter().map(|path| path.display().to_string()).collect();
    Some(match shown.as_slice() {
        [] => Check::ok("git locks", "none", expected),
        shown => Check::bad(
            "git locks",
            &shown.join(", "),
            expected,
            "a git process holds it, or one that was killed left it",
            format!("if no git process and no selfsmith is at work there: rm {}", shown.join(" ")),
        ),
    })
}

/// What a program answers, its first line.
pub fn ask(around: &Surroundings, program: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut argv: Vec<OsString> = vec![program.into()];
    argv.extend(arguments.iter().map(OsString::from));
    let keep = ["PATH", "HOME", "LANG"].map(str::to_owned).to_vec();
    // Where rustup keeps its toolchains; its shims need it.
    let homes = ["RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN"];
    let set = homes.iter().filter_map(|name| Some(((*name).to_owned(), around.var(name)?.to_owned()))).collect();
    let job = Job {
        program: Program::Argv(argv),
        dir: around.cwd.clone(),
        environment: Environment { keep, set },
        stdin: Vec::new(),
        limits: Limits { wall: Duration::from_secs(20), ..Limits::default() },
        walls: Walls::None,
    };
    let finished = selfsmith_sandbox::run(&job, &around.vars, &Cancel::default(), &mut |_, _| {});
    let finished = finished.map_err(|error| error.to_string())?;
    let text = finished.stdout.text(|dropped| format!(" … {dropped} bytes … "));
    match finished.end {
        End::Exit(0) => Ok(text.lines().next().unwrap_or_default().trim().to_owned()),
        other => {
            let said = finished.stderr.text(|_| " … ".to_owned());
            Err(format!("it ended by {other:?}: {}", said.lines().next().unwrap_or_default()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_has_cause_and_remedy() {
        let around = Surroundings { vars: vec![("PATH".into(), "/nowhere".into())], ..Surroundings::default() };
        let check = program(&around, "cargo", "any", "install it");
        assert_eq!((check.state, check.remedy.as_str()), (State::Bad, "install it"));
        assert!(check.cause.contains("PATH"));
    }

    #[test]
    fn a_lock_that_nobody_gives_back_is_named_with_how_to_remove_it() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let around = Surroundings { cwd: dir.path().canonicalize().expect("is there"), ..Surroundings::default() };
        assert_eq!(git_locks(&around), None, "no repository");
        let me = crate::store::lineage::judge();
        fs::write(dir.path().join("file"), "one").expect("file");
        let now = crate::store::lineage::at(0);
        selfsmith_repo::Repo::found(dir.path(), &me, "First", now).expect("founded");
        let lock = around.cwd.join(".git/refs/heads/main.lock");
        let file = fs::File::create(&lock).expect("lock");
        assert_eq!(git_locks(&around).map(|check| check.state), Some(State::Ok), "somebody is at work just now");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("is ours");
        let check = git_locks(&around).expect("a repository");
        assert_eq!(check.state, State::Bad);
        assert!(check.remedy.ends_with(&format!("rm {}", lock.display())), "{}", check.remedy);
    }

    #[test]
    fn wrong_settings_name_the_line() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let file = dir.path().join("selfsmith/judge.yaml");
        fs::create_dir_all(file.parent().expect("has a parent")).expect("folder");
        fs::write(&file, "landing: review\nlandings: auto\n").expect("file");
        let around =
            Surroundings { vars: vec![("XDG_CONFIG_HOME".into(), dir.path().into())], ..Surroundings::default() };
        let check = settings(&around);
        assert_eq!(check.state, State::Bad);
        assert!(check.cause.starts_with("line 2"), "{}", check.cause);
    }

    #[test]
    fn a_machine_without_a_model_says_where_one_is_written() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let around =
            Surroundings { vars: vec![("XDG_CONFIG_HOME".into(), dir.path().into())], ..Surroundings::default() };
        let said = |around: &Surroundings| model(around).map(|check| (check.state, check.measured));
        let file = dir.path().join("selfsmith/judge.yaml");
        let none = format!("none (evolve --proposer agent needs one in {})", file.display());
        assert_eq!(said(&around), Some((State::Ok, none)));
        fs::create_dir_all(file.parent().expect("has a parent")).expect("folder");
        fs::write(&file, "model:\n  base_url: http://127.0.0.1:1/v1\n  name: m\n").expect("file");
        assert_eq!(said(&around), Some((State::Ok, "m at http://127.0.0.1:1/v1".to_owned())));
    }

    #[test]
    fn a_folder_that_can_be_made_is_right_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let check = folder("state folder", Ok(dir.path().join("a/b")));
        assert_eq!(check.state, State::Ok);
        assert_eq!(fs::read_dir(dir.path()).expect("reads").count(), 0);
    }
}
