//! The relay between a client on its socket and a real HTTP server on loopback.

use selfsmith::relay::{Relay, RelayError, Source, Spent, Upstream};
use selfsmith_cassette::{
    Answer, AnswerBody, Answering, Call, Handler, Listener, Reply, Server, SpokenReply, Tape, Then, serve,
};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};

const KEY: &str = "the-key-of-the-owner";
const ASKED: &str = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}"#;

/// A model server that remembers what reached it.
struct Upstairs {
    calls: Mutex<Vec<Call>>,
    answer: fn(&Call) -> Answer,
}

impl Handler for Upstairs {
    fn answer(&self, call: Call) -> Answering<'_> {
        let answer = (self.answer)(&call);
        self.calls.lock().expect("no test panics while it holds this").push(call);
        Box::pin(std::future::ready(answer))
    }
}

fn upstairs(answer: fn(&Call) -> Answer) -> (Arc<Upstairs>, Server) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let handler = Arc::new(Upstairs { calls: Mutex::default(), answer });
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let server = serve(Listener::Tcp(listener), Arc::clone(&handler) as Arc<dyn Handler>).expect("serves");
    (handler, server)
}

fn streamed(_: &Call) -> Answer {
    let pieces = [
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hel\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
    ];
    let body = AnswerBody::Pieces(pieces.iter().map(|piece| piece.as_bytes().to_vec()).collect(), Then::Close);
    let headers =
        vec![("content-type".to_owned(), "text/event-stream".to_owned()), ("set-cookie".to_owned(), "a=b".to_owned())];
    Answer { status: 200, headers, body }
}

fn live(server: &Server, record: Option<&Path>) -> Source {
    Source::Live(Upstream {
        base_url: server.base_url().expect("is TCP"),
        key: Some(KEY.to_owned()),
        model: "m".to_owned(),
        record: record.map(Path::to_owned),
    })
}

/// One request on the relay's socket; the whole answer as text.
fn ask(relay: &Relay, method: &str, path: &str, body: &str) -> String {
    let mut socket = UnixStream::connect(relay.socket()).expect("connects");
    let length = body.len();
    write!(
        socket,
        "{method} {path} HTTP/1.1\r\nhost: relay\r\ncontent-type: application/json\r\nauthorization: Bearer theirs\r\n\
         x-other: 1\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .expect("sends");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("reads");
    String::from_utf8_lossy(&answer).into_owned()
}

fn reached(seen: &Upstairs) -> usize {
    seen.calls.lock().expect("no test panics while it holds this").len()
}

#[test]
fn a_stream_passes_with_the_judges_key_and_is_metered() {
    let (seen, server) = upstairs(streamed);
    let relay = Relay::start(live(&server, None)).expect("starts");
    let answer = ask(&relay, "POST", "/v1/chat/completions", ASKED);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("hel") && answer.contains("[DONE]"), "{answer}");
    assert!(!answer.contains("set-cookie") && !answer.contains(KEY), "{answer}");

    let calls = seen.calls.lock().expect("no test panics while it holds this");
    let call = calls.first().expect("it reached the model");
    assert_eq!((call.path.as_str(), call.body.as_ref()), ("/v1/chat/completions", ASKED.as_bytes()));
    let header = |name: &str| call.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!(header("authorization"), Some("Bearer the-key-of-the-owner"));
    assert_eq!(header("x-other"), None, "nothing rides along");
    assert_eq!(relay.spent(), Spent { requests: 1, prompt_tokens: 7, completion_tokens: 2, unstated: 0 });
}

#[test]
fn nothing_but_the_two_endpoints_is_answered() {
    let (seen, server) = upstairs(streamed);
    let relay = Relay::start(live(&server, None)).expect("starts");
    for (method, path) in [
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/embeddings"),
        ("GET", "/v1/models/../../admin"),
        ("POST", "/v1/chat/completions?key=1"),
        ("DELETE", "/v1/models"),
    ] {
        let answer = ask(&relay, method, path, "");
        assert!(answer.starts_with("HTTP/1.1 403"), "{method} {path}: {answer}");
    }
    assert_eq!(reached(&seen), 0);
    assert!(ask(&relay, "GET", "/v1/models", "").contains("\"m\""));
}

