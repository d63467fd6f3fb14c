//! Background jobs: started, read, waited for, ended. They end with the tool, and so with the session.

use super::command::Shell;
use super::screen;
use selfsmith_sandbox::{Cancel, End};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::sync::watch;

/// Jobs that may run at a time.
const MOST: usize = 16;
/// Longest life of a job where the call says nothing.
const LIFE: Duration = Duration::from_secs(12 * 3600);
/// Unread output kept of a job: the last bytes.
const UNREAD: usize = 256 * 1024;

/// What can be done with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Give its new output.
    Read,
    /// Wait for its end, then as `Read`.
    Wait,
    /// End it, then as `Read`.
    End,
}

impl Action {
    pub(super) fn named(word: &str) -> Result<Self, String> {
        match word.trim() {
            "read" => Ok(Self::Read),
            "wait" => Ok(Self::Wait),
            "end" | "kill" | "stop" => Ok(Self::End),
            other => Err(format!("action is read, wait or end, not `{other}`")),
        }
    }
}

/// The jobs of a session.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    table: Mutex<BTreeMap<u64, Job>>,
}

#[derive(Debug)]
struct Job {
    command: String,
    cancel: Cancel,
    output: Arc<Mutex<Unread>>,
    ended: watch::Receiver<Option<Outcome>>,
}

/// How a job ended, or why it could not be started.
type Outcome = Result<End, String>;

/// Output that nobody has read yet.
#[derive(Debug, Default)]
struct Unread {
    bytes: VecDeque<u8>,
    lost: u64,
}

impl Jobs {
    /// Starts one; what the model is told.
    pub(super) fn start(&self, shell: &Shell, command: &str, life: Option<Duration>) -> Result<String, String> {
        let mut table = lock(&self.table);
        let running = table.values().filter(|job| job.ended.borrow().is_none()).count();
        if running >= MOST {
            return Err(format!("{running} jobs run already; end one of them first"));
        }
        shell.share_loopback();
        let number = table.keys().next_back().map_or(1, |last| last + 1);
        let (cancel, output) = (Cancel::default(), Arc::new(Mutex::new(Unread::default())));
        let (tell, ended) = watch::channel(None);
        let (shell, line) = (shell.clone(), command.to_owned());
        let (theirs, sink) = (cancel.clone(), Arc::clone(&output));
        // A thread of its own: it lives as long as the job, and the runtime would wait for one of its own at its end.
        let started = thread::Builder::new().name(format!("job {number}")).spawn(move || {
            let mut take = |_, bytes: &[u8]| lock(&sink).push(bytes);
            let ran = shell.start(&line, life.unwrap_or(LIFE), 0, &theirs, &mut take);
            // Nobody listens any more only when the session is over.
            let _ = tell.send(Some(ran.map(|finished| finished.end).map_err(|error| error.told())));
        });
        started.map_err(|error| format!("could not start a thread for the job: {error}"))?;
        table.insert(number, Job { command: command.to_owned(), cancel, output, ended });
        Ok(format!("[job {number} started; read it, wait for it or end it with job: \"{number}\"]\n"))
    }

    /// Does something with one; what the model is told.
    pub(super) async fn act(
        &self,
        number: &str,
        action: Action,
        patience: Duration,
        limit: usize,
    ) -> Result<String, String> {
        let (mut ended, cancel, output) = {
            let table = lock(&self.table);
            let job = number.parse::<u64>().ok().and_then(|number| table.get(&number));
            let job = job.ok_or_else(|| unknown(number, &table))?;
            (job.ended.clone(), job.cancel.clone(), Arc::clone(&job.output))
        };
        if action == Action::End {
            cancel.cancel();
        }
        if action != Action::Read {
            // Either it has ended or patience has: both are told below.
            let _ = tokio::time::timeout(patience, ended.wait_for(Option::is_some)).await;
        }
        let state = state(number, ended.borrow().as_ref());
        let (text, _) = lock(&output).take(limit);
        let text = if text.is_empty() { "[no new output]\n".to_owned() } else { screen::joined(&text, "") };
        Ok(format!("{text}{state}"))
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        lock(&self.table).values().for_each(|job| job.cancel.cancel());
    }
}

impl Unread {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let over = self.bytes.len().saturating_sub(UNREAD);
        self.bytes.drain(..over);
        self.lost += over as u64;
    }

    fn take(&mut self, limit: usize) -> (String, bool) {
        let bytes: Vec<u8> = std::mem::take(&mut self.bytes).into();
        let text = screen::settled(&String::from_utf8_lossy(&bytes));
        screen::bounded("", std::mem::take(&mut self.lost), &text, limit)
    }
}

fn state(number: &str, ended: Option<&Outcome>) -> String {
    match ended {
        None => format!("[job {number} is running]\n"),
        Some(Ok(End::Exit(code))) => format!("[job {number} has ended with exit code {code}]\n"),
        Some(Ok(End::Signal(signal))) => format!("[job {number} was ended by signal {signal}]\n"),
        Some(Ok(End::Cancelled)) => format!("[job {number} was ended as asked]\n"),
        Some(Ok(End::TimedOut)) => format!("[job {number} was ended when its time was over]\n"),
        Some(Ok(End::LimitExceeded(limit))) => format!("[job {number} was ended: too much of one thing ({limit:?})]\n"),
        Some(Err(why)) => format!("[job {number} did not start: {why}]\n"),
    }
}

fn unknown(number: &str, table: &BTreeMap<u64, Job>) -> String {
    let known: Vec<String> =
        table.iter().map(|(number, job)| format!("{number} (`{}`)", first_line(&job.command))).collect();
    let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
    format!("there is no job `{number}`; jobs of this session: {known}")
}

fn first_line(command: &str) -> String {
    command.lines().next().unwrap_or_default().chars().take(60).collect()
}

/// A panic in another thread leaves bytes and numbers, which are whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
