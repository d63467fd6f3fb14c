//! The supervisor's life: take the job, start it, tell how it ended, end what is left when told to or when the caller is
//! gone.
//!
//! As a subreaper it inherits every process that the program leaves behind, sessions of their own included, so that none
//! escapes. In the room it is the kernel that ends them, with the PID namespace.

use crate::disk::Disks;
use crate::finished::Limit;
use crate::job::Walls;
use crate::launch::program::{self, Stage};
use crate::launch::report::{Listener, Reporter, Start};
use crate::launch::{detach_streams, null};
use crate::limits::{Limits, OwnUser};
use crate::room::{self, Inside};
use crate::tree;
use crate::wall::Wall;
use crate::watch;
use crate::wire::{Executable, Fault, Order, Report, Status};
use crate::workspace::{self, Placeholders};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, setsid};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// Exit code of a supervisor that has nothing to supervise.
const MISUSED: i32 = 2;
/// How long the room's first process may take to end the others.
const ROOM_PATIENCE: Duration = Duration::from_secs(1);

/// Never returns.
pub(super) fn main() -> ! {
    let code = match take_over() {
        Ok((mut control, order)) => match Supervisor::start(order, &mut control) {
            Ok(mut supervisor) => supervisor.serve(&mut control),
            Err(fault) => {
                send(&mut control, &Report::Failed(fault));
                send(&mut control, &Report::Gone { cpu: Duration::ZERO, survivors: 0 });
                0
            }
        },
        // The one sentence of this library that is said to a person: there is no caller to return it to.
        Err(_) => {
            let _ = writeln!(
                std::io::stderr(),
                "{} is not for people: it starts the room of a job",
                crate::wire::ENTRY_ARGUMENT
            );
            MISUSED
        }
    };
    std::process::exit(code);
}

