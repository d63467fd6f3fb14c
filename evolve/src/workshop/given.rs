//! What the judge was given by whoever started it: surroundings, tools, and which defences are up.

use crate::judgement::defence::Defences;
use selfsmith_sandbox::Cancel;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the judge was given.
#[derive(Debug, Clone)]
pub struct Given {
    /// The environment it was started in.
    pub environment: Vec<(OsString, OsString)>,
    /// Folder of the build slots.
    pub slots: PathBuf,
    /// Ends what is running.
    pub cancel: Cancel,
    /// Whether a person said that walls which this machine cannot give may be missing.
    pub accept_weaker_room: bool,
    /// Which defences are up.
    pub defences: Defences,
    /// What makes mutations, where it is installed.
    pub mutants: Option<Mutants>,
}

/// The program that makes mutations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutants {
    /// Where it lies.
    pub program: PathBuf,
    /// Seconds that all mutations of a candidate may take.
    pub seconds: u64,
}
