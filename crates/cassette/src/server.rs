//! A small HTTP/1.1 server on a loopback TCP or UNIX listener, on a thread and runtime of its own.
//!
//! What it answers is a [`Handler`]'s business: [`PlayerHandler`] plays a tape; a relay brings its own and forwards. The
//! server ends, its connections with it, when [`Server`] is dropped. It binds nothing by itself and knows no TLS.

use crate::answer::{Answer, AnswerBody};
use crate::drift::Drift;
use crate::error::CassetteError;
use crate::openai;
use crate::play::play;
use crate::player::Player;
use crate::reply::Then;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::{mpsc, oneshot};

/// Bytes of a request body that are taken at most.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// Where to listen; the caller has bound it.
#[derive(Debug)]
pub enum Listener {
    /// TCP, meant for a loopback address.
    Tcp(std::net::TcpListener),
    /// A socket file, owned (and removed) by the caller.
    Unix(std::os::unix::net::UnixListener),
}

/// A request.
#[derive(Debug, Clone)]
pub struct Call {
    /// `GET`, `POST`, ….
    pub method: String,
    /// Path with query.
    pub path: String,
    /// Headers in order; values that are no text are left out.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
}

/// A future answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Answers requests. It runs on the server's one thread: it may wait but must not block.
pub trait Handler: Send + Sync + 'static {
    /// Answer one request. When the client goes away the future is dropped.
    fn answer(&self, call: Call) -> Answering<'_>;
}

/// A running server; it stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
    address: Option<std::net::SocketAddr>,
}

impl Server {
    /// The base URL to give to a client, `http://127.0.0.1:PORT/v1`; `None` on a UNIX socket.
    pub fn base_url(&self) -> Option<String> {
        self.address.map(|address| format!("http://{address}/v1"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in the thread was a handler's and has been printed by then.
            let _ = thread.join();
        }
    }
}

/// Serve until the returned guard is dropped.
///
/// # Errors
/// The listener or the runtime cannot be used.
pub fn serve(listener: Listener, handler: Arc<dyn Handler>) -> Result<Server, CassetteError> {
    let (address, name) = match &listener {
        Listener::Tcp(tcp) => {
            let address = tcp.local_addr().ok();
            (address, address.map_or_else(|| "a TCP socket".to_owned(), |address| address.to_string()))
        }
        Listener::Unix(unix) => (None, format!("{:?}", unix.local_addr().ok())),
    };
    let failed = |source| CassetteError::Serve { address: name.clone(), source };
    match &listener {
        Listener::Tcp(tcp) => tcp.set_nonblocking(true).map_err(failed)?,
        Listener::Unix(unix) => unix.set_nonblocking(true).map_err(failed)?,
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (stop, stopped) = oneshot::channel();
    let accepting = {
        let _inside = runtime.enter();
        Accepting::new(listener).map_err(failed)?
    };
    let thread = std::thread::Builder::new()
        .name("cassette-server".into())
        .spawn(move || runtime.block_on(accept(accepting, handler, stopped)))
        .map_err(failed)?;
    Ok(Server { stop: Some(stop), thread: Some(thread), address })
}

/// The listener inside the runtime.
enum Accepting {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
}

impl Accepting {
    fn new(listener: Listener) -> std::io::Result<Self> {
        Ok(match listener {
            Listener::Tcp(tcp) => Self::Tcp(tokio::net::TcpListener::from_std(tcp)?),
            Listener::Unix(unix) => Self::Unix(tokio::net::UnixListener::from_std(unix)?),
        })
    }
}

async fn accept(listener: Accepting, handler: Arc<dyn Handler>, mut stopped: oneshot::Receiver<()>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            Some(_) = connections.join_next() => {}
            accepted = next(&listener) => match accepted {
                Ok(Connection::Tcp(stream)) => { connections.spawn(connection(stream, Arc::clone(&handler))); }
                Ok(Connection::Unix(stream)) => { connections.spawn(connection(stream, Arc::clone(&handler))); }
                // Out of descriptors, or a client that left again: the next accept may do.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            },
        }
    }
}

enum Connection {
    Tcp(tokio::net::TcpStream),
    Unix(tokio::net::UnixStream),
}

async fn next(listener: &Accepting) -> std::io::Result<Connection> {
    Ok(match listener {
        Accepting::Tcp(tcp) => {
            let (stream, _) = tcp.accept().await?;
            stream.set_nodelay(true)?;
            Connection::Tcp(stream)
        }
        Accepting::Unix(unix) => Connection::Unix(unix.accept().await?.0),
    })
}

async fn connection<S>(stream: S, handler: Arc<dyn Handler>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |request| {
        let handler = Arc::clone(&handler);
        async move { Ok::<_, Infallible>(answer(request, &*handler).await) }
    });
    // An error here is a client that went away, or a reply that was meant to break off.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(request: http::Request<Incoming>, handler: &dyn Handler) -> http::Response<Sending> {
    let (head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
    let answer = match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => {
            let headers = head.headers.iter();
            let headers = headers.filter_map(|(k, v)| Some((k.as_str().to_owned(), v.to_str().ok()?.to_owned())));
            let headers = headers.collect();
            handler.answer(Call { method: head.method.to_string(), path, headers, body: body.to_bytes() }).await
        }
        Err(why) => Answer::error(413, "body", &format!("the request's body could not be read: {why}")),
    };
    response(answer)
}

