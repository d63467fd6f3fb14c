//! What the tests of this crate share: jobs, and a look at which processes are left.

use selfsmith_sandbox::{Cancel, Environment, Finished, Job, Limits, Program, SandboxError, Walls, run};
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// A shell line in `/`, with `PATH` and nothing else.
pub fn shell(line: &str) -> Job {
    Job {
        program: Program::Shell(own(line)),
        dir: "/".into(),
        environment: Environment { keep: vec!["PATH".to_owned()], set: vec![] },
        stdin: vec![],
        limits: Limits::default(),
        walls: Walls::None,
    }
}

/// The text with every `sleep 47…` made this test run's own, so that runs at the same time do not see each other's.
pub fn own(text: &str) -> String {
    let id = std::env::var(CALLER).unwrap_or_else(|_| std::process::id().to_string());
    text.replace("sleep 47", &format!("sleep {id}47"))
}

/// Set in a caller that a test starts and kills: the id of that test's run.
pub const CALLER: &str = "SANDBOX_TEST_CALLER";

/// Runs to the end, without cancelling.
pub fn finish(job: &Job) -> Result<Finished, SandboxError> {
    run(job, &parent(), &Cancel::default(), &mut |_, _| {})
}

/// Runs to the end and insists that it could be run.
pub fn done(job: &Job) -> Finished {
    finish(job).unwrap_or_else(|error| panic!("could not {error}: {:?}", std::error::Error::source(&error)))
}

/// Standard output as text.
pub fn stdout(finished: &Finished) -> String {
    finished.stdout.text(|dropped| format!("[{dropped} bytes dropped]"))
}

/// Standard error as text.
pub fn stderr(finished: &Finished) -> String {
    finished.stderr.text(|dropped| format!("[{dropped} bytes dropped]"))
}

/// The environment of this process.
pub fn parent() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Whether a process whose command line holds the text lives within the next two seconds.
pub fn lives(text: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(2);
    loop {
        if !any_process(text) {
            return false;
        }
        if Instant::now() > until {
            return true;
        }
        std::thread::yield_now();
    }
}

/// Whether a process whose command line holds the text lives now.
pub fn any_process(text: &str) -> bool {
    let text = own(text);
    let Ok(entries) = std::fs::read_dir("/proc") else { return false };
    entries.flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(&text)
    })
}
