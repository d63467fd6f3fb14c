//! A chat endpoint on loopback that plays exact bytes: chunk borders, resets, silence. Raw TCP, because a proper server
//! would never cut a stream in the middle of a character.

use crate::world::blob;
use nix::sys::socket::{setsockopt, sockopt};
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Between two network chunks, so that they arrive apart.
const CHUNK_PAUSE: Duration = Duration::from_millis(15);
/// Before a reset, so that what was sent is read first.
const RESET_PAUSE: Duration = Duration::from_millis(300);
/// How long a silent stream is kept open.
const STALL: Duration = Duration::from_secs(60);

/// A request that arrived.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub json: Value,
    pub at: Instant,
    /// When its answer was out.
    pub ended: Option<Instant>,
}

impl Request {
    pub fn header(&self, name: &str) -> Value {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map_or(Value::Null, |(_, value)| json!(value))
    }

    pub fn plain_path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}

/// Says what the n-th chat request gets: `{"status", "headers", "chunks" or "body", "then"}`.
pub type Answering = Arc<dyn Fn(usize, &Request) -> Value + Send + Sync>;

pub struct Endpoint {
    pub port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
}

impl Endpoint {
    pub fn start(answer: Answering) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port");
        let port = listener.local_addr().expect("it is bound").port();
        let (requests, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let endpoint = Self { port, requests: requests.clone(), stop: stop.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, requests, stop) = (answer.clone(), requests.clone(), stop.clone());
                // A client that goes away in the middle is what some cases are about.
                std::thread::spawn(move || serve(stream, &answer, &requests, &stop).ok());
            }
        });
        endpoint
    }

    /// Every POST so far, in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no thread panics while it holds this").clone()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, so that it sees the flag.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// One event of a stream.
pub fn event(value: &Value) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    json!(format!("data: {text}\n\n"))
}

/// One delta of a reply.
pub fn delta_event(delta: &Value, finish: Value) -> Value {
    event(&json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] }))
}

fn serve(
    mut stream: TcpStream,
    answer: &Answering,
    requests: &Mutex<Vec<Request>>,
    stop: &AtomicBool,
) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.set_nodelay(true)?;
    let Some((method, request)) = read_request(&mut stream)? else { return Ok(()) };
    if method != "POST" {
        let known = request.plain_path().ends_with("/models");
        let models = json!({ "object": "list", "data": [{ "id": "test-model", "object": "model" }] });
        let body = if known { models } else { json!({}) };
        let status = if known { 200 } else { 404 };
        let reply = json!({
            "status": status, "body": body.to_string(), "headers": { "content-type": "application/json" },
        });
        return play(stream, &reply, stop, &|| {});
    }
    let number = {
        let mut all = requests.lock().expect("no thread panics while it holds this");
        all.push(request.clone());
        all.len() - 1
    };
    let ended = || {
        if let Some(request) = requests.lock().expect("no thread panics while it holds this").get_mut(number) {
            request.ended = Some(Instant::now());
        }
    };
    play(stream, &answer(number, &request), stop, &ended)
}

fn play(mut stream: TcpStream, answer: &Value, stop: &AtomicBool, ended: &dyn Fn()) -> io::Result<()> {
    let status = answer["status"].as_u64().unwrap_or(200);
    let whole = answer.get("body").filter(|body| !body.is_null()).map(blob);
    stream.write_all(head(status, answer, whole.as_deref()).as_bytes())?;
    if let Some(whole) = &whole {
        stream.write_all(whole)?;
    } else {
        for chunk in answer["chunks"].as_array().into_iter().flatten() {
            std::thread::sleep(CHUNK_PAUSE);
            let data = blob(chunk);
            stream.write_all(&[format!("{:x}\r\n", data.len()).as_bytes(), &data, b"\r\n"].concat())?;
        }
    }
    let then = answer["then"].as_str().unwrap_or_default();
    if then == "reset" {
        std::thread::sleep(RESET_PAUSE);
        setsockopt(&stream, sockopt::Linger, &nix::libc::linger { l_onoff: 1, l_linger: 0 })?;
        ended();
        return Ok(());
    }
    if then != "stall" && whole.is_none() {
        stream.write_all(b"0\r\n\r\n")?;
    }
    ended();
    if then != "stall" {
        stream.shutdown(Shutdown::Write)?;
    }
    wait_for_the_client(&mut stream, if then == "stall" { STALL } else { Duration::from_secs(2) }, stop)
}

fn head(status: u64, answer: &Value, whole: Option<&[u8]>) -> String {
    let kind = if status == 200 { "text/event-stream" } else { "application/json" };
    let mut headers = vec![("content-type".to_owned(), kind.to_owned()), ("connection".to_owned(), "close".to_owned())];
    for (name, value) in crate::judge::object(&answer["headers"]) {
        let name = name.to_lowercase();
        headers.retain(|(have, _)| *have != name);
        headers.push((name, value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    }
    headers.push(match whole {
        Some(whole) => ("content-length".to_owned(), whole.len().to_string()),
        None => ("transfer-encoding".to_owned(), "chunked".to_owned()),
    });
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status} {}\r\n{lines}\r\n", if status == 200 { "OK" } else { "Fault" })
}

fn wait_for_the_client(stream: &mut TcpStream, patience: Duration, stop: &AtomicBool) -> io::Result<()> {
    let until = Instant::now() + patience;
    stream.set_read_timeout(Some(Duration::from_millis(100)))?;
    let mut rest = [0; 4096];
    while !stop.load(Ordering::SeqCst) && Instant::now() < until {
        match stream.read(&mut rest) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn read_request(stream: &mut TcpStream) -> io::Result<Option<(String, Request)>> {
    let mut data = Vec::new();
    let end = loop {
        if let Some(end) = find(&data, b"\r\n\r\n") {
            break end;
        }
        if more(stream, &mut data)? == 0 {
            return Ok(None);
        }
    };
    let at = Instant::now();
    let head = String::from_utf8_lossy(data.get(..end).unwrap_or_default()).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (first.next().unwrap_or_default().to_owned(), first.next().unwrap_or_default().to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
        .collect();
    let value = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let mut body = data.split_off(end + 4);
    if value("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        while !body.ends_with(b"0\r\n\r\n") && more(stream, &mut body)? > 0 {}
        body = dechunked(&body);
    } else {
        let length = value("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        while body.len() < length && more(stream, &mut body)? > 0 {}
    }
    let json = serde_json::from_slice(&body).unwrap_or_else(|_| json!({}));
    Ok(Some((method, Request { path, headers, json, at, ended: None })))
}

fn dechunked(body: &[u8]) -> Vec<u8> {
    let (mut joined, mut rest) = (Vec::new(), body);
    while let Some(end) = find(rest, b"\r\n") {
        let (size, after) = rest.split_at(end);
        let size = std::str::from_utf8(size).ok().and_then(|size| usize::from_str_radix(size, 16).ok()).unwrap_or(0);
        let after = after.get(2..).unwrap_or_default();
        if size == 0 || after.len() < size {
            break;
        }
        joined.extend_from_slice(after.get(..size).unwrap_or_default());
        rest = after.get(size + 2..).unwrap_or_default();
    }
    joined
}

fn more(stream: &mut TcpStream, data: &mut Vec<u8>) -> io::Result<usize> {
    let mut piece = [0; 65536];
    let n = stream.read(&mut piece)?;
    data.extend_from_slice(piece.get(..n).unwrap_or_default());
    Ok(n)
}

fn find(data: &[u8], what: &[u8]) -> Option<usize> {
    data.windows(what.len()).position(|window| window == what)
}
