//! The pipe by which the processes between supervisor and program say what went wrong, or what does not hold. It closes
//! when the program starts, and that says that it did.

use crate::wire::Fault;
use nix::fcntl::OFlag;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// One line.
#[derive(Debug, Serialize, Deserialize)]
enum Line {
    Fault(Fault),
    Weaker(String),
}

/// The writing end.
#[derive(Debug)]
pub(crate) struct Reporter(File);

impl Reporter {
    /// Both ends; neither is inherited by a program.
    pub(crate) fn pair() -> nix::Result<(Self, Listener)> {
        let (reading, writing) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
        Ok((Self(writing.into()), Listener { pipe: reading.into(), bytes: Vec::new() }))
    }

    /// Something asked for does not hold; the work goes on.
    pub(crate) fn weaker(&mut self, what: String) {
        self.write(&Line::Weaker(what));
    }

    /// It cannot be started; the calling process should end.
    pub(crate) fn fault(&mut self, fault: Fault) {
        self.write(&Line::Fault(fault));
    }

    fn write(&mut self, line: &Line) {
        // Nobody listens any more only when everything is being ended anyway.
        if let Ok(mut bytes) = serde_json::to_vec(line) {
            bytes.push(b'\n');
            let _ = self.0.write_all(&bytes);
        }
    }
}

/// The reading end.
#[derive(Debug)]
pub(crate) struct Listener {
    pipe: File,
    bytes: Vec<u8>,
}

/// What came of the start.
#[derive(Debug)]
pub(crate) enum Start {
    /// The pipe is still open.
    Pending,
    /// The program runs; this does not hold.
    Running(Vec<String>),
    /// It does not.
    Failed(Fault),
}

impl Listener {
    /// For waiting on it.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Reads once, when there is something to read.
    pub(crate) fn read(&mut self) -> Start {
        let mut piece = [0; 4096];
        match self.pipe.read(&mut piece) {
            Ok(0) => self.conclusion(),
            Ok(count) => {
                self.bytes.extend_from_slice(piece.get(..count).unwrap_or_default());
                Start::Pending
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Start::Pending,
            Err(error) => Start::Failed(Fault::Other {
                what: "hear whether the program started".to_owned(),
                errno: error.raw_os_error().unwrap_or(0),
            }),
        }
    }

    fn conclusion(&mut self) -> Start {
        let mut weaker = Vec::new();
        for line in self.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(Line::Weaker(what)) => weaker.push(what),
                Ok(Line::Fault(fault)) => return Start::Failed(fault),
                Err(_) => {
                    let what = "understand why the program did not start".to_owned();
                    return Start::Failed(Fault::Other { what, errno: 0 });
                }
            }
        }
        Start::Running(weaker)
    }
}
