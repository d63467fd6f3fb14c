//! Watching the body of a good answer while it streams: silence, size, encoding.

use futures::FutureExt;
use futures::stream::{self, BoxStream, StreamExt};
use std::io;
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::lines::{Lines, MAX_LINE, TooLong};
use super::pace::{BREATH, Pace};
use crate::query::failure::{Failure, Kind};
use tokio::time::Instant;

/// Bytes of one answer that are taken at most.
pub(super) const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Pieces of a fast stream that are taken with one look at most, so that what they say is shown and a person can stop it.
const AT_ONCE: usize = 64;

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
        Ok(piece) => whole(piece),
    }
}

/// What is there already, without a wait for the network; `None` where nothing is.
async fn at_hand(body: &mut Bytes) -> Option<Result<Option<Vec<u8>>, Failure>> {
    if let Some(piece) = body.next().now_or_never() {
        return Some(whole(piece));
    }
    // The connection's own task hands over one piece at a time: it gets its turn.
    tokio::task::yield_now().await;
    body.next().now_or_never().map(whole)
}

fn whole(piece: Option<Result<Vec<u8>, String>>) -> Result<Option<Vec<u8>>, Failure> {
    piece.transpose().map_err(|why| Failure::new(Kind::Dropped, format!("the connection broke off: {why}")))
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
        pace: Pace::default(),
        ahead: None,
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
    pace: Pace,
    /// What ended the body behind pieces that are good: they are passed on first.
    ahead: Option<Failure>,
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

    /// The next bytes, into lines; in a fast stream all that gathered in the time of a breath.
    async fn gather(&mut self) -> Result<(), Failure> {
        if let Some(head) = self.head.take() {
            return self.take(Some(&head));
        }
        if let Some(failure) = self.ahead.take() {
            return Err(failure);
        }
        if self.pace.is_fast() {
            tokio::time::sleep(BREATH).await;
        }
        let left = self.watch.patience().saturating_sub(self.heard.elapsed());
        if left.is_zero() {
            return Err(only_signs_of_life(self.watch.patience()));
        }
        let began = Instant::now();
        let bytes = next(&mut self.body, self.watch.between).await?;
        self.pace.waited(began.elapsed());
        self.take(bytes.as_deref())?;
        for _ in 0..AT_ONCE {
            if self.ended || !self.pace.is_fast() {
                break;
            }
            let Some(more) = at_hand(&mut self.body).await else { break };
            if let Err(failure) = more.and_then(|bytes| self.take(bytes.as_deref())) {
                self.ahead = Some(failure);
                break;
            }
        }
        Ok(())
    }

    /// Bytes into lines, or the end of the body.
    fn take(&mut self, bytes: Option<&[u8]>) -> Result<(), Failure> {
        let Some(bytes) = bytes else {
            self.ended = true;
            let rest = self.decode(&[], true);
            self.lines.push(&rest).map_err(too_long)?;
            self.lines.finish();
            return Ok(());
        };
        if self.taken + bytes.len() > MAX_ANSWER {
            return Err(Failure::new(Kind::BadRequest, format!("the answer exceeds {MAX_ANSWER} bytes")));
        }
        let text = self.decode(bytes, false);
        if self.lines.push(&text).map_err(too_long)? {
            self.heard = Instant::now();
        }
        Ok(())
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
    async fn in_a_fast_stream_what_gathered_in_a_breath_is_passed_on_as_one_piece_and_nothing_is_lost() {
        let count = 300;
        let body = stream::iter(0..count).map(|n| Ok(format!("data: {n}\n\n").into_bytes()));
        let broken = stream::iter([Err("reset".to_owned())]);
        let facts = Facts::default();
        let began = Instant::now();
        let pieces: Vec<_> = watched(Vec::new(), body.chain(broken).boxed(), WATCH, facts.clone()).collect().await;
        let (last, good) = pieces.split_last().expect("pieces");
        let text: Vec<u8> =
            good.iter().flat_map(|piece| piece.as_ref().expect("good before the end").clone()).collect();
        let whole: String = (0..count).map(|n| format!("data: {n}\n\n")).collect();
        assert_eq!(String::from_utf8(text).expect("text"), whole);
        assert!(last.is_err() && facts.failure().is_some_and(|why| why.kind == Kind::Dropped));
        assert!(good.len() < 30, "the first one by one, then some dozens at a time: {}", good.len());
        assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_at_the_pace_of_a_model_is_read_as_it_comes() {
        let clock = tokio::time::interval(Duration::from_millis(10));
        let body = stream::unfold((0, clock), |(n, mut clock)| async move {
            clock.tick().await;
            (n < 100).then(|| (Ok(b"data: {}\n\n".to_vec()), (n + 1, clock)))
        });
        let began = Instant::now();
        let pieces = watched(Vec::new(), body.boxed(), WATCH, Facts::default()).count().await;
        // The end of the body completes an event that has no blank line: a last, empty piece.
        assert_eq!((pieces, began.elapsed().as_millis()), (101, 1000));
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_without_end_is_named() {
        let flood = stream::repeat_with(|| Ok(vec![b'z'; 256 * 1024])).boxed();
        let (_, failure) = last(flood).await;
        assert!(failure.expect("a bound").what.contains("one line of the event stream"));
    }
}
