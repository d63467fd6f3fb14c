//! What is run: program, folder, environment, limits and walls, as plain data.
//!
//! Promises nothing about whether it can be run; [`crate::run`] finds out.

use crate::limits::Limits;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// What is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments, no shell. A name without a slash is looked up on the child's own `PATH`.
    Argv(Vec<OsString>),
    /// A line for `bash -c` (`sh -c` where there is no bash), of any length: what does not fit into an argument reaches
    /// the shell as a file.
    Shell(String),
}

/// Which variables the child sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Names taken over from the given parent environment (`LC_*`: all that begin so); keys, tokens and cargo's own
    /// variables never are.
    pub keep: Vec<String>,
    /// Variables set on top, whatever their names.
    pub set: Vec<(String, OsString)>,
}

/// How a folder or file is seen in the room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BindMode {
    /// Can be read and executed, and nothing else. In a room that root makes, whose programs run as another user, files of
    /// the owner of `source` count as that user's own, so that what their owner may read can be read; files of third users
    /// are as closed as outside. Where the file system cannot do that (overlays), they count as a stranger's, and
    /// [`crate::Finished::unreadable`] names one that was in the way.
    ReadOnly,
    /// Can be written, by whoever may outside: see [`crate::give_to_room`].
    ReadWrite,
    /// Looks like `source`; writes go to `upper` (both kept by the caller), `source` stays as it is. Owners and modes are
    /// those of `source`: what is closed to the room's user there is closed here.
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
    /// Path outside; links in it are followed.
    pub source: PathBuf,
    /// Path inside, absolute and without `..`. Binds are made in order, so that one may lie inside an earlier one.
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
    /// Bytes of the private `/tmp` (and `HOME`, `/tmp/home`). 0: half a gibibyte.
    pub tmp_bytes: u64,
    /// Ports that lead out.
    pub forwards: Vec<Forward>,
    /// Walls that may be missing, because a person said so (`--accept-weaker-room`).
    pub accept_weaker: bool,
}

/// The looser walls of the agent's own shell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Folders that may be written, with everything below them. `/tmp`, `/var/tmp` and the harmless devices always may.
    pub writable: Vec<PathBuf>,
    /// Paths below them that may not (`.git/hooks`, `.git/config`). One that does not exist is made as an empty folder
    /// for the time of the run.
    pub protected: Vec<PathBuf>,
    /// Files below them that may not be written either, and, where there is none, what stands there for the time of the
    /// run.
    #[serde(default)]
    pub files: Vec<ProtectedFile>,
    /// Files and folders that cannot even be read (keys); what does not exist is passed over.
    pub hidden: Vec<PathBuf>,
    /// Folders in which UNIX sockets of the machine stay reachable; elsewhere those are covered that exist when the program
    /// starts, the first 512. Without the network, sockets that other jobs made are not the machine's.
    #[serde(default)]
    pub sockets: Vec<PathBuf>,
    /// Whether the network outside of this machine's loopback may be reached.
    pub network: bool,
    /// Without the network: the loopback to share with other jobs (see [`crate::Loopback`]); none: one of its own.
    #[serde(default)]
    pub loopback: Option<i32>,
}

/// A file that may be neither written nor made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtectedFile {
    /// Where.
    pub path: PathBuf,
    /// What stands there where it does not exist: something that changes nothing for whoever reads it.
    pub text: String,
}

/// What stands around a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Walls {
    /// Nothing but limits.
    None,
    /// Writes only below some folders, no network unless allowed. What this machine cannot give is left out and told in
    /// [`crate::Finished::weaker`].
    Workspace(Workspace),
    /// The room. What this machine cannot give is an error, unless [`Room::accept_weaker`].
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
    /// Bytes for its standard input, which then ends. Empty: `/dev/null`.
    pub stdin: Vec<u8>,
    /// Its limits.
    pub limits: Limits,
    /// Its walls.
    pub walls: Walls,
}
