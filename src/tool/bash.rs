//! `bash`: runs a shell command in the workspace, with the walls up, and ends its whole tree.
//!
//! Every command starts anew at the workspace's root: no folder, variable or function is carried over, so that nothing a
//! command does can break the next one. With `background`, or when the time that nobody set is over, it is a job: see the
//! tool `job`. Jobs end with the session.

mod command;
mod jobs;
mod legacy;
mod repositories;
mod screen;
mod walls;
mod whole;

use super::files::Files;
use super::{Answer, Effect, Surroundings, Tool};
use crate::snapshot::Job;
use command::Shell;
use futures::future::BoxFuture;
use jobs::{LIFE, Running};
use selfsmith_sandbox::{Cancel, CancelOnDrop, End};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use command::{BashError, Ran};
pub(super) use jobs::{Action, Jobs};
pub use whole::sweep;

/// Files that are named as changed.
const MAX_NAMED: usize = 12;

/// In a result's detail: what missing walls leave open, once a session.
pub const OPEN: &str = "open";

/// What becomes of a command whose time is over, where the call gave no time of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AtLimit {
    /// It goes on as a job.
    #[default]
    Background,
    /// It is ended.
    End,
}

/// What people can set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Seconds that a command may take where the call says nothing.
    pub timeout_s: u64,
    /// The most that a call may ask for.
    pub max_timeout_s: u64,
    /// What becomes of a command that takes longer than `timeout_s`.
    pub at_limit: AtLimit,
    /// Bytes of output that the model is given, as they are sent; what is cut is said, and where the whole is.
    pub output_bytes: usize,
    /// Whether the walls are put up.
    pub sandbox: bool,
    /// Whether the network can be reached.
    pub network: bool,
    /// Further folders that may be written.
    pub writable: Vec<PathBuf>,
    /// Further variables that commands see (`NAME` or `NAME*`); keys and tokens never are.
    pub keep: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout_s: 30,
            max_timeout_s: 600,
            at_limit: AtLimit::Background,
            output_bytes: 7_000,
            sandbox: true,
            network: false,
            writable: Vec::new(),
            keep: Vec::new(),
        }
    }
}

/// The tool. Its jobs end with it.
#[derive(Debug)]
pub struct Bash {
    jobs: Arc<Jobs>,
    files: Option<Arc<Files>>,
}

impl Bash {
    /// For a workspace.
    pub fn new(surroundings: &Surroundings) -> Self {
        Self { jobs: Arc::new(Jobs::new(Shell::new(surroundings))), files: None }
    }

    /// The same, telling which of these files a command left otherwise than the model saw them.
    #[must_use]
    pub fn telling(mut self, files: Arc<Files>) -> Self {
        self.files = Some(files);
        self
    }

    /// Its commands in the background, for the tool `job`.
    pub(super) fn jobs(&self) -> Arc<Jobs> {
        Arc::clone(&self.jobs)
    }

    /// Runs a command to its end. Blocks. No time given: the one of the settings.
    ///
    /// # Errors
    /// Where it could not be run at all.
    pub fn run(&self, command: &str, timeout: Option<Duration>, cancel: &Cancel) -> Result<Ran, BashError> {
        self.shell().run(command, timeout, cancel)
    }

    fn shell(&self) -> &Shell {
        self.jobs.shell()
    }

    async fn foreground(&self, command: &str, timeout: Option<Duration>) -> Answer {
        let shell = self.shell();
        let patience = timeout.unwrap_or(shell.default_timeout()).min(shell.longest());
        let goes_on = timeout.is_none() && shell.at_limit() == AtLimit::Background;
        let mut running = match self.jobs.spawn(command, if goes_on { LIFE } else { patience }, shell.kept()) {
            Ok(running) => running,
            Err(why) => return Answer::failed(why),
        };
        let guard = CancelOnDrop::new(running.cancel.clone());
        let ended = running.ended.clone();
        let ended = tokio::select! {
            ended = running.ended.wait_for(Option::is_some) => ended.map(|ended| ended.clone()).ok().flatten(),
            () = tokio::time::sleep(patience), if goes_on => ended.borrow().clone(),
        };
        match ended.as_deref() {
            Some(Ok(finished)) => self.told(&shell.ran(finished), &running),
            Some(Err(error)) => Answer::failed(error.told()).with_detail(json!({ "class": error.class() })),
            None if goes_on => self.left_running(running, patience, guard),
            None => Answer::failed("could not run the command: its thread is gone"),
        }
    }

