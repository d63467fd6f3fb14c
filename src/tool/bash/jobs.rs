//! Commands under way: each has a thread, its output as it comes, and an end that can be waited for. A job is a command
//! that nobody waits for: started so, or left running when its time was over. Jobs end with the session.

use super::command::{BashError, Shell};
use super::screen;
use super::whole::{Outputs, Whole};
use selfsmith_sandbox::{Cancel, End, Finished};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Jobs that may run at a time.
const MOST: usize = 16;
/// Jobs that can be asked about, ended ones among them; the oldest are forgotten.
const REMEMBERED: usize = 48;
/// Longest life of a job where the call says nothing.
pub(super) const LIFE: Duration = Duration::from_secs(12 * 3600);
/// Unread output kept of a job: the last bytes.
const UNREAD: usize = 256 * 1024;

/// What can be done with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tool) enum Action {
    /// Give its new output.
    Read,
    /// Wait for its end, then as `Read`.
    Wait,
    /// End it, then as `Read`.
    End,
}

/// The commands of a session.
#[derive(Debug)]
pub(in crate::tool) struct Jobs {
    shell: Shell,
    outputs: Arc<Outputs>,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    jobs: BTreeMap<u64, Running>,
}

/// A command under way. It goes on when this is dropped.
#[derive(Debug, Clone)]
pub(super) struct Running {
    command: String,
    since: Instant,
    pub(super) cancel: Cancel,
    output: Arc<Mutex<Output>>,
    pub(super) ended: watch::Receiver<Option<Outcome>>,
}

/// How a command ended, or why it could not be started.
pub(super) type Outcome = Arc<Result<Finished, BashError>>;

/// Output that nobody has read yet, and all of it.
#[derive(Debug)]
struct Output {
    unread: VecDeque<u8>,
    lost: u64,
    whole: Whole,
}

impl Jobs {
    /// For a session.
    pub(super) fn new(shell: Shell) -> Self {
        Self { shell, outputs: Arc::default(), table: Mutex::default() }
    }

    /// The shell that they run in.
    pub(super) fn shell(&self) -> &Shell {
        &self.shell
    }

    /// Starts a command; `kept` bytes of each stream are there when it has ended.
    pub(super) fn spawn(&self, command: &str, life: Duration, kept: usize) -> Result<Running, String> {
        let whole = Whole::new(self.shell.output_bytes());
        let output = Arc::new(Mutex::new(Output { unread: VecDeque::new(), lost: 0, whole }));
        let (tell, ended) = watch::channel(None);
        let running =
            Running { command: command.to_owned(), since: Instant::now(), cancel: Cancel::default(), output, ended };
        let (shell, outputs, its) = (self.shell.clone(), Arc::clone(&self.outputs), running.clone());
        // A thread of its own: it lives as long as the command, and the runtime would wait for one of its own at its end.
        let started = thread::Builder::new().name("command".to_owned()).spawn(move || {
            let mut take = |_, bytes: &[u8]| lock(&its.output).push(bytes, &outputs);
            let ran = shell.start(&its.command, life, kept, &its.cancel, &mut take);
            // Nobody listens any more only when the session is over.
            let _ = tell.send(Some(Arc::new(ran)));
        });
        started.map_err(|error| format!("could not start a thread for the command: {error}"))?;
        Ok(running)
    }

    /// Starts a job; what the model is told.
    pub(super) fn start(&self, command: &str, life: Option<Duration>) -> Result<String, String> {
        self.room()?;
        self.shell.share_loopback();
        let running = self.spawn(command, life.unwrap_or(LIFE), 0)?;
        let number = self.adopt(running)?;
        Ok(format!("[job {number} started; read it, wait for it or end it with the tool job]\n"))
    }

    /// Makes a command that runs a job; its number.
    pub(super) fn adopt(&self, running: Running) -> Result<u64, String> {
        self.room()?;
        let mut table = lock(&self.table);
        table.last += 1;
        let number = table.last;
        table.jobs.insert(number, running);
        while table.jobs.len() > REMEMBERED {
            let ended = table.jobs.iter().find(|(_, job)| job.ended.borrow().is_some()).map(|(number, _)| *number);
            let Some(ended) = ended else { break };
            table.jobs.remove(&ended);
        }
        Ok(number)
    }

    fn room(&self) -> Result<(), String> {
        let running = self.running();
        if running >= MOST { Err(format!("{running} jobs run already; end one of them first")) } else { Ok(()) }
    }

