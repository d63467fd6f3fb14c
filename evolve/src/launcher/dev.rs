//! The agent beside a judge that was built in a checkout: where it lies, whether it is up to date, how to build it.
//!
//! Whether it is up to date is decided with `stat` alone (the start of every session passes here): cargo wrote down which
//! files the program was made from, and a stamp says when cargo last had a look. Anything newer, or a file that is gone,
//! and cargo is asked; cargo itself then decides what to compile.

use super::LaunchError;
use super::environment;
use crate::owner::surroundings::Surroundings;
use selfsmith_sandbox::{Cancel, End, Environment, Job, Limits, Program, Stream, Walls};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Name of the agent's program.
pub const AGENT: &str = if cfg!(windows) { "selfsmith-agent.exe" } else { "selfsmith-agent" };

/// Makes cargo show its progress bar where it sees no terminal.
const PROGRESS: [(&str, &str); 3] =
    [("CARGO_TERM_PROGRESS_WHEN", "always"), ("CARGO_TERM_PROGRESS_WIDTH", "72"), ("CARGO_TERM_COLOR", "always")];

/// To whom cargo's words go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// A person at a terminal: with a progress bar.
    ToPerson,
    /// A log.
    ToLog,
}

/// A place where cargo put the running executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevTarget {
    /// Root of the checkout: where `config.yaml` and `prompts/` lie.
    pub workspace: PathBuf,
    /// Folder of the running executable, and of the agent's.
    pub profile_dir: PathBuf,
    /// Cargo's name of the profile.
    pub profile: String,
    /// Target triple, where the build named one.
    pub triple: Option<String>,
    /// Root of the target folder.
    pub target_dir: PathBuf,
}

impl DevTarget {
    /// Where cargo put `exe`, if it is one of a checkout of ours. `built_in` is the folder of the judge's package at build
    /// time; it finds the checkout where the target folder lies elsewhere.
    pub fn of(exe: &Path, built_in: &Path) -> Option<Self> {
        let profile_dir = exe.parent()?;
        // Cargo's own marks; an installed copy has neither.
        if !profile_dir.join(".cargo-lock").exists() || !profile_dir.join("deps").is_dir() {
            return None;
        }
        let above = profile_dir.parent()?;
        let (target_dir, triple) = if above.join("CACHEDIR.TAG").exists() || above.join(".rustc_info.json").exists() {
            (above, None)
        } else {
            (above.parent()?, Some(above.file_name()?.to_str()?.to_owned()))
        };
        let profile = match profile_dir.file_name()?.to_str()? {
            "debug" => "dev".to_owned(),
            other => other.to_owned(),
        };
        let mut places = target_dir.ancestors().skip(1).chain(built_in.parent());
        let workspace = places.find(|place| is_ours(place))?;
        Some(Self {
            workspace: workspace.to_owned(),
            profile_dir: profile_dir.to_owned(),
            profile,
            triple,
            target_dir: target_dir.to_owned(),
        })
    }

    /// The agent's program.
    pub fn agent(&self) -> PathBuf {
        self.profile_dir.join(AGENT)
    }

    /// Whether cargo has to be asked.
    pub fn is_stale(&self) -> bool {
        let Some(stamp) = modified(&self.stamp()) else { return true };
        if !self.agent().is_file() {
            return true;
        }
        let Ok(written) = fs::read_to_string(self.profile_dir.join("selfsmith-agent.d")) else { return true };
        let manifests = ["Cargo.toml", "Cargo.lock"].map(|name| self.workspace.join(name));
        let newer = |path: &Path| modified(path).is_none_or(|time| time >= stamp);
        manifests.iter().any(|path| newer(path)) || sources(&written).iter().any(|path| newer(path))
    }

    /// Have cargo bring the agent up to date, its words going to `say` as they come.
    pub fn build(&self, around: &Surroundings, shown: Shown, say: &mut dyn FnMut(&[u8])) -> Result<(), LaunchError> {
        let search = around.var("PATH");
        let Ok(cargo) = which::which_in("cargo", search, &around.cwd) else {
            return Err(LaunchError::NoCargo { workspace: self.workspace.clone() });
        };
        let began = SystemTime::now();
        let argv = self.argv(&cargo);
        let typed = argv.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut vars = environment::for_sibling_build(&around.vars);
        if shown == Shown::ToPerson {
            // Its words pass through us, so that it sees no terminal by itself.
            vars.extend(PROGRESS.map(|(name, value)| (name.into(), value.into())));
        }
        let job = Job {
            program: Program::Argv(argv),
            dir: self.workspace.clone(),
            environment: whole(&vars),
            stdin: Vec::new(),
            limits: Limits { wall: Duration::from_secs(3600), output: 64 * 1024, ..Limits::default() },
            walls: Walls::None,
        };
        let finished = selfsmith_sandbox::run(&job, &vars, &Cancel::default(), &mut |stream, bytes| {
            if matches!(stream, Stream::Stderr) {
                say(bytes);
            }
        })
        .map_err(|source| LaunchError::CargoNotRun { argv: typed.clone(), why: source.to_string() })?;
        if finished.end != End::Exit(0) {
            return Err(LaunchError::CargoFailed { argv: typed });
        }
        self.mark(began);
        Ok(())
    }

