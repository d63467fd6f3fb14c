//! Watching the body of a good answer while it streams: silence, size, encoding.

use futures::stream::{self, BoxStream, StreamExt};
use std::io;
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::query::failure::{Failure, Kind};

/// Bytes of one answer that are taken at most.
pub(super) const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// How long silence may last.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    /// Until the headers and the first bytes: prompts are read in this time.
    pub first: Duration,
    /// Between bytes; comments that keep the connection alive count.
    pub between: Duration,
}

/// What ended a body too early. async-openai passes only a text on, so the kind is kept here.
#[derive(Debug, Clone, Default)]
pub struct Facts(Arc<Mutex<Option<Failure>>>);

impl Facts {
    /// Why the body ended too early, if it did.
    pub fn failure(&self) -> Option<Failure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, failure: &Failure) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure.clone());
    }
}

/// The bytes of a body as they come.
pub(super) type Bytes = BoxStream<'static, Result<Vec<u8>, String>>;

/// The next bytes within the limit.
pub(super) async fn next(body: &mut Bytes, limit: Duration) -> Result<Option<Vec<u8>>, Failure> {
    match tokio::time::timeout(limit, body.next()).await {
        Err(_) => Err(silence(limit)),
        Ok(None) => Ok(None),
        Ok(Some(Ok(bytes))) => Ok(Some(bytes)),
        Ok(Some(Err(why))) => Err(Failure::new(Kind::Dropped, format!("the connection broke off: {why}"))),
    }
}

fn silence(limit: Duration) -> Failure {
    Failure::new(Kind::TimedOut, format!("nothing came for {} s (idle_timeout)", limit.as_secs_f32()))
}

/// The rest of a body as an event stream that the parser above can trust: UTF-8 whatever the server sent, a byte order
/// mark removed, a last event without its blank line completed, silence and floods turned into errors.
pub(super) fn watched(
    head: Vec<u8>,
    body: Bytes,
    watch: Watch,
    facts: Facts,
) -> BoxStream<'static, io::Result<Vec<u8>>> {
    let state = Watched {
        head: Some(head),
        body,
        watch,
        facts,
        decoder: encoding_rs::UTF_8.new_decoder_with_bom_removal(),
        taken: 0,
        ended: false,
    };
    stream::unfold(state, |mut state| async move { state.step().await.map(|piece| (piece, state)) }).boxed()
}

struct Watched {
    head: Option<Vec<u8>>,
    body: Bytes,
    watch: Watch,
    facts: Facts,
    decoder: encoding_rs::Decoder,
    taken: usize,
    ended: bool,
}

impl Watched {
    async fn step(&mut self) -> Option<io::Result<Vec<u8>>> {
        if self.ended {
            return None;
        }
        if let Some(head) = self.head.take() {
            return Some(Ok(self.decode(&head, false)));
        }
        let next = match next(&mut self.body, self.watch.between).await {
            Ok(Some(bytes)) if self.taken + bytes.len() > MAX_ANSWER => {
                Err(Failure::new(Kind::BadRequest, format!("the answer exceeds {MAX_ANSWER} bytes")))
            }
            other => other,
        };
        match next {
            Ok(Some(bytes)) => Some(Ok(self.decode(&bytes, false))),
            Ok(None) => {
                self.ended = true;
                let mut rest = self.decode(&[], true);
                rest.extend_from_slice(b"\n\n");
                Some(Ok(rest))
            }
            Err(failure) => {
                self.ended = true;
                self.facts.set(&failure);
                Some(Err(io::Error::other(failure)))
            }
        }
    }

    fn decode(&mut self, bytes: &[u8], last: bool) -> Vec<u8> {
        self.taken += bytes.len();
        let mut text = String::new();
        let room = self.decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len().saturating_mul(3) + 16);
        text.reserve(room);
        // The buffer has room for the worst case, so one call takes everything.
        let _ = self.decoder.decode_to_string(bytes, &mut text, last);
        text.into_bytes()
    }
}
