//! Watching the body of a good answer while it streams: silence, size, encoding.

use futures::stream::{self, BoxStream, StreamExt};
use std::io;
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::lines::{Lines, MAX_LINE, TooLong};
use crate::query::failure::{Failure, Kind};
use tokio::time::Instant;

/// Bytes of one answer that are taken at most.
pub(super) const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// How long silence may last.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    /// Until the headers and the first bytes: prompts are read in this time.
    pub first: Duration,
    /// Between bytes; what only keeps the connection open counts, but not for ever.
    pub between: Duration,
}

impl Watch {
    /// How long comments alone may keep a stream open: some servers send them while a model thinks.
    pub(super) fn patience(&self) -> Duration {
        self.between.saturating_mul(PATIENCE).max(self.first)
    }
}

/// How often the time between bytes may pass without a part of an answer.
const PATIENCE: u32 = 10;

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

/// Something came in time, but for too long nothing of an answer.
pub(super) fn only_signs_of_life(limit: Duration) -> Failure {
    let seconds = limit.as_secs_f32();
    Failure::new(
        Kind::TimedOut,
        format!("for {seconds} s nothing came but signs that the connection is open (idle_timeout)"),
    )
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
        lines: Lines::default(),
        heard: Instant::now(),
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
    lines: Lines,
    /// When data of an event last came, or when the watch began.
    heard: Instant,
    taken: usize,
    ended: bool,
}

impl Watched {
    async fn step(&mut self) -> Option<io::Result<Vec<u8>>> {
        loop {
            if let Some(piece) = self.lines.next() {
                return Some(Ok(piece));
            }
            if self.ended {
                return None;
            }
            if let Err(failure) = self.gather().await {
                self.ended = true;
                self.facts.set(&failure);
                return Some(Err(io::Error::other(failure)));
            }
        }
    }

    /// The next bytes, into lines.
    async fn gather(&mut self) -> Result<(), Failure> {
        let bytes = match self.head.take() {
            Some(head) => Some(head),
            None => {
                let left = self.watch.patience().saturating_sub(self.heard.elapsed());
                if left.is_zero() {
                    return Err(only_signs_of_life(self.watch.patience()));
                }
                next(&mut self.body, self.watch.between).await?
            }
        };
        match bytes {
            Some(bytes) if self.taken + bytes.len() > MAX_ANSWER => {
                Err(Failure::new(Kind::BadRequest, format!("the answer exceeds {MAX_ANSWER} bytes")))
            }
            Some(bytes) => {
                let text = self.decode(&bytes, false);
                if self.lines.push(&text).map_err(too_long)? {
                    self.heard = Instant::now();
                }
                Ok(())
            }
            None => {
                self.ended = true;
                let rest = self.decode(&[], true);
                self.lines.push(&rest).map_err(too_long)?;
                self.lines.finish();
                Ok(())
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

fn too_long(_: TooLong) -> Failure {
    Failure::new(Kind::BadRequest, format!("one line of the event stream exceeds {MAX_LINE} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATCH: Watch = Watch { first: Duration::from_millis(300), between: Duration::from_millis(100) };

    /// Between two signs of life, of a clock that stands still while anything runs.
    const EACH: Duration = Duration::from_millis(40);

    async fn last(body: Bytes) -> (usize, Option<Failure>) {
        let facts = Facts::default();
        let good =
            watched(Vec::new(), body, WATCH, facts.clone()).filter(|piece| futures::future::ready(piece.is_ok()));
        (good.count().await, facts.failure())
    }

    #[tokio::test(start_paused = true)]
    async fn comments_keep_a_stream_open_for_ten_times_as_long_and_no_longer() {
        let pings = |count: usize| {
            let first = Instant::now() + EACH;
            stream::unfold((count, tokio::time::interval_at(first, EACH)), |(left, mut clock)| async move {
                clock.tick().await;
                (left > 0).then(|| (Ok(b": ping\n\n".to_vec()), (left - 1, clock)))
            })
        };
        let data = || stream::iter([Ok(b"data: {}\n\n".to_vec())]);
        let (pieces, failure) = last(pings(8).chain(data()).boxed()).await;
        assert!(pieces > 0 && failure.is_none(), "{failure:?}");
        let began = Instant::now();
        let (_, failure) = last(pings(usize::MAX).boxed()).await;
        let failure = failure.expect("silence");
        assert_eq!(failure.kind, Kind::TimedOut);
        assert!(began.elapsed() >= WATCH.patience() && failure.what.contains("idle_timeout"), "{}", failure.what);
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_without_end_is_named() {
        let flood = stream::repeat_with(|| Ok(vec![b'z'; 256 * 1024])).boxed();
        let (_, failure) = last(flood).await;
        assert!(failure.expect("a bound").what.contains("one line of the event stream"));
    }
}
