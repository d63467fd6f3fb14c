//! The server, asked over real sockets.
#![expect(clippy::unwrap_used, reason = "tests")]

use selfsmith_cassette::{
    Answer, AnswerBody, Answering, Call, Handler, Listener, Normaliser, Player, PlayerHandler, Server, Tape, serve,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

fn playing(lines: &str, strict: bool) -> (Server, Arc<PlayerHandler>, std::net::SocketAddr) {
    let tape = Tape::parse("test", &format!("{{\"cassette\":1,\"model\":\"m\"}}\n{lines}")).unwrap();
    let handler = Arc::new(PlayerHandler::new(Player::new(tape, Normaliser::default()), strict));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (serve(Listener::Tcp(listener), Arc::clone(&handler) as Arc<dyn Handler>).unwrap(), handler, address)
}

/// What came back until the connection ended, and whether it ended properly.
fn exchange(mut stream: impl Read + Write, method: &str, path: &str, body: &str) -> (String, bool) {
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let whole = !text.contains("transfer-encoding: chunked") || text.ends_with("0\r\n\r\n");
    (text, whole)
}

fn post(address: std::net::SocketAddr, body: &str) -> (String, bool) {
    exchange(TcpStream::connect(address).unwrap(), "POST", "/v1/chat/completions", body)
}

#[test]
fn a_spoken_reply_is_streamed_when_asked_for_a_stream_and_whole_otherwise() {
    let line = r#"{"reply":{"text":"你好 world","thinking":"hm","calls":[{"name":"view","arguments":{"path":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}}"#;
    let (_server, handler, address) = playing(&format!("{line}\n{line}\n"), false);
    let (streamed, whole) = post(address, r#"{"model":"m","stream":true,"stream_options":{"include_usage":true}}"#);
    assert!(whole);
    assert!(streamed.contains("text/event-stream") && streamed.contains("data: [DONE]"), "{streamed}");
    assert!(streamed.contains(r#""reasoning_content":"h""#) && streamed.contains(r#""total_tokens":7"#), "{streamed}");
    assert!(streamed.contains(r#""finish_reason":"tool_calls""#), "{streamed}");
    let (blocking, _) = post(address, r#"{"model":"m"}"#);
    assert!(blocking.contains(r#""content":"你好 world""#) && blocking.contains(r#"{\"path\":\"a\"}"#), "{blocking}");
    assert_eq!((handler.requests().len(), handler.left()), (2, 0));
}

#[test]
fn past_its_end_the_tape_answers_with_an_error_that_clients_do_not_repeat() {
    let (_server, _, address) = playing("", false);
    let (text, _) = post(address, "{}");
    assert!(text.starts_with("HTTP/1.1 500") && text.contains("cassette_ended"), "{text}");
}

#[test]
fn a_differing_request_is_noted_and_fatal_only_when_strict() {
    let line = "{\"request\":{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]},\"reply\":{\"text\":\"x\"}}\n";
    let asked = r#"{"messages":[{"role":"user","content":"b"}]}"#;
    let (_server, handler, address) = playing(line, false);
    assert!(post(address, asked).0.starts_with("HTTP/1.1 200"));
    assert_eq!(handler.drifts().len(), 1);
    let (_strict, _, address) = playing(line, true);
    let (text, _) = post(address, asked);
    assert!(text.starts_with("HTTP/1.1 500") && text.contains("cassette_drift"), "{text}");
}

#[test]
fn a_raw_reply_travels_as_written_and_can_break_off() {
    let lines = concat!(
        r#"{"reply":{"status":429,"headers":{"retry-after":"2"},"body":"<html>no</html>"}}"#,
        "\n",
        r#"{"reply":{"chunks":["data: x\n\n"],"then":"reset"}}"#,
        "\n"
    );
    let (_server, _, address) = playing(lines, false);
    let (text, whole) = post(address, "{}");
    assert!(whole && text.starts_with("HTTP/1.1 429") && text.contains("retry-after: 2"), "{text}");
    assert!(text.contains("text/html") && text.contains("<html>no</html>"), "{text}");
    let (text, whole) = post(address, "{}");
    assert!(!whole && text.contains("data: x"), "{text}");
}

#[test]
fn models_are_listed_and_other_addresses_are_not_found() {
    let (_server, _, address) = playing("", false);
    let get = |path| exchange(TcpStream::connect(address).unwrap(), "GET", path, "").0;
    assert!(get("/v1/models").contains("\"id\":\"m\""));
    assert!(get("/other").starts_with("HTTP/1.1 404"));
}

/// Answers with what it was asked, in pieces that come later.
struct Echo;

impl Handler for Echo {
    fn answer(&self, call: Call) -> Answering<'_> {
        Box::pin(async move {
            let (sender, receiver) = tokio::sync::mpsc::channel(1);
            tokio::spawn(async move {
                for piece in [call.path.into_bytes(), call.body.to_vec()] {
                    let _ = sender.send(Ok(piece.into())).await;
                }
            });
            Answer { status: 200, headers: Vec::new(), body: AnswerBody::Stream(receiver) }
        })
    }
}

#[test]
fn a_handler_of_the_callers_own_streams_over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let _server = serve(Listener::Unix(listener), Arc::new(Echo)).unwrap();
    let stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let (text, whole) = exchange(stream, "POST", "/v1/x?y", "body");
    assert!(whole && text.contains("/v1/x?y") && text.contains("body"), "{text}");
}

#[test]
fn dropping_the_server_frees_its_port_even_while_a_reply_stalls() {
    let (server, _, address) = playing("{\"reply\":{\"chunks\":[\"data: x\\n\\n\"],\"then\":\"stall\"}}\n", false);
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{{}}").unwrap();
    let mut first = [0_u8; 16];
    stream.read_exact(&mut first).unwrap();
    drop(server);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(TcpListener::bind(address).is_ok() || TcpStream::connect(address).is_err());
}
