//! The proposer `replay:FILE`: the real agent, with a cassette behind the relay instead of a model.

use crate::proposer::ProposerError;
use crate::proposer::agent::{Agent, AgentProgram};
use crate::proposer::room::Kit;
use crate::relay::Source;
use selfsmith_cassette::Tape;
use std::io;
use std::path::Path;

/// Open it. `channel` is the one that the tape was made with; tapes of scenes written by hand use the text channel.
pub fn open(file: &Path, program: AgentProgram, kit: Kit) -> Result<Agent, ProposerError> {
    let tape = read(file)?;
    let native = tape.entries.iter().any(|entry| match &entry.reply {
        selfsmith_cassette::Reply::Spoken(spoken) => !spoken.calls.is_empty(),
        selfsmith_cassette::Reply::Raw(raw) => {
            raw.chunks.iter().any(|chunk| String::from_utf8_lossy(&chunk.bytes()).contains("\"tool_calls\""))
        }
    });
    let channel = if native { "native" } else { "text" };
    Agent::new("replay", program, Some(channel), Source::Replay(tape), kit)
}

/// Read a cassette; what is no text at all is called that.
fn read(file: &Path) -> Result<Tape, ProposerError> {
    Tape::read(file).map_err(|error| {
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<io::Error>());
        match cause {
            Some(cause) if cause.kind() == io::ErrorKind::InvalidData => ProposerError {
                what: format!("could not read the cassette {}: it is no text", file.display()),
                hint: "a cassette is a file of JSON lines; docs/contract.md, section Cassettes, describes it"
                    .to_owned(),
            },
            Some(cause) => ProposerError { what: format!("could not {error}: {cause}"), hint: error.hint().to_owned() },
            None => ProposerError { what: format!("could not {error}"), hint: error.hint().to_owned() },
        }
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_cassette_that_is_no_text_or_is_not_there_is_called_that() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("random");
        assert!(read(&file).unwrap_err().what.contains("No such file"));
        std::fs::write(&file, [0xb2, 0x01, 0x5b, 0xff, 0x0a]).unwrap();
        let error = read(&file).unwrap_err();
        assert!(error.what.ends_with("it is no text") && error.hint.contains("JSON lines"), "{error}");
    }
}
