//! Why a cassette could not be read, written or played.

use std::path::PathBuf;

/// An error of this crate. Each message completes "could not …".
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file could not be read.
    #[error("read the cassette {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The file is larger than a cassette may be.
    #[error("read the cassette {}: it has {bytes} bytes, at most {limit} are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The bound.
        limit: u64,
    },
    /// A line is no part of a cassette.
    #[error("understand line {line} of the cassette {name}: {why}")]
    Line {
        /// The file, or what stands for it.
        name: String,
        /// Counts from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A recording would overwrite a file.
    #[error("record to {}: the file exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error("write the cassette {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// More was asked than the tape holds.
    #[error("answer turn {turn}: the cassette {name} ends after {turns} turns")]
    RanOut {
        /// The file, or what stands for it.
        name: String,
        /// The turn that was asked for.
        turn: usize,
        /// Turns on the tape.
        turns: usize,
    },
    /// The server could not be started.
    #[error("serve the cassette on {address}")]
    Serve {
        /// Where.
        address: String,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
}

impl CassetteError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check the path and that you may read it",
            Self::TooLarge { .. } => "split the recording, or record a shorter session",
            Self::Line { .. } => "correct that line; docs/contract.md, section Cassettes, describes the format",
            Self::Exists { .. } => "choose another file name, or move the old recording away: it is never overwritten",
            Self::Write { .. } => "check that the folder exists, that you may write there, and the free space",
            Self::RanOut { .. } => "the session asks for more than was recorded: record it again",
            Self::Serve { .. } => "check that loopback sockets may be opened here",
        }
    }
}