/// Frees itself from whatever was inherited, and reads the job.
fn take_over() -> std::io::Result<(File, Order)> {
    close_inherited();
    let control: OwnedFd = {
        let number = fcntl(std::io::stdin(), FcntlArg::F_DUPFD_CLOEXEC(3))?;
        // SAFETY: the number was made by the line above and belongs to nobody else.
        unsafe { OwnedFd::from_raw_fd(number) }
    };
    let mut control = File::from(control);
    let order = Order::read(&mut control)?;
    nix::unistd::dup2_stdin(null()?)?;
    // Fails only where we lead a session already.
    let _ = setsid();
    go_first();
    // SAFETY: ignoring a signal installs no handler.
    unsafe { nix::sys::signal::signal(Signal::SIGPIPE, SigHandler::SigIgn) }?;
    fcntl(&control, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok((control, order))
}

/// Among thousands of busy processes the one that ends them must get its turn. Root may ask for that; nobody else needs
/// it as much, because the kernel bounds the processes of an ordinary user. Children are as before.
fn go_first() {
    let parameters = nix::libc::sched_param { sched_priority: 1 };
    let policy = nix::libc::SCHED_RR | nix::libc::SCHED_RESET_ON_FORK;
    // SAFETY: reads the one structure that it is given.
    unsafe { nix::libc::sched_setscheduler(0, policy, &raw const parameters) };
}

/// Descriptors that our caller inherited itself (a jobserver's, say) are nobody's business here.
fn close_inherited() {
    // SAFETY: nothing in this process holds one of these numbers yet.
    unsafe { nix::libc::syscall(nix::libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
}

/// A started job.
struct Supervisor {
    /// The program itself or, in the room, the room's first process.
    leader: Pid,
    children: SignalFd,
    listener: Option<Listener>,
    /// In the room: where its first process says how the program ended.
    inside: Option<Inside>,
    placeholders: Placeholders,
    limits: Limits,
    disks: Disks,
    looked: Instant,
    ended: bool,
}

impl Supervisor {
    fn start(order: Order, control: &mut File) -> Result<Self, Fault> {
        let children = block_child_signal().map_err(|error| Fault::other("wait for children", error))?;
        let (reporter, listener) = Reporter::pair().map_err(|error| Fault::other("make a pipe", error))?;
        program::place_stdin(&order.stdin).map_err(|error| Fault::other("hand over the standard input", error))?;
        let limits = order.limits.clone();
        let placeholders = match &order.walls {
            Walls::Workspace(walls) => Placeholders::make(walls),
            Walls::None | Walls::Room(_) => Placeholders::default(),
        };
        let disks = match &order.walls {
            Walls::Room(room) => Disks::of(room, limits.disk),
            Walls::None | Walls::Workspace(_) => Disks::default(),
        };
        let (leader, inside) = match &order.walls {
            Walls::Room(_) => {
                let (leader, inside) = room::start(order, reporter)?;
                send(control, &Report::Forked { process: leader.as_raw() });
                (leader, Some(inside))
            }
            Walls::None | Walls::Workspace(_) => (start_plain(order, reporter, control)?, None),
        };
        detach_streams().map_err(|error| Fault::other("let go of the program's streams", error))?;
        Ok(Self {
            leader,
            children,
            listener: Some(listener),
            inside,
            placeholders,
            limits,
            disks,
            looked: Instant::now(),
            ended: false,
        })
    }

    fn serve(&mut self, control: &mut File) -> i32 {
        loop {
            self.wait(control);
            self.hear_of_start(control);
            self.hear_of_end(control);
            self.reap(control);
            let too_much = self.look();
            if let Some(limit) = too_much {
                send(control, &Report::Exceeded(limit));
            }
            if too_much.is_some() || told_to_end(control) {
                let survivors = self.end();
                send(control, &Report::Gone { cpu: cpu_of_children(), survivors });
                return 0;
            }
        }
    }

    fn wait(&self, control: &File) {
        let mut fds = vec![
            PollFd::new(control.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.children.as_fd(), PollFlags::POLLIN),
        ];
        fds.extend(self.listener.as_ref().map(|listener| PollFd::new(listener.as_fd(), PollFlags::POLLIN)));
        fds.extend(self.inside.as_ref().and_then(Inside::as_fd).map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        let watched = self.watched() && !self.ended;
        let timeout = if watched { PollTimeout::try_from(watch::EVERY).ok() } else { None };
        // An interrupted wait only means that everything is looked at once more.
        let _ = poll(&mut fds, timeout.unwrap_or(PollTimeout::NONE));
    }

    fn watched(&self) -> bool {
        self.limits.watched() || self.disks.watched()
    }

    /// Looks, when it is time, whether the tree uses too much.
    fn look(&mut self) -> Option<Limit> {
        if self.ended || !self.watched() || self.looked.elapsed() < watch::EVERY {
            return None;
        }
        self.looked = Instant::now();
        if self.disks.exceeded() {
            return Some(Limit::Disk);
        }
        // In the room what counts is below its first process; the forwarder stands beside it.
        let above = if self.inside.is_some() { self.leader } else { nix::unistd::getpid() };
        watch::exceeded(&watch::look(above.as_raw(), &self.limits), &self.limits)
    }

    fn hear_of_start(&mut self, control: &mut File) {
        let Some(listener) = &mut self.listener else { return };
        if !readable(listener.as_fd()) {
            return;
        }
        match listener.read() {
            Start::Pending => return,
            Start::Running(weaker, plain) => send(control, &Report::Started { weaker, plain }),
            Start::Failed(fault) => {
                self.ended = true;
                send(control, &Report::Failed(fault));
            }
        }
        self.listener = None;
    }

    fn hear_of_end(&mut self, control: &mut File) {
        // The start is told first, whatever came first.
        if self.listener.is_some() {
            return;
        }
        let Some(inside) = &mut self.inside else { return };
        if inside.as_fd().is_some_and(|fd| readable(fd))
            && let Some(status) = inside.read()
        {
            self.tell_end(control, status);
        }
    }

    fn reap(&mut self, control: &mut File) {
        while matches!(self.children.read_signal(), Ok(Some(_))) {}
        if self.listener.is_some() {
            return;
        }
        loop {
            let (process, status) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(process, code)) => (process, Status::Exit(code)),
                Ok(WaitStatus::Signaled(process, signal, _)) => (process, Status::Signal(signal as i32)),
                Ok(WaitStatus::StillAlive) | Err(_) => return,
                Ok(_) => continue,
            };
            if process == self.leader {
                // The room's first process says how the program ended before it is ended itself; if it could not, then
                // somebody killed it.
                let said = self.inside.as_mut().and_then(Inside::read_all);
                self.tell_end(control, said.unwrap_or(status));
            }
        }
    }

    fn tell_end(&mut self, control: &mut File, status: Status) {
        if !self.ended {
            self.ended = true;
            send(control, &Report::Ended(status));
        }
    }

    /// Ends and reaps all that is left.
    fn end(&mut self) -> usize {
        if let Some(inside) = &mut self.inside {
            inside.end();
            let until = Instant::now() + ROOM_PATIENCE;
            while Instant::now() < until && alive(self.leader) {
                std::thread::sleep(Duration::from_micros(200));
            }
            // The kernel ends whatever lives in the namespace, before this process can be reaped.
            let _ = nix::sys::signal::kill(self.leader, Signal::SIGKILL);
        }
        let survivors = tree::end_below_me();
        self.placeholders.remove();
        survivors
    }
}

/// Starts the program as a child of ours. It may be able to kill us, so it waits until the caller knows of it.
fn start_plain(order: Order, mut reporter: Reporter, control: &mut File) -> Result<Pid, Fault> {
    let pipe = nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(|error| Fault::other("make a pipe", error))?;
    let (waiting, going) = pipe;
    nix::sys::prctl::set_child_subreaper(true).map_err(|error| Fault::other("become the tree's reaper", error))?;
    let supervisor = nix::unistd::getpid();
    // SAFETY: this process has one thread.
    match unsafe { fork() }.map_err(|error| Fault::other("start a process", error))? {
        ForkResult::Parent { child } => {
            send(control, &Report::Forked { process: child.as_raw() });
            drop(going);
            Ok(child)
        }
        ForkResult::Child if matches!(order.program, Executable::Loopback) => hold_loopback(reporter),
        ForkResult::Child => {
            drop(going);
            // Its end is the word to go on.
            let _ = nix::unistd::read(&waiting, &mut [0]);
            let stage = Stage { parent: Some(supervisor), own_user: OwnUser::No };
            let walls = order.walls.clone();
            let fault = program::become_program(order, &stage, || match &walls {
                Walls::Workspace(walls) => workspace::put_up(walls, &mut reporter),
                Walls::None | Walls::Room(_) => Ok(()),
            });
            reporter.fault(fault);
            std::process::exit(127);
        }
    }
}

/// Holds a network until it is ended. That it can be joined is said by closing the pipe.
fn hold_loopback(mut reporter: Reporter) -> ! {
    let held = workspace::hold_loopback().and_then(|()| Ok(nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?));
    if let Err(error) = held {
        reporter.fault(Fault::wall(Wall::NetNamespace, "hold a loopback network", error));
        std::process::exit(127);
    }
    drop(reporter);
    loop {
        nix::unistd::pause();
    }
}

/// From here on the end of a child makes a descriptor readable.
fn block_child_signal() -> nix::Result<SignalFd> {
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGCHLD);
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&mask), None)?;
    SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
}

