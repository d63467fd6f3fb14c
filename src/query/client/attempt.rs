//! One try: one HTTP exchange through async-openai, read to its end.

use super::Client;
use super::connection::Key;
use crate::query::assemble::{Assembler, Raw, Step};
use crate::query::chunk::{Piece, pieces};
use crate::query::endpoint::Endpoint;
use crate::query::failure::{Failure, Kind};
use crate::query::http::{Facts, Guard, Wants};
use crate::query::show::Show;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use futures::{FutureExt, StreamExt};
use http::HeaderMap;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::Duration;

/// How long usage is waited for once the finish reason is in: some servers never close.
const AFTER_FINISH: Duration = Duration::from_secs(5);

/// A try that failed, with what had come by then.
pub(super) struct Broken {
    pub failure: Failure,
    /// What came, where words came; it ends without a finish reason.
    pub partial: Option<Raw>,
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self { failure, partial: None }
    }
}

/// Address and key in async-openai's form.
struct Address {
    endpoint: Endpoint,
    key: Option<Key>,
    /// The library wants to borrow a key even where there is none.
    none: SecretString,
}

impl Config for Address {
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let value = self.key.as_ref().map(|key| format!("Bearer {}", key.0.expose_secret()));
        if let Some(mut value) = value.and_then(|value| http::HeaderValue::try_from(value).ok()) {
            value.set_sensitive(true);
            headers.insert(http::header::AUTHORIZATION, value);
        }
        headers
    }

    fn url(&self, path: &str) -> String {
        self.endpoint.url(path)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        self.endpoint.base()
    }

    fn api_key(&self) -> &SecretString {
        self.key.as_ref().map_or(&self.none, |key| &key.0)
    }
}

impl Client {
    /// Exchange this body for a raw reply.
    pub(super) async fn attempt(&self, endpoint: &Endpoint, body: &Value, show: &mut Show<'_>) -> Result<Raw, Broken> {
        let facts = Facts::default();
        let wants = if self.settings.stream { Wants::Stream } else { Wants::Whole };
        let watch = self.settings.watch();
        let guard = Guard::new(self.transport.clone(), wants, watch, facts.clone(), self.surroundings.now);
        let address = Address { endpoint: endpoint.clone(), key: self.key.clone(), none: String::new().into() };
        let library = async_openai::Client::build(self.transport.http(), address).with_http_service(guard);
        match wants {
            Wants::Stream => {
                let chat = library.chat();
                let stream = chat.create_stream_byot::<&Value, Value>(body).await;
                let stream = stream.map_err(|error| failure_of(error, &facts))?;
                read_stream(stream, &facts, show).await
            }
            Wants::Whole => {
                let value = library.chat().create_byot::<&Value, Value>(body).await;
                let value: Value = value.map_err(|error| failure_of(error, &facts))?;
                let mut assembler = Assembler::default();
                take(&mut assembler, pieces(&value), show)?;
                Ok(assembler.finish(Some("the reply has no finish reason".into())))
            }
        }
    }
}

type Stream = std::pin::Pin<Box<dyn futures::Stream<Item = Result<Value, OpenAIError>> + Send>>;

async fn read_stream(mut stream: Stream, facts: &Facts, show: &mut Show<'_>) -> Result<Raw, Broken> {
    let mut assembler = Assembler::default();
    loop {
        let next = match stream.next().now_or_never() {
            Some(next) => next,
            None => {
                show.flush();
                // Silence before the finish reason is the guard's to notice, which sees comments too.
                if assembler.has_finished() {
                    tokio::time::timeout(AFTER_FINISH, stream.next()).await.unwrap_or(None)
                } else {
                    stream.next().await
                }
            }
        };
        let failure = match next {
            Some(Ok(chunk)) => match take(&mut assembler, pieces(&chunk), show) {
                Ok(()) => continue,
                Err(failure) => failure,
            },
            Some(Err(OpenAIError::JSONDeserialize(_, data))) if is_chatter(&data) => continue,
            Some(Err(error)) => failure_of(error, facts),
            None => Failure::new(Kind::Dropped, "the stream ended without a finish reason"),
        };
        if assembler.has_finished() && failure.kind == Kind::Dropped {
            return Ok(assembler.finish(None));
        }
        show.flush();
        let partial = assembler.has_begun().then(|| assembler.finish(Some(failure.what.clone())));
        return Err(Broken { failure, partial });
    }
}

fn take(assembler: &mut Assembler, pieces: Vec<Piece>, show: &mut Show<'_>) -> Result<(), Failure> {
    for piece in pieces {
        match assembler.push(piece) {
            Step::Text(text) => show.text(&text),
            Step::Thinking(text) => show.thinking(&text),
            Step::Quiet => {}
            Step::Failed(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// Data that is no JSON and does not try to be: `[DONE]` with blanks, `ping`, a greeting.
fn is_chatter(data: &str) -> bool {
    let data = data.trim();
    data == "[DONE]" || !data.starts_with(['{', '[', '"'])
}

/// The library's error in our words.
fn failure_of(error: OpenAIError, facts: &Facts) -> Failure {
    if let Some(failure) = facts.failure() {
        return failure;
    }
    match error {
        OpenAIError::Boxed(inner) => match inner.downcast::<Failure>() {
            Ok(failure) => *failure,
            Err(other) => Failure::new(Kind::Broken, other.to_string()),
        },
        OpenAIError::JSONDeserialize(why, _) => {
            Failure::new(Kind::Broken, format!("an event of the stream is no JSON: {why}"))
        }
        OpenAIError::InvalidArgument(why) => Failure::new(Kind::BadRequest, why),
        other => Failure::new(Kind::Dropped, other.to_string()),
    }
}
