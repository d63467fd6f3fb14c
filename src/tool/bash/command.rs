//! One command: the job that the sandbox is given, and what came of it.

use super::{AtLimit, Settings, legacy, screen, walls};
use crate::tool::Surroundings;
use crate::tool::paths::More;
use selfsmith_sandbox::{
    Cancel, Captured, End, Environment, Finished, Job, Limits, Loopback, MissingWall, Program, SandboxError, Stream,
    Wall, run,
};
use serde_json::{Value, json};
use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Variables that commands see, where they are set. Names that look like keys are dropped by the sandbox in any case.
const KEPT: [&str; 34] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "COLUMNS",
    "LINES",
    "XDG_*",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "PKG_CONFIG_PATH",
    "LIBRARY_PATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "NVM_*",
    "PYENV_*",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA_*",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "DEBIAN_FRONTEND",
];
/// Of cargo's and rustup's variables, those that people set; the rest is what a running cargo leaks.
const KEPT_OF_CARGO: [&str; 10] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_",
    "CARGO_NET_",
    "CARGO_HTTP_",
    "CARGO_SOURCE_",
    "CARGO_REGISTRIES_",
];
/// Nobody sits at this terminal: no colours, no pagers, no editors, no questions.
const SET: [(&str, &str); 6] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("NO_COLOR", "1"),
];
/// Processes and threads of one command: above what large builds take, below what hurts.
const PROCESSES: u64 = 4096;
/// Raw bytes kept of each stream, before progress lines are folded away.
const RAW: usize = 512 * 1024;
/// What the walls look like from inside.
const SIGNS: [&str; 8] = [
    "Permission denied",
    "Read-only file system",
    "Operation not permitted",
    "Device or resource busy",
    "Network is unreachable",
    "Could not resolve host",
    "Temporary failure in name resolution",
    "failed to lookup address",
];

/// Everything that a command needs besides its text. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Shell(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    root: PathBuf,
    environment: Vec<(OsString, OsString)>,
    more: More,
    /// Made with the first background job, so that later commands can ask the server that it is.
    loopback: OnceLock<Option<Loopback>>,
    nested: walls::Nested,
    /// Whether it was said what of the walls is missing.
    told: AtomicBool,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// Standard output, bounded and without terminal control.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// Whether something of the output is missing.
    pub truncated: bool,
    /// The encoding that the output was guessed to be in, where it was no UTF-8.
    pub encoding: Option<&'static str>,
    /// Wall time.
    pub took: Duration,
    /// Walls that were asked for and did not stand.
    pub missing: Vec<MissingWall>,
}

/// Why a command could not be run.
#[derive(Debug, thiserror::Error)]
#[error("run the command")]
pub struct BashError(#[from] SandboxError);

impl Shell {
    pub(super) fn new(surroundings: &Surroundings) -> Self {
        Self(Arc::new(Inner {
            settings: surroundings.bash.clone(),
            root: surroundings.root.clone(),
            environment: surroundings.environment.clone(),
            more: surroundings.more.clone(),
            loopback: OnceLock::new(),
            nested: walls::Nested::default(),
            told: AtomicBool::new(false),
        }))
    }

    /// From now on commands share one loopback network, where they have not the machine's.
    pub(super) fn share_loopback(&self) {
        let settings = &self.0.settings;
        if settings.sandbox && !settings.network {
            // Where there is none to be had, each command has what its own walls find.
            self.0.loopback.get_or_init(|| Loopback::start().ok());
        }
    }

    pub(super) fn default_timeout(&self) -> Duration {
        Duration::from_secs(self.0.settings.timeout_s)
    }

    pub(super) fn longest(&self) -> Duration {
        Duration::from_secs(self.0.settings.max_timeout_s)
    }

    pub(super) fn at_limit(&self) -> AtLimit {
        self.0.settings.at_limit
    }

    pub(super) fn output_bytes(&self) -> usize {
        self.0.settings.output_bytes
    }

    /// Runs it to its end.
    pub(super) fn run(&self, command: &str, timeout: Option<Duration>, cancel: &Cancel) -> Result<Ran, BashError> {
        let wall = timeout.unwrap_or(self.default_timeout());
        Ok(self.ran(&self.start(command, wall, self.kept(), cancel, &mut |_, _| {})?))
    }

    /// Raw bytes of each stream that are worth keeping.
    pub(super) fn kept(&self) -> usize {
        RAW.max(self.output_bytes())
    }

    /// What came of it, as it is shown: both streams within the bound together.
    pub(super) fn ran(&self, finished: &Finished) -> Ran {
        let limit = self.output_bytes();
        let (out, err) = (Shown::of(&finished.stdout), Shown::of(&finished.stderr));
        // Errors tell more than the rest: they get what the rest leaves, and a third in any case.
        let for_errors = limit.saturating_sub(out.len()).max(limit / 3);
        let (stderr, cut_err) = err.bounded(for_errors);
        let (stdout, cut_out) = out.bounded(limit.saturating_sub(stderr.len()).max(limit / 3));
        let Finished { end, wall: took, weaker: missing, .. } = finished.clone();
        Ran {
            end,
            stdout,
            stderr,
            truncated: cut_out || cut_err,
            encoding: out.encoding.or(err.encoding),
            took,
            missing,
        }
    }

    /// Runs it to its end, giving its output away as it comes.
    pub(super) fn start(
        &self,
        command: &str,
        wall: Duration,
        output: usize,
        cancel: &Cancel,
        on_output: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Finished, BashError> {
        let inner = &self.0;
        let job = Job {
            program: Program::Shell(unix_lines(command)),
            dir: inner.root.clone(),
            environment: self.environment(),
            stdin: Vec::new(),
            limits: Limits { wall, output, processes: Some(PROCESSES), ..Limits::default() },
            walls: walls::around(
                &inner.root,
                &inner.more.all(),
                &inner.settings,
                &inner.environment,
                self.loopback(),
                &inner.nested,
            ),
        };
        Ok(run(&job, &inner.environment, cancel, on_output)?)
    }

    fn loopback(&self) -> Option<i32> {
        self.0.loopback.get().and_then(Option::as_ref).map(Loopback::id)
    }

    fn environment(&self) -> Environment {
        let inner = &self.0;
        let keep = KEPT.iter().map(ToString::to_string).chain(inner.settings.keep.iter().cloned()).collect();
        let mut set: Vec<(String, OsString)> =
            SET.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
        set.extend(inner.environment.iter().filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| peoples_cargo(name))?;
            Some((name.to_owned(), value.clone()))
        }));
        Environment { keep, set }
    }

    /// What is open because walls are missing, the first time that it is known: for the person, once a session.
    pub(super) fn open(&self, ran: &Ran) -> Option<String> {
        // Without a network of their own commands have none, so nothing is open for that.
        let missing: Vec<&MissingWall> =
            ran.missing.iter().filter(|missing| missing.wall != Wall::NetNamespace).collect();
        // A room around us keeps what these walls cannot.
        if missing.is_empty() || selfsmith_sandbox::in_room() || self.0.told.swap(true, Ordering::Relaxed) {
            return None;
        }
        let mut open: Vec<&str> = Vec::new();
        for missing in &missing {
            let what = missing.wall.open_without();
            if !open.contains(&what) {
                open.push(what);
            }
        }
        let why = missing.first().map(ToString::to_string).unwrap_or_default();
        Some(format!("{} ({why})", open.join("; ")))
    }

    /// A hint where it looks as if a wall stood in the way: what held around this very command, and no more.
    pub(super) fn hint(&self, ran: &Ran) -> Option<String> {
        let Inner { settings, root, .. } = self.0.as_ref();
        let met = settings.sandbox && SIGNS.iter().any(|sign| ran.stderr.contains(sign) || ran.stdout.contains(sign));
        let lacks = |walls: &[Wall]| ran.missing.iter().any(|missing| walls.contains(&missing.wall));
        // Only mounts make exceptions within a folder that may be written; in a room inside of a room there are none.
        let mounts = !lacks(&[Wall::UserNamespace, Wall::MountNamespace]);
        met.then(|| {
            let writing = if mounts || !lacks(&[Wall::Landlock]) {
                "may write only in the workspace and in temporary folders"
            } else {
                "are not fully kept from writing elsewhere"
            };
            let git = if mounts && root.join(".git").exists() { ", not to hooks and config in .git" } else { "" };
            let network = if settings.network { "" } else { ", and have no network beyond this machine's loopback" };
            format!("[sandbox: commands {writing}{git}{network}]\n")
        })
    }
}

