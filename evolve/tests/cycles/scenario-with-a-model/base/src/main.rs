//! `counts`: reads standard input, prints lines and words; with `ask` it asks a model instead.

use std::io::{Read, Write};
use std::net::TcpStream;

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    if std::env::args().nth(1).as_deref() == Some("ask") {
        print!("{}", ask(&text)?);
        return Ok(());
    }
    println!("{} {}", counts::lines(&text), counts::words(&text));
    Ok(())
}

/// What the endpoint of the environment answers, head and body.
fn ask(text: &str) -> std::io::Result<String> {
    let url = std::env::var("SELFSMITH_BASE_URL").map_err(std::io::Error::other)?;
    let host = url.trim_start_matches("http://").trim_end_matches("/v1");
    let body = format!(
        "{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}",
        text.trim()
    );
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
