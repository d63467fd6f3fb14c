//! The git program, run through the one door for child processes. Promises: no inherited `GIT_*` variable says where it
//! works; it never waits for an editor, a pager, a prompt or a terminal; paths are literal; its time and output are bounded.
//! It does not know what the caller wants from git.

use crate::error::RepoError;
use selfsmith_sandbox::{Cancel, End, Environment, Finished, Job, Limits, Program, Walls, run};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// Whose program it is: the environment it inherits from, and how it is stopped.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Variables of the caller; never read from the process itself.
    pub environment: &'a [(OsString, OsString)],
    /// Stops a running command.
    pub cancel: &'a Cancel,
}

/// Whether git may run the repository's hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hooks {
    Run,
    Off,
}

/// One command.
pub(crate) struct Git<'a> {
    caller: Caller<'a>,
    dir: &'a Path,
    hooks: Hooks,
    wall: Duration,
    stdin: Vec<u8>,
    settings: Vec<OsString>,
    variables: Vec<(String, OsString)>,
}

/// How long a command may take that runs nothing of the person's.
const WALL: Duration = Duration::from_secs(60);
/// Bytes of output: lists of files are data and must come whole.
const OUTPUT: usize = 64 << 20;
/// Variables that a person's git, hooks and signing need, although they look like secrets or steer programs.
const HANDED_ON: &[&str] = &[
    "SSH_AUTH_SOCK",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXEC_PATH",
];

impl<'a> Git<'a> {
    /// A command that runs no hook.
    pub(crate) fn new(caller: Caller<'a>, dir: &'a Path) -> Self {
        let (settings, variables) = (Vec::new(), Vec::new());
        Self { caller, dir, hooks: Hooks::Off, wall: WALL, stdin: Vec::new(), settings, variables }
    }

    /// With the person's hooks, for at most this long.
    pub(crate) fn with_hooks(mut self, wall: Duration) -> Self {
        self.hooks = Hooks::Run;
        self.wall = wall;
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// A setting for this command alone, as `core.x=y`.
    pub(crate) fn setting(mut self, setting: impl Into<OsString>) -> Self {
        self.settings.push(setting.into());
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Runs it, whatever its exit code.
    pub(crate) fn finish<A: AsRef<OsStr>>(self, args: &[A]) -> Result<Done, RepoError> {
        let mut argv: Vec<OsString> = ["git", "--no-pager", "--literal-pathspecs"].map(OsString::from).to_vec();
        let mut settings: Vec<OsString> =
            ["core.quotePath=false", "core.fsmonitor=false", "color.ui=false", "advice.detachedHead=false"]
                .map(OsString::from)
                .to_vec();
        if self.hooks == Hooks::Off {
            settings.push("core.hooksPath=/dev/null".into());
        }
        for setting in settings.into_iter().chain(self.settings) {
            argv.extend(["-c".into(), setting]);
        }
        argv.extend(args.iter().map(|a| a.as_ref().to_owned()));
        let named = argv_text(args);
        let job = Job {
            program: Program::Argv(argv),
            dir: self.dir.to_owned(),
            environment: environment(self.caller, self.hooks, self.variables),
            stdin: self.stdin,
            limits: Limits { wall: self.wall, output: OUTPUT, ..Limits::default() },
            walls: Walls::None,
        };
        let finished = run(&job, self.caller.environment, self.caller.cancel, &mut |_, _| {})
            .map_err(|source| RepoError::Start { argv: named.clone(), source })?;
        Ok(Done { named, finished })
    }

    /// Runs it and takes its output; anything but exit 0 is an error.
    pub(crate) fn output<A: AsRef<OsStr>>(self, args: &[A]) -> Result<Vec<u8>, RepoError> {
        let done = self.finish(args)?;
        if done.ok() { done.stdout() } else { Err(done.error()) }
    }
}

/// A command that ended.
pub(crate) struct Done {
    named: String,
    finished: Finished,
}

impl Done {
    pub(crate) fn ok(&self) -> bool {
        self.finished.end == End::Exit(0)
    }

    pub(crate) fn end(&self) -> End {
        self.finished.end
    }

    /// Its whole output.
    pub(crate) fn stdout(self) -> Result<Vec<u8>, RepoError> {
        if self.finished.stdout.dropped > 0 {
            let said = format!("its output is longer than {OUTPUT} bytes");
            return Err(RepoError::Program { argv: self.named, said });
        }
        Ok(self.finished.stdout.bytes())
    }

    /// Both streams, as a person reads them.
    pub(crate) fn said(&self) -> String {
        let note = |dropped: u64| format!("\n[{dropped} bytes left out]\n");
        let both = [self.finished.stdout.text(note), self.finished.stderr.text(note)];
        both.iter().map(|s| s.trim()).filter(|s| !s.is_empty()).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn error(&self) -> RepoError {
        let said = match (self.finished.end, self.said()) {
            (End::Exit(_), said) if !said.is_empty() => said,
            (End::TimedOut, said) => format!("it took longer than allowed and was ended {said}"),
            (end, said) => format!("it ended with {end:?} {said}"),
        };
        RepoError::Program { argv: self.named.clone(), said: said.trim().to_owned() }
    }
}

fn environment(caller: Caller<'_>, hooks: Hooks, extra: Vec<(String, OsString)>) -> Environment {
    let mut set: Vec<(String, OsString)> = Vec::new();
    for name in HANDED_ON {
        if let Some((_, value)) = caller.environment.iter().find(|(n, _)| n == name) {
            set.push(((*name).to_owned(), value.clone()));
        }
    }
    let fixed = [
        ("LC_ALL", "C.UTF-8"),
        ("LANGUAGE", ""),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_EDITOR", ":"),
        ("GIT_SEQUENCE_EDITOR", ":"),
        ("GIT_PAGER", "cat"),
        ("GIT_MERGE_AUTOEDIT", "no"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
    ];
    set.extend(fixed.map(|(name, value)| (name.to_owned(), value.into())));
    set.extend(extra);
    let keep = match hooks {
        // A hook is the person's own program and gets what a program of theirs gets, keys excepted.
        Hooks::Run => vec!["*".to_owned()],
        Hooks::Off => {
            ["PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR", "TZ"].map(str::to_owned).to_vec()
        }
    };
    Environment { keep, set }
}

/// A command as a person would type it, for messages.
fn argv_text<A: AsRef<OsStr>>(args: &[A]) -> String {
    let mut text = "git".to_owned();
    for arg in args {
        let arg = arg.as_ref().to_string_lossy();
        let plain = !arg.is_empty() && arg.chars().all(|c| c.is_alphanumeric() || "-_=./:@^~,+%".contains(c));
        text.push(' ');
        text.push_str(&if plain { arg.into_owned() } else { format!("{arg:?}") });
    }
    text
}

/// The fields of NUL-separated output.
pub(crate) fn fields(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

/// A path or line that git printed, without the line break that ends it; a blank may belong to a name.
pub(crate) fn one_line(output: &[u8]) -> &[u8] {
    output.strip_suffix(b"\n").unwrap_or(output)
}