    /// The same selection that `cargo run --bin selfsmith` makes in the root, so that nothing is compiled twice.
    fn argv(&self, cargo: &Path) -> Vec<OsString> {
        let mut argv: Vec<OsString> = vec![cargo.into(), "build".into(), "--bin".into(), "selfsmith-agent".into()];
        match self.profile.as_str() {
            "dev" => {}
            "release" => argv.push("--release".into()),
            other => argv.extend(["--profile".into(), other.into()]),
        }
        if let Some(triple) = &self.triple {
            argv.extend(["--target".into(), triple.into()]);
        }
        argv.extend(["--target-dir".into(), self.target_dir.clone().into()]);
        argv
    }

    fn stamp(&self) -> PathBuf {
        self.profile_dir.join(".selfsmith-agent-checked")
    }

    /// The stamp carries the time at which cargo began: what is edited while it works is newer. That it cannot be written
    /// costs time at the next start, nothing else.
    fn mark(&self, began: SystemTime) {
        if let Ok(file) = fs::File::create(self.stamp()) {
            let _ = file.set_modified(began);
        }
    }
}

/// All of `vars`, as the sandbox wants it: names to keep, and on top those that it would drop by itself.
fn whole(vars: &[(OsString, OsString)]) -> Environment {
    let named = |name: &OsStr| name.to_str().map(str::to_owned);
    let build = |name: &str| name.starts_with("CARGO") || name.starts_with("RUST");
    Environment {
        keep: vars.iter().filter_map(|(name, _)| named(name)).collect(),
        set: vars
            .iter()
            .filter_map(|(name, value)| Some((named(name)?, value.clone())))
            .filter(|(name, _)| build(name))
            .collect(),
    }
}

fn is_ours(place: &Path) -> bool {
    place.join("evolve/Cargo.toml").is_file() && place.join("src/terminal/main.rs").is_file()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// Files named in a dependency file: `target: a b\ c`, blanks in names escaped by `\`.
fn sources(written: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in written.lines() {
        let Some((_, list)) = line.split_once(": ") else { continue };
        let mut name = String::new();
        let mut chars = list.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' if chars.peek() == Some(&' ') => name.extend(chars.next()),
                ' ' => found.push(PathBuf::from(std::mem::take(&mut name))),
                other => name.push(other),
            }
        }
        found.push(PathBuf::from(name));
    }
    found.retain(|path| !path.as_os_str().is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().expect("has a parent")).expect("folder");
        fs::write(path, "").expect("file");
    }

    /// A checkout with a target folder as cargo lays it out.
    fn checkout(profile: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("temporary folder");
        let root = dir.path().join("check out");
        for name in ["evolve/Cargo.toml", "src/terminal/main.rs", "Cargo.toml", "Cargo.lock", "target/CACHEDIR.TAG"] {
            touch(&root.join(name));
        }
        let profile_dir = root.join("target").join(profile);
        fs::create_dir_all(profile_dir.join("deps")).expect("folder");
        touch(&profile_dir.join(".cargo-lock"));
        (dir, root)
    }

    #[test]
    fn an_executable_in_a_workspace_target_knows_profile_and_root() {
        let (_dir, root) = checkout("debug");
        let exe = root.join("target/debug/selfsmith");
        let target = DevTarget::of(&exe, Path::new("/nowhere/evolve")).expect("is a dev target");
        assert_eq!((target.profile.as_str(), &target.workspace, &target.triple), ("dev", &root, &None));
        let argv = target.argv(Path::new("cargo"));
        assert_eq!(
            argv.get(..4).map(<[_]>::to_vec),
            Some(["cargo", "build", "--bin", "selfsmith-agent"].map(OsString::from).to_vec())
        );
        assert!(!argv.contains(&"--release".into()));
    }

    #[test]
    fn profile_and_triple_of_the_running_executable_are_used_again() {
        let (_dir, root) = checkout("x86_64-unknown-linux-musl/dist");
        let exe = root.join("target/x86_64-unknown-linux-musl/dist/selfsmith");
        let target = DevTarget::of(&exe, Path::new("/nowhere/evolve")).expect("is a dev target");
        let argv = target.argv(Path::new("cargo"));
        for words in [["--profile", "dist"], ["--target", "x86_64-unknown-linux-musl"]] {
            assert!(argv.windows(2).any(|pair| pair == words), "{words:?} not in {argv:?}");
        }
    }

    #[test]
    fn an_installed_copy_is_no_dev_target() {
        let (_dir, root) = checkout("debug");
        touch(&root.join("bin/selfsmith"));
        assert_eq!(DevTarget::of(&root.join("bin/selfsmith"), &root.join("evolve")), None);
    }

    #[test]
    fn a_newer_or_missing_source_makes_it_stale_and_nothing_else_does() {
        let (_dir, root) = checkout("debug");
        let target =
            DevTarget::of(&root.join("target/debug/selfsmith"), Path::new("/nowhere/evolve")).expect("dev target");
        assert!(target.is_stale(), "nothing was built");
        touch(&target.agent());
        let source = root.join("src/terminal/main.rs");
        let named = source.to_string_lossy().replace(' ', "\\ ");
        fs::write(root.join("target/debug/selfsmith-agent.d"), format!("out: {named}\n")).expect("dep-info");
        target.mark(SystemTime::now() + Duration::from_secs(60));
        assert!(!target.is_stale());
        let later = SystemTime::now() + Duration::from_secs(120);
        fs::File::open(&source).and_then(|file| file.set_modified(later)).expect("new time");
        assert!(target.is_stale(), "an edited source");
        fs::remove_file(&source).expect("remove");
        assert!(target.is_stale(), "a removed source");
    }
}
