//! The REPL's commands at a real pseudo-terminal: plan mode, own commands, settings, sessions, going back, the first run.

use crate::support::{World, says};
use crate::terminal::Terminal;

const TERM: &str = "xterm-256color";
const SIZE: (u16, u16) = (80, 24);

fn started(world: &World, variables: &[(&str, &str)]) -> Terminal {
    let mut terminal = Terminal::with(world, TERM, SIZE, &["--channel", "text"], variables);
    terminal.fresh();
    terminal
}

#[test]
fn a_persons_own_command_runs_is_shown_and_is_told_to_the_model() {
    let world = World::new(vec![says("I see it.")]);
    let mut terminal = started(&world, &[]);
    terminal.press("!echo from-the-shell; touch made\r");
    terminal.sees_row("from-the-shell");
    terminal.idle();
    assert!(world.work().join("made").exists());
    terminal.press("what was it?\r");
    terminal.sees_row("I see it.");
    let told = world.prompts().remove(0);
    assert!(told.contains("$ echo from-the-shell; touch made\nfrom-the-shell\n"), "{told}");
    assert!(told.ends_with("what was it?"), "{told}");
    terminal.leave();
}

#[test]
fn ctrl_c_stops_a_persons_own_command() {
    let world = World::new(vec![]);
    let mut terminal = started(&world, &[]);
    terminal.press("!sleep 600\r");
    terminal.sees("… N s");
    terminal.press("\u{3}");
    terminal.sees("stopped");
    terminal.leave();
}

#[test]
fn in_plan_mode_nothing_is_changed_until_the_plan_is_agreed() {
    let world = World::new(vec![
        says("<create path=\"early.txt\">x</create>"),
        says("<done>1. Write late.txt.</done>"),
        says("2. Better: write late.txt with y."),
        says("<create path=\"late.txt\">y</create>"),
        says("<done>Carried out.</done>"),
    ]);
    let mut terminal = started(&world, &[]);
    terminal.press("\u{1b}[Z");
    terminal.sees("files are edited without a question");
    terminal.press("\u{1b}[Z");
    terminal.sees("plan mode");
    terminal.press("write a file\r");
    terminal.sees("carry out this plan?");
    terminal.press("with y please\r");
    terminal.sees("2. Better");
    terminal.shows("plan-question", "carry out this plan?");
    assert!(!world.work().join("early.txt").exists());
    terminal.press("edit\r");
    terminal.sees_row("Carried out.");
    assert_eq!(std::fs::read_to_string(world.work().join("late.txt")).expect("the file"), "y");
    terminal.leave();
}

#[test]
fn always_is_kept_as_a_rule_for_this_workspace_and_can_be_forgotten() {
    let run = || says("<bash>touch x</bash>");
    let world = World::new(vec![
        run(),
        says("<done>One.</done>"),
        run(),
        says("<done>Two.</done>"),
        run(),
        says("<done>Three.</done>"),
    ]);
    let mut terminal = started(&world, &[]);
    terminal.press("one\r");
    terminal.sees("always: bash touch x");
    terminal.press("always\r");
    terminal.sees_row("One.");
    terminal.leave();

    let mut terminal = started(&world, &[]);
    terminal.press("two\r");
    terminal.sees_row("Two.");
    terminal.press("/approval\r");
    terminal.sees("allowed once and for all: bash touch x");
    terminal.press("/approval forget bash touch x\r");
    terminal.sees("forgotten: bash touch x");
    terminal.press("three\r");
    terminal.sees("may bash run?");
    terminal.press("n\r");
    terminal.sees_row("Three.");
    terminal.leave();
}

