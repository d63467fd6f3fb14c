//! `bash`: runs a shell command in the workspace, with the walls up, and ends its whole tree.
//!
//! Every command starts anew at the workspace's root: no folder, variable or function is carried over, so that nothing a
//! command does can break the next one. With `background` it becomes a job that is read, waited for and ended by its
//! number, and that ends with the session.

mod command;
mod jobs;
mod screen;
mod walls;

use super::{Answer, Effect, Surroundings, Tool};
use command::Shell;
use futures::future::BoxFuture;
use jobs::{Action, Jobs};
use selfsmith_sandbox::{Cancel, End};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Duration;

pub use command::{BashError, Ran};

/// What people can set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Seconds that a command may take where the call says nothing.
    pub timeout_s: u64,
    /// The most that a call may ask for.
    pub max_timeout_s: u64,
    /// Bytes of each stream that the model is given; what is cut is said.
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
            output_bytes: 30_000,
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
    shell: Shell,
    jobs: Jobs,
}

impl Bash {
    /// For a workspace.
    pub fn new(surroundings: &Surroundings) -> Self {
        Self { shell: Shell::new(surroundings), jobs: Jobs::default() }
    }

    /// Runs a command to its end. Blocks. No time given: the one of the settings.
    ///
    /// # Errors
    /// Where it could not be run at all.
    pub fn run(&self, command: &str, timeout: Option<Duration>, cancel: &Cancel) -> Result<Ran, BashError> {
        self.shell.run(command, timeout, cancel)
    }

    async fn foreground(&self, command: &str, timeout: Option<Duration>) -> Answer {
        let guard = CancelOnDrop::default();
        let (shell, command, cancel) = (self.shell.clone(), command.to_owned(), guard.0.clone());
        let timeout = timeout.map(|timeout| timeout.min(self.shell.longest()));
        match tokio::task::spawn_blocking(move || shell.run(&command, timeout, &cancel)).await {
            Ok(Ok(ran)) => self.told(&ran),
            Ok(Err(error)) => Answer::failed(error.told()).with_detail(json!({ "class": error.class() })),
            Err(error) => Answer::failed(format!("could not run the command: {error}")),
        }
    }

    /// A finished command as the model reads it.
    fn told(&self, ran: &Ran) -> Answer {
        let mut text = screen::joined(&ran.stdout, &ran.stderr);
        if let Some(note) = ending(ran, self.shell.default_timeout()) {
            text.push_str(&note);
        }
        if let Some(hint) = self.shell.hint(ran) {
            text.push_str(&hint);
        }
        let answer = if ran.end.success() { Answer::done(text) } else { Answer::failed(text) };
        answer.with_detail(ran.facts())
    }

    async fn job(&self, number: &str, action: Action, timeout: Option<Duration>) -> Answer {
        let timeout = timeout.unwrap_or(self.shell.default_timeout()).min(self.shell.longest());
        match self.jobs.act(number, action, timeout, self.shell.output_bytes()).await {
            Ok(text) => Answer::done(text),
            Err(why) => Answer::failed(why),
        }
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
                "command": { "type": "string", "minLength": 1, "description": "the command line, as bash reads it" },
                "timeout_s": { "type": "integer", "description": "seconds before it is ended; default 30" },
                "background": { "type": "boolean", "description": "true: start it and go on; the answer names its job number" },
                "job": { "type": "string", "description": "number of a background job, in place of a command" },
                "action": { "type": "string", "enum": ["read", "wait", "end"], "description": "what to do with the job; default read" },
            },
            "required": [],
        })
    }

    fn body(&self) -> Option<&'static str> {
        Some("command")
    }

    fn effect(&self) -> Effect {
        Effect::Runs
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match Request::of(arguments) {
                Ok(Request::Run { command, timeout }) => self.foreground(&command, timeout).await,
                Ok(Request::Start { command, timeout }) => match self.jobs.start(&self.shell, &command, timeout) {
                    Ok(text) => Answer::done(text),
                    Err(why) => Answer::failed(why),
                },
                Ok(Request::Job { number, action, timeout }) => self.job(&number, action, timeout).await,
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
    Job { number: String, action: Action, timeout: Option<Duration> },
}

impl Request {
    fn of(arguments: &Map<String, Value>) -> Result<Self, String> {
        let text = |name: &str| arguments.get(name).and_then(spelled).filter(|text| !text.trim().is_empty());
        let timeout = match text("timeout_s") {
            Some(text) => Some(seconds(&text)?),
            None => None,
        };
        match (text("command"), text("job")) {
            (Some(_), Some(_)) => Err("give either a command or a job, not both".to_owned()),
            (Some(command), None) if text("background").is_some_and(|text| text.trim() == "true") => {
                Ok(Self::Start { command, timeout })
            }
            (Some(command), None) => Ok(Self::Run { command, timeout }),
            (None, Some(number)) => {
                let action = Action::named(text("action").as_deref().unwrap_or("read"))?;
                Ok(Self::Job { number: number.trim().to_owned(), action, timeout })
            }
            (None, None) => Err("there is no command to run; give one, or the number of a job".to_owned()),
        }
    }
}

/// A value as text: on the text channel everything is.
fn spelled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("timeout_s is a number of seconds above 0, not `{text}`");
    let seconds: f64 = text.trim().parse().map_err(|_| wrong())?;
    if seconds <= 0.0 {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// Ends what runs when nobody waits for it any more.
#[derive(Debug, Default)]
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests;
