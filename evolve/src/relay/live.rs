//! A model behind the relay: requests are passed on to one pinned address, replies as they come.

use super::meter::Spent;
use super::{CHAT, RelayError};
use selfsmith_cassette::{Answer, AnswerBody, Call, Chunk, Header, Normaliser, RawReply, Recorder, Reply, Then};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// Bytes of one reply that are counted and recorded; what is longer is passed on all the same.
const COUNTED: usize = 32 * 1024 * 1024;
/// Silence after which the model counts as gone.
const SILENCE: Duration = Duration::from_secs(300);

/// Where the model is.
#[derive(Clone)]
pub struct Upstream {
    /// Base URL, up to and without `/chat/completions`.
    pub base_url: String,
    /// The key, where the endpoint wants one.
    pub key: Option<String>,
    /// The one model that may be asked.
    pub model: String,
    /// A new file for the recording.
    pub record: Option<PathBuf>,
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key is not for logs.
        f.debug_struct("Upstream").field("base_url", &self.base_url).field("model", &self.model).finish_non_exhaustive()
    }
}

/// The connection to it.
#[derive(Debug)]
pub struct Live {
    upstream: Upstream,
    base: String,
    client: reqwest::Client,
    spent: Mutex<Spent>,
    recorder: Mutex<Option<Recorder>>,
    record_error: Mutex<Option<String>>,
}

impl Live {
    pub(super) fn new(upstream: Upstream) -> Result<Self, RelayError> {
        let address = |why: String| RelayError::Address { url: upstream.base_url.clone(), why };
        let url = reqwest::Url::parse(&upstream.base_url).map_err(|error| address(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(address("it is neither http nor https".to_owned()));
        }
        let base = upstream.base_url.trim_end_matches('/').to_owned();
        let client = reqwest::Client::builder()
            // The key goes to the pinned address and nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(30))
            .read_timeout(SILENCE)
            .build()
            .map_err(RelayError::Client)?;
        let recorder = match &upstream.record {
            Some(path) => {
                let header = Header::new(Some(upstream.model.clone()), None);
                Some(Recorder::create(path, &header, Normaliser::default())?)
            }
            None => None,
        };
        Ok(Self {
            upstream,
            base,
            client,
            spent: Mutex::default(),
            recorder: Mutex::new(recorder),
            record_error: Mutex::default(),
        })
    }

    pub(super) fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record_error(&self) -> Option<String> {
        self.record_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) async fn answer(self: Arc<Self>, call: Call) -> Answer {
        if call.path != CHAT {
            let list = serde_json::json!({"object": "list", "data": [{"id": self.upstream.model, "object": "model"}]});
            return Answer::json(200, list.to_string());
        }
        let request: Value = match serde_json::from_slice(&call.body) {
            Ok(request) => request,
            Err(error) => return Answer::error(400, "bad_request", &format!("the body is not JSON: {error}")),
        };
        let asked = request.get("model").and_then(Value::as_str).unwrap_or_default();
        if asked != self.upstream.model {
            let why = format!("the relay leads to the model `{}`, not to `{asked}`", self.upstream.model);
            return Answer::error(403, "relay_refused", &why);
        }
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).requests += 1;
        let mut sent = self.client.post(format!("{}/chat/completions", self.base)).body(call.body.clone());
        for (name, value) in &call.headers {
            sent = sent.header(name, value);
        }
        if let Some(key) = &self.upstream.key {
            sent = sent.bearer_auth(key);
        }
        match sent.send().await {
            Ok(reply) => self.pass_on(request, reply).await,
            // The address is the owner's own; its query, if any, is not for the room.
            Err(error) => {
                Answer::error(502, "upstream", &format!("the model could not be reached: {}", error.without_url()))
            }
        }
    }

    async fn pass_on(self: Arc<Self>, request: Value, mut reply: reqwest::Response) -> Answer {
        let status = reply.status().as_u16();
        let passed = ["content-type", "retry-after", "x-request-id"];
        let headers: Vec<(String, String)> = passed
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), reply.headers().get(*name)?.to_str().ok()?.to_owned())))
            .collect();
        if !reply.status().is_success() {
            return self.refusal(request, status, headers, reply).await;
        }
        let (send, receive) = mpsc::channel(16);
        let heads = headers.clone();
        tokio::spawn(async move {
            let mut body = Vec::new();
            loop {
                match reply.chunk().await {
                    Ok(Some(piece)) => {
                        if body.len() < COUNTED {
                            body.extend_from_slice(&piece);
                        }
                        if send.send(Ok(piece)).await.is_err() {
                            break; // the client went away
                        }
                    }
                    Ok(None) => {
                        // Before the client sees the end, so that turns are recorded in their order.
                        self.note(&request, status, &heads, &body, Then::Close);
                        break;
                    }
                    Err(error) => {
                        self.note(&request, status, &heads, &body, Then::Reset);
                        let _ = send.send(Err(std::io::Error::other(error.without_url()))).await;
                        break;
                    }
                }
            }
        });
        Answer { status, headers, body: AnswerBody::Stream(receive) }
    }

    /// Errors are short, and some servers repeat the key in them.
    async fn refusal(
        &self,
        request: Value,
        status: u16,
        headers: Vec<(String, String)>,
        mut reply: reqwest::Response,
    ) -> Answer {
        let mut body = Vec::new();
        while body.len() < 1 << 20 {
            match reply.chunk().await {
                Ok(Some(piece)) => body.extend_from_slice(&piece),
                Ok(None) | Err(_) => break,
            }
        }
        let mut text = String::from_utf8_lossy(&body).into_owned();
        if let Some(key) = self.upstream.key.as_deref().filter(|key| !key.is_empty()) {
            text = text.replace(key, "[key]");
        }
        self.note(&request, status, &headers, text.as_bytes(), Then::Close);
        Answer { status, headers, body: AnswerBody::Whole(text.into()) }
    }

    fn note(&self, request: &Value, status: u16, headers: &[(String, String)], body: &[u8], then: Then) {
        if (200..300).contains(&status) {
            self.spent.lock().unwrap_or_else(PoisonError::into_inner).add(body);
        }
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = recorder.as_mut() else { return };
        let reply = Reply::Raw(RawReply {
            status,
            headers: headers.iter().cloned().collect::<BTreeMap<_, _>>(),
            chunks: vec![Chunk::Text(String::from_utf8_lossy(body).into_owned())],
            then,
        });
        if let Err(error) = open.append(request, &reply) {
            // A recording with a hole would replay wrongly: it ends here, and that is said.
            *recorder = None;
            let why = format!("could not {error}; {}", error.hint());
            *self.record_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        }
    }
}
