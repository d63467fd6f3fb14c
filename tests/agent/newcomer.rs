//! What somebody stumbles over who is new to the REPL, one fact each.

use crate::support::{World, code, says, stderr};
use crate::terminal::Terminal;
use std::io::Write;
use std::process::Stdio;

const TERM: &str = "xterm-256color";
const SIZE: (u16, u16) = (120, 40);

/// What the REPL says to lines from a pipe.
fn piped(world: &World, arguments: &[&str], input: &str) -> String {
    let mut command = world.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_value_that_is_none_is_refused_with_those_that_are() {
    let world = World::new(vec![]).settings("cli:\n  bell: true\n");
    let lines = "/config cli.theme purple\n/config model.effort huge\n/config tools.approval yolo\n/config cli.bel false\n\
                 /config nothing\n/effort huge\n/approval yolo\n/undo --everything\n/approval\n";
    let text = piped(&world, &[], lines);
    for wanted in [
        "set `cli.theme` to `purple`: unknown variant `purple`, expected one of `auto`, `dark`, `light`, `none`",
        "set `model.effort` to `huge`: unknown variant `huge`, expected one of `minimal`, `low`, `medium`, `high`",
        "set `tools.approval` to `yolo`: unknown variant `yolo`, expected one of `ask`, `auto-edit`, `auto`, `read-only`",
        "nothing was written",
        "did you mean `cli.bell`?",
        "there is no setting nothing",
        "there is no effort huge; choose one of minimal, low, medium, high",
        "there is no approval mode yolo; choose one of ask, auto-edit, auto, read-only",
        "/undo takes --turn, --all, --redo or nothing, not --everything",
        "approval mode: ask",
    ] {
        assert!(text.contains(wanted), "{wanted:?} is missing in\n{text}");
    }
    let kept = std::fs::read_to_string(world.home().join(".config/selfsmith/config.yaml")).expect("the settings");
    assert_eq!(kept, "cli:\n  bell: true\n");
}

#[test]
fn a_written_setting_says_when_it_holds_and_who_wins_over_it() {
    let world = World::new(vec![says("Hi.")]);
    let lines = "/config model.effort low\n/config cli.theme dark\n/config model.name other\nhello\n";
    let text = piped(&world, &[], lines);
    assert!(
        text.contains("it holds from the next prompt on") && text.contains("it holds from the next start on"),
        "{text}"
    );
    assert!(text.contains("but the variable SELFSMITH_MODEL sets it too, and wins here"), "{text}");
    assert!(text.contains("edited settings hold from here on: model.effort"), "{text}");
    assert!(text.contains("edited settings hold from the next start on: cli.theme"), "{text}");
    assert!(world.last_request().contains("\"reasoning_effort\":\"low\""), "{}", world.last_request());
}

#[test]
fn undo_says_so_where_there_is_nothing_to_undo() {
    let text = piped(&World::new(vec![]), &[], "/undo\n/undo --all\n/undo --turn\n");
    assert_eq!(text.matches("there is nothing to undo in this folder").count(), 3, "{text}");
}

#[test]
fn the_last_lines_of_a_command_are_shown_and_all_of_them_by_a_key() {
    let world = World::new(vec![
        says("<bash>for n in 1 2 3 4 5 6 7 8; do echo line $n; done</bash>"),
        says("<bash>for n in $(seq 1 12); do echo fault $n >&2; done; exit 3</bash>"),
        says("<done>Both ran.</done>"),
    ]);
    let mut terminal = Terminal::start(&world, TERM, SIZE, &["--channel", "text", "--approval", "auto"]);
    terminal.fresh();
    terminal.press("go\r");
    terminal.sees_row("Both ran.");
    terminal.idle();
    let first = terminal.everything();
    let has = |text: &str, row: &str| text.lines().any(|line| line == row);
    assert!(has(&first, "  [3 lines before these; Ctrl-O shows all]") && has(&first, "  line 4"), "{first}");
    assert!(!has(&first, "  line 3") && has(&first, "  line 8"), "{first}");
    // Twelve lines and the one that says that they are of stderr.
    assert!(
        has(&first, "  fault 3") && !has(&first, "  fault 2") && has(&first, "  bash failed: [exit code 3]"),
        "{first}"
    );
    terminal.press("\u{f}");
    terminal.sees_row("  fault 1");
    // What was final stays: the whole comes below it.
    let second = terminal.everything();
    let kept: Vec<&str> = first.lines().take_while(|line| *line != ">").collect();
    assert!(second.starts_with(&kept.join("\n")), "{first}\n\n{second}");
    terminal.leave();
}

#[test]
fn a_session_that_goes_on_says_what_it_was_and_shows_its_last_exchange() {
    let world = World::new(vec![says("Noted."), says("<done>A **plum**.</done>")]);
    let exec =
        |arguments: &[&str]| assert_eq!(code(&world.run(&[&["exec", "--channel", "text"], arguments].concat())), 0);
    exec(&["remember the plum"]);
    exec(&["--continue", "what was it?"]);
    for arguments in [&["resume", "--channel", "text"][..], &["--continue", "--channel", "text"]] {
        let mut terminal = Terminal::start(&world, TERM, SIZE, arguments);
        terminal.sees("back in a session of 2 prompts, begun 20");
        terminal.sees("remember the plum");
        terminal.sees_row("> what was it?");
        terminal.sees_row("A plum.");
        terminal.leave();
    }
}

#[test]
fn sessions_are_listed_as_a_table_and_as_json_here_and_everywhere() {
    let world = World::new(vec![says("One."), says("Two.")]);
    let listed = |arguments: &[&str]| {
        let output = world.run(arguments);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output)
    };
    assert!(listed(&["sessions"]).contains("no earlier session in this folder"));
    world.run(&["exec", "the first thing"]);
    world.run(&["exec", "the second thing"]);
    let table = listed(&["sessions"]);
    let rows: Vec<&str> = table.lines().collect();
    assert!(
        rows.len() == 2 && rows[0].ends_with("the second thing") && rows[1].ends_with("the first thing"),
        "{table}"
    );
    let ids: Vec<String> =
        world.records().iter().rev().map(|path| path.file_stem().expect("a name").to_string_lossy().into()).collect();
    assert!(rows.iter().zip(&ids).all(|(row, id)| row.starts_with(id.as_str())), "{table}");
    let elsewhere = ["-C", "/", "sessions"];
    assert!(listed(&elsewhere).contains("no earlier session in this folder"));
    assert_eq!(listed(&[&elsewhere[..], &["--all"]].concat()), table);
    let json: serde_json::Value = serde_json::from_str(&listed(&["sessions", "--json"])).expect("JSON");
    assert_eq!((&json["version"], &json["sessions"][1]["prompt"]), (&1.into(), &"the first thing".into()));
    assert_eq!(json["sessions"][0]["id"], ids[0].as_str());
}

