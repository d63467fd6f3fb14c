//! A pseudo-terminal with a screen: what a person at a keyboard would see. Every wait is for a state of the screen and
//! has a bound.

use crate::scrollback::everything;
use crate::support::World;
use ptyprocess::PtyProcess;
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long anything may take to show up.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Rows that are kept after they scrolled away.
const SCROLLBACK: usize = 20_000;

/// What the program printed.
#[derive(Default)]
struct Printed {
    screen: Option<vt100::Parser>,
    /// Everything, escape codes included.
    raw: String,
}

/// A program on a pseudo-terminal.
pub struct Terminal {
    process: PtyProcess,
    keyboard: File,
    printed: Arc<(Mutex<Printed>, Condvar)>,
    root: String,
}

impl Terminal {
    /// The program with these arguments, on a screen of so many columns and rows.
    pub fn start(world: &World, term: &str, size: (u16, u16), arguments: &[&str]) -> Self {
        Self::with(world, term, size, arguments, &[])
    }

    /// The same with further variables.
    pub fn with(
        world: &World,
        term: &str,
        (columns, rows): (u16, u16),
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_selfsmith-agent"));
        command.args(arguments);
        world.fit(&mut command);
        // The pseudo-terminal becomes its standard streams. The screen of these tests cuts rows when it becomes
        // narrower, as xterm does.
        command.env("TERM", term).env("XTERM_VERSION", "test").stdin(Stdio::inherit());
        command.envs(variables.iter().copied());
        let mut process = PtyProcess::spawn(command).expect("a pseudo-terminal");
        process.set_window_size(columns, rows).expect("a size");
        let keyboard = process.get_raw_handle().expect("the terminal's other end");
        let printed = Printed { screen: Some(vt100::Parser::new(rows, columns, SCROLLBACK)), raw: String::new() };
        let printed = Arc::new((Mutex::new(printed), Condvar::new()));
        let (mut output, shown) = (keyboard.try_clone().expect("a handle"), printed.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 65536];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                let new = bytes.get(..n).unwrap_or_default();
                let mut printed = shown.0.lock().expect("no panic while held");
                printed.raw.push_str(&String::from_utf8_lossy(new));
                if let Some(screen) = &mut printed.screen {
                    screen.process(new);
                }
                shown.1.notify_all();
            }
        });
        let root = world.work().display().to_string();
        Self { process, keyboard, printed, root }
    }

    /// Type.
    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("it is alive");
    }

    /// Paste, as a terminal does that was asked to bracket pastes.
    pub fn paste(&mut self, text: &str) {
        self.press(&format!("\u{1b}[200~{text}\u{1b}[201~"));
    }

    /// Another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        if let Some(screen) = &mut self.lock().screen {
            screen.screen_mut().set_size(rows, columns);
        }
        self.process.set_window_size(columns, rows).expect("a size");
    }

    /// Wait until a text is on the screen; the whole screen then.
    pub fn sees(&self, text: &str) -> String {
        self.until(&format!("{text:?}"), |screen| screen.contains(text))
    }

    /// Wait until a text is on the screen no more.
    pub fn misses(&self, text: &str) -> String {
        self.until(&format!("anything but {text:?}"), |screen| !screen.contains(text))
    }

    /// Wait until a row of the screen is this text.
    pub fn sees_row(&self, row: &str) -> String {
        self.until(&format!("the row {row:?}"), |screen| screen.lines().any(|line| line == row))
    }

    /// Wait for a state of the screen.
    pub fn until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        let mut printed = self.lock();
        loop {
            let screen = self.contents(&printed);
            if holds(&screen) {
                return screen;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{what} never showed; the screen:\n{screen}");
            printed = self.printed.1.wait_timeout(printed, left).expect("no panic while held").0;
        }
    }

    /// Wait until the screen is the expected one, `tests/agent/screens/<name>.txt`; `SELFSMITH_BLESS=1` writes it when
    /// `sign` is to be seen.
    pub fn shows(&self, name: &str, sign: &str) {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/agent/screens/{name}.txt"));
        if std::env::var_os("SELFSMITH_BLESS").is_some() {
            let screen = self.sees(sign);
            std::fs::write(path, format!("{screen}\n")).expect("the expected screen can be written");
            return;
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        self.until(&format!("the screen {name}:\n{expected}"), |screen| screen == expected.trim_end());
    }

    /// An empty screen but for the prompt, so that no expected screen holds the name of a folder.
    pub fn fresh(&mut self) {
        self.sees("/help");
        self.press("\u{c}");
        // A row below the prompt tells of the mode.
        self.until("an empty screen", |screen| screen.lines().next() == Some(">") && screen.lines().count() <= 2);
    }

    /// Everything that was printed as final lines and everything on the screen.
    pub fn everything(&self) -> String {
        let mut printed = self.lock();
        let Some(parser) = printed.screen.as_mut() else { return String::new() };
        everything(parser).join("\n")
    }

    /// Wait until the program wrote a text, escape codes included.
    pub fn writes(&self, text: &str) {
        let until = Instant::now() + PATIENCE;
        let mut printed = self.lock();
        while !printed.raw.contains(text) {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{text:?} was never written: {:?}", printed.raw);
            printed = self.printed.1.wait_timeout(printed, left).expect("no panic while held").0;
        }
    }

    /// All bytes so far, as text.
    pub fn raw(&self) -> String {
        self.lock().raw.clone()
    }

    /// Wait until the cursor stands in a column.
    pub fn cursor_at(&self, column: u16) {
        let until = Instant::now() + PATIENCE;
        let mut printed = self.lock();
        loop {
            let at = printed.screen.as_ref().map(|parser| parser.screen().cursor_position().1);
            if at == Some(column) {
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the cursor stands in column {at:?}, not {column}");
            printed = self.printed.1.wait_timeout(printed, left).expect("no panic while held").0;
        }
    }

    /// Send a signal.
    pub fn signal(&mut self, signal: ptyprocess::Signal) {
        self.process.kill(signal).expect("it is alive");
    }

    /// Wait until nothing is under way and nothing is typed.
    pub fn idle(&self) -> String {
        let idle = |screen: &str| screen.lines().any(|line| line == ">") && !screen.contains("… N s");
        self.until("an idle prompt", idle)
    }

    /// Ctrl-D on an empty prompt.
    pub fn leave(&mut self) {
        self.idle();
        self.press("\u{4}");
        self.ends_with(0);
    }

    /// Wait for the end, with this exit code.
    pub fn ends_with(&self, wanted: i32) {
        assert_eq!(self.any_end(), wanted, "{}", self.everything());
    }

    /// Wait for the end; the exit code.
    pub fn any_end(&self) -> i32 {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.process.status().expect("its state") {
                ptyprocess::WaitStatus::StillAlive => {}
                ptyprocess::WaitStatus::Exited(_, code) => return code,
                status => panic!("it ended by {status:?}"),
            }
            assert!(Instant::now() < until, "it never ended; the screen:\n{}", self.contents(&self.lock()));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn contents(&self, printed: &Printed) -> String {
        let text = printed.screen.as_ref().map(|parser| parser.screen().contents()).unwrap_or_default();
        let text = text.replace(&self.root, "$ROOT");
        // Times, and sizes of prompts, are nobody's business here.
        let pattern = |pattern: &str| regex::Regex::new(pattern).expect("a pattern");
        let text = pattern(r"… \d+ s").replace_all(&text, "… N s").into_owned();
        let text = pattern(r"tokens ~?[\d,]+ in, ~?[\d,]+ out").replace_all(&text, "tokens N in, N out").into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_owned()
    }

    fn lock(&self) -> MutexGuard<'_, Printed> {
        self.printed.0.lock().expect("no panic while held")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.process.kill(ptyprocess::Signal::SIGKILL);
    }
}
