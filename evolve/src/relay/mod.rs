//! The relay: the only way from a room to a model. One UNIX socket outside, to which a forwarder inside the room leads.
//!
//! It answers `POST /v1/chat/completions` and `GET /v1/models` and nothing else. The judge holds the key and pins address
//! and model; what a client says of keys is not passed on, and the key never goes into the room. It counts what is spent
//! and can record. A client cannot make it connect anywhere else. What is not built yet: limits on spend.

mod live;
mod meter;

pub use live::Upstream;
pub use meter::Spent;

use live::Live;
use selfsmith_cassette::{
    Answer, Answering, Call, Handler, Listener, Normaliser, Player, PlayerHandler, Server, Tape, serve,
};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Path of the endpoint below which the room's base URL lies.
pub const CHAT: &str = "/v1/chat/completions";
/// Path of the list of models.
pub const MODELS: &str = "/v1/models";

/// What answers behind the relay.
#[derive(Debug)]
pub enum Source {
    /// A cassette, by turn.
    Replay(Tape),
    /// A model.
    Live(Upstream),
}

/// A running relay. It ends, its socket with it, when this is dropped.
#[derive(Debug)]
pub struct Relay {
    socket: PathBuf,
    model: String,
    gate: Arc<Gate>,
    /// In order of dropping: no request after the server, no socket after its folder.
    _server: Server,
    _folder: tempfile::TempDir,
}

impl Relay {
    /// Start it. The socket lies in a folder of its own that nobody else may enter; its path is short, as such paths
    /// must be (108 bytes).
    pub fn start(source: Source) -> Result<Self, RelayError> {
        let folder = tempfile::Builder::new().prefix("selfsmith-relay-").tempdir();
        let folder = folder.map_err(|source| RelayError::Socket { path: std::env::temp_dir(), source })?;
        let socket = folder.path().join("model.sock");
        let listener = UnixListener::bind(&socket);
        let listener = listener.map_err(|source| RelayError::Socket { path: socket.clone(), source })?;
        // Whoever runs in the room is another user where the judge is root.
        selfsmith_sandbox::give_to_room(&socket)?;
        let (model, behind) = match source {
            Source::Replay(tape) => {
                let model = tape.header.model.clone().unwrap_or_else(|| "cassette".to_owned());
                (model, Behind::Replay(Box::new(PlayerHandler::new(Player::new(tape, Normaliser::default()), false))))
            }
            Source::Live(upstream) => (upstream.model.clone(), Behind::Live(Arc::new(Live::new(upstream)?))),
        };
        let gate = Arc::new(Gate { behind });
        let server = serve(Listener::Unix(listener), Arc::clone(&gate) as Arc<dyn Handler>)?;
        Ok(Self { socket, model, gate, _server: server, _folder: folder })
    }

    /// The socket to bind into the room.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Name of the model behind it.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        match &self.gate.behind {
            Behind::Replay(player) => Spent { requests: player.requests().len() as u64, ..Spent::default() },
            Behind::Live(live) => live.spent(),
        }
    }

    /// How a replay differed from its recording so far, a line each.
    pub fn drifts(&self) -> Vec<String> {
        match &self.gate.behind {
            Behind::Replay(player) => player.drifts().iter().map(ToString::to_string).collect(),
            Behind::Live(_) => Vec::new(),
        }
    }

    /// Why the recording is not whole, where one was asked for.
    pub fn record_error(&self) -> Option<String> {
        match &self.gate.behind {
            Behind::Replay(_) => None,
            Behind::Live(live) => live.record_error(),
        }
    }
}

/// Lets through what may pass.
#[derive(Debug)]
struct Gate {
    behind: Behind,
}

#[derive(Debug)]
enum Behind {
    Replay(Box<PlayerHandler>),
    Live(Arc<Live>),
}

impl Handler for Gate {
    fn answer(&self, mut call: Call) -> Answering<'_> {
        // The whole path counts, query included: nothing rides along.
        if !matches!((call.method.as_str(), call.path.as_str()), ("POST", CHAT) | ("GET", MODELS)) {
            let why = format!("the relay answers POST {CHAT} and GET {MODELS}, not {} {}", call.method, call.path);
            return Box::pin(std::future::ready(Answer::error(403, "relay_refused", &why)));
        }
        call.headers
            .retain(|(name, _)| name.eq_ignore_ascii_case("accept") || name.eq_ignore_ascii_case("content-type"));
        match &self.behind {
            Behind::Replay(player) => player.answer(call),
            Behind::Live(live) => Box::pin(Arc::clone(live).answer(call)),
        }
    }
}

/// Why there is no relay.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The socket.
    #[error("make the relay's socket {}", path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The room's user could not be given the socket.
    #[error(transparent)]
    Room(#[from] selfsmith_sandbox::SandboxError),
    /// The cassette or the server.
    #[error(transparent)]
    Cassette(#[from] selfsmith_cassette::CassetteError),
    /// The address of the model.
    #[error("use `{url}` as the model's base URL: {why}")]
    Address {
        /// As it was given.
        url: String,
        /// Why.
        why: String,
    },
    /// The HTTP client.
    #[error("make the HTTP client for the model")]
    Client(#[source] reqwest::Error),
}

impl RelayError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Socket { .. } => "check that the temporary folder (TMPDIR) may be written".to_owned(),
            Self::Room(error) => error.hint(),
            Self::Cassette(error) => error.hint().to_owned(),
            Self::Address { .. } => {
                "give model.base_url in the judge's settings, such as http://127.0.0.1:11434/v1".to_owned()
            }
            Self::Client(_) => "check the proxy variables and the certificates of the system".to_owned(),
        }
    }
}