impl Ran {
    /// For people and for events.
    pub(super) fn facts(&self) -> Value {
        let missing: Vec<String> = self.missing.iter().map(ToString::to_string).collect();
        json!({
            "exit": self.exit(),
            "timed_out": self.end == End::TimedOut,
            "truncated": self.truncated,
            "seconds": (self.took.as_secs_f64() * 1000.0).round() / 1000.0,
            "missing_walls": missing,
        })
    }

    /// The exit code; `"signal:9"` for a signal; null where we ended it.
    pub fn exit(&self) -> Value {
        match self.end {
            End::Exit(code) => json!(code),
            End::Signal(signal) => json!(format!("signal:{signal}")),
            End::TimedOut | End::LimitExceeded(_) | End::Cancelled => Value::Null,
        }
    }
}

impl BashError {
    /// The class word of such an error.
    pub fn class(&self) -> &'static str {
        match self.0 {
            SandboxError::BadCommand { .. } => "bad_command",
            SandboxError::Wall { .. } => "protected",
            _ => "io",
        }
    }

    /// The whole story, with what to do next, as the model reads it.
    pub fn told(&self) -> String {
        let mut text = format!("could not {}", self.0);
        let mut cause = self.0.source();
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        format!("{text}. {}", self.0.hint())
    }
}

/// One stream as it would stand on a screen, in two pieces where bytes are missing between them.
struct Shown {
    head: String,
    lost: u64,
    tail: String,
    encoding: Option<&'static str>,
}

impl Shown {
    fn of(captured: &Captured) -> Self {
        /// Stands for the cut until both sides are settled. The output's own ones would be dropped there anyway.
        const CUT: u8 = 0x1A;
        let own = |bytes: &[u8]| bytes.iter().copied().filter(|byte| *byte != CUT).collect();
        let raw = Captured { head: own(&captured.head), tail: own(&captured.tail), dropped: captured.dropped };
        let mut lost = 0;
        let (text, encoding) = legacy::text(&raw, |dropped| {
            lost = dropped;
            char::from(CUT).to_string()
        });
        let (head, tail) = text.split_once(char::from(CUT)).unwrap_or((&text, ""));
        Self { head: screen::settled(head), lost, tail: screen::settled(tail), encoding }
    }

    fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    fn bounded(&self, limit: usize) -> (String, bool) {
        screen::bounded(&self.head, self.lost, &self.tail, limit)
    }
}

/// Scripts from other systems end their lines with CR LF, which bash takes for a part of the last word.
fn unix_lines(command: &str) -> String {
    command.replace("\r\n", "\n")
}

fn peoples_cargo(name: &str) -> bool {
    let listed = KEPT_OF_CARGO.iter().any(|kept| match kept.strip_suffix('_') {
        Some(_) => name.starts_with(kept),
        None => name == *kept,
    });
    listed && !selfsmith_sandbox::is_secret_name(name)
}
