//! Plays a tape turn by turn and reports drift.

use crate::drift::{Drift, Normaliser, difference};
use crate::error::CassetteError;
use crate::reply::Reply;
use crate::tape::Tape;
use serde_json::Value;

/// A tape that is being played.
#[derive(Debug)]
pub struct Player {
    tape: Tape,
    normaliser: Normaliser,
    /// Turns played.
    played: usize,
    /// The whole recorded request of the turn before, for `kept`.
    before: Vec<Value>,
    /// The recorded tools in force: a recording repeats them only when they change.
    tools: Option<Value>,
}

/// One turn of a tape.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// From 1.
    pub turn: usize,
    /// What to answer.
    pub reply: Reply,
    /// How the request differs from the recorded one.
    pub drift: Option<Drift>,
}

impl Player {
    /// Play from the first turn.
    pub const fn new(tape: Tape, normaliser: Normaliser) -> Self {
        Self { tape, normaliser, played: 0, before: Vec::new(), tools: None }
    }

    /// Turns that were not played yet.
    pub fn left(&self) -> usize {
        self.tape.entries.len() - self.played
    }

    /// The tape.
    pub const fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The next turn's reply to this request.
    ///
    /// # Errors
    /// The tape has no more turns.
    pub fn take(&mut self, request: &Value) -> Result<Taken, CassetteError> {
        let turn = self.played + 1;
        let Some(entry) = self.tape.entries.get(self.played) else {
            let turns = self.tape.entries.len();
            return Err(CassetteError::RanOut { name: self.tape.name.clone(), turn, turns });
        };
        let reply = entry.reply.clone();
        let recorded = entry.request.clone();
        self.played = turn;
        let drift = recorded.and_then(|recorded| {
            let whole = self.whole(recorded);
            difference(turn, &whole, &self.normaliser.value(request))
        });
        Ok(Taken { turn, reply, drift })
    }

    /// The recorded request with the kept messages and tools of the turns before put back.
    fn whole(&mut self, mut recorded: Value) -> Value {
        let kept = recorded.get("kept").and_then(Value::as_u64).map_or(0, |kept| usize::try_from(kept).unwrap_or(0));
        if let Some(own) = recorded.get("messages").and_then(Value::as_array) {
            let own = self.normaliser.value(&Value::Array(own.clone()));
            self.before.truncate(kept);
            if let Value::Array(own) = own {
                self.before.extend(own);
            }
            if let Some(map) = recorded.as_object_mut() {
                map.insert("messages".into(), Value::Array(self.before.clone()));
            }
        }
        match recorded.get("tools") {
            Some(tools) => self.tools = Some(self.normaliser.value(tools)),
            None if kept == 0 => self.tools = None,
            None => {}
        }
        if let (Some(map), Some(tools)) = (recorded.as_object_mut(), &self.tools) {
            map.insert("tools".into(), tools.clone());
        }
        recorded
    }
}
