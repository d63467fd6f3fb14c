//! Dependencies: fetched and unpacked outside, from the base's lock file, before anything of a candidate runs; seen in the
//! room read-only.
//!
//! Promises that mirrors and source replacement hold in the room as they hold outside, and that no token goes along. The
//! only program it runs outside of the room is `cargo fetch`, in the base's files.

mod readable;

use crate::reading::cargo_config::Sources;
use crate::workshop::toolchain::Toolchain;
use selfsmith_sandbox::{Bind, BindMode, Cancel, Environment, Job, Limits, Program, SandboxError, Walls, run};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where cargo's home lies in the room.
pub const CARGO_HOME: &str = "/trial/cargo";

/// How long a fetch may take.
const FETCH_LIMIT: Duration = Duration::from_secs(900);

/// Variables of the caller that would steer another build into ours, or ours into another.
const NOT_PASSED_ON: [&str; 9] = [
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
];

/// What the room needs for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Registries, checkouts, folders of packages.
    pub binds: Vec<Bind>,
    /// Text of the settings in the room's cargo home.
    pub config: String,
}

/// Why they could not be had.
#[derive(Debug, thiserror::Error)]
pub enum DependenciesError {
    /// No lock file.
    #[error("build with --locked: the base has no Cargo.lock")]
    NoLock,
    /// Cargo did not start.
    #[error("start cargo fetch")]
    Start(#[source] SandboxError),
    /// A package could not be made readable.
    #[error("copy {path}")]
    Copy {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Cargo complained.
    #[error("fetch the dependencies of the base's lock file: {said}")]
    Fetch {
        /// Its words, bounded.
        said: String,
    },
}

impl DependenciesError {
    /// What to do next.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoLock => "run `cargo generate-lockfile` and commit Cargo.lock",
            Self::Copy { .. } => "see that there is room on the disk and that cargo's home can be read",
            Self::Start(_) => "see that cargo can be started",
            Self::Fetch { .. } => "run `cargo fetch --locked` in the repository and see what it says",
        }
    }
}

/// Where to look for the caller's settings.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// The caller's environment.
    pub environment: &'a [(OsString, OsString)],
    /// The repository's work tree: settings in the folders above it hold for its builds.
    pub workdir: Option<&'a Path>,
}

impl Caller<'_> {
    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_os_str())
    }

    fn cargo_home(&self) -> Option<PathBuf> {
        match self.variable("CARGO_HOME") {
            Some(home) if !home.is_empty() => Some(PathBuf::from(home)),
            _ => self.variable("HOME").map(|home| Path::new(home).join(".cargo")),
        }
    }
}

/// Fetch what the lock file in `tree` (the base's files) names, and say how the room sees it. Packages that the room's user
/// could not read are copied to `copies`.
///
/// # Errors
/// No lock file, cargo cannot fetch, or the disk refuses.
pub fn fetch(
    tree: &Path,
    copies: &Path,
    toolchain: &Toolchain,
    caller: Caller<'_>,
    cancel: &Cancel,
) -> Result<Dependencies, DependenciesError> {
    let lock = std::fs::read_to_string(tree.join("Cargo.lock")).map_err(|_| DependenciesError::NoLock)?;
    if !lock.lines().any(|line| line.starts_with("source = ")) {
        return Ok(Dependencies::default());
    }
    // What is there already needs no network.
    if cargo_fetch(tree, toolchain, caller, cancel, &["--offline"]).is_err() {
        cargo_fetch(tree, toolchain, caller, cancel, &[])?;
    }
    let mut dependencies = seen_in_room(caller);
    readable::make(&mut dependencies.binds, &lock, copies)
        .map_err(|(path, source)| DependenciesError::Copy { path, source })?;
    Ok(dependencies)
}

fn cargo_fetch(
    tree: &Path,
    toolchain: &Toolchain,
    caller: Caller<'_>,
    cancel: &Cancel,
    more: &[&str],
) -> Result<(), DependenciesError> {
    let words = [toolchain.cargo.as_os_str(), OsStr::new("fetch"), OsStr::new("--locked")];
    let words = words.into_iter().chain(more.iter().map(OsStr::new)).map(OsStr::to_owned).collect();
    let passed = |(name, _): &&(OsString, OsString)| !NOT_PASSED_ON.iter().any(|not| OsStr::new(not) == name);
    let mut set: Vec<(String, OsString)> = caller
        .environment
        .iter()
        .filter(passed)
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.clone()))
        .collect();
    let path = std::env::join_paths(
        std::iter::once(toolchain.sysroot.join("bin"))
            .chain(caller.variable("PATH").into_iter().flat_map(std::env::split_paths)),
    );
    set.extend(path.ok().map(|path| ("PATH".to_owned(), path)));
    let job = Job {
        program: Program::Argv(words),
        dir: tree.to_owned(),
        environment: Environment { keep: Vec::new(), set },
        stdin: Vec::new(),
        limits: Limits { wall: FETCH_LIMIT, ..Limits::default() },
        walls: Walls::None,
    };
    let done = run(&job, caller.environment, cancel, &mut |_, _| {}).map_err(DependenciesError::Start)?;
    if done.end.success() {
        return Ok(());
    }
    let said = done.stderr.text(|_| " … ".to_owned());
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = said.iter().rev().take(12).rev().copied().collect::<Vec<_>>().join("; ");
    Err(DependenciesError::Fetch { said: last })
}

/// How the room sees what is unpacked already; nothing is fetched.
pub fn seen_in_room(caller: Caller<'_>) -> Dependencies {
    let mut sources = Sources::default();
    let home = caller.cargo_home();
    let mut read = |folder: &Path, base: &Path| {
        for name in ["config", "config.toml"] {
            if let Ok(text) = std::fs::read_to_string(folder.join(name)) {
                sources.add(&text, base);
            }
        }
    };
    if let Some(home) = &home {
        read(home, home.parent().unwrap_or(home));
    }
    // Farther folders first, so that nearer ones override them; the tree's own settings are read by cargo in the room.
    let above: Vec<&Path> = caller.workdir.into_iter().flat_map(|dir| dir.ancestors().skip(1)).collect();
    for folder in above.iter().rev() {
        read(&folder.join(".cargo"), folder);
    }
    let mut binds: Vec<Bind> = Vec::new();
    let mut bind = |source: PathBuf, at: PathBuf| {
        if source.is_dir() {
            binds.push(Bind { source, at, mode: BindMode::ReadOnly });
        }
    };
    if let Some(home) = &home {
        for part in ["registry", "git"] {
            bind(home.join(part), Path::new(CARGO_HOME).join(part));
        }
    }
    for (outside, inside) in &sources.folders {
        bind(outside.clone(), inside.clone());
    }
    Dependencies { binds, config: sources.text() }
}
