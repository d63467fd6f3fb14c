//! The caller's side of a run: starts the supervisor, reads the pipes, minds the clock and the limits.
//!
//! Promises to return soon after the program's own process has ended, and that its tree is gone when it returns.

use crate::cancel::Cancel;
use crate::error::SandboxError;
use crate::finished::{End, Finished, Limit};
use crate::job::{Job, Walls};
use crate::kernel::user::may_mount;
use crate::output::{Collector, Stream};
use crate::supervisor::{Link, PATIENCE, Supervisor, supervisor_error};
use crate::tree;
use crate::unreadable::{self, Plain, Unreadable};
use crate::wall::{MissingWall, Wall};
use crate::wire::{Order, Report, Status};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Longest sleep before the cancel flag is looked at.
const TICK: Duration = Duration::from_millis(20);
/// Bytes read at once.
const PIECE: usize = 64 * 1024;
/// Bytes that a pipe holds, where the system grants them: what any user may ask for.
const ROOM: i32 = 1 << 20;

/// Runs a job to its end. Blocks: call it from a thread of its own (`spawn_blocking`).
///
/// `parent` is the caller's environment, from which [`crate::Environment::keep`] takes. `on_output` sees every byte as it
/// comes, the dropped ones included.
///
/// # Errors
/// Where the program could not be started. How it ended is [`Finished::end`].
pub fn run(
    job: &Job,
    parent: &[(OsString, OsString)],
    cancel: &Cancel,
    on_output: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Finished, SandboxError> {
    let frame = Order::of(job, parent)?.to_frame()?;
    let mut running = Running::start(job, &frame)?;
    running.until_gone(cancel, on_output)?;
    running.finish()
}

/// One run.
struct Running<'a> {
    job: &'a Job,
    supervisor: Supervisor,
    pipes: [Pipe; 2],
    began: Instant,
    /// The process that is or will be the program; in the room, its first one.
    process: Option<i32>,
    weaker: Vec<MissingWall>,
    plain: Vec<Plain>,
    failure: Option<SandboxError>,
    status: Option<Status>,
    /// Set when the program's own process has ended: until when its pipes are read on.
    drain_until: Option<Instant>,
    /// Why we ended it, where we did.
    cause: Option<End>,
    /// Set when the end was ordered.
    ordered: Option<Instant>,
    cpu: Duration,
    wall: Option<Duration>,
}

impl<'a> Running<'a> {
    fn start(job: &'a Job, frame: &[u8]) -> Result<Self, SandboxError> {
        let began = Instant::now();
        let (stdout, out) = pipe()?;
        let (stderr, err) = pipe()?;
        let supervisor = Supervisor::start(frame, out, err)?;
        let output = job.limits.output;
        Ok(Self {
            job,
            supervisor,
            pipes: [Pipe::new(Stream::Stdout, stdout, output), Pipe::new(Stream::Stderr, stderr, output)],
            began,
            process: None,
            weaker: Vec::new(),
            plain: Vec::new(),
            failure: None,
            status: None,
            drain_until: None,
            cause: None,
            ordered: None,
            cpu: Duration::ZERO,
            wall: None,
        })
    }

    /// The loop: wait for something, take it in, decide whether it is over.
    fn until_gone(&mut self, cancel: &Cancel, on_output: &mut dyn FnMut(Stream, &[u8])) -> Result<(), SandboxError> {
        loop {
            self.wait()?;
            let mut quiet = true;
            for pipe in &mut self.pipes {
                quiet &= pipe.read(on_output) == Amount::Nothing;
            }
            if self.supervisor.read_reports()? == Link::Closed && self.supervisor.reports.is_empty() {
                return self.supervisor_died(on_output);
            }
            for report in std::mem::take(&mut self.supervisor.reports) {
                if self.take(report) == Phase::Gone {
                    self.read_what_is_left(on_output);
                    return Ok(());
                }
            }
            self.decide(cancel, quiet);
            if self.ordered.is_some_and(|ordered| ordered.elapsed() > PATIENCE) {
                return self.supervisor_died(on_output);
            }
        }
    }

    fn wait(&self) -> Result<(), SandboxError> {
        let now = Instant::now();
        let mut longest = TICK;
        if self.ordered.is_none() {
            let wall = (self.began + self.job.limits.wall).saturating_duration_since(now);
            longest = longest.min(wall);
        }
        if let Some(until) = self.drain_until {
            longest = longest.min(until.saturating_duration_since(now));
        }
        let mut fds = vec![PollFd::new(self.supervisor.socket.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.pipes.iter().filter_map(Pipe::poll_fd));
        // Rounded up, or the last millisecond would be spent spinning.
        let timeout = PollTimeout::try_from(longest + Duration::from_micros(999)).unwrap_or(PollTimeout::ZERO);
        match poll(&mut fds, timeout) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(error) => Err(supervisor_error("wait for the program's output", error.into())),
        }
    }

    fn take(&mut self, report: Report) -> Phase {
        match report {
            Report::Forked { process } => self.process = Some(process),
            Report::Started { weaker, plain } => (self.weaker, self.plain) = (weaker, plain),
            Report::Failed(fault) => self.failure = Some(fault.into()),
            Report::Exceeded(limit) => self.order_end(Some(End::LimitExceeded(limit))),
            Report::Ended(status) => {
                self.status = Some(status);
                self.wall = Some(self.began.elapsed());
                self.drain_until = Some(Instant::now() + self.job.limits.drain);
            }
            Report::Gone { cpu, survivors } => {
                self.cpu = cpu;
                if survivors > 0 {
                    let why = format!("{survivors} processes of another user could not be ended");
                    self.weaker.push(MissingWall { wall: Wall::UserDrop, why });
                }
                return Phase::Gone;
            }
        }
        Phase::Going
    }

