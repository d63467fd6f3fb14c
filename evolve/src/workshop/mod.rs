//! The workshop: everything that is needed to run a program of a candidate in the room, and the one function that does it.
//!
//! Promises that what a candidate wrote runs nowhere else, sees its files, its target folder, the toolchain and the unpacked
//! registry at neutral paths, and none of the judge's folders, keys or other trials. It knows nothing of gates.

pub mod deps;
pub mod folder;
mod given;
pub mod slot;
pub mod toolchain;

use crate::judgement::candidate::TreeId;
use crate::workshop::deps::{CARGO_HOME, Caller, Dependencies, DependenciesError};
use crate::workshop::slot::{Slot, SlotError};
use crate::workshop::toolchain::{Toolchain, ToolchainError};
use selfsmith_repo::{Repo, RepoError, TreePath};
use selfsmith_sandbox::{
    Bind, BindMode, Environment, Finished, Job, Limits, Program, Room, SandboxError, Stream, Walls, give_to_room, run,
};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use given::{Given, Mutants};

/// Where the room sees the trial's files.
pub const TREE: &str = "/trial/tree";
/// Where the room sees the target folder.
pub const TARGET: &str = "/trial/target";
/// Where the room sees programs that were set aside.
pub const BIN: &str = "/trial/bin";

/// Memory, processes, open files, and bytes of a file, that anything of a candidate may use; of memory at most half of what
/// the machine has.
const MEMORY: u64 = 8 << 30;
const PROCESSES: u64 = 2048;
const DESCRIPTORS: u64 = 8192;
const FILE_SIZE: u64 = 4 << 30;
/// Bytes that it may take of the disks together.
const DISK: u64 = 24 << 30;

/// A workshop for one base.
#[derive(Debug)]
pub struct Workshop {
    /// What the judge was given.
    pub given: Given,
    /// The slot.
    pub slot: Slot,
    /// The toolchain.
    pub toolchain: Toolchain,
    dependencies: Dependencies,
}

/// Whose files and programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The base's.
    Base,
    /// The candidate's.
    Candidate,
}

/// The files that a program sees.
#[derive(Debug, Clone, Copy)]
pub enum Files<'a> {
    /// The kept ones, read-only.
    Kept,
    /// Those of a folder outside, read-only.
    Of(&'a Path),
    /// A copy that may be written.
    Scratch(&'a Path),
}

/// The target folder that a program sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// It may write there.
    Write,
    /// It may look.
    Read,
    /// Another folder than the side's, in which it may write.
    Own(&'a Path),
    /// None.
    None,
}

/// One thing to run in the room.
#[derive(Debug, Clone)]
pub struct Work<'a> {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// Working folder in the room.
    pub dir: String,
    /// Whose target folder and programs.
    pub side: Side,
    /// Which files.
    pub files: Files<'a>,
    /// What of the target folder.
    pub target: Target<'a>,
    /// Variables on top.
    pub set: Vec<(String, OsString)>,
    /// Wall time.
    pub wall: Duration,
    /// Bytes of output kept of each stream.
    pub output: usize,
    /// What else it sees.
    pub binds: Vec<Bind>,
}

/// Why the workshop cannot be used. The cycle ends inconclusive.
#[derive(Debug, thiserror::Error)]
pub enum WorkshopError {
    /// No toolchain.
    #[error(transparent)]
    Toolchain(Box<ToolchainError>),
    /// No dependencies.
    #[error(transparent)]
    Dependencies(Box<DependenciesError>),
    /// The slot.
    #[error(transparent)]
    Slot(Box<SlotError>),
    /// The repository.
    #[error(transparent)]
    Repo(Box<RepoError>),
    /// The room.
    #[error("run {program} in the room")]
    Room {
        /// What was to run.
        program: String,
        /// Why it did not.
        source: Box<SandboxError>,
    },
    /// The disk refused.
    #[error("{doing} {path}")]
    Disk {
        /// What was being done.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A person interrupted.
    #[error("finish: it was interrupted")]
    Cancelled,
}

impl From<ToolchainError> for WorkshopError {
    fn from(error: ToolchainError) -> Self {
        Self::Toolchain(Box::new(error))
    }
}

impl From<DependenciesError> for WorkshopError {
    fn from(error: DependenciesError) -> Self {
        Self::Dependencies(Box::new(error))
    }
}

impl From<SlotError> for WorkshopError {
    fn from(error: SlotError) -> Self {
        Self::Slot(Box::new(error))
    }
}

impl From<RepoError> for WorkshopError {
    fn from(error: RepoError) -> Self {
        Self::Repo(Box::new(error))
    }
}

impl WorkshopError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Toolchain(error) => error.hint().to_owned(),
            Self::Dependencies(error) => error.hint().to_owned(),
            Self::Slot(error) => error.hint().to_owned(),
            Self::Repo(error) => error.hint().to_owned(),
            Self::Room { source, .. } => source.hint().to_string(),
            Self::Disk { .. } => "see that there is room on the disk and that the state folder is yours".to_owned(),
            Self::Cancelled => "start it again when you like; nothing was lost".to_owned(),
        }
    }
}