    /// How many are running.
    pub(in crate::tool) fn running(&self) -> usize {
        lock(&self.table).jobs.values().filter(|job| job.ended.borrow().is_none()).count()
    }

    /// Every job in a line each.
    pub(in crate::tool) fn list(&self) -> String {
        let table = lock(&self.table);
        if table.jobs.is_empty() {
            return "[there are no jobs]\n".to_owned();
        }
        let line = |(number, job): (&u64, &Running)| {
            let state = state(*number, job.ended.borrow().as_ref());
            let seconds = job.since.elapsed().as_secs();
            format!("{} started {seconds} s ago: `{}`\n", state.trim_end(), first_line(&job.command))
        };
        table.jobs.iter().map(line).collect()
    }

    /// Does something with one; what the model is told. `patience`: how long to wait for its end.
    pub(in crate::tool) async fn act(
        &self,
        number: &str,
        action: Action,
        patience: Option<Duration>,
    ) -> Result<String, String> {
        let patience = patience.unwrap_or(self.shell.default_timeout()).min(self.shell.longest());
        let (number, mut job) = {
            let table = lock(&self.table);
            let number = number.trim().parse::<u64>().ok().filter(|number| table.jobs.contains_key(number));
            let found = number.and_then(|number| Some((number, table.jobs.get(&number)?.clone())));
            found.ok_or_else(|| unknown(&table))?
        };
        if action == Action::End {
            job.cancel.cancel();
        }
        if action != Action::Read {
            // Either it has ended or patience has: both are told below.
            let _ = tokio::time::timeout(patience, job.ended.wait_for(Option::is_some)).await;
        }
        let state = state(number, job.ended.borrow().as_ref());
        Ok(format!("{}{state}", job.news(self.shell.output_bytes())))
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        lock(&self.table).jobs.values().for_each(|job| job.cancel.cancel());
        // Their threads may outlive this, and the program may not wait for them.
        self.outputs.close();
    }
}

impl Running {
    /// What it said since somebody last read it, as the model reads it.
    pub(super) fn news(&self, limit: usize) -> String {
        let mut output = lock(&self.output);
        let bytes: Vec<u8> = std::mem::take(&mut output.unread).into();
        let lost = std::mem::take(&mut output.lost);
        let captured = selfsmith_sandbox::Captured { head: bytes, ..Default::default() };
        let text = screen::settled(&super::legacy::text(&captured, |_| String::new()).0);
        let (text, cut) = screen::bounded("", lost, &text, limit);
        let mut text = if text.is_empty() { "[no new output]\n".to_owned() } else { screen::joined(&text, "") };
        if cut {
            text.push_str(&output.whole.told().unwrap_or_default());
        }
        text
    }

    /// A line that names the file with everything it said, where there is one.
    pub(super) fn whole(&self) -> Option<String> {
        lock(&self.output).whole.told()
    }
}

impl Output {
    fn push(&mut self, bytes: &[u8], outputs: &Outputs) {
        self.whole.push(bytes, outputs);
        self.unread.extend(bytes);
        let over = self.unread.len().saturating_sub(UNREAD);
        self.unread.drain(..over);
        self.lost += over as u64;
    }
}

fn state(number: u64, ended: Option<&Outcome>) -> String {
    let Some(outcome) = ended else { return format!("[job {number} is running]\n") };
    match outcome.as_ref().as_ref().map(|finished| finished.end) {
        Ok(End::Exit(code)) => format!("[job {number} has ended with exit code {code}]\n"),
        Ok(End::Signal(signal)) => format!("[job {number} was ended by signal {signal}]\n"),
        Ok(End::Cancelled) => format!("[job {number} was ended as asked]\n"),
        Ok(End::TimedOut) => format!("[job {number} was ended when its time was over]\n"),
        Ok(End::LimitExceeded(limit)) => format!("[job {number} was ended: too much of one thing ({limit:?})]\n"),
        Err(error) => format!("[job {number} did not start: {}]\n", error.told()),
    }
}

fn unknown(table: &Table) -> String {
    let known: Vec<String> =
        table.jobs.iter().map(|(number, job)| format!("{number} (`{}`)", first_line(&job.command))).collect();
    let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
    format!("there is no such job; jobs of this session: {known}")
}

fn first_line(command: &str) -> String {
    command.lines().next().unwrap_or_default().chars().take(60).collect()
}

/// A panic in another thread leaves bytes and numbers, which are whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
