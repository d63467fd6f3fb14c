//! The real toolchain behind the caller's `cargo` and `rustc`: which folder it is, and how it is seen in the room.
//!
//! Promises to pass by rustup's proxies, which need a home, a network and settings that the room does not have; a compiler
//! of a distribution works as well. It asks in a folder that holds nothing but the base's own `rust-toolchain` file.

use selfsmith_sandbox::{Bind, BindMode, Cancel, Environment, Job, Limits, Program, SandboxError, Walls, run};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the toolchain lies in the room, unless it belongs to the system.
const IN_ROOM: &str = "/trial/toolchain";

/// Folders of programs that every room has.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What rustup and the loader need to know of the caller's environment; nothing else is passed on.
const FOR_RUSTUP: [&str; 6] =
    ["RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "CARGO_HOME", "RUSTUP_AUTO_INSTALL", "RUSTUP_DIST_SERVER", "LD_LIBRARY_PATH"];

/// A toolchain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// Its folder outside; `bin/rustc` lies in it.
    pub sysroot: PathBuf,
    /// Its cargo outside.
    pub cargo: PathBuf,
    /// What `rustc -vV` and `cargo -V` print; tells one toolchain from another.
    pub version: String,
}

/// Why there is no toolchain.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// Not found, or it did not start.
    #[error("start {program}")]
    Start {
        /// Which program.
        program: &'static str,
        /// Why.
        source: SandboxError,
    },
    /// It said something else than expected.
    #[error("learn of {program} what it is: {said}")]
    Said {
        /// Which program, with its arguments.
        program: String,
        /// What it said.
        said: String,
    },
}

impl ToolchainError {
    /// What to do next.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Start { .. } => "install a Rust toolchain with cargo (https://rustup.rs) and see that it is on PATH",
            Self::Said { .. } => "see what the program says when it is called by hand in the repository",
        }
    }
}

impl Toolchain {
    /// Find it, asked from `dir`. `parent` is the caller's environment.
    ///
    /// # Errors
    /// No `rustc` or `cargo` on the caller's `PATH`, or they do not say what they are.
    pub fn find(dir: &Path, parent: &[(OsString, OsString)], cancel: &Cancel) -> Result<Self, ToolchainError> {
        let ask = |program: &'static str, arguments: &[&str]| ask(dir, parent, cancel, program, arguments);
        let sysroot = PathBuf::from(ask("rustc", &["--print", "sysroot"])?);
        let version = format!("{}\n{}", ask("rustc", &["-vV"])?, ask("cargo", &["-V"])?);
        let own = sysroot.join("bin/cargo");
        let cargo = if own.is_file() { own } else { on_path(parent, "cargo").unwrap_or(own) };
        Ok(Self { sysroot, cargo, version })
    }

    /// Whether its programs are the system's, which every room has at their own place.
    fn is_of_the_system(&self) -> bool {
        self.sysroot.starts_with("/usr") || self.sysroot == Path::new("/")
    }

    /// What has to be bound for it.
    pub fn binds(&self) -> Vec<Bind> {
        if self.is_of_the_system() {
            return Vec::new();
        }
        vec![Bind { source: self.sysroot.clone(), at: IN_ROOM.into(), mode: BindMode::ReadOnly }]
    }

    /// Its cargo, as the room sees it.
    pub fn cargo_in_room(&self) -> PathBuf {
        match self.cargo.strip_prefix(&self.sysroot) {
            Ok(inner) if !self.is_of_the_system() => Path::new(IN_ROOM).join(inner),
            _ => self.cargo.clone(),
        }
    }

    /// `PATH` of the room.
    pub fn path_in_room(&self) -> String {
        if self.is_of_the_system() { SYSTEM_PATH.to_owned() } else { format!("{IN_ROOM}/bin:{SYSTEM_PATH}") }
    }

    /// Its own libraries, as the room sees them: what a test of a procedural macro is linked with.
    pub fn libraries_in_room(&self) -> String {
        if self.is_of_the_system() { "/usr/lib".to_owned() } else { format!("{IN_ROOM}/lib") }
    }

    /// Whether a component's program (`cargo-clippy`, `cargo-fmt`) is there.
    pub fn has(&self, program: &str) -> bool {
        self.sysroot.join("bin").join(program).is_file()
            || (self.is_of_the_system() && Path::new("/usr/bin").join(program).is_file())
    }
}

fn ask(
    dir: &Path,
    parent: &[(OsString, OsString)],
    cancel: &Cancel,
    program: &'static str,
    arguments: &[&str],
) -> Result<String, ToolchainError> {
    let words = std::iter::once(program).chain(arguments.iter().copied()).map(OsString::from).collect();
    let known = |(name, _): &&(OsString, OsString)| FOR_RUSTUP.iter().any(|known| OsStr::new(known) == name);
    let set = parent.iter().filter(known).map(|(name, value)| (name.to_string_lossy().into_owned(), value.clone()));
    let job = Job {
        program: Program::Argv(words),
        dir: dir.to_owned(),
        environment: Environment { keep: vec!["PATH".into(), "HOME".into()], set: set.collect() },
        stdin: Vec::new(),
        limits: Limits { wall: Duration::from_secs(60), ..Limits::default() },
        walls: Walls::None,
    };
    let done = run(&job, parent, cancel, &mut |_, _| {}).map_err(|source| ToolchainError::Start { program, source })?;
    let said = done.stdout.text(|_| String::new()).trim().to_owned();
    if done.end.success() && !said.is_empty() {
        return Ok(said);
    }
    let complaint = done.stderr.text(|_| String::new());
    let said = format!("{} ({:?})", complaint.trim(), done.end);
    Err(ToolchainError::Said { program: format!("{program} {}", arguments.join(" ")), said })
}

fn on_path(parent: &[(OsString, OsString)], program: &str) -> Option<PathBuf> {
    let (_, path) = parent.iter().find(|(name, _)| name == "PATH")?;
    let found = std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| file.is_file())?;
    found.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toolchain(sysroot: &str, cargo: &str) -> Toolchain {
        Toolchain { sysroot: sysroot.into(), cargo: cargo.into(), version: String::new() }
    }

    #[test]
    fn a_toolchain_of_its_own_is_seen_at_a_neutral_path() {
        let own = toolchain("/home/u/.rustup/toolchains/x", "/home/u/.rustup/toolchains/x/bin/cargo");
        assert_eq!(own.cargo_in_room(), Path::new("/trial/toolchain/bin/cargo"));
        assert_eq!(own.binds().len(), 1);
    }

    #[test]
    fn a_toolchain_of_the_system_stays_where_it_is() {
        let system = toolchain("/usr", "/usr/bin/cargo");
        assert_eq!(system.cargo_in_room(), Path::new("/usr/bin/cargo"));
        assert!(system.binds().is_empty());
    }

    #[test]
    fn no_rustc_on_the_path_is_said_with_what_to_do() {
        let parent = [(OsString::from("PATH"), OsString::from("/nowhere"))];
        let error = Toolchain::find(Path::new("/"), &parent, &Cancel::default()).expect_err("there is none");
        assert!(error.to_string().contains("start rustc") && error.hint().contains("PATH"), "{error}");
    }
}
