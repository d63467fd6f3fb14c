//! The proposer `replay:FILE`: the real agent, with a cassette behind the relay instead of a model.

use crate::proposer::ProposerError;
use crate::proposer::agent::{Agent, AgentProgram};
use crate::proposer::room::Kit;
use crate::relay::Source;
use selfsmith_cassette::Tape;
use std::path::Path;

/// Open it. `channel` is the one that the tape was made with; tapes of scenes written by hand use the text channel.
pub fn open(file: &Path, program: AgentProgram, kit: Kit) -> Result<Agent, ProposerError> {
    let tape = Tape::read(file)
        .map_err(|error| ProposerError { what: format!("could not {error}"), hint: error.hint().to_owned() })?;
    let native = tape.entries.iter().any(|entry| match &entry.reply {
        selfsmith_cassette::Reply::Spoken(spoken) => !spoken.calls.is_empty(),
        selfsmith_cassette::Reply::Raw(raw) => {
            raw.chunks.iter().any(|chunk| String::from_utf8_lossy(&chunk.bytes()).contains("\"tool_calls\""))
        }
    });
    let channel = if native { "native" } else { "text" };
    Agent::new("replay", program, Some(channel), Source::Replay(tape), kit)
}
