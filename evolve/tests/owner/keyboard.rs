//! A pseudo-terminal with somebody at its keyboard. What runs on it has it as its own terminal, and has nobody of those who
//! run the tests among its ancestors. Every wait is for words, and has a bound.

use nix::pty::openpty;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long anything may take to show up.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Keyboard {
    keys: File,
    printed: Arc<(Mutex<Printed>, Condvar)>,
    /// What was looked at already.
    seen: usize,
}

#[derive(Default)]
struct Printed {
    text: String,
    closed: bool,
}

impl Keyboard {
    /// Run these words on it.
    pub fn start(words: &[&str], folder: &Path, environment: &[(&str, OsString)]) -> Self {
        let pair = openpty(None, None).unwrap();
        let keys = File::from(pair.master);
        let end = || Stdio::from(pair.slave.try_clone().unwrap());
        // The program's parent ends at once, so that it is nobody's child; its exit code is written behind its words.
        let status = Command::new("setsid")
            .args(["--fork", "--ctty", "sh", "-c", r#""$@"; echo "exit=$?""#, "sh"])
            .args(words)
            .current_dir(folder)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .status();
        assert!(status.unwrap().success());
        drop(pair.slave);
        let printed = Arc::new((Mutex::new(Printed::default()), Condvar::new()));
        let (mut output, shown) = (keys.try_clone().unwrap(), printed.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 65536];
            loop {
                let read = output.read(&mut bytes).unwrap_or(0);
                let mut printed = shown.0.lock().unwrap();
                printed.text.push_str(&String::from_utf8_lossy(bytes.get(..read).unwrap_or_default()));
                printed.closed = read == 0;
                shown.1.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        Self { keys, printed, seen: 0 }
    }

    /// Type.
    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Wait until this is printed, behind what was waited for before. Gives what was printed until then.
    pub fn sees(&mut self, text: &str) -> String {
        let begun = Instant::now();
        let mut printed = self.printed.0.lock().unwrap();
        loop {
            let rest = printed.text.get(self.seen..).unwrap_or_default();
            if let Some(at) = rest.find(text) {
                let until = rest.get(..at + text.len()).unwrap_or_default().to_owned();
                self.seen += until.len();
                return until;
            }
            assert!(!printed.closed && begun.elapsed() < PATIENCE, "{text:?} never came: {}", printed.text);
            printed = self.printed.1.wait_timeout(printed, Duration::from_secs(1)).unwrap().0;
        }
    }

    /// Wait for its end: the exit code, and all that was printed.
    pub fn ends(mut self) -> (i32, String) {
        self.sees("exit=");
        let code = self.sees("\n");
        let printed = self.printed.0.lock().unwrap();
        (code.trim().parse().unwrap(), printed.text.replace('\r', ""))
    }
}
