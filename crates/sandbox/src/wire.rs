//! What caller and supervisor say to each other over one socket.
//!
//! Caller → supervisor: one frame with the job, then one byte for "end it now"; a closed socket means the same, so that
//! nothing outlives a caller that was killed. Supervisor → caller: one JSON line per [`Report`].

use crate::error::SandboxError;
use crate::finished::Limit;
use crate::job::{Environment, Job, Program, Walls};
use crate::limits::Limits;
use crate::unreadable::Plain;
use crate::wall::{MissingWall, Wall};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// The first argument of the re-executed binary.
pub(crate) const ENTRY_ARGUMENT: &str = "__room";
/// The byte that ends the tree.
pub(crate) const END: u8 = b'E';
/// Upper bound of a frame's parts, so that a broken frame is no flood of memory.
const LARGEST: u64 = 1 << 30;

/// Home of the room's user.
pub(crate) const ROOM_HOME: &str = "/tmp/home";

/// A job in a form that can travel.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) program: Executable,
    pub(crate) dir: Bytes,
    pub(crate) variables: Vec<(Bytes, Bytes)>,
    pub(crate) limits: Limits,
    pub(crate) walls: Walls,
    /// Not in the JSON but behind it.
    #[serde(skip)]
    pub(crate) stdin: Vec<u8>,
}

/// [`Program`] in a form that can travel.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Executable {
    Argv(Vec<Bytes>),
    Shell(String),
    /// No program: a process that holds a loopback network for others to join.
    Loopback,
}

/// An operating system's string: text where it is text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Bytes {
    Text(String),
    Raw(Vec<u8>),
}

impl Bytes {
    pub(crate) fn of(text: &OsStr) -> Self {
        match text.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Raw(text.as_bytes().to_vec()),
        }
    }

    pub(crate) fn into_os(self) -> OsString {
        match self {
            Self::Text(text) => text.into(),
            Self::Raw(bytes) => OsString::from_vec(bytes),
        }
    }

    fn has_nul(&self) -> bool {
        match self {
            Self::Text(text) => text.contains('\0'),
            Self::Raw(bytes) => bytes.contains(&0),
        }
    }
}

impl Order {
    /// The job, checked for what no process can be given.
    pub(crate) fn of(job: &Job, parent: &[(OsString, OsString)]) -> Result<Self, SandboxError> {
        let program = match &job.program {
            Program::Argv(argv) => Executable::Argv(argv.iter().map(|argument| Bytes::of(argument)).collect()),
            Program::Shell(line) => Executable::Shell(line.clone()),
        };
        let environment = match job.walls {
            Walls::Room(_) => at_home_in_the_room(&job.environment),
            Walls::None | Walls::Workspace(_) => job.environment.clone(),
        };
        let variables = crate::environment::of_child(&environment, parent)
            .into_iter()
            .map(|(name, value)| (Bytes::of(&name), Bytes::of(&value)))
            .collect();
        let order = Self {
            program,
            dir: Bytes::of(job.dir.as_os_str()),
            variables,
            limits: job.limits.clone(),
            walls: job.walls.clone(),
            stdin: job.stdin.clone(),
        };
        order.checked()
    }

    /// Not a job but a network, held until the end is ordered.
    pub(crate) fn loopback() -> Self {
        Self {
            program: Executable::Loopback,
            dir: Bytes::Text("/".to_owned()),
            variables: Vec::new(),
            limits: Limits::default(),
            walls: Walls::None,
            stdin: Vec::new(),
        }
    }

    fn checked(self) -> Result<Self, SandboxError> {
        let bad = |why: &str| Err(SandboxError::BadCommand { why: why.to_owned() });
        let nul = match &self.program {
            Executable::Argv(argv) if argv.is_empty() => return bad("there is no program in it"),
            Executable::Argv(argv) => argv.iter().any(Bytes::has_nul),
            Executable::Shell(line) => line.contains('\0'),
            Executable::Loopback => false,
        };
        if nul || self.dir.has_nul() {
            return bad("it holds a NUL character");
        }
        for (name, value) in &self.variables {
            if name.has_nul()
                || value.has_nul()
                || matches!(name, Bytes::Text(name) if name.is_empty() || name.contains('='))
            {
                return bad("a variable's name or value holds NUL or `=`");
            }
        }
        Ok(self)
    }

