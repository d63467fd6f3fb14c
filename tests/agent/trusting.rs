//! Trust at a real pseudo-terminal: the question of the first visit, and the command.

use crate::support::{World, code, says, stderr};
use crate::terminal::Terminal;

const TERM: &str = "xterm-256color";
const SIZE: (u16, u16) = (100, 30);

fn world(replies: usize) -> World {
    let world = World::new((0..replies).map(|n| says(&format!("Answer {n}."))).collect());
    write(&world, "AGENTS.md", "Speak like a pirate.\n");
    write(&world, ".selfsmith/commands/review.md", "Review it.\n");
    write(&world, ".selfsmith/config.yaml", "hooks: { after_tool: [{ command: 'true' }] }\n");
    world
}

fn write(world: &World, name: &str, text: &str) {
    let path = world.work().join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

fn visit(world: &World) -> Terminal {
    Terminal::start(world, TERM, SIZE, &["--channel", "text"])
}

#[test]
fn the_first_visit_asks_and_a_yes_makes_rules_of_the_notes_until_they_change() {
    let world = world(3);
    let mut terminal = visit(&world);
    let asked = terminal.sees("Do you trust them");
    assert!(asked.contains("AGENTS.md") && asked.contains("hooks.after_tool"), "{asked}");
    for content in ["Speak like a pirate.", "Review it.", r#"[{"command":"true"}]"#] {
        assert!(asked.contains(content), "{content} is not in {asked}");
    }
    terminal.press("trust\r");
    terminal.fresh();
    terminal.press("hello\r");
    terminal.sees("Answer 0.");
    let request = world.last_request();
    assert!(request.contains("Speak like a pirate.") && !request.contains("> Speak"), "{request}");
    // While it works, Ctrl-C stops the work instead of taking back what was typed.
    terminal.idle();
    terminal.press("/revi");
    terminal.sees("› /review");
    terminal.press("\u{3}");
    terminal.leave();
    write(&world, "AGENTS.md", "Speak like a robber.\n");
    // Why what was trusted counts no more is told where nobody is asked, and where somebody is.
    let output = world.run(&["exec", "--channel", "text", "x"]);
    assert!(stderr(&output).contains("AGENTS.md (it changed since you trusted it)"), "{}", stderr(&output));
    let mut terminal = visit(&world);
    let asked = terminal.sees("changed since you were asked");
    assert!(asked.contains("AGENTS.md (it changed since you trusted it)"), "{asked}");
    // What Enter takes at first is no.
    terminal.press("\r");
    terminal.fresh();
    terminal.press("hello again\r");
    terminal.sees("Answer 2.");
    assert!(world.last_request().contains("> Speak like a robber."), "{}", world.last_request());
    terminal.leave();
    // A no is remembered too.
    let mut terminal = visit(&world);
    terminal.fresh();
    terminal.leave();
}

#[test]
fn the_command_trusts_shows_lists_and_revokes() {
    let world = world(0);
    let said = |arguments: &[&str], wanted: &str| {
        let terminal = Terminal::start(&world, TERM, (200, 30), arguments);
        terminal.sees(wanted);
        terminal.ends_with(0);
    };
    said(&["trust", "list"], "no project was asked about yet");
    said(&["trust", "show"], "AGENTS.md  (new or changed)");
    said(&["trust", "show"], r#"hooks.after_tool = [{"command":"true"}]"#);
    said(&["trust"], "is trusted, with");
    said(&["trust", "list"], "$ROOT: trusted");
    said(&["trust", "revoke"], "not trusted any more");
    said(&["trust", "revoke"], "was not trusted");
}

#[test]
fn an_agent_cannot_trust_for_a_person() {
    let world = world(0).settings("tools: { bash: { sandbox: false } }\n");
    // A program of the agent's name above it stands for the agent.
    let fake = world.home().join("selfsmith-agent");
    std::fs::copy("/bin/bash", &fake).expect("a copy");
    let mut command = std::process::Command::new(&fake);
    command.args(["-c", "\"$0\" trust; exit $?", env!("CARGO_BIN_EXE_selfsmith-agent")]);
    world.fit(&mut command);
    let output = command.output().expect("it starts");
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("for an agent"), "{}", stderr(&output));
    assert!(!world.home().join(".local/state/selfsmith/trust").exists());
}
