//! The one door for child processes: limits, the whole tree, bounded output, walls.
//!
//! [`run`] starts a program, collects bounded output and returns when the program's own process has ended and a short
//! drain is over, never when a pipe closes: a grandchild that holds the pipe cannot hang the caller. Whatever the program
//! left behind ends with it, processes that made a session of their own included.
//!
//! It knows nothing of models, git or cargo.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments, no shell.
    Argv(Vec<OsString>),
    /// A line for `bash -c` (`sh -c` where there is no bash).
    Shell(String),
}

/// Which variables the child sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Names taken over from the given parent environment; keys, tokens and cargo's own variables never are.
    pub keep: Vec<String>,
    /// Variables set on top.
    pub set: Vec<(String, OsString)>,
}

/// What the child may use. `None` means no limit of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall time, then the whole tree is ended.
    pub wall: Duration,
    /// CPU time of one process (RLIMIT_CPU) and, watched, of the tree.
    pub cpu: Option<Duration>,
    /// Bytes of memory of the tree.
    pub memory: Option<u64>,
    /// Processes and threads of the tree.
    pub processes: Option<u64>,
    /// Open files of a process.
    pub descriptors: Option<u64>,
    /// Bytes of one written file (RLIMIT_FSIZE).
    pub file_size: Option<u64>,
    /// Bytes of output kept from each stream: half head, half tail.
    pub output: usize,
    /// How long pipes are read on after the program's own process has ended.
    pub drain: Duration,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// The wall clock ran out.
    TimedOut,
    /// A limit on the tree was exceeded.
    LimitExceeded(Limit),
    /// The caller cancelled.
    Cancelled,
}

/// A limit that a watchdog enforces over the whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// CPU time.
    Cpu,
    /// Memory.
    Memory,
    /// Processes.
    Processes,
}

/// One stream of output, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// First bytes; all of them where nothing was dropped.
    pub head: Vec<u8>,
    /// Last bytes; empty where nothing was dropped.
    pub tail: Vec<u8>,
    /// Bytes dropped between the two.
    pub dropped: u64,
}

/// What came of a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// Wall time.
    pub wall: Duration,
    /// CPU time of the tree, as far as it was seen.
    pub cpu: Duration,
}

/// How a folder or file is seen in the room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BindMode {
    /// Can be read and executed.
    ReadOnly,
    /// Can be written.
    ReadWrite,
    /// Looks like `source`; writes go to `upper` (both kept by the caller), `source` stays as it is.
    Overlay {
        /// Where writes go.
        upper: PathBuf,
        /// Scratch folder on the same file system as `upper`.
        work: PathBuf,
    },
}

/// One thing that exists in the room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// Path outside.
    pub source: PathBuf,
    /// Path inside, absolute.
    pub at: PathBuf,
    /// How it is seen.
    pub mode: BindMode,
}

/// A loopback port inside the room that leads to a UNIX socket outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forward {
    /// Port on 127.0.0.1 inside.
    pub port: u16,
    /// Socket outside.
    pub socket: PathBuf,
}

/// The room: nothing exists in it but the system's programs and libraries (read-only), what is bound, a private `/tmp`,
/// `/proc` of its own, a minimal `/dev`, and a loopback network of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// What else exists.
    pub binds: Vec<Bind>,
    /// Bytes of the private `/tmp` (and `HOME`, `/tmp/home`).
    pub tmp_bytes: u64,
    /// Ports that lead out.
    pub forwards: Vec<Forward>,
    /// Walls that may be missing, because a person said so (`--accept-weaker-room`).
    pub accept_weaker: bool,
}

/// What stands around a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Walls {
    /// Nothing but limits.
    None,
    /// The looser walls of the agent's own shell: writes only below these folders and the temporary folder, no network
    /// unless allowed.
    Workspace {
        /// Folders that may be written.
        writable: Vec<PathBuf>,
        /// Paths below them that may not (`.git/hooks`, `.git/config`).
        protected: Vec<PathBuf>,
        /// Whether sockets other than UNIX ones may be opened.
        network: bool,
    },
    /// The room.
    Room(Room),
}

/// One thing to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Program.
    pub program: Program,
    /// Its working folder (inside the room: a path of the room).
    pub dir: PathBuf,
    /// Its environment.
    pub environment: Environment,
    /// Bytes for its standard input, which is then closed. Empty: closed at once.
    pub stdin: Vec<u8>,
    /// Its limits.
    pub limits: Limits,
    /// Its walls.
    pub walls: Walls,
}
