//! The tower service below async-openai.

use super::body::{self, Bytes, Facts, MAX_ANSWER, Watch};
use crate::query::failure::{Failure, Kind};
use crate::query::tape::Replaying;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::StreamExt;
use futures::future::BoxFuture;
use selfsmith_cassette::{Answer, AnswerBody, Then};
use std::error::Error as _;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// Bytes of an error's body that are read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Time to read an error's body.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(10);

/// Where requests go.
#[derive(Debug, Clone)]
pub enum Transport {
    /// To the network.
    Network(super::Client),
    /// To a cassette, without a socket.
    Tape(Arc<Replaying>, super::Client),
}

/// What the caller asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// An event stream.
    Stream,
    /// One body.
    Whole,
}

/// The service; one is made for each request.
#[derive(Debug, Clone)]
pub struct Guard {
    transport: Transport,
    wants: Wants,
    watch: Watch,
    facts: Facts,
    now: fn() -> SystemTime,
}

impl Guard {
    /// A service for one request; `facts` tells afterwards what ended the body.
    pub const fn new(transport: Transport, wants: Wants, watch: Watch, facts: Facts, now: fn() -> SystemTime) -> Self {
        Self { transport, wants, watch, facts, now }
    }

    async fn send(self, factory: HttpRequestFactory) -> Result<reqwest::Response, Failure> {
        let request = factory.build().await.map_err(|why| Failure::new(Kind::BadRequest, why.to_string()))?;
        let address = request.url().clone();
        let sending = self.transport.send(request);
        let response = match tokio::time::timeout(self.watch.first, sending).await {
            Err(_) => {
                let limit = self.watch.first.as_secs_f32();
                return Err(Failure::new(
                    Kind::TimedOut,
                    format!("{address} gave no answer within {limit} s (idle_timeout)"),
                ));
            }
            Ok(response) => response?,
        };
        if response.status().is_success() { self.good(response).await } else { Err(self.bad(response).await) }
    }

    /// An answer with a good status may still be an error, a page, or a whole body in the place of a stream.
    async fn good(self, response: reqwest::Response) -> Result<reqwest::Response, Failure> {
        let mut builder = http::Response::builder().status(response.status());
        if let Some(headers) = builder.headers_mut() {
            headers.clone_from(response.headers());
        }
        let mut bytes = incoming(response);
        let mut head = Vec::new();
        let mut limit = self.watch.first;
        let began = Instant::now();
        while first_letter(&head).is_none() {
            if began.elapsed() > self.watch.patience() {
                return Err(body::only_signs_of_life(self.watch.patience()));
            }
            match body::next(&mut bytes, limit).await? {
                Some(more) => head.extend(more),
                None => break,
            }
            if head.len() > MAX_ERROR_BODY {
                break;
            }
            limit = self.watch.between;
        }
        let stream = match (first_letter(&head), self.wants) {
            (Some(b'<'), _) => {
                let page = String::from_utf8_lossy(&head).into_owned();
                let words = Failure::of_status(404, None, &page).what;
                return Err(Failure::new(
                    Kind::NotFound,
                    format!("the address answers with {words}, not with a model's reply"),
                ));
            }
            (Some(b'{' | b'['), _) | (_, Wants::Whole) => {
                let whole = whole(head, bytes, self.watch).await?;
                let whole = match self.wants {
                    Wants::Whole => whole,
                    Wants::Stream => as_event(&whole)?,
                };
                futures::stream::iter([Ok(whole)]).boxed()
            }
            _ => body::watched(head, bytes, self.watch, self.facts),
        };
        builder
            .body(reqwest::Body::wrap_stream(stream))
            .map(reqwest::Response::from)
            .map_err(|why| Failure::new(Kind::Broken, why.to_string()))
    }

    async fn bad(&self, response: reqwest::Response) -> Failure {
        let status = response.status().as_u16();
        let named = named_wait(response.headers(), self.now);
        let location = response.headers().get("location").and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
        let mut bytes = incoming(response);
        let mut text = Vec::new();
        while text.len() < MAX_ERROR_BODY {
            // What cannot be read of an error's body is not worth another error.
            match body::next(&mut bytes, ERROR_BODY_WAIT).await {
                Ok(Some(more)) => text.extend(more),
                Ok(None) | Err(_) => break,
            }
        }
        let mut failure = Failure::of_status(status, named, &String::from_utf8_lossy(&text));
        if let (300..=399, Some(location)) = (status, location) {
            failure = Failure {
                what: format!("the server redirects to {location}; set model.base_url to where it leads"),
                kind: Kind::NotFound,
                ..failure
            };
        }
        failure
    }
}

impl tower::Service<HttpRequestFactory> for Guard {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = BoxFuture<'static, Result<reqwest::Response, OpenAIError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let guard = self.clone();
        Box::pin(async move { guard.send(factory).await.map_err(|failure| OpenAIError::Boxed(Box::new(failure))) })
    }
}