#[test]
fn another_model_is_refused() {
    let (seen, server) = upstairs(streamed);
    let relay = Relay::start(live(&server, None)).expect("starts");
    let answer = ask(&relay, "POST", "/v1/chat/completions", r#"{"model":"dearer","messages":[]}"#);
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("dearer"), "{answer}");
    assert_eq!((reached(&seen), relay.spent()), (0, Spent::default()));
}

#[test]
fn a_redirect_is_not_followed_and_a_key_in_an_error_is_blotted_out() {
    let (seen, server) = upstairs(|call| {
        let key = call.headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.clone());
        let mut answer = Answer::error(307, "moved", &format!("you sent {}", key.unwrap_or_default()));
        answer.headers.push(("location".to_owned(), "/v1/chat/completions".to_owned()));
        answer
    });
    let relay = Relay::start(live(&server, None)).expect("starts");
    let answer = ask(&relay, "POST", "/v1/chat/completions", ASKED);
    assert!(answer.starts_with("HTTP/1.1 307"), "{answer}");
    assert!(!answer.contains(KEY) && answer.contains("[key]"), "{answer}");
    assert!(!answer.contains("location"), "{answer}");
    assert_eq!(reached(&seen), 1);
}

#[test]
fn a_recording_replays_what_was_streamed() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("tape.jsonl");
    let (_seen, server) = upstairs(streamed);
    let relay = Relay::start(live(&server, Some(&file))).expect("starts");
    let first = ask(&relay, "POST", "/v1/chat/completions", ASKED);
    assert_eq!(relay.record_error(), None);
    drop(relay);
    drop(server);

    let text = std::fs::read_to_string(&file).expect("reads");
    assert!(!text.contains(KEY) && !text.contains("theirs"), "no key on tape");
    let relay = Relay::start(Source::Replay(Tape::read(&file).expect("is a tape"))).expect("starts");
    assert_eq!(relay.model(), "m");
    let again = ask(&relay, "POST", "/v1/chat/completions", ASKED);
    assert_eq!(again.matches("data: ").count(), first.matches("data: ").count());
    assert!(again.contains("hel") && again.contains("\"prompt_tokens\":7"), "{again}");
    assert_eq!(relay.drifts(), Vec::<String>::new());
    // The tape is at its end: that is said, and never made up for.
    assert!(ask(&relay, "POST", "/v1/chat/completions", ASKED).starts_with("HTTP/1.1 500"));
}

#[test]
fn a_replay_goes_on_over_several_clients() {
    let said = |text: &str| Reply::Spoken(SpokenReply { text: text.to_owned(), ..SpokenReply::default() });
    let relay = Relay::start(Source::Replay(Tape::of_replies("two", vec![said("one"), said("two")]))).expect("starts");
    let whole = ASKED.replace("true", "false");
    assert!(ask(&relay, "POST", "/v1/chat/completions", &whole).contains("one"));
    assert!(ask(&relay, "POST", "/v1/chat/completions", &whole).contains("two"));
    assert_eq!(relay.spent().requests, 2);
}

#[test]
fn a_model_that_is_not_there_is_said_without_its_address() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("has one").port();
    drop(listener);
    let upstream = Upstream {
        base_url: format!("http://127.0.0.1:{port}/secret"),
        key: None,
        model: "m".to_owned(),
        record: None,
    };
    let relay = Relay::start(Source::Live(upstream)).expect("starts");
    let answer = ask(&relay, "POST", "/v1/chat/completions", ASKED);
    assert!(answer.starts_with("HTTP/1.1 502") && !answer.contains("secret"), "{answer}");
}

#[test]
fn an_address_that_is_none_is_refused_with_what_to_do() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    for url in ["not a url", "ftp://example.invalid/v1"] {
        let upstream = Upstream { base_url: url.to_owned(), key: None, model: "m".to_owned(), record: None };
        let error = Relay::start(Source::Live(upstream)).expect_err("is refused");
        assert!(matches!(error, RelayError::Address { .. }), "{error}");
        assert!(error.hint().contains("base_url"));
    }
}