impl Workshop {
    /// Set up for a base: its files into the slot, its toolchain, its dependencies.
    ///
    /// # Errors
    /// Any of them cannot be had; the base cannot be judged on this machine.
    pub fn open(repo: &Repo, tree: &TreeId, given: Given) -> Result<Self, WorkshopError> {
        let slot = Slot::open(&given.slots, given.defences)?;
        let asked = slot.fresh("toolchain")?;
        for name in ["rust-toolchain.toml", "rust-toolchain"] {
            if let Some(entry) = repo.entry(&tree.0, &TreePath::from(name))? {
                let path = asked.join(name);
                fs::write(&path, repo.blob(&entry.id)?).map_err(disk("write", &path))?;
            }
        }
        let toolchain = Toolchain::find(&asked, &given.environment, &given.cancel)?;
        slot.check_out_base(repo, tree)?;
        let base = slot.base_tree();
        let dependencies = if base.join("Cargo.toml").is_file() {
            let caller = Caller { environment: &given.environment, workdir: repo.workdir().ok() };
            deps::fetch(&base, &slot.packages(), &toolchain, caller, &given.cancel)?
        } else {
            Dependencies::default()
        };
        Ok(Self { given, slot, toolchain, dependencies })
    }

    /// Run something in the room. `on_output` sees every byte of standard output.
    ///
    /// # Errors
    /// The room cannot be had, or it was interrupted. How the program ended is a value.
    pub fn run(&self, work: &Work<'_>, on_output: &mut dyn FnMut(&[u8])) -> Result<Finished, WorkshopError> {
        let program = work.argv.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let job = Job {
            program: Program::Argv(work.argv.clone()),
            dir: PathBuf::from(&work.dir),
            environment: self.environment(work),
            stdin: Vec::new(),
            limits: limits(work),
            walls: Walls::Room(self.room(work)?),
        };
        let mut on_stream = |stream: Stream, bytes: &[u8]| {
            if stream == Stream::Stdout {
                on_output(bytes);
            }
        };
        let done = run(&job, &self.given.environment, &self.given.cancel, &mut on_stream)
            .map_err(|source| WorkshopError::Room { program, source: Box::new(source) })?;
        if self.given.cancel.is_cancelled() {
            return Err(WorkshopError::Cancelled);
        }
        Ok(done)
    }

    /// The room of a program of this base, without files or target folder: toolchain and packages.
    pub fn bare_room(&self) -> Room {
        Room { binds: self.toolchain.binds(), accept_weaker: self.given.accept_weaker_room, ..Room::default() }
    }

    fn room(&self, work: &Work<'_>) -> Result<Room, WorkshopError> {
        let mut room = self.bare_room();
        let mut bind = |source: PathBuf, at: &str, mode: BindMode| {
            room.binds.push(Bind { source, at: at.into(), mode });
        };
        match work.files {
            Files::Kept => bind(self.readable(self.slot.tree())?, TREE, BindMode::ReadOnly),
            Files::Of(dir) => bind(self.readable(dir.to_owned())?, TREE, BindMode::ReadOnly),
            Files::Scratch(dir) => bind(self.readable(dir.to_owned())?, TREE, BindMode::ReadWrite),
        }
        let (target, bin) = match work.side {
            Side::Base => (self.slot.base_target(), self.slot.base_bin()),
            Side::Candidate => (self.slot.target(), self.slot.bin()),
        };
        let (target, mode) = match work.target {
            Target::Write => (Some(target), BindMode::ReadWrite),
            Target::Read => (Some(target), BindMode::ReadOnly),
            Target::Own(dir) => (Some(dir.to_owned()), BindMode::ReadWrite),
            Target::None => (None, BindMode::ReadOnly),
        };
        if let Some(target) = target {
            let temporary = target.join("tmp");
            fs::create_dir_all(&temporary).map_err(disk("make", &temporary))?;
            bind(self.readable(target)?, TARGET, mode);
            if work.target == Target::Read {
                // `CARGO_TARGET_TMPDIR`, in which integration tests may write.
                let own = self.slot.fresh("target-tmp")?;
                bind(self.readable(own)?, &format!("{TARGET}/tmp"), BindMode::ReadWrite);
            }
        }
        if bin.is_dir() {
            bind(bin, BIN, BindMode::ReadOnly);
        }
        bind(self.cargo_home()?, CARGO_HOME, BindMode::ReadWrite);
        room.binds.extend(self.dependencies.binds.iter().cloned());
        for bind in &work.binds {
            if !matches!(bind.mode, BindMode::ReadOnly) {
                self.readable(bind.source.clone())?;
            }
            room.binds.push(bind.clone());
        }
        Ok(room)
    }

