//! One running `selfsmith-agent case <kind>`: asked a case, answered within a time, ended with all of its own.

use crate::judge::View;
use crate::process;
use ptyprocess::PtyProcess;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Why there is no answer to judge.
#[derive(Debug)]
pub enum Fault {
    /// The program says that it cannot do it.
    Unsupported(String),
    /// The program broke the protocol.
    Broken(String),
}

/// How cases reach the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Through a pipe.
    Pipe,
    /// Through a terminal, which is also the controlling one.
    Terminal,
}

enum Running {
    Piped(Child),
    Terminal(Box<PtyProcess>, File),
}

pub struct Program {
    running: Running,
    lines: Receiver<String>,
    mark: String,
    home: TempDir,
}

impl Program {
    /// Start it in an empty folder with a clean environment and these variables on top.
    pub fn start(kind: &str, extra: &[(String, String)], input: Input) -> Result<Self, Fault> {
        let home = crate::world::fresh();
        let mark = fresh_mark();
        let start = home.path().join("start");
        fs::create_dir_all(&start).expect("a folder to start in");
        let stderr = File::create(home.path().join("stderr")).expect("a file for stderr");
        let mut command = match input {
            Input::Pipe => Command::new(env!("CARGO_BIN_EXE_selfsmith-agent")),
            Input::Terminal => Command::new("sh"),
        };
        if input == Input::Terminal {
            // The terminal is stdin and the controlling one; answers and stderr go to files of their own.
            let line = r#"stty raw -echo; exec "$1" case "$2" >"$3" 2>"$4""#;
            command.args(["-c", line, "sh", env!("CARGO_BIN_EXE_selfsmith-agent"), kind]);
            command.arg(fifo(home.path())).arg(home.path().join("stderr"));
        } else {
            command.args(["case", kind]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        }
        command.env_clear().envs(clean_env(home.path())).envs(extra.iter().cloned()).env(process::MARK, &mark);
        command.current_dir(&start);
        let broken = |what: String| Fault::Broken(format!("it cannot be started: {what}"));
        let (running, lines) = match input {
            Input::Pipe => {
                let mut child = command.spawn().map_err(|e| broken(e.to_string()))?;
                let stdout = child.stdout.take().ok_or_else(|| broken("no stdout".to_owned()))?;
                (Running::Piped(child), read_lines(move || Ok(stdout)))
            }
            Input::Terminal => {
                let process = PtyProcess::spawn(command).map_err(|e| broken(e.to_string()))?;
                let terminal = process.get_raw_handle().map_err(|e| broken(e.to_string()))?;
                let fifo = home.path().join("answers");
                (Running::Terminal(Box::new(process), terminal), read_lines(move || File::open(fifo)))
            }
        };
        Ok(Self { running, lines, mark, home })
    }

    /// The mark of its processes.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Its home folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Send one case and wait for its answer.
    pub fn ask(&mut self, id: &str, input: &Value, limit: Duration) -> Result<View, Fault> {
        let line = format!("{}\n", json!({ "id": id, "input": input }));
        let start = Instant::now();
        // What cannot be written shows itself as an answer that does not come.
        let _ = match &mut self.running {
            Running::Piped(child) => child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(line.as_bytes())),
            Running::Terminal(_, terminal) => terminal.write_all(line.as_bytes()),
        };
        let answer = match self.lines.recv_timeout(limit) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => return Err(Fault::Broken(format!("no answer in {limit:?}"))),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Fault::Broken(format!("it ended without an answer; stderr: {}", self.stderr())));
            }
        };
        let took = start.elapsed();
        if let Some(line) = self.stderr().lines().find(|line| line.contains("panicked at")) {
            return Err(Fault::Broken(format!("panic: {line}")));
        }
        let value: Value = serde_json::from_str(&answer)
            .map_err(|error| Fault::Broken(format!("the answer is no JSON ({error}): {answer}")))?;
        if value["id"] != json!(id) {
            return Err(Fault::Broken(format!("the answer has not this case's id: {answer}")));
        }
        if let Some(why) = value.get("unsupported") {
            return Err(Fault::Unsupported(why.to_string()));
        }
        match value.get("got") {
            Some(Value::Object(got)) if got.get("panic").is_none_or(Value::is_null) => {
                Ok(View { got: got.clone(), took })
            }
            _ => Err(Fault::Broken(format!("no object `got`, or a panic: {answer}"))),
        }
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.home.path().join("stderr")).unwrap_or_default()).into_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        match &mut self.running {
            Running::Piped(child) => {
                drop(child.stdin.take());
                let _ = child.kill();
                let _ = child.wait();
            }
            Running::Terminal(process, _) => {
                let _ = process.exit(true);
            }
        }
        process::end(|process| process.mark == self.mark);
    }
}

/// What the program, the set-ups and the checks see: no key, proxy, editor or git setting of the caller.
pub fn clean_env(home: &Path) -> Vec<(String, String)> {
    let kept = ["PATH", "TMPDIR", "USER", "LOGNAME", "SHELL", "TZ", "LD_LIBRARY_PATH", "RUST_BACKTRACE"];
    let mut variables: Vec<(String, String)> =
        kept.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))).collect();
    let config = home.join("empty.gitconfig");
    if !config.exists() {
        fs::write(&config, "").expect("an empty git configuration");
    }
    let text = |path: PathBuf| path.display().to_string();
    let ceiling = std::env::temp_dir();
    for (name, value) in [
        ("HOME", text(home.to_owned())),
        ("LANG", "C.UTF-8".to_owned()),
        ("LC_ALL", "C.UTF-8".to_owned()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_CONFIG_GLOBAL", text(config)),
        ("GIT_CEILING_DIRECTORIES", text(ceiling)),
        ("NO_PROXY", "127.0.0.1,localhost".to_owned()),
        ("no_proxy", "127.0.0.1,localhost".to_owned()),
    ] {
        variables.push((name.to_owned(), value));
    }
    variables
}

fn fifo(home: &Path) -> PathBuf {
    let path = home.join("answers");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("a named pipe");
    path
}

fn read_lines<R: std::io::Read + Send + 'static>(
    open: impl FnOnce() -> std::io::Result<R> + Send + 'static,
) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let Ok(stream) = open() else { return };
        for line in BufReader::new(stream).lines() {
            if line.is_ok_and(|line| sender.send(line).is_ok()) {
                continue;
            }
            return;
        }
    });
    receiver
}

fn fresh_mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
