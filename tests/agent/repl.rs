//! The REPL from outside: in a pipe, in a dumb terminal, and on a real pseudo-terminal.

use crate::support::{World, code, reply, says, stderr};
use ptyprocess::PtyProcess;
use selfsmith_cassette::Reply;
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Output, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long anything may take to show up.
const PATIENCE: Duration = Duration::from_secs(20);

fn piped(world: &World, input: &str) -> Output {
    let mut command = world.command(&["--channel", "text"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

/// A program on a pseudo-terminal, with everything it printed.
struct Terminal {
    process: PtyProcess,
    keyboard: File,
    screen: Arc<(Mutex<String>, Condvar)>,
}

impl Terminal {
    fn start(world: &World, term: &str, arguments: &[&str]) -> Self {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_selfsmith-agent"));
        command.args(arguments);
        world.fit(&mut command);
        // The pseudo-terminal becomes its standard streams.
        command.env("TERM", term).stdin(Stdio::inherit());
        let mut process = PtyProcess::spawn(command).expect("a pseudo-terminal");
        process.set_window_size(100, 30).expect("a size");
        let keyboard = process.get_raw_handle().expect("the terminal's other end");
        let screen = Arc::new((Mutex::new(String::new()), Condvar::new()));
        let (mut output, mut answers, shown) =
            (keyboard.try_clone().expect("a handle"), keyboard.try_clone().expect("a handle"), screen.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                let text = String::from_utf8_lossy(bytes.get(..n).unwrap_or_default()).into_owned();
                // The line editor asks where the cursor is; a real terminal would answer.
                for _ in text.matches("\u{1b}[6n") {
                    let _ = answers.write_all(b"\x1b[1;1R");
                }
                shown.0.lock().expect("no panic while held").push_str(&text);
                shown.1.notify_all();
            }
        });
        Self { process, keyboard, screen }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("it is alive");
    }

    /// Wait until the screen showed a text, and forget what came before its end.
    fn expect(&self, text: &str) -> String {
        let until = Instant::now() + PATIENCE;
        let mut shown = self.screen.0.lock().expect("no panic while held");
        loop {
            let plain = console::strip_ansi_codes(&shown).into_owned();
            if let Some((before, after)) = plain.split_once(text) {
                let (before, after) = (before.to_owned(), after.to_owned());
                *shown = after;
                return before;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{text:?} never showed; there is:\n{plain}");
            shown = self.screen.1.wait_timeout(shown, left).expect("no panic while held").0;
        }
    }

    /// Ctrl-D on the next prompt.
    fn leave(&mut self) {
        self.expect("> ");
        self.press("\u{4}");
    }

    fn ends_with(&self, wanted: i32) {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.process.status().expect("its state") {
                ptyprocess::WaitStatus::StillAlive => {}
                status => break status,
            }
            assert!(Instant::now() < until, "it never ended; the screen:\n{}", self.screen.0.lock().expect("free"));
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status, ptyprocess::WaitStatus::Exited(self.process.pid(), wanted));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.process.kill(ptyprocess::Signal::SIGKILL);
    }
}

fn hanging() -> Reply {
    let begun =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I begin\\n\\n\"},\"finish_reason\":null}]}\n\n";
    reply(
        json!({ "status": 200, "headers": { "content-type": "text/event-stream" }, "chunks": [begun], "then": "stall" }),
    )
}

#[test]
fn in_a_pipe_it_answers_line_by_line_without_any_escape() {
    let world = World::new(vec![says("# One\n\nFirst *answer*."), says("Second.")]);
    let output = piped(&world, "one\n/tokens\n/nonsense\ntwo\n");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for wanted in ["# One\n\nFirst *answer*.", "tokens ", "no command /nonsense", "Second."] {
        assert!(text.contains(wanted), "{wanted:?} is missing in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn every_command_says_something_and_quit_leaves() {
    let world = World::new(vec![says("Hi.")]);
    let commands = "hi\n/help\n/tools\n/tokens\n/context\n/cost\n/model\n/clear\n/context\n/exit\nnever read\n";
    let output = piped(&world, commands);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told =
        ["/clear", "bash", "in, ", "system prompt", "no price", "model: test-model", "forgotten", "in 1 messages"];
    for wanted in told {
        assert!(text.contains(wanted), "{wanted:?} is missing in\n{text}");
    }
}

#[test]
fn a_key_is_not_repeated_by_the_lines_of_the_repl_itself() {
    let key = "sk-test-0123456789abcdef0123";
    let output = piped(&World::new(vec![]), &format!("/model {key}\n/{key}\n"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.contains(key) && text.contains("[redacted]"), "{text}");
}

#[test]
fn in_a_pipe_nobody_is_asked_and_nothing_runs() {
    let world = World::new(vec![says("<bash>touch ran</bash>"), says("<done>It was not allowed.</done>")]);
    let output = piped(&world, "do it\n");
    assert!(!world.work().join("ran").exists());
    assert!(String::from_utf8_lossy(&output.stdout).contains("It was not allowed."));
}

#[test]
fn on_a_terminal_it_answers_in_markdown_and_leaves_on_ctrl_d() {
    let world = World::new(vec![says("# Title\n\nSome **bold** words.\n\n```rust\nfn a() {}\n```\n")]);
    let mut terminal = Terminal::start(&world, "xterm-256color", &[]);
    terminal.expect("/help");
    terminal.press("hello\r");
    terminal.expect("Title");
    terminal.expect("Some bold words.");
    terminal.expect("fn a() {}");
    terminal.expect("turns 1");
    terminal.leave();
    terminal.ends_with(0);
}

#[test]
fn a_slash_opens_the_menu_which_filters_and_completes() {
    let world = World::new(vec![]);
    let mut terminal = Terminal::start(&world, "xterm-256color", &[]);
    terminal.expect("/help");
    terminal.press("/");
    terminal.expect("/clear");
    terminal.press("mo");
    terminal.expect("/model");
    terminal.press("\t\r");
    terminal.press("\r");
    terminal.expect("model: test-model");
    terminal.press("/quit\r\r");
    terminal.ends_with(0);
}

#[test]
fn a_command_runs_only_after_a_yes_and_a_no_reaches_the_model() {
    let world = World::new(vec![
        says("<bash>touch first</bash>"),
        says("<bash>touch second</bash>"),
        says("<done>One of two.</done>"),
    ]);
    let mut terminal = Terminal::start(&world, "xterm-256color", &["--channel", "text"]);
    terminal.expect("/help");
    terminal.press("go\r");
    terminal.expect("touch first");
    terminal.press("y\r");
    terminal.expect("touch second");
    terminal.press("rather not\r");
    terminal.expect("was not run");
    terminal.expect("One of two.");
    assert!(world.work().join("first").exists() && !world.work().join("second").exists());
    terminal.leave();
    terminal.ends_with(0);
}

#[test]
fn ctrl_c_stops_the_turn_and_the_session_goes_on() {
    let world = World::new(vec![hanging(), says("Still here.")]);
    let mut terminal = Terminal::start(&world, "xterm-256color", &[]);
    terminal.expect("/help");
    terminal.press("first\r");
    terminal.expect("I begin");
    terminal.expect("thinking… 1 s");
    terminal.press("\u{3}");
    terminal.expect("stopped");
    terminal.press("second\r");
    terminal.expect("Still here.");
    terminal.expect("> ");
    terminal.press("\u{3}");
    terminal.expect("again");
    terminal.press("\u{3}");
    terminal.ends_with(0);
}

#[test]
fn a_terminal_that_goes_away_ends_it_even_on_an_empty_prompt() {
    let world = World::new(vec![]);
    let mut terminal = Terminal::start(&world, "xterm-256color", &[]);
    terminal.expect("> ");
    terminal.process.kill(ptyprocess::Signal::SIGTERM).expect("it is alive");
    terminal.ends_with(130);
}

/// With a controlling terminal the kernel sends a signal when it goes away, without one nobody does.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_is_closed_ends_an_idle_prompt_at_once_and_keeps_what_was_typed() {
    for controlling in [&["--ctty"][..], &[]] {
        let world = World::new(vec![]);
        let nix::pty::OpenptyResult { master, slave } = nix::pty::openpty(None, None).expect("a pseudo-terminal");
        let end = || Stdio::from(slave.try_clone().expect("a handle"));
        let mut command = std::process::Command::new("setsid");
        command.args(controlling).arg(env!("CARGO_BIN_EXE_selfsmith-agent"));
        world.fit(&mut command);
        command.env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end());
        let mut child = command.spawn().expect("it starts");
        drop(command);
        drop(slave);
        let mut terminal = File::from(master);
        let mut shown = String::new();
        let mut until = |wanted: &str, keys: &[u8]| {
            let after = |shown: &str| {
                let plain = console::strip_ansi_codes(shown).into_owned();
                plain.split_once(wanted).map(|(_, after)| after.to_owned())
            };
            while after(&shown).is_none() {
                let mut bytes = [0; 4096];
                let n = terminal.read(&mut bytes).expect("it is alive");
                let text = String::from_utf8_lossy(bytes.get(..n).unwrap_or_default()).into_owned();
                for _ in text.matches("\u{1b}[6n") {
                    terminal.write_all(b"\x1b[1;1R").expect("it reads");
                }
                shown.push_str(&text);
            }
            shown = after(&shown).unwrap_or_default();
            terminal.write_all(keys).expect("it reads");
        };
        until("> ", b"/cost\r");
        until("no price", b"");
        until("> ", b"");
        let asked = Instant::now();
        drop(terminal);
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{controlling:?}");
        // What is under way would be given three seconds.
        assert!(asked.elapsed() < Duration::from_secs(2), "{controlling:?}: {:?}", asked.elapsed());
        let history = std::fs::read_to_string(world.home().join(".local/state/selfsmith/history")).expect("it is kept");
        assert!(history.contains("/cost"), "{history}");
    }
}

#[test]
fn a_typewriter_delay_prints_the_same_words() {
    let world = World::new(vec![says("Slow **words**.")]).settings("cli: { typewriter_delay: 0.01, theme: light }\n");
    let mut terminal = Terminal::start(&world, "xterm-256color", &[]);
    terminal.expect("/help");
    terminal.press("hello\r");
    terminal.expect("Slow words.");
    terminal.leave();
    terminal.ends_with(0);
}

#[test]
fn a_dumb_terminal_gets_plain_lines_and_is_still_asked() {
    let world = World::new(vec![says("**Plain** <bash>touch ran</bash>"), says("<done>Done so.</done>")]);
    let mut terminal = Terminal::start(&world, "dumb", &["--channel", "text"]);
    terminal.expect("/help");
    terminal.press("go\r");
    terminal.expect("touch ran");
    terminal.press("yes\r");
    let between = terminal.expect("Done so.");
    assert!(!between.contains('\u{1b}'), "{between:?}");
    assert!(world.work().join("ran").exists());
    terminal.press("\u{4}");
    terminal.ends_with(0);
}

#[test]
fn an_answer_of_exec_cannot_steer_a_terminal() {
    let world = World::new(vec![says("a\u{1b}[2J\u{1b}]0;title\u{7}b")]);
    let terminal = Terminal::start(&world, "xterm-256color", &["exec", "x"]);
    terminal.expect("a␛[2J␛]0;title␇b");
    terminal.ends_with(0);
}
