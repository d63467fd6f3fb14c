//! From a reply on tape to an HTTP answer, for the server and for clients that replay without a socket.

use crate::answer::{Answer, AnswerBody};
use crate::openai;
use crate::reply::{Chunk, RawReply, Reply, SpokenReply, Then};
use serde_json::Value;

/// The answer to this request. A spoken reply is streamed when the request says `"stream": true`.
pub fn play(reply: &Reply, turn: usize, request: &Value) -> Answer {
    match reply {
        Reply::Raw(raw) => raw_answer(raw),
        Reply::Spoken(spoken) => spoken_answer(spoken, turn, request),
    }
}

fn spoken_answer(reply: &SpokenReply, turn: usize, request: &Value) -> Answer {
    let model = request.get("model").and_then(Value::as_str).unwrap_or("cassette");
    if request.get("stream").and_then(Value::as_bool) == Some(true) {
        let usage = request.pointer("/stream_options/include_usage").and_then(Value::as_bool) == Some(true);
        let chunks = openai::events(reply, turn, model, usage).into_iter().map(String::into_bytes).collect();
        let headers = vec![("content-type".into(), "text/event-stream".into())];
        return Answer { status: 200, headers, body: AnswerBody::Pieces(chunks, Then::Close) };
    }
    Answer::json(200, openai::body(reply, turn, model))
}

fn raw_answer(raw: &RawReply) -> Answer {
    let mut headers: Vec<(String, String)> = raw.headers.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    let chunks: Vec<Vec<u8>> = raw.chunks.iter().map(Chunk::bytes).collect();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        let first = chunks.iter().flatten().copied().find(|byte| !byte.is_ascii_whitespace());
        let guess = match (raw.status, first) {
            (_, Some(b'{' | b'[')) => "application/json",
            (_, Some(b'<')) => "text/html",
            (200, _) => "text/event-stream",
            _ => "text/plain",
        };
        headers.push(("content-type".into(), guess.into()));
    }
    Answer { status: raw.status, headers, body: AnswerBody::Pieces(chunks, raw.then) }
}