    /// Cargo's home, made anew for each run: nothing that a candidate writes there is read by another.
    fn cargo_home(&self) -> Result<PathBuf, WorkshopError> {
        let home = self.slot.fresh("cargo-home")?;
        for bind in &self.dependencies.binds {
            if let Ok(inner) = bind.at.strip_prefix(CARGO_HOME) {
                let at = home.join(inner);
                fs::create_dir_all(&at).map_err(disk("make", &at))?;
            }
        }
        let config = home.join("config.toml");
        fs::write(&config, &self.dependencies.config).map_err(disk("write", &config))?;
        self.readable(home)
    }

    /// The room's user may be another than ours.
    fn readable(&self, dir: PathBuf) -> Result<PathBuf, WorkshopError> {
        let given = give_to_room(&dir);
        given.map_err(|source| WorkshopError::Room { program: "anything".to_owned(), source: Box::new(source) })?;
        Ok(dir)
    }

    fn environment(&self, work: &Work<'_>) -> Environment {
        let mut set: Vec<(String, OsString)> = [
            // What a candidate builds comes last: a program of its own must not pass for a tool that judges it.
            ("PATH", format!("{}:{BIN}", self.toolchain.path_in_room())),
            ("HOME", "/tmp/home".to_owned()),
            ("TMPDIR", "/tmp".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("CARGO_HOME", CARGO_HOME.to_owned()),
            ("CARGO_TARGET_DIR", TARGET.to_owned()),
            ("CARGO_NET_OFFLINE", "true".to_owned()),
            ("CARGO_TERM_COLOR", "never".to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), OsString::from(value)))
        .collect();
        for (name, value) in &self.given.environment {
            let Some(name) = name.to_str() else { continue };
            let is_source = name.starts_with("CARGO_SOURCE_")
                || (name.starts_with("CARGO_REGISTRIES_") && name.ends_with("_INDEX"))
                || name == "CARGO_BUILD_JOBS";
            if is_source {
                set.push((name.to_owned(), value.clone()));
            }
        }
        set.extend(work.set.iter().cloned());
        Environment { keep: vec!["TZ".to_owned()], set }
    }

    /// Copy `tree` for tests to write in.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn scratch(&self, tree: &Path) -> Result<crate::workshop::slot::Scratch, WorkshopError> {
        Ok(self.slot.scratch(tree)?)
    }

    /// The candidate's target folder, as a copy of the base's.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn start_target(&self) -> Result<(), WorkshopError> {
        Ok(self.slot.start_target()?)
    }

    /// Remove what only one candidate needed.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn tidy(&self) -> Result<(), WorkshopError> {
        let target = self.slot.target();
        if target != self.slot.base_target() {
            folder::remove(&target).map_err(disk("remove", &target))?;
        }
        Ok(())
    }
}

/// A path of the room, as it lies outside; none where it is not the trial's.
pub fn outside(slot: &Slot, side: Side, inside: &str) -> Option<PathBuf> {
    let (target, bin) = match side {
        Side::Base => (slot.base_target(), slot.base_bin()),
        Side::Candidate => (slot.target(), slot.bin()),
    };
    let path = Path::new(inside);
    let below = |at: &str, dir: PathBuf| path.strip_prefix(at).ok().map(|inner| dir.join(inner));
    below(TARGET, target).or_else(|| below(BIN, bin)).or_else(|| below(TREE, slot.tree()))
}

fn limits(work: &Work<'_>) -> Limits {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cores = u32::try_from(cores).unwrap_or(u32::MAX);
    Limits {
        wall: work.wall,
        cpu: Some(work.wall.saturating_mul(cores)),
        memory: Some(memory()),
        processes: Some(PROCESSES),
        descriptors: Some(DESCRIPTORS),
        file_size: Some(FILE_SIZE),
        disk: Some(DISK),
        output: work.output,
        ..Limits::default()
    }
}

fn memory() -> u64 {
    let facts = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = facts.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    total.map_or(MEMORY / 2, |kib: u64| (kib * 512).min(MEMORY))
}

fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WorkshopError {
    let path = path.to_owned();
    move |source| WorkshopError::Disk { doing, path, source }
}