#[test]
fn markdown_files_are_commands_with_arguments() {
    let world = World::new(vec![says("Reviewed.")]);
    let folder = world.work().join(".selfsmith/commands");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("review.md"), "---\ndescription: look at a folder\n---\nReview $1, nothing else.\n")
        .expect("a file");
    let mut terminal = Terminal::start(&world, TERM, SIZE, &["--channel", "text"]);
    terminal.sees("Do you trust them");
    terminal.press("trust\r");
    terminal.fresh();
    terminal.press("/revi");
    terminal.sees("› /review  look at a folder");
    terminal.press("\t src\r");
    terminal.sees_row("Reviewed.");
    assert_eq!(world.prompts(), ["Review src, nothing else."]);
    terminal.leave();
}

#[test]
fn an_edit_of_the_settings_holds_in_the_open_conversation_and_a_bad_one_changes_nothing() {
    let world = World::new(vec![says("One."), says("Two."), says("Three.")]).settings("model: { temperature: 0.5 }\n");
    let path = world.home().join(".config/selfsmith/config.yaml");
    let mut terminal = started(&world, &[]);
    terminal.press("one\r");
    terminal.sees_row("One.");
    std::fs::write(&path, "model: { temprature: 1 }\n").expect("a bad edit");
    terminal.press("two\r");
    terminal.sees("everything stays as it was");
    terminal.sees_row("Two.");
    assert!(world.last_request().contains("\"temperature\":0.5"), "{}", world.last_request());
    std::fs::write(&path, "model: { temperature: 0.25 }\n").expect("a good edit");
    terminal.press("three\r");
    terminal.sees("hold from here on: model.temperature");
    terminal.sees_row("Three.");
    assert!(world.last_request().contains("\"temperature\":0.25"), "{}", world.last_request());
    terminal.leave();
}

#[test]
fn a_long_prompt_is_written_in_the_editor() {
    let world = World::new(vec![says("Read.")]);
    let script = world.home().join("editor.sh");
    std::fs::write(&script, "#!/bin/sh\nprintf ' and more\\nsecond line\\n' >> \"$2\"\n").expect("a file");
    let editor = format!("sh {} --wait", script.display());
    let mut terminal = started(&world, &[("EDITOR", &editor)]);
    terminal.press("first");
    terminal.sees_row("> first");
    terminal.press("\u{7}");
    terminal.sees_row("  second line");
    terminal.press("\r");
    terminal.sees_row("Read.");
    assert_eq!(world.prompts(), ["first and more\nsecond line"]);
    terminal.leave();
}

#[test]
fn the_conversation_goes_back_to_before_an_earlier_prompt() {
    let world = World::new(vec![says("First answer."), says("Second answer."), says("Third answer.")]);
    let mut terminal = started(&world, &[]);
    terminal.press("one\r");
    terminal.sees_row("First answer.");
    terminal.idle();
    terminal.press("two\r");
    terminal.sees_row("Second answer.");
    terminal.idle();
    // Escape as terminals report it that tell it from the beginning of other keys.
    terminal.press("\u{1b}[27u\u{1b}[27u");
    terminal.shows("rewind", "back to before which prompt");
    terminal.press("\r");
    // One row was there already: what was sent.
    terminal.until("the earlier prompt to change", |screen| {
        !screen.contains("back to before which") && screen.lines().filter(|row| *row == "> two").count() == 2
    });
    terminal.press(" again\r");
    terminal.sees_row("Third answer.");
    assert_eq!(world.prompts(), ["one", "two again"]);
    terminal.leave();
}

#[test]
fn an_earlier_session_is_picked_and_goes_on() {
    let world = World::new(vec![says("Noted."), says("It was a plum.")]);
    let mut terminal = started(&world, &[]);
    terminal.press("remember the plum\r");
    terminal.sees_row("Noted.");
    terminal.leave();
    let mut terminal = started(&world, &[]);
    terminal.press("/resume\r");
    terminal.sees("remember the plum  (test-model)");
    terminal.press("plum\r");
    terminal.sees("back in a session of 1 prompts");
    terminal.press("what was it?\r");
    terminal.sees_row("It was a plum.");
    assert_eq!(world.prompts(), ["remember the plum", "what was it?"]);
    terminal.leave();
}