impl Transport {
    /// For async-openai, which builds its requests with a client even where none is sent.
    pub fn http(&self) -> reqwest::Client {
        match self {
            Self::Network(client) | Self::Tape(_, client) => client.inner(),
        }
    }

    async fn send(&self, request: reqwest::Request) -> Result<reqwest::Response, Failure> {
        match self {
            Self::Network(client) => client.0.execute(request).await.map_err(|error| of_reqwest(&error)),
            Self::Tape(tape, _) => {
                let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
                let body = serde_json::from_slice(body).unwrap_or_default();
                respond(tape.answer(&body)?)
            }
        }
    }
}

/// A failure before any answer.
fn of_reqwest(error: &reqwest::Error) -> Failure {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    let kind = if error.is_builder() {
        Kind::BadRequest
    } else if error.is_timeout() || error.is_connect() {
        Kind::Connect
    } else {
        Kind::Dropped
    };
    Failure::new(kind, words)
}

/// An answer from tape in the form of one from the network.
fn respond(answer: Answer) -> Result<reqwest::Response, Failure> {
    let mut builder = http::Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        builder = builder.header(name, value);
    }
    let (pieces, then) = match answer.body {
        AnswerBody::Whole(bytes) => (vec![bytes.to_vec()], Then::Close),
        AnswerBody::Pieces(pieces, then) => (pieces, then),
        AnswerBody::Stream(_) => (Vec::new(), Then::Close),
    };
    let pieces = futures::stream::iter(pieces.into_iter().map(Ok::<_, std::io::Error>));
    let stream = match then {
        Then::Close => pieces.boxed(),
        Then::Reset => pieces.chain(futures::stream::iter([Err(std::io::ErrorKind::ConnectionReset.into())])).boxed(),
        Then::Stall => pieces.chain(futures::stream::pending()).boxed(),
    };
    builder
        .body(reqwest::Body::wrap_stream(stream))
        .map(reqwest::Response::from)
        .map_err(|why| Failure::new(Kind::Cassette, format!("the recorded reply cannot be played: {why}")))
}

fn incoming(response: reqwest::Response) -> Bytes {
    response
        .bytes_stream()
        .map(|piece| match piece {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(error) => Err(of_reqwest(&error).what),
        })
        .boxed()
}

/// The first byte that is no white space and no byte order mark.
fn first_letter(bytes: &[u8]) -> Option<u8> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

async fn whole(mut head: Vec<u8>, mut bytes: Bytes, watch: Watch) -> Result<Vec<u8>, Failure> {
    let mut heard = Instant::now();
    while let Some(more) = body::next(&mut bytes, watch.between).await? {
        // Some servers send blanks while a model thinks.
        if first_letter(&more).is_some() {
            heard = Instant::now();
        } else if heard.elapsed() > watch.patience() {
            return Err(body::only_signs_of_life(watch.patience()));
        }
        head.extend(more);
        if head.len() > MAX_ANSWER {
            return Err(Failure::new(Kind::BadRequest, format!("the answer exceeds {MAX_ANSWER} bytes")));
        }
    }
    Ok(head)
}

/// A whole JSON body as the one event of a stream. Line ends inside JSON are white space, so that it fits on a line.
fn as_event(whole: &[u8]) -> Result<Vec<u8>, Failure> {
    let text = String::from_utf8_lossy(whole);
    let value: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|why| Failure::new(Kind::Broken, format!("the answer is neither an event stream nor JSON: {why}")))?;
    Ok(format!("data: {value}\n\n").into_bytes())
}

/// `Retry-After` in seconds or as a date, and its finer relative.
fn named_wait(headers: &http::HeaderMap, now: fn() -> SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let named = text("retry-after")?;
    if let Ok(seconds) = named.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| {
        let seconds = jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_second();
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
    };
    // The server's own clock is the better one to compare with.
    let here = text("date").and_then(date).unwrap_or_else(now);
    Some(date(named)?.duration_since(here).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(pairs: &[(&'static str, &'static str)]) -> Option<Duration> {
        let mut headers = http::HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, http::HeaderValue::from_static(value));
        }
        named_wait(&headers, || SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn retry_after_is_read_in_seconds_milliseconds_and_as_a_date() {
        assert_eq!(wait(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
        assert_eq!(wait(&[("retry-after-ms", "250"), ("retry-after", "9")]), Some(Duration::from_millis(250)));
        let date = [("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT"), ("date", "Wed, 21 Oct 2015 07:28:00 GMT")];
        assert_eq!(wait(&date), Some(Duration::from_secs(30)));
        assert_eq!(wait(&[("retry-after", "Thu, 01 Jan 1970 00:00:05 GMT")]), Some(Duration::from_secs(5)));
        assert_eq!(wait(&[("retry-after", "soon")]), None);
        assert_eq!(wait(&[]), None);
    }
}