fn response(answer: Answer) -> http::Response<Sending> {
    let mut builder = http::Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        // The body's framing is the server's own.
        if !name.eq_ignore_ascii_case("content-length") && !name.eq_ignore_ascii_case("transfer-encoding") {
            builder = builder.header(name, value);
        }
    }
    builder.body(Sending::from(answer.body)).unwrap_or_else(|why| {
        let body = openai::error_body("answer", &format!("the reply cannot be sent: {why}"));
        let mut response = http::Response::new(Sending::from(AnswerBody::Whole(body.into())));
        *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}

/// A body on its way.
enum Sending {
    /// `sent`: a piece was handed over; it is flushed before the next one, so that pieces travel apart and a reset
    /// comes after them.
    Known {
        pieces: std::vec::IntoIter<Bytes>,
        then: Then,
        length: Option<u64>,
        sent: bool,
    },
    Stream(mpsc::Receiver<Result<Bytes, std::io::Error>>),
}

impl From<AnswerBody> for Sending {
    fn from(body: AnswerBody) -> Self {
        match body {
            AnswerBody::Whole(bytes) => {
                let length = Some(bytes.len() as u64);
                Self::Known { pieces: vec![bytes].into_iter(), then: Then::Close, length, sent: false }
            }
            AnswerBody::Pieces(pieces, then) => {
                let pieces: Vec<Bytes> = pieces.into_iter().map(Bytes::from).collect();
                Self::Known { pieces: pieces.into_iter(), then, length: None, sent: false }
            }
            AnswerBody::Stream(stream) => Self::Stream(stream),
        }
    }
}

impl Body for Sending {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match self.get_mut() {
            Self::Known { sent, .. } if *sent => {
                *sent = false;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Self::Known { pieces, then, sent, .. } => match (pieces.next(), *then) {
                (Some(piece), _) => {
                    *sent = true;
                    Poll::Ready(Some(Ok(Frame::data(piece))))
                }
                (None, Then::Close) => Poll::Ready(None),
                (None, Then::Reset) => Poll::Ready(Some(Err(std::io::ErrorKind::ConnectionReset.into()))),
                // Nothing wakes it: the connection ends when the client or the server goes.
                (None, Then::Stall) => Poll::Pending,
            },
            Self::Stream(stream) => stream.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data))),
        }
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            Self::Known { length: Some(length), .. } => hyper::body::SizeHint::with_exact(*length),
            _ => hyper::body::SizeHint::default(),
        }
    }
}

/// Plays a tape to whoever asks, and keeps what was asked.
#[derive(Debug)]
pub struct PlayerHandler {
    state: Mutex<Played>,
    strict: bool,
}

#[derive(Debug)]
struct Played {
    player: Player,
    requests: Vec<Value>,
    drifts: Vec<Drift>,
}

impl PlayerHandler {
    /// Play; `strict`: a request that differs from the recorded one is answered with an error.
    pub fn new(player: Player, strict: bool) -> Self {
        Self { state: Mutex::new(Played { player, requests: Vec::new(), drifts: Vec::new() }), strict }
    }

    /// The bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// The differences so far.
    pub fn drifts(&self) -> Vec<Drift> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).drifts.clone()
    }

    /// Turns that were not asked for yet.
    pub fn left(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).player.left()
    }

    fn reply(&self, call: &Call) -> Answer {
        let path = call.path.split('?').next().unwrap_or_default();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match (call.method.as_str(), path) {
            ("GET", path) if path.ends_with("/models") => {
                let name = state.player.tape().header.model.clone();
                Answer::json(200, openai::models(name.as_deref().unwrap_or("cassette")))
            }
            ("POST", path) if path.ends_with("/chat/completions") => self.turn(&mut state, &call.body),
            _ => Answer::error(404, "not_found", &format!("a cassette does not answer {} {path}", call.method)),
        }
    }

    fn turn(&self, state: &mut Played, body: &[u8]) -> Answer {
        let request: Value = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(why) => return Answer::error(400, "bad_request", &format!("the body is no JSON: {why}")),
        };
        state.requests.push(request.clone());
        match state.player.take(&request) {
            Ok(taken) => {
                if let Some(drift) = taken.drift {
                    let message = drift.to_string();
                    state.drifts.push(drift);
                    if self.strict {
                        return Answer::error(500, openai::DRIFTED_CODE, &message);
                    }
                }
                play(&taken.reply, taken.turn, &request)
            }
            Err(error) => Answer::error(500, openai::ENDED_CODE, &format!("could not {error}; {}", error.hint())),
        }
    }
}

impl Handler for PlayerHandler {
    fn answer(&self, call: Call) -> Answering<'_> {
        Box::pin(std::future::ready(self.reply(&call)))
    }
}