    /// Orders the end where it is time for it.
    fn decide(&mut self, cancel: &Cancel, quiet: bool) {
        if self.ordered.is_some() {
            return;
        }
        if let Some(until) = self.drain_until {
            let closed = self.pipes.iter().all(|pipe| pipe.file.is_none());
            if closed || (Instant::now() >= until && quiet) || Instant::now() >= until + self.job.limits.drain {
                self.order_end(None);
            }
        } else if self.failure.is_some() {
            self.order_end(None);
        } else if cancel.is_cancelled() {
            self.order_end(Some(End::Cancelled));
        } else if self.began.elapsed() >= self.job.limits.wall {
            self.order_end(Some(End::TimedOut));
        }
    }

    fn order_end(&mut self, cause: Option<End>) {
        self.cause = cause;
        self.ordered = Some(Instant::now());
        self.wall.get_or_insert_with(|| self.began.elapsed());
        self.supervisor.order_end();
    }

    /// Everything is gone: what the pipes still hold cannot grow any more.
    fn read_what_is_left(&mut self, on_output: &mut dyn FnMut(Stream, &[u8])) {
        for pipe in &mut self.pipes {
            while pipe.read(on_output) == Amount::Something {}
        }
    }

    /// Somebody ended the supervisor (a program without walls can). What it stood above is found by its session.
    fn supervisor_died(&mut self, on_output: &mut dyn FnMut(Stream, &[u8])) -> Result<(), SandboxError> {
        self.supervisor.kill();
        if let Some(process) = self.process {
            tree::end(|| tree::in_session(process));
        }
        self.read_what_is_left(on_output);
        if self.cause.is_some() || self.status.is_some() {
            return Ok(());
        }
        let source = io::Error::other("it was ended from outside");
        Err(self.failure.take().unwrap_or_else(|| supervisor_error("keep the program's supervisor", source)))
    }

    fn finish(self) -> Result<Finished, SandboxError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let ended = match self.status {
            Some(Status::Signal(signal)) if signal == nix::libc::SIGXCPU && self.job.limits.cpu.is_some() => {
                End::LimitExceeded(Limit::Cpu)
            }
            Some(Status::Signal(signal)) => End::Signal(signal),
            Some(Status::Exit(code)) => End::Exit(code),
            None => End::Cancelled,
        };
        let end = self.cause.unwrap_or(ended);
        let [stdout, stderr] = self.pipes.map(|pipe| pipe.kept.finish());
        let refused = !end.success() && [&stdout, &stderr].iter().any(|said| unreadable::is_refusal(&said.bytes()));
        Ok(Finished {
            end,
            unreadable: if refused { closed(self.job, &self.plain) } else { None },
            stdout,
            stderr,
            wall: self.wall.unwrap_or_else(|| self.began.elapsed()),
            cpu: self.cpu,
            weaker: self.weaker,
        })
    }
}

/// A file that the room's user may not read, where that is another user than the caller.
fn closed(job: &Job, plain: &[Plain]) -> Option<Unreadable> {
    match &job.walls {
        Walls::Room(room) if nix::unistd::geteuid().is_root() && may_mount() => unreadable::first(room, plain),
        _ => None,
    }
}

#[derive(PartialEq, Eq)]
enum Phase {
    Going,
    Gone,
}

#[derive(PartialEq, Eq)]
enum Amount {
    Nothing,
    Something,
}

/// The reading end of one of the program's streams.
struct Pipe {
    stream: Stream,
    file: Option<File>,
    kept: Collector,
}

impl Pipe {
    fn new(stream: Stream, end: OwnedFd, limit: usize) -> Self {
        Self { stream, file: Some(end.into()), kept: Collector::new(limit) }
    }

    fn poll_fd(&self) -> Option<PollFd<'_>> {
        self.file.as_ref().map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN))
    }

    /// Reads what is there, a bounded amount, so that a flood cannot hold up the clock.
    fn read(&mut self, on_output: &mut dyn FnMut(Stream, &[u8])) -> Amount {
        let mut piece = vec![0; PIECE];
        let mut amount = Amount::Nothing;
        for _ in 0..32 {
            let Some(file) = &mut self.file else { break };
            match file.read(&mut piece) {
                Ok(0) => self.file = None,
                Ok(count) => {
                    let bytes = piece.get(..count).unwrap_or_default();
                    self.kept.push(bytes);
                    on_output(self.stream, bytes);
                    amount = Amount::Something;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.file = None,
            }
        }
        amount
    }
}

/// A pipe whose reading end does not block.
fn pipe() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    let failed = |error: nix::Error| supervisor_error("make a pipe", error.into());
    let (reading, writing) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(failed)?;
    nix::fcntl::fcntl(&reading, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).map_err(failed)?;
    // A flood then switches between its processes and us less often. Where the user's share of pipes is used up it stays small.
    let _ = nix::fcntl::fcntl(&reading, nix::fcntl::FcntlArg::F_SETPIPE_SZ(ROOM));
    Ok((reading, writing))
}
