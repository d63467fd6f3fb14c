//! Serves a cassette on loopback, so that any client can talk to it: prints the base URL, and serves until its input ends.
//!
//! ```console
//! $ cargo run -p selfsmith-cassette --example serve -- FILE
//! http://127.0.0.1:40123/v1
//! ```

use selfsmith_cassette::{Listener, Normaliser, Player, PlayerHandler, Tape, serve};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = PathBuf::from(std::env::args_os().nth(1).ok_or("name a cassette")?);
    let player = Player::new(Tape::read(&file)?, Normaliser::default());
    let listener = Listener::Tcp(TcpListener::bind(("127.0.0.1", 0))?);
    let server = serve(listener, Arc::new(PlayerHandler::new(player, false)))?;
    writeln!(std::io::stdout(), "{}", server.base_url().ok_or("no address")?)?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
