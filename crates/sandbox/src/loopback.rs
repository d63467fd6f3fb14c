//! A network of loopback alone that several jobs share, so that a server started by one can be asked by the next.

use crate::error::SandboxError;
use crate::launch;
use crate::supervisor::{Link, PATIENCE, Supervisor, supervisor_error};
use crate::wire::{Order, Report};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::AsFd;
use std::time::Instant;

/// Holds the network as long as it lives. Its processes end with it.
pub struct Loopback {
    holder: i32,
    _supervisor: Supervisor,
}

impl Loopback {
    /// Makes one.
    ///
    /// # Errors
    /// Where this machine gives no network namespace: then each job has to do with what its own walls find.
    pub fn start() -> Result<Self, SandboxError> {
        let frame = Order::loopback().to_frame()?;
        let null = || launch::null().map_err(|source| supervisor_error("open /dev/null", source));
        let mut supervisor = Supervisor::start(&frame, null()?.into(), null()?.into())?;
        let until = Instant::now() + PATIENCE;
        let mut holder = 0;
        loop {
            let link = supervisor.read_reports()?;
            for report in std::mem::take(&mut supervisor.reports) {
                match report {
                    Report::Forked { process } => holder = process,
                    Report::Started { .. } => return Ok(Self { holder, _supervisor: supervisor }),
                    Report::Failed(fault) => return Err(fault.into()),
                    Report::Exceeded(_) | Report::Ended(_) | Report::Gone { .. } => {}
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if link == Link::Closed || left.is_zero() {
                let source = io::Error::other("its holder did not answer");
                return Err(supervisor_error("hold a loopback network", source));
            }
            let mut fds = [PollFd::new(supervisor.socket.as_fd(), PollFlags::POLLIN)];
            // An interrupted wait only means that the reports are looked at once more.
            let _ = poll(&mut fds, PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO));
        }
    }

    /// What [`crate::Workspace::loopback`] takes.
    pub fn id(&self) -> i32 {
        self.holder
    }
}

impl std::fmt::Debug for Loopback {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Loopback").field("holder", &self.holder).finish_non_exhaustive()
    }
}