/// Whether the caller said so, or is gone.
fn told_to_end(control: &mut File) -> bool {
    let mut byte = [0];
    match control.read(&mut byte) {
        // The byte, or the end of the socket: both mean it.
        Ok(0..) => true,
        Err(error) => !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted),
    }
}

fn readable(fd: std::os::fd::BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    matches!(poll(&mut fds, PollTimeout::ZERO), Ok(count) if count > 0)
}

/// Whether a child still runs; one that does not is left to be reaped, and its number stays taken until then.
fn alive(child: Pid) -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    matches!(nix::sys::wait::waitid(nix::sys::wait::Id::Pid(child), flags), Ok(WaitStatus::StillAlive))
}

/// The caller may be gone: then there is nobody to tell.
fn send(control: &mut File, report: &Report) {
    if let Ok(mut bytes) = serde_json::to_vec(report) {
        bytes.push(b'\n');
        let _ = control.write_all(&bytes);
    }
}

fn cpu_of_children() -> Duration {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(Duration::ZERO, |usage| {
        let time = |value: nix::sys::time::TimeVal| {
            Duration::from_secs(value.tv_sec().unsigned_abs()) + Duration::from_micros(value.tv_usec().unsigned_abs())
        };
        time(usage.user_time()) + time(usage.system_time())
    })
}