#[test]
fn settings_are_shown_with_their_origin_and_written_to_the_users_file() {
    let world = World::new(vec![]);
    let mut terminal = started(&world, &[]);
    terminal.press("/config cli.bell false\r");
    terminal.sees("cli.bell is written to");
    terminal.press("/config cli\r");
    terminal.sees("cli.bell: false");
    terminal.press("/config cli.bel true\r");
    terminal.sees("cli.bell");
    terminal.leave();
    let kept = std::fs::read_to_string(world.home().join(".config/selfsmith/config.yaml")).expect("the settings");
    assert_eq!(kept, "cli:\n  bell: false\n");
}

#[test]
fn the_first_run_asks_tries_and_writes_down_what_works() {
    let world = World::new(vec![says("ready"), says("Hello.")]);
    let empty = [("SELFSMITH_BASE_URL", ""), ("SELFSMITH_MODEL", ""), ("SELFSMITH_API_KEY", "")];
    let mut terminal = Terminal::with(&world, TERM, SIZE, &[], &empty);
    terminal.sees("where is the model?");
    terminal.press("generic");
    terminal.sees("› generic");
    terminal.press("\r");
    terminal.sees("base URL");
    terminal.press(&format!("{}\r", world.base_url()));
    terminal.sees("SELFSMITH_API_KEY");
    terminal.press("secret-of-mine-1");
    terminal.sees_row(&format!("> {}", "•".repeat(16)));
    terminal.press("\r");
    // The server lists one model; another name is an answer too.
    terminal.sees("which model?");
    terminal.press("my-model\r");
    terminal.sees("it answers");
    terminal.sees("/help");
    terminal.press("hello\r");
    terminal.sees_row("Hello.");
    assert!(!terminal.raw().contains("secret-of-mine-1"));
    terminal.leave();
    let folder = world.home().join(".config/selfsmith");
    let kept = std::fs::read_to_string(folder.join("config.yaml")).expect("the settings");
    // In the template's own lines, so that its head stays true.
    for line in ["model:", "  name: my-model", "  provider: generic", &format!("  base_url: {}", world.base_url())] {
        assert_eq!(kept.lines().filter(|own| *own == line).count(), 1, "{line} in\n{kept}");
    }
    assert!(!kept.lines().any(|line| line == "#model:"), "{kept}");
    assert_eq!(std::fs::read_to_string(folder.join("keys")).expect("the key"), "SELFSMITH_API_KEY=secret-of-mine-1\n");

    let mut terminal = Terminal::with(&world, TERM, SIZE, &[], &empty);
    terminal.sees("my-model");
    terminal.leave();
}

#[test]
fn a_first_run_that_does_not_work_says_why_and_writes_nothing() {
    let world = World::new(vec![]);
    let empty = [("SELFSMITH_BASE_URL", ""), ("SELFSMITH_MODEL", ""), ("SELFSMITH_API_KEY", "")];
    let mut terminal = Terminal::with(&world, TERM, SIZE, &[], &empty);
    terminal.sees("where is the model?");
    terminal.press("generic\r");
    terminal.sees("base URL");
    terminal.press("http://127.0.0.1:1/v1\r");
    terminal.sees("SELFSMITH_API_KEY");
    terminal.press("\r");
    terminal.sees("nothing answers at http://127.0.0.1:1/v1");
    terminal.press("\r");
    terminal.sees("name of the model");
    terminal.press("m\r");
    terminal.sees("it did not work");
    terminal.press("leave\r");
    assert_eq!(terminal.any_end(), 3);
    assert!(!world.home().join(".config/selfsmith/config.yaml").exists());
}

#[test]
fn a_dropped_picture_goes_to_the_model_as_a_picture() {
    let world = World::new(vec![says("A picture.")]);
    std::fs::write(world.work().join("shot.png"), b"\x89PNG\r\n\x1a\nrest").expect("a file");
    let mut terminal = started(&world, &[]);
    terminal.press("see ");
    terminal.paste(&world.work().join("shot.png").display().to_string());
    terminal.sees_row("> see [image shot.png]");
    terminal.press("\r");
    terminal.sees_row("A picture.");
    let sent = world.last_request();
    assert!(sent.contains("data:image/png;base64,iVBORw0KGgpyZXN0"), "{sent}");
    terminal.leave();
}

