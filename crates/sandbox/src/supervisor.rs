//! The supervisor as its caller holds it: a child process and a socket.

use crate::error::SandboxError;
use crate::wire::{self, ENTRY_ARGUMENT, Report};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long the supervisor may take to end a tree before it is ended itself.
pub(crate) const PATIENCE: Duration = Duration::from_secs(8);

/// Whether the supervisor can still say something.
#[derive(PartialEq, Eq)]
pub(crate) enum Link {
    Open,
    Closed,
}

/// The supervisor as the caller sees it. When it is dropped, the tree ends.
pub(crate) struct Supervisor {
    handle: duct::Handle,
    /// For waiting on its reports.
    pub(crate) socket: UnixStream,
    unread: Vec<u8>,
    /// Read and not yet taken.
    pub(crate) reports: Vec<Report>,
}

impl Supervisor {
    /// Starts one and hands it the job; the program writes to these pipes.
    pub(crate) fn start(frame: &[u8], stdout: OwnedFd, stderr: OwnedFd) -> Result<Self, SandboxError> {
        let failed = |source| supervisor_error("start the program's supervisor", source);
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        socket.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        // No variable of ours reaches it: what it hands on is in the frame.
        let nothing: [(OsString, OsString); 0] = [];
        let handle = duct::cmd("/proc/self/exe", [ENTRY_ARGUMENT])
            .stdin_file(theirs)
            .stdout_file(stdout)
            .stderr_file(stderr)
            .full_env(nothing)
            .unchecked()
            .start()
            .map_err(failed)?;
        let supervisor = Self { handle, socket, unread: Vec::new(), reports: Vec::new() };
        send_all(&supervisor.socket, frame)
            .map_err(|source| supervisor_error("hand the job to the program's supervisor", source))?;
        supervisor.socket.set_nonblocking(true).map_err(failed)?;
        Ok(supervisor)
    }

    /// Reads what has come, without waiting.
    pub(crate) fn read_reports(&mut self) -> Result<Link, SandboxError> {
        let mut piece = [0; 4096];
        let link = loop {
            match self.socket.read(&mut piece) {
                Ok(0) => break Link::Closed,
                Ok(count) => self.unread.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break Link::Open,
                Err(_) => break Link::Closed,
            }
        };
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            let report = serde_json::from_slice(&line)
                .map_err(|error| supervisor_error("understand the program's supervisor", error.into()))?;
            self.reports.push(report);
        }
        Ok(link)
    }

    /// Tells it to end the tree.
    pub(crate) fn order_end(&self) {
        // A supervisor that is gone already has nothing left to end.
        let _ = send_all(&self.socket, &[wire::END]);
    }

    /// Ends it by force; its tree is then the caller's to end.
    pub(crate) fn kill(&self) {
        let _ = self.handle.kill();
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // Usually it is gone already. Otherwise the closed socket tells it to end the tree; the socket ends with it.
        let _ = self.socket.shutdown(std::net::Shutdown::Write);
        let until = Instant::now() + PATIENCE;
        while matches!(self.read_reports(), Ok(Link::Open)) {
            let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
            let left = until.saturating_duration_since(Instant::now());
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
            if matches!(poll(&mut fds, timeout), Ok(0)) {
                self.kill();
                break;
            }
        }
        let _ = self.handle.wait();
    }
}

/// Writes without the signal that a closed socket would raise.
fn send_all(socket: &UnixStream, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let flags = nix::sys::socket::MsgFlags::MSG_NOSIGNAL;
        match nix::sys::socket::send(socket.as_raw_fd(), rest, flags) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

pub(crate) fn supervisor_error(what: &str, source: io::Error) -> SandboxError {
    SandboxError::Supervisor { what: what.to_owned(), source }
}