/// Nothing is set.
const EMPTY: [(&str, &str); 3] = [("SELFSMITH_BASE_URL", ""), ("SELFSMITH_MODEL", ""), ("SELFSMITH_API_KEY", "")];

#[test]
fn a_wrong_address_is_refused_where_it_is_typed_and_a_pasted_key_is_never_seen() {
    let world = World::new(vec![says("ready")]);
    let mut terminal = Terminal::with(&world, TERM, SIZE, &["setup"], &EMPTY);
    terminal.sees("where is the model?");
    terminal.press("generic\r");
    terminal.sees("base URL");
    let bare = world.base_url().trim_start_matches("http://").to_owned();
    terminal.press(&format!("{bare}\r"));
    terminal.sees("is no base URL: it does not begin with https:// or http://");
    // What was typed stays, with what it lacks.
    terminal.sees_row(&format!("> http://{bare}"));
    terminal.press("\r");
    terminal.sees("SELFSMITH_API_KEY");
    terminal.paste("secret-of-mine-1\n");
    terminal.sees_row(&format!("> {}", "•".repeat(16)));
    terminal.press("\r");
    terminal.sees("which model?");
    terminal.press("\r");
    terminal.sees("it answers");
    terminal.ends_with(0);
    assert!(!terminal.raw().contains("secret-of-mine-1"));
    let kept = std::fs::read_to_string(world.home().join(".config/selfsmith/config.yaml")).expect("the settings");
    assert!(kept.contains(&format!("  base_url: http://{bare}\n")), "{kept}");
}

#[test]
fn a_local_server_is_asked_about_its_host_and_port_and_its_models_are_offered() {
    let world = World::new(vec![says("ready"), says("Hello.")]);
    let mut terminal = Terminal::with(&world, TERM, SIZE, &[], &EMPTY);
    terminal.sees("where is the model?");
    terminal.press("ollama\r");
    terminal.sees("where does ollama listen?");
    terminal.sees_row("> http://127.0.0.1:11434/v1");
    terminal.press(&format!("\u{15}{}\r", world.base_url()));
    terminal.sees("which model?");
    terminal.press("\r");
    terminal.sees("it answers");
    terminal.sees("/help");
    terminal.press("hello\r");
    terminal.sees_row("Hello.");
    terminal.leave();
}