    /// The frame: length of the JSON, length of the standard input, then both.
    pub(crate) fn to_frame(&self) -> Result<Vec<u8>, SandboxError> {
        let json = serde_json::to_vec(self).map_err(|error| SandboxError::BadCommand {
            why: format!("a path of its walls is no Unicode text ({error})"),
        })?;
        let mut frame = Vec::with_capacity(16 + json.len() + self.stdin.len());
        frame.extend_from_slice(&(json.len() as u64).to_le_bytes());
        frame.extend_from_slice(&(self.stdin.len() as u64).to_le_bytes());
        frame.extend_from_slice(&json);
        frame.extend_from_slice(&self.stdin);
        Ok(frame)
    }

    /// Reads a frame.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let json = read_length(from)?;
        let stdin = read_length(from)?;
        let json = read_part(from, json)?;
        let mut order: Self = serde_json::from_slice(&json)?;
        order.stdin = read_part(from, stdin)?;
        Ok(order)
    }
}

/// The caller's own folders do not exist in the room.
fn at_home_in_the_room(environment: &Environment) -> Environment {
    let mut inside = environment.clone();
    for (name, value) in [("HOME", ROOM_HOME), ("TMPDIR", "/tmp")] {
        if !environment.set.iter().any(|(set, _)| set == name) {
            inside.set.push((name.to_owned(), value.into()));
        }
    }
    inside
}

fn read_length(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    let length = u64::from_le_bytes(bytes);
    if length > LARGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame is longer than any job"));
    }
    Ok(length)
}

fn read_part(from: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// What the supervisor reports, in this order; `Failed` ends the list early.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The process that will be the program or, in the room, the room's first one. Said before either can do anything,
    /// so that the caller can end what a killed supervisor leaves behind.
    Forked { process: i32 },
    /// The program runs; these walls are missing, and these binds are plain.
    Started { weaker: Vec<MissingWall>, plain: Vec<Plain> },
    /// It could not be started.
    Failed(Fault),
    /// Its tree used too much, and is being ended.
    Exceeded(Limit),
    /// Its own process has ended.
    Ended(Status),
    /// Its whole tree has ended, having used so much CPU time; so many could not be ended.
    Gone { cpu: Duration, survivors: usize },
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Status {
    Exit(i32),
    Signal(i32),
}

/// Why it could not be started; travels from the process that noticed to the caller.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Fault {
    Dir { path: PathBuf, errno: i32 },
    Program { program: String, errno: i32 },
    Wall { wall: Wall, why: String },
    Bind { path: PathBuf, why: String },
    Forward { port: u16, why: String },
    Other { what: String, errno: i32 },
}

impl Fault {
    /// A fault of the machinery itself.
    pub(crate) fn other(what: impl Into<String>, errno: nix::Error) -> Self {
        Self::Other { what: what.into(), errno: errno as i32 }
    }

    /// A missing wall, with the system's answer.
    pub(crate) fn wall(wall: Wall, what: &str, error: impl std::fmt::Display) -> Self {
        Self::Wall { wall, why: format!("{what}: {error}") }
    }
}

impl From<Fault> for SandboxError {
    fn from(fault: Fault) -> Self {
        let system = io::Error::from_raw_os_error;
        match fault {
            Fault::Dir { path, errno } => Self::Dir { path, source: system(errno) },
            Fault::Program { program, errno } => Self::Program { program, source: system(errno) },
            Fault::Wall { wall, why } => Self::Wall { wall, why },
            Fault::Bind { path, why } => Self::Bind { path, why },
            Fault::Forward { port, why } => Self::Forward { port, why },
            Fault::Other { what, errno } => Self::Supervisor { what, source: system(errno) },
        }
    }
}
