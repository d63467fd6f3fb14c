//! Why a job could not be run. How a program that did run ended is no error but a value, [`crate::End`].

use crate::wall::Wall;
use std::io;
use std::path::PathBuf;

/// Each message completes "could not …".
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The command cannot be passed to a process at all.
    #[error("pass the command to a process: {why}")]
    BadCommand {
        /// What is wrong with it.
        why: String,
    },
    /// The program is not there or cannot be executed.
    #[error("start `{program}`")]
    Program {
        /// As it was asked for.
        program: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The working folder cannot be entered.
    #[error("enter the folder `{}`", .path.display())]
    Dir {
        /// The folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A wall that was asked for cannot be put up.
    #[error("put up the wall `{wall}`: {why}")]
    Wall {
        /// Which.
        wall: Wall,
        /// Why not.
        why: String,
    },
    /// Something cannot be brought into the room.
    #[error("bring `{}` into the room: {why}", .path.display())]
    Bind {
        /// Its path outside.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A port of the room cannot lead out.
    #[error("forward port {port} of the room: {why}")]
    Forward {
        /// The port.
        port: u16,
        /// Why not.
        why: String,
    },
    /// A file of the room's user cannot be made its own.
    #[error("give `{}` to the room's user", .path.display())]
    Give {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The supervisor could not be started or spoken to.
    #[error("{what}")]
    Supervisor {
        /// What was being done.
        what: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

impl SandboxError {
    /// What to do next, as a sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::BadCommand { .. } => "Change the command; put long or binary data into a file.".to_owned(),
            Self::Program { program, source } => match source.kind() {
                io::ErrorKind::NotFound => {
                    format!("Install `{program}`, or look at PATH and, in the room, at what is bound.")
                }
                io::ErrorKind::PermissionDenied => format!("Make `{program}` executable for the user that runs it."),
                _ => "Look at the program and at its interpreter line.".to_owned(),
            },
            Self::Dir { .. } => "Choose a folder that exists and may be entered.".to_owned(),
            Self::Wall { wall, .. } => wall.hint().to_owned(),
            Self::Bind { .. } => "Look whether the path exists and may be read.".to_owned(),
            Self::Forward { .. } => {
                "Look whether the socket is there and its server runs; choose a free port.".to_owned()
            }
            Self::Give { .. } => "Look at the folder's owner and file system.".to_owned(),
            Self::Supervisor { .. } => {
                "Try again; /proc must be mounted and processes must be allowed to start.".to_owned()
            }
        }
    }
}
