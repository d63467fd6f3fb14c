//! The REPL from outside: in a pipe, in a dumb terminal, and on a real pseudo-terminal.

use crate::support::{World, code, says, stderr};
use crate::terminal::Terminal;
use std::io::Write;
use std::process::{Output, Stdio};

fn piped(world: &World, input: &str) -> Output {
    let mut command = world.command(&["--channel", "text"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
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

const TERM: &str = "xterm-256color";
const SIZE: (u16, u16) = (80, 24);

#[test]
fn on_a_terminal_it_answers_in_markdown_and_leaves_on_ctrl_d() {
    let world = World::new(vec![says("# Title\n\nSome **bold** words.\n\n```rust\nfn a() {}\n```\n")]);
    let mut terminal = Terminal::start(&world, TERM, SIZE, &[]);
    terminal.fresh();
    terminal.press("hello\r");
    terminal.sees("turns 1");
    terminal.idle();
    terminal.shows("answer-in-markdown", "turns 1");
    terminal.leave();
}

#[test]
fn a_terminal_that_goes_away_ends_it_even_on_an_empty_prompt() {
    let world = World::new(vec![]);
    let mut terminal = Terminal::start(&world, TERM, SIZE, &[]);
    terminal.sees_row(">");
    terminal.signal(ptyprocess::Signal::SIGTERM);
    terminal.ends_with(130);
}

#[test]
fn a_typewriter_delay_prints_the_same_words() {
    let world = World::new(vec![says("Slow **words**.")]).settings("cli: { typewriter_delay: 0.01, theme: light }\n");
    let mut terminal = Terminal::start(&world, TERM, SIZE, &[]);
    terminal.fresh();
    terminal.press("hello\r");
    terminal.sees_row("Slow words.");
    terminal.sees("turns 1");
    terminal.leave();
}

#[test]
fn a_dumb_terminal_gets_plain_lines_and_is_still_asked() {
    let world = World::new(vec![says("**Plain** <bash>touch ran</bash>"), says("<done>Done so.</done>")]);
    let mut terminal = Terminal::start(&world, "dumb", SIZE, &["--channel", "text"]);
    terminal.sees("/help");
    terminal.press("go\r");
    terminal.sees("touch ran");
    terminal.sees("may bash run?");
    terminal.press("yes\r");
    terminal.sees("Done so.");
    assert!(!terminal.raw().contains('\u{1b}'), "{:?}", terminal.raw());
    assert!(world.work().join("ran").exists());
    terminal.press("\u{4}");
    terminal.ends_with(0);
}

#[test]
fn an_answer_of_exec_cannot_steer_a_terminal() {
    let world = World::new(vec![says("a\u{1b}[2J\u{1b}]0;title\u{7}b")]);
    let terminal = Terminal::start(&world, TERM, SIZE, &["exec", "x"]);
    terminal.sees("a␛[2J␛]0;title␇b");
    terminal.ends_with(0);
}

#[test]
fn a_command_cannot_hide_what_it_runs_from_whoever_is_asked() {
    let blanks = format!("<bash>echo a{}; touch hidden-1</bash>", " ".repeat(3000));
    let long = format!("<bash>: {}\ntouch hidden-2\n: {}\n: end</bash>", "x".repeat(9000), "y".repeat(9000));
    let world = World::new(vec![says(&blanks), says(&long), says("Stopped.")]);
    let mut terminal = Terminal::start(&world, TERM, SIZE, &["--channel", "text"]);
    terminal.fresh();
    terminal.press("go\r");
    terminal.sees("echo a␣×3000; touch hidden-1");
    terminal.sees("may bash run?");
    terminal.press("no\r");
    terminal.sees("only then can it be allowed");
    terminal.sees(": end");
    // A yes to what was not shown shows it.
    terminal.press("y\r");
    terminal.sees("page 1 of");
    terminal.press("q\r");
    terminal.sees("only then can it be allowed");
    terminal.press("no\r");
    terminal.sees("Stopped.");
    assert!(!world.work().join("hidden-1").exists() && !world.work().join("hidden-2").exists());
    terminal.leave();
}

#[test]
fn an_export_cannot_steer_a_terminal() {
    let world = World::new(vec![says("a\u{1b}]0;title\u{7}b")]);
    assert_eq!(code(&world.run(&["exec", "x"])), 0);
    let terminal = Terminal::start(&world, TERM, SIZE, &["export"]);
    terminal.sees("a␛]0;title␇b");
    terminal.ends_with(0);
    assert!(String::from_utf8_lossy(&world.run(&["export"]).stdout).contains("a\u{1b}]0;title\u{7}b"));
}

#[test]
fn the_question_of_a_commit_lists_its_files_and_guarded_ones_are_not_taken_along() {
    let world = World::new(vec![says("<commit>fix typo</commit>"), says("Stopped.")]);
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        world.fit(&mut git);
        git.args(arguments).output().expect("git runs")
    };
    assert!(git(&["init", "-q"]).status.success());
    for name in ["a.txt", ".env"] {
        std::fs::write(world.work().join(name), "x").expect("a file");
    }
    let mut terminal = Terminal::start(&world, TERM, SIZE, &["--channel", "text"]);
    terminal.fresh();
    terminal.press("commit it\r");
    let asked = terminal.sees("may commit run?");
    assert!(
        asked.contains("takes 2 files") && asked.contains("A a.txt") && asked.contains("A .env  ← guarded"),
        "{asked}"
    );
    terminal.press("y\r");
    terminal.sees("Stopped.");
    assert!(world.last_request().contains("nothing was committed"), "{}", world.last_request());
    assert!(String::from_utf8_lossy(&git(&["status", "--porcelain"]).stdout).contains("?? .env"));
    terminal.leave();
}
