//! The room: a place in which nothing exists but what was bound into it.
//!
//! One sequence for root and for ordinary users; they differ in a user namespace at its beginning and a change of user at
//! its end:
//!
//! ```text
//! supervisor   user namespace (not root) → network, IPC namespaces → loopback up → forwarder → first process
//! first process (PID 1)   mount namespace → new root → no privileges → program; reaps, says how it ended
//! program      limits → Landlock → seccomp → execve
//! ```
//!
//! Ending the first process ends all: the kernel kills what is left in a PID namespace without one.

mod devices;
mod forward;
mod init;
mod namespaces;
mod owner;
mod place;
mod root;

use crate::job::{BindMode, Room, Walls};
use crate::launch::report::{Reporter, Reporting};
use crate::wire::{Fault, Order, Status};
use nix::fcntl::OFlag;
use nix::unistd::Pid;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Component, Path, PathBuf};

pub(crate) use init::MARKER;

/// Size of `/tmp` where none is given.
const DEFAULT_TMP: u64 = 512 << 20;

/// Puts up the room and starts the program in it. Called by the supervisor, which has one thread; returns the room's
/// first process and what it says.
pub(crate) fn start(order: Order, reporter: Reporter) -> Result<(Pid, Inside), Fault> {
    let Walls::Room(room) = &order.walls else {
        return Err(Fault::Other { what: "put up a room that was not asked for".to_owned(), errno: 0 });
    };
    let room = room.clone();
    check(&room)?;
    let mut missing = Reporting::new(reporter, room.accept_weaker);
    let privilege = namespaces::enter(&mut missing)?;
    forward::start(&room.forwards)?;
    let pipe = || nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(|error| Fault::other("make a pipe", error));
    let (status, status_end) = pipe()?;
    let (lifeline_end, lifeline) = pipe()?;
    let channel = init::Channel { status: status_end.into(), lifeline: lifeline_end.into(), not_ours: vec![lifeline] };
    let (first, lifeline) = init::start(order, room, privilege, missing, channel)?;
    Ok((first, Inside { status: Some(status.into()), said: Vec::new(), lifeline: Some(lifeline) }))
}

/// What the supervisor keeps of a room. When it is dropped, the room ends.
pub(crate) struct Inside {
    status: Option<File>,
    said: Vec<u8>,
    lifeline: Option<std::os::fd::OwnedFd>,
}

impl Inside {
    /// For waiting on the program's end; none once the first process is gone.
    pub(crate) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.status.as_ref().map(File::as_fd)
    }

    /// Reads once; the program's end, if that is what was said.
    pub(crate) fn read(&mut self) -> Option<Status> {
        let mut piece = [0; 256];
        match self.status.as_mut()?.read(&mut piece) {
            Ok(0) => self.status = None,
            Ok(count) => self.said.extend_from_slice(piece.get(..count).unwrap_or_default()),
            Err(_) => {}
        }
        let line = self.said.strip_suffix(b"\n")?;
        serde_json::from_slice(line).ok()
    }

    /// Tells the first process to end everything, itself included, and to count what it reaps.
    pub(crate) fn end(&mut self) {
        self.lifeline = None;
    }

    /// Reads until the first process has no more to say.
    pub(crate) fn read_all(&mut self) -> Option<Status> {
        while self.status.is_some() {
            if let Some(status) = self.read() {
                return Some(status);
            }
        }
        None
    }
}

/// Looks for what no room can be made of.
fn check(room: &Room) -> Result<(), Fault> {
    for bind in &room.binds {
        let refuse = |why: &str| Err(Fault::Bind { path: bind.source.clone(), why: why.to_owned() });
        let plain = bind.at.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        if !bind.at.is_absolute() || !plain || bind.at == Path::new("/") {
            return refuse(&format!("`{}` is no absolute path below the root", bind.at.display()));
        }
        if !bind.source.is_absolute() {
            return refuse("the path outside is not absolute");
        }
    }
    Ok(())
}

/// The folders and files of the room that may be written.
fn writable(room: &Room) -> Vec<PathBuf> {
    let bound = room.binds.iter().filter(|bind| !matches!(bind.mode, BindMode::ReadOnly)).map(|bind| bind.at.clone());
    bound.chain(["/tmp", "/dev"].map(PathBuf::from)).collect()
}
