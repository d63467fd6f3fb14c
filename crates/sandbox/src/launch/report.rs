//! The pipe by which the processes between supervisor and program say what went wrong, or what does not hold. It closes
//! when the program starts, and that says that it did.

use crate::unreadable::Plain;
use crate::wall::{MissingWall, Wall};
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
    Missing(MissingWall),
    Plain(Plain),
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
    pub(crate) fn missing(&mut self, wall: MissingWall) {
        self.write(&Line::Missing(wall));
    }

    /// A bind's files are whose they are outside.
    pub(crate) fn plain(&mut self, plain: Plain) {
        self.write(&Line::Plain(plain));
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

/// Whether a missing wall is an error, and where it is told if it is not.
pub(crate) struct Reporting {
    accepted: bool,
    reporter: Option<Reporter>,
}

impl Reporting {
    /// Where missing walls are accepted, they are only told.
    pub(crate) fn new(reporter: Reporter, accepted: bool) -> Self {
        Self { accepted, reporter: Some(reporter) }
    }

    /// A wall cannot be put up.
    pub(crate) fn wall(&mut self, wall: Wall, what: &str, error: impl std::fmt::Display) -> Result<(), Fault> {
        if !self.accepted {
            return Err(Fault::wall(wall, what, error));
        }
        if let Some(reporter) = &mut self.reporter {
            reporter.missing(MissingWall { wall, why: format!("{what}: {error}") });
        }
        Ok(())
    }

    /// A bind's files are whose they are outside; nothing is missing for it, but some may be closed.
    pub(crate) fn plain(&mut self, plain: Plain) {
        if let Some(reporter) = &mut self.reporter {
            reporter.plain(plain);
        }
    }

    /// It cannot be started at all.
    pub(crate) fn fault(&mut self, fault: Fault) {
        if let Some(reporter) = &mut self.reporter {
            reporter.fault(fault);
        }
    }

    /// Another process has the word from here on.
    pub(crate) fn release(&mut self) {
        self.reporter = None;
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
    /// The program runs; these walls do not hold, and these binds are plain.
    Running(Vec<MissingWall>, Vec<Plain>),
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
        let (mut weaker, mut plain) = (Vec::new(), Vec::new());
        for line in self.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(Line::Missing(wall)) => weaker.push(wall),
                Ok(Line::Plain(bind)) => plain.push(bind),
                Ok(Line::Fault(fault)) => return Start::Failed(fault),
                Err(_) => {
                    let what = "understand why the program did not start".to_owned();
                    return Start::Failed(Fault::Other { what, errno: 0 });
                }
            }
        }
        Start::Running(weaker, plain)
    }
}
