//! Record and replay inside the agent (`--cassette record|replay FILE`).
//!
//! Replay takes the network's place below the client, so that retries, assembly and channels work as they do live. A
//! recording holds what the model said, reply by reply; failed tries are not part of it.
//!
//! No secret that the redactor knows gets onto a tape. What is replayed is compared without its secrets too, so that a
//! recording plays where they are still in the prompt.

use crate::query::failure::{Failure, Kind};
use crate::redact::Redactor;
use selfsmith_cassette::{Answer, CassetteError, Drift, Player, Recorder, Reply, SpokenReply, play};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// What happens with the traffic.
#[derive(Debug, Default)]
pub enum Tape {
    /// Nothing.
    #[default]
    Off,
    /// It is recorded.
    Record(Box<Recording>),
    /// It comes from a cassette.
    Replay(Arc<Replaying>),
}

impl Tape {
    /// Record to this recorder, without what the redactor knows.
    pub fn record(recorder: Recorder, redactor: Redactor) -> Self {
        Self::Record(Box::new(Recording { recorder: Mutex::new(recorder), redactor }))
    }

    /// Replay from this player.
    pub fn replay(player: Player, drift: OnDrift, redactor: Redactor) -> Self {
        let (player, found) = (Mutex::new(player), Mutex::new(Vec::new()));
        Self::Replay(Arc::new(Replaying { player, drift, found, redactor }))
    }

    /// Add a turn where one records.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, request: &Value, reply: &Reply) -> Result<(), CassetteError> {
        match self {
            Self::Record(recording) => recording.append(request, reply),
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

/// A tape under way.
#[derive(Debug)]
pub struct Recording {
    recorder: Mutex<Recorder>,
    redactor: Redactor,
}

impl Recording {
    fn append(&self, request: &Value, reply: &Reply) -> Result<(), CassetteError> {
        let request = without_secrets(request, &self.redactor);
        let reply = clean_reply(reply, &self.redactor);
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner).append(&request, &reply)
    }
}

fn without_secrets(value: &Value, redactor: &Redactor) -> Value {
    let mut value = value.clone();
    redactor.value(&mut value);
    value
}

fn clean_reply(reply: &Reply, redactor: &Redactor) -> Reply {
    let form = serde_json::to_value(reply).map(|form| without_secrets(&form, redactor));
    // Texts stay texts, so it is a reply again; were it none, a tape without it is better than one with a secret.
    form.and_then(serde_json::from_value).unwrap_or_else(|_| Reply::Spoken(SpokenReply::default()))
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
    redactor: Redactor,
}

impl Replaying {
    /// The next reply as an HTTP answer.
    ///
    /// # Errors
    /// The tape has ended, or the request differs under [`OnDrift::End`].
    pub fn answer(&self, request: &Value) -> Result<Answer, Failure> {
        let taken =
            self.player.lock().unwrap_or_else(PoisonError::into_inner).take(&without_secrets(request, &self.redactor));
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
