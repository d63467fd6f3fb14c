//! Record and replay inside the agent (`--cassette record|replay FILE`).
//!
//! Replay takes the network's place below the client, so that retries, assembly and channels work as they do live. A
//! recording holds what the model said, reply by reply; failed tries are not part of it.

use crate::query::failure::{Failure, Kind};
use selfsmith_cassette::{Answer, CassetteError, Drift, Player, Recorder, Reply, play};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// What happens with the traffic.
#[derive(Debug, Default)]
pub enum Tape {
    /// Nothing.
    #[default]
    Off,
    /// It is recorded.
    Record(Mutex<Recorder>),
    /// It comes from a cassette.
    Replay(Arc<Replaying>),
}

impl Tape {
    /// Record to this recorder.
    pub const fn record(recorder: Recorder) -> Self {
        Self::Record(Mutex::new(recorder))
    }

    /// Replay from this player.
    pub fn replay(player: Player, drift: OnDrift) -> Self {
        Self::Replay(Arc::new(Replaying { player: Mutex::new(player), drift, found: Mutex::new(Vec::new()) }))
    }

    /// Add a turn where one records.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, request: &Value, reply: &Reply) -> Result<(), CassetteError> {
        match self {
            Self::Record(recorder) => recorder.lock().unwrap_or_else(PoisonError::into_inner).append(request, reply),
            Self::Off | Self::Replay(_) => Ok(()),
        }
    }

    /// Differences found since this was last asked.
    pub fn take_drifts(&self) -> Vec<Drift> {
        match self {
            Self::Replay(tape) => std::mem::take(&mut *tape.found.lock().unwrap_or_else(PoisonError::into_inner)),
            Self::Off | Self::Record(_) => Vec::new(),
        }
    }
}

/// What a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDrift {
    /// It is told.
    Tell,
    /// It ends the session (`--strict`).
    End,
}

/// A cassette that stands in for the network.
#[derive(Debug)]
pub struct Replaying {
    player: Mutex<Player>,
    drift: OnDrift,
    found: Mutex<Vec<Drift>>,
}

impl Replaying {
    /// The next reply as an HTTP answer.
    ///
    /// # Errors
    /// The tape has ended, or the request differs under [`OnDrift::End`].
    pub fn answer(&self, request: &Value) -> Result<Answer, Failure> {
        let taken = self.player.lock().unwrap_or_else(PoisonError::into_inner).take(request);
        let taken = taken.map_err(|error| Failure::new(Kind::Cassette, error.to_string()))?;
        if let Some(drift) = taken.drift {
            if self.drift == OnDrift::End {
                return Err(Failure::new(Kind::Cassette, format!("match the cassette: {drift}")));
            }
            self.found.lock().unwrap_or_else(PoisonError::into_inner).push(drift);
        }
        Ok(play(&taken.reply, taken.turn, request))
    }
}
