//! Asks the network.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

#[test]
fn somebody_answers() {
    let there = SocketAddr::from(([1, 1, 1, 1], 53));
    assert!(TcpStream::connect_timeout(&there, Duration::from_secs(2)).is_ok());
}
