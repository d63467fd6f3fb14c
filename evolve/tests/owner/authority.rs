//! Nothing that sets policy, decides or forgets is done on an agent's word, or on nobody's.

use crate::desk::*;
use crate::keyboard::Keyboard;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// What only a person may do, on a desk with a landing, and with a candidate of this id that waits.
fn decisions(candidate: &str) -> [Vec<&str>; 6] {
    [
        vec!["review", "approve", candidate],
        vec!["review", "reject", candidate],
        vec!["review", "revert", "main"],
        vec!["review", "approve", candidate, "--leave-out", "src/words.txt"],
        vec!["undo"],
        vec!["evolve", "--goal", "x", "--proposer", "cmd:true", "--landing", "auto"],
    ]
}

/// A shell under the name of the agent's program.
fn scripted_agent(desk: &Desk) -> String {
    let path = desk.root().join("selfsmith-agent");
    let shell = fs::canonicalize("/bin/sh").unwrap();
    fs::copy(shell, &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// Run by an agent on a terminal of its own: the exit code of the judge, and what was said.
fn by_an_agent(desk: &Desk, agent: &str, arguments: &[&str]) -> (i32, String) {
    let mut words = vec![agent, "-c", r#""$@"; code=$?; exit $code"#, "agent", SELFSMITH];
    words.extend(arguments);
    Keyboard::start(&words, &desk.repo(), &desk.environment()).ends()
}

#[test]
fn a_person_at_a_terminal_may_approve_and_the_sign_is_recorded() {
    let desk = Desk::new("");
    let candidate = desk.proposed("echo four >> src/words.txt\n");
    let (code, said) = desk.keyboard(&["review", "approve", &candidate]).ends();
    assert_eq!(code, 0, "{said}");
    assert!(desk.read("src/words.txt").ends_with("four\n"));
    let operations = desk.selfsmith(&["ops", "--json"]);
    assert_eq!(text(last(&operations).get("authority").unwrap(), "by"), "terminal");
    let operations = String::from_utf8(desk.selfsmith(&["ops"]).stdout).unwrap();
    assert!(operations.contains("by a person at a terminal"), "{operations}");
}

#[test]
fn an_agent_with_a_terminal_of_its_own_can_do_none_of_it() {
    let desk = Desk::new("");
    let candidate = desk.proposed("echo four >> src/words.txt\n");
    let (agent, refs) = (scripted_agent(&desk), desk.git(&["for-each-ref"]));
    let walk = vec!["review", "walk", candidate.as_str()];
    let gc = vec!["gc", "--days", "0"];
    for arguments in decisions(&candidate).into_iter().chain([walk, gc]) {
        let (code, said) = by_an_agent(&desk, &agent, &arguments);
        assert_eq!(code, 1, "{arguments:?}: {said}");
        assert!(said.contains("for an agent") && said.contains("selfsmith-agent"), "{arguments:?}: {said}");
        assert!(said.contains("next: type the command yourself"), "{arguments:?}: {said}");
        assert_eq!(desk.git(&["for-each-ref"]), refs, "{arguments:?}");
    }
    // It looks like this for the same shell under its own name, so the name was what it was refused for.
    let (code, said) = by_an_agent(&desk, "/bin/sh", &["review", "approve", &candidate]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn an_agent_is_known_by_what_the_launcher_gave_it_and_by_what_the_owner_names() {
    let desk = Desk::new("agents: [my-robot]\n");
    let candidate = desk.proposed("echo four >> src/words.txt\n");
    let marked =
        ["/bin/sh", "-c", r#"SELFSMITH_GENERATION=dev sh -c '"$@"; exit $?' sh "$@""#, "sh", SELFSMITH, "undo"];
    let (code, said) = Keyboard::start(&marked, &desk.repo(), &desk.environment()).ends();
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("for an agent"), "{said}");
    let robot = desk.root().join("my-robot");
    fs::rename(scripted_agent(&desk), &robot).unwrap();
    let (code, said) = by_an_agent(&desk, &robot.display().to_string(), &["review", "approve", &candidate]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("my-robot"), "{said}");
}

#[test]
fn what_is_confined_by_an_ancestor_is_no_person() {
    let desk = Desk::new("");
    let candidate = desk.proposed("echo four >> src/words.txt\n");
    let words = ["setpriv", "--no-new-privs", SELFSMITH, "review", "approve", &candidate];
    let (code, said) = Keyboard::start(&words, &desk.repo(), &desk.environment()).ends();
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("behind a wall"), "{said}");
}

#[test]
fn without_a_terminal_only_the_owners_settings_are_enough_and_are_named() {
    let desk = Desk::new("");
    let candidate = desk.proposed("echo four >> src/words.txt\n");
    let refs = desk.git(&["for-each-ref"]);
    for arguments in decisions(&candidate) {
        let output = desk.selfsmith(&arguments);
        let said = told(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("no terminal of its own") && said.contains("landing: auto"), "{arguments:?}: {said}");
        assert!(said.contains(&desk.settings_file().display().to_string()), "{arguments:?}: {said}");
        assert_eq!(desk.git(&["for-each-ref"]), refs, "{arguments:?}");
    }
    desk.settings("landing: auto\n");
    let output = desk.selfsmith(&["review", "approve", &candidate]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let operation = last(&desk.selfsmith(&["ops", "--json"]));
    let authority = operation.get("authority").unwrap();
    assert_eq!(text(authority, "by"), "settings");
    assert_eq!(text(authority, "file"), desk.settings_file().display().to_string());
}

#[test]
fn a_landing_by_the_command_line_is_recorded_with_the_sign_that_was_seen() {
    let desk = Desk::new("");
    desk.write("../propose.sh", "echo four >> src/words.txt\n");
    let proposer = format!("cmd:sh {}", desk.root().join("propose.sh").display());
    let (code, said) =
        desk.keyboard(&["evolve", "--goal", "Say more", "--proposer", &proposer, "--landing", "auto"]).ends();
    assert_eq!(code, 0, "{said}");
    let operation = last(&desk.selfsmith(&["ops", "--json"]));
    assert_eq!(text(operation.get("authority").unwrap(), "by"), "terminal");
    assert_eq!(text(&operation, "kind"), "cycle");
    // Without the sign the same command lands nothing, and says so before it begins.
    let before = desk.rev("main");
    let output = desk.selfsmith(&["evolve", "--goal", "Say more", "--proposer", &proposer, "--landing", "auto"]);
    assert_eq!((output.status.code(), desk.rev("main")), (Some(1), before));
}