    /// A finished command as the model reads it.
    fn told(&self, ran: &Ran, running: &Running) -> Answer {
        let mut text = screen::joined(&ran.stdout, &ran.stderr);
        if let Some(name) = ran.encoding {
            text.push_str(&format!("[the output was {name}; it is shown as UTF-8]\n"));
        }
        if ran.truncated {
            text.push_str(&running.whole().unwrap_or_default());
        }
        if let Some(note) = ending(ran, self.shell().default_timeout()) {
            text.push_str(&note);
        }
        if let Some(hint) = self.shell().hint(ran) {
            text.push_str(&hint);
        }
        text.push_str(&outdated(self.files.as_deref()));
        let answer = if ran.end.success() { Answer::done(text) } else { Answer::failed(text) };
        let mut facts = ran.facts();
        if let (Some(open), Value::Object(facts)) = (self.shell().open(ran), &mut facts) {
            facts.insert(OPEN.to_owned(), open.into());
        }
        answer.with_detail(facts)
    }

    /// Its time is over: it goes on as a job. That is no success yet, so that a `done` beside it does not count.
    fn left_running(&self, running: Running, patience: Duration, guard: CancelOnDrop) -> Answer {
        let news = running.news(self.shell().output_bytes());
        let seconds = patience.as_secs();
        let number = match self.jobs.adopt(running) {
            Ok(number) => number,
            Err(why) => return Answer::failed(format!("{news}[ended after {seconds} s: {why}]\n")),
        };
        guard.release();
        let note = format!(
            "[still running after {seconds} s: it goes on as job {number}. With the tool job: wait for it, read what it \
             says, or end it if it hangs]\n"
        );
        Answer::failed(news + &note).with_detail(json!({ "exit": null, "timed_out": false, "job": number.to_string() }))
    }
}

/// Which files are not what the model saw: a formatter rewrites what an edit would look for.
fn outdated(files: Option<&Files>) -> String {
    let names = files.map(Files::outdated).unwrap_or_default();
    let more = names.len().saturating_sub(MAX_NAMED);
    let named: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
    match (named.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("[changed since you saw them: {}]\n", named.join(", ")),
        (false, more) => format!("[changed since you saw them: {} and {more} more]\n", named.join(", ")),
    }
}

/// How it ended, where that is not plain success.
fn ending(ran: &Ran, default_timeout: Duration) -> Option<String> {
    let seconds = ran.took.as_secs_f64();
    Some(match ran.end {
        End::Exit(0) => return None,
        End::Exit(code) => format!("[exit code {code}]\n"),
        End::Signal(signal) => format!("[ended by signal {signal}]\n"),
        End::TimedOut => format!(
            "[timed out: the command and all its processes were ended after {seconds:.1} s. If it needs longer, give \
             timeout_s (default {}); if it never ends by itself, give background]\n",
            default_timeout.as_secs()
        ),
        End::LimitExceeded(limit) => format!("[ended after {seconds:.1} s: too much of one thing ({limit:?})]\n"),
        End::Cancelled => "[cancelled]\n".to_owned(),
    })
}

impl Tool for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["shell", "run_shell_command", "execute_command"]
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/bash.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "minLength": 1 },
                "timeout_s": { "type": "integer", "description": "end it, and all that it started, after so many seconds" },
                "background": { "type": "boolean", "description": "start it as a job and go on, as for a server" },
            },
            "required": ["command"],
        })
    }

    fn body(&self) -> Option<&'static str> {
        Some("command")
    }

    fn effect(&self) -> Effect {
        Effect::Runs
    }

    fn job(&self) -> Job {
        if self.jobs.running() > 0 { Job::Runs } else { Job::None }
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match Request::of(arguments) {
                Ok(Request::Run { command, timeout }) => self.foreground(&command, timeout).await,
                Ok(Request::Start { command, timeout }) => match self.jobs.start(&command, timeout) {
                    Ok(text) => Answer::done(text),
                    Err(why) => Answer::failed(why),
                },
                Err(why) => Answer::failed(why).with_detail(json!({ "class": "bad_command" })),
            }
        })
    }
}

/// What a call asks for.
#[derive(Debug, PartialEq)]
enum Request {
    Run { command: String, timeout: Option<Duration> },
    Start { command: String, timeout: Option<Duration> },
}

impl Request {
    fn of(arguments: &Map<String, Value>) -> Result<Self, String> {
        let text = |name: &str| arguments.get(name).and_then(spelled).filter(|text| !text.trim().is_empty());
        let timeout = match text("timeout_s") {
            Some(text) => Some(seconds(&text)?),
            None => None,
        };
        let background = text("background").is_some_and(|text| text.trim() == "true");
        match text("command") {
            Some(command) if background => Ok(Self::Start { command, timeout }),
            Some(command) => Ok(Self::Run { command, timeout }),
            None => Err("there is no command to run".to_owned()),
        }
    }
}

/// A value as text: on the text channel everything is.
pub(super) fn spelled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("timeout_s is a number of seconds above 0, not `{text}`");
    let seconds: f64 = text.trim().parse().map_err(|_| wrong())?;
    if seconds <= 0.0 {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests;
