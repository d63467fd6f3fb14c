//! Model traffic on tape: the format, matching by turn, recording, and a loopback server that plays it.
//!
//! A cassette is a text file of JSON lines (docs/contract.md, "Cassettes"). It is played by turn: the first request gets
//! the first reply, whatever it says; where the tape also holds the request, a difference is reported as a [`Drift`] and
//! the caller decides whether that is fatal. The same [`Reply`] type is what people write by hand in scenarios, in JSON
//! or YAML.
//!
//! It promises: a recorder never overwrites a file and each turn is on disk before it returns; a player never invents a
//! reply. It does not know providers, retries or tools, and it forwards nothing: a relay brings a [`Handler`] of its own.

mod answer;
mod drift;
mod error;
mod openai;
mod play;
mod player;
mod recorder;
mod reply;
mod server;
mod tape;

pub use answer::{Answer, AnswerBody};
pub use drift::{Drift, Normaliser};
pub use error::CassetteError;
pub use openai::{DRIFTED_CODE, ENDED_CODE, error_body};
pub use play::play;
pub use player::{Player, Taken};
pub use recorder::Recorder;
pub use reply::{Chunk, RawReply, Reply, SpokenCall, SpokenReply, TapeUsage, Then};
pub use server::{Answering, Call, Handler, Listener, PlayerHandler, Server, serve};
pub use tape::{Entry, Header, Tape, VERSION};
