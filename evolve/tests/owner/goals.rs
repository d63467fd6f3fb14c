//! Where goals come from besides the command line: a file, standard input, the agent's own failed sessions.

use crate::desk::*;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

#[test]
fn a_goal_is_read_from_a_file_and_from_standard_input() {
    let desk = Desk::new("landing: auto\n");
    desk.write("../goal.md", "Say it in capitals\n\nAll of it.\n");
    let proposer = ["--proposer", "cmd:sed -i s/two/TWO/ src/words.txt", "--json"];
    let output = desk.selfsmith(&[&["evolve", "--goal-file", "../goal.md"][..], &proposer].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(desk.git(&["show", "main:CHANGELOG.md"]).contains("- Say it in capitals\n"));
    let mut child = desk
        .command(&["evolve", "--goal-file", "-", "--proposer", "cmd:sed -i s/TWO/two/ src/words.txt"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"Say it in small letters").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(desk.git(&["show", "main:CHANGELOG.md"]).contains("- Say it in small letters\n"));
}

#[test]
fn failed_sessions_of_the_agent_become_goals_once_each() {
    let desk = Desk::new("landing: auto\n");
    let agent = desk.root().join("agent");
    let script = r#"#!/bin/sh
case "$1 $2" in
"sessions --json") echo '{"version": 1, "sessions": [{"id": "good"}, {"id": "bad"}]}' ;;
"export good") echo '{"version": 1, "entries": [{"entry": "ended", "ending": "done"}]}' ;;
"export bad") echo '{"version": 1, "entries": [{"entry": "ended", "ending": "looping"}]}' ;;
*) exit 2 ;;
esac
"#;
    fs::write(&agent, script).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let inbox = desk.root().join("goals");
    let run = |cycles: &str| {
        let proposer = "cmd:sh -c 'cat > src/goal.txt'";
        let dir = inbox.to_str().unwrap();
        let words = ["evolve", "--inbox", dir, "--failures", "--cycles", cycles, "--proposer", proposer, "--json"];
        desk.command(&words).env("SELFSMITH_AGENT", &agent).output().unwrap()
    };
    let output = run("1");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let goal = desk.git(&["show", "main:src/goal.txt"]);
    assert!(
        goal.starts_with("Make the agent do better where its session bad went wrong: it ended with `looping`"),
        "{goal}"
    );
    let kept = || fs::read_dir(inbox.join("done")).unwrap().count();
    assert_eq!(kept(), 1);
    assert_eq!((run("0").status.code(), kept()), (Some(0), 1));
    assert_eq!(fs::read_dir(&inbox).unwrap().count(), 1, "none is made twice");
    fs::write(&agent, "#!/bin/sh\necho broken >&2\nexit 1\n").unwrap();
    let output = run("0");
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("broken") && told(&output).contains("next: "), "{}", told(&output));
}

const KNOBS: &str = "knobs:\n  - { file: src/settings.yaml, key: limits.turns, min: 10, max: 30, step: 5 }\n";

fn desk_with_knobs() -> Desk {
    let desk = Desk::new("");
    desk.write("evolve/knobs.yaml", KNOBS);
    desk.write("src/settings.yaml", "# settings\nlimits:\n  turns: 20   # of each prompt\n");
    desk.write(".selfsmith/evolve.yaml", &desk.read(".selfsmith/evolve.yaml").replace("[txt,", "[txt, yaml,"));
    desk.commit("Knobs");
    desk
}

#[test]
fn a_knob_within_its_range_lands_by_itself_and_nothing_else_does() {
    let desk = desk_with_knobs();
    let evolve = |proposer: &str, more: &[&str]| {
        let words = ["evolve", "--goal", "Turn it", "--proposer", proposer, "--json"];
        last(&desk.selfsmith(&[&words, more].concat()))
    };
    let turned = evolve("tune", &[]);
    assert_eq!((text(&turned, "verdict"), text(&turned, "end")), ("accept", "landed"), "{turned}");
    let now = desk.read("src/settings.yaml");
    assert!(
        now == "# settings\nlimits:\n  turns: 25   # of each prompt\n"
            || now == "# settings\nlimits:\n  turns: 15   # of each prompt\n",
        "{now}"
    );
    let before = desk.rev("main");
    for (script, what) in [
        ("sed -i 's/turns: [0-9]*/turns: 31/' src/settings.yaml", "past the range"),
        ("sed -i 's/turns: [0-9]*/turns: 12/; s/each/every/' src/settings.yaml", "a comment as well"),
        ("sed -i 's/turns: [0-9]*/turns: 12/' src/settings.yaml; echo more >> src/words.txt", "another file as well"),
    ] {
        let line = evolve(&format!("cmd:sh -c \"{script}\""), &[]);
        assert_eq!((text(&line, "verdict"), text(&line, "end")), ("accept", "waiting"), "{what}: {line}");
    }
    let asked = evolve("tune", &["--landing", "review"]);
    assert_eq!((text(&asked, "end"), desk.rev("main")), ("waiting", before.clone()), "{asked}");
    // The ranges themselves are nobody's to turn.
    let line = evolve("cmd:sed -i 's/max: 30/max: 300/' evolve/knobs.yaml", &[]);
    assert_eq!((text(&line, "verdict"), text(&line, "gate"), desk.rev("main")), ("reject", "bounds", before), "{line}");
    assert_eq!(desk.selfsmith(&["review", "verify"]).status.code(), Some(0));
}
