//! The operation log: what the judge moved, when, and on whose word. Each operation can be undone by one more.
//!
//! A durable file in the state folder; the refs themselves are the truth, this says how they came there. Entering the same
//! operation twice enters it once.

use crate::store::authority::Authority;
use crate::store::faults::Faults;
use crate::store::journal::Move;
use crate::store::log::{self, Log, LogError};
use crate::store::record::Kind;
use crate::store::state::StateFolder;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How long another process that is just entering one is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Id of the cycle or decision that did it.
    pub id: String,
    /// What did it.
    pub kind: Kind,
    /// When, in seconds since the epoch.
    pub at: i64,
    /// One line.
    pub what: String,
    /// Refs that moved.
    pub moves: Vec<Move>,
    /// Which sign of a person was seen.
    pub authority: Option<Authority>,
    /// For an undo: the operation that it undid.
    pub undoes: Option<String>,
}

/// All operations, oldest first.
pub fn list(state: &StateFolder) -> Result<Vec<Operation>, LogError> {
    log::read(&state.ops())
}

/// Enter one, unless it is there already.
pub fn enter(state: &StateFolder, operation: &Operation, faults: &dyn Faults) -> Result<(), LogError> {
    let begun = Instant::now();
    loop {
        match Log::open::<Operation>(&state.ops()) {
            Ok((mut log, known)) => {
                if known.iter().any(|other| other.id == operation.id) {
                    return Ok(());
                }
                return log.append(operation, "operation log", faults);
            }
            Err(LogError::Busy { .. }) if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            Err(e) => return Err(e),
        }
    }
}