#[test]
fn how_hard_the_model_thinks_is_a_setting_and_a_command() {
    let world = World::new(vec![says("One."), says("Two.")]).settings("model: { effort: low }\n");
    let mut terminal = started(&world, &[]);
    terminal.press("one\r");
    terminal.sees_row("One.");
    assert!(world.last_request().contains("\"reasoning_effort\":\"low\""), "{}", world.last_request());
    terminal.idle();
    terminal.press("/effort high\r");
    terminal.sees("effort: high");
    terminal.press("two\r");
    terminal.sees_row("Two.");
    assert!(world.last_request().contains("\"reasoning_effort\":\"high\""), "{}", world.last_request());
    terminal.leave();
}

#[test]
fn a_folder_beside_the_workspace_is_open_to_tools_once_the_person_opened_it() {
    let world = World::new(vec![
        says("<create path=\"../beside/a.txt\">x</create>"),
        says("<done>It was refused.</done>"),
        says("<create path=\"../beside/a.txt\">x</create><bash>echo y > ../beside/b.txt</bash>"),
        says("<done>Written.</done>"),
    ]);
    let beside = world.work().with_file_name("beside");
    std::fs::create_dir(&beside).expect("a folder");
    let mut terminal = Terminal::start(&world, TERM, SIZE, &["--channel", "text", "--approval", "auto"]);
    terminal.fresh();
    terminal.press("write\r");
    terminal.sees_row("It was refused.");
    assert!(!beside.join("a.txt").exists());
    terminal.idle();
    terminal.press("/add-dir ../beside\r");
    terminal.sees("open from now on:");
    terminal.press("again\r");
    terminal.sees_row("Written.");
    assert_eq!(std::fs::read_to_string(beside.join("a.txt")).expect("the file"), "x");
    assert_eq!(std::fs::read_to_string(beside.join("b.txt")).expect("the file"), "y\n");
    terminal.leave();
}

#[test]
fn what_a_prompt_changed_by_tools_and_by_the_shell_is_taken_back() {
    let world = World::new(vec![
        says("<create path=\"new.txt\">x</create><bash>rm old.txt; echo changed > kept.txt</bash>"),
        says("<done>Changed.</done>"),
    ]);
    std::fs::write(world.work().join("old.txt"), "old\n").expect("a file");
    std::fs::write(world.work().join("kept.txt"), "as it was\n").expect("a file");
    let mut terminal = Terminal::start(&world, TERM, SIZE, &["--channel", "text", "--approval", "auto"]);
    terminal.fresh();
    terminal.press("go\r");
    terminal.sees_row("Changed.");
    terminal.idle();
    assert!(!world.work().join("old.txt").exists());
    terminal.press("/undo\r");
    terminal.sees("brought back  old.txt");
    terminal.idle();
    let read = |name: &str| std::fs::read_to_string(world.work().join(name)).ok();
    assert_eq!((read("old.txt").as_deref(), read("kept.txt").as_deref()), (Some("old\n"), Some("as it was\n")));
    assert_eq!(read("new.txt"), None);
    terminal.leave();
}

#[test]
fn a_rule_lets_nothing_dangerous_through() {
    let world = World::new(vec![
        says("<bash>git log</bash>"),
        says("<bash>git push --force</bash>"),
        says("<done>Asked.</done>"),
    ]);
    let mut terminal = started(&world, &[]);
    terminal.press("go\r");
    terminal.sees("always: bash git log *");
    terminal.press("n\r");
    let screen = terminal.sees("git push --force");
    assert!(!screen.contains("always: bash git push"), "{screen}");
    terminal.sees("may bash run?");
    terminal.press("n\r");
    terminal.sees_row("Asked.");
    terminal.leave();
}