#[test]
fn an_address_where_nobody_answers_is_asked_again_and_answers_stay_to_be_mended() {
    let world = World::new(vec![says("ready")]);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
    let closed = format!("http://{closed}/v1");
    let mut terminal = Terminal::with(&world, TERM, SIZE, &["setup"], &EMPTY);
    terminal.sees("where is the model?");
    terminal.press("generic\r");
    terminal.sees("base URL");
    terminal.press(&format!("{closed}\r"));
    terminal.sees("SELFSMITH_API_KEY");
    terminal.press("\r");
    terminal.sees(&format!("nothing answers at {closed}"));
    terminal.sees_row(&format!("> {closed}"));
    terminal.press("\r");
    terminal.sees("name of the model");
    terminal.press("mine\r");
    terminal.sees("it did not work. What now?");
    terminal.press("\r");
    terminal.sees("where is the model?");
    terminal.press("\r");
    terminal.sees_row(&format!("> {closed}"));
    terminal.press(&format!("\u{15}{}\r", world.base_url()));
    terminal.sees("SELFSMITH_API_KEY");
    terminal.press("\r");
    terminal.sees("which model?");
    terminal.press("\r");
    terminal.sees("it answers");
    terminal.ends_with(0);
}

#[test]
fn without_a_model_exec_and_doctor_say_what_asks_for_it() {
    let world = World::new(vec![]);
    let empty = |arguments: &[&str]| world.command(arguments).envs(EMPTY).output().expect("it starts");
    let output = empty(&["exec", "hello"]);
    assert_eq!(code(&output), 3);
    assert!(stderr(&output).contains("selfsmith-agent setup"), "{}", stderr(&output));
    let output = empty(&["doctor"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("selfsmith-agent setup"), "{output:?}");
    let output = empty(&["setup"]);
    assert!(code(&output) == 2 && stderr(&output).contains("needs a terminal"), "{}", stderr(&output));
}

#[test]
fn the_question_about_a_check_says_that_the_projects_own_code_would_run() {
    let world = World::new(vec![says("<create path=\"a.txt\">x</create>"), says("<done>Made.</done>")])
        .settings("checks: { command: 'true' }\n");
    let mut terminal = Terminal::start(&world, TERM, SIZE, &["--channel", "text", "--approval", "auto-edit"]);
    terminal.fresh();
    terminal.press("make it\r");
    let asked = terminal.sees("may bash run?");
    assert!(asked.contains("it runs this project's own code"), "{asked}");
    terminal.press("y\r");
    terminal.sees("holds after the edits");
    terminal.leave();
}

#[test]
fn a_session_that_goes_on_begins_as_recorded_until_a_reload() {
    let world = World::new(vec![says("One."), says("Two."), says("Three.")]);
    world.run(&["exec", "--channel", "text", "first"]);
    std::fs::write(world.work().join("AGENTS.md"), "Speak like a pirate.\n").expect("a file");
    let text = piped(&world, &["--continue", "--channel", "text"], "second\n");
    assert!(text.contains("Two.") && !world.last_request().contains("pirate"), "{text}");
    let text = piped(&world, &["--continue", "--channel", "text"], "/reload\nthird\n");
    assert!(text.contains("Three.") && world.last_request().contains("> Speak like a pirate."), "{text}");
}

#[test]
fn a_bare_exit_leaves_and_a_list_among_the_settings_has_one_line() {
    let world = World::new(vec![]).settings("cli:\n  bell: false\n");
    let text = piped(&world, &[], "/config model.images\n/config cli.bell\nexit\nnever read\n");
    assert!(text.contains("model.images: [\"gpt-4o*\",") && text.contains("\"gemma-3*\"]\n"), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("cli.bell: false  # ") && line.ends_with("config.yaml")),
        "{text}"
    );
    assert_eq!(world.prompts(), Vec::<String>::new());
}

#[test]
fn a_reload_takes_the_projects_notes_as_they_are_now() {
    let world = World::new(vec![says("One."), says("Two.")]);
    let lines = "first\n!echo 'Speak like a pirate.' > AGENTS.md\n/reload\nsecond\n";
    let text = piped(&world, &["--channel", "text"], lines);
    assert!(text.contains("AGENTS.md (you were not asked about it yet)"), "{text}");
    assert!(text.contains("Two.") && world.last_request().contains("> Speak like a pirate."), "{text}");
}
