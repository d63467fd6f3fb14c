//! The exit codes of the judge's commands that need no repository, seen from outside (docs/contract.md).

use std::path::Path;
use std::process::{Command, Output};

fn selfsmith(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_selfsmith"))
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home)
        .output()
        .expect("starts")
}

fn code(arguments: &[&str]) -> (Option<i32>, String) {
    let home = tempfile::tempdir().expect("temporary folder");
    let output = selfsmith(home.path(), arguments);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn help_and_version_end_with_0_on_stdout() {
    let home = tempfile::tempdir().expect("temporary folder");
    for (argument, word) in [("--help", "evolve"), ("--version", "judge"), ("help", "review")] {
        let output = selfsmith(home.path(), &[argument]);
        assert_eq!(output.status.code(), Some(0), "{argument}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(word), "{argument}");
    }
}

#[test]
fn a_wrong_command_line_ends_with_2() {
    for arguments in [&["evolve", "--nope"][..], &["review", "dance"], &["evolve", "--goal", "a", "--goal-file", "b"]] {
        assert_eq!(code(arguments).0, Some(2), "{arguments:?}");
    }
}

/// A repository with one commit of a file.
fn repository(dir: &Path) {
    let git = |arguments: &[&str]| {
        let done = Command::new("git").arg("-C").arg(dir).args(arguments).output().expect("git starts");
        assert!(done.status.success(), "git {arguments:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    std::fs::write(dir.join("a.txt"), "a\n").expect("file");
    git(&["add", "a.txt"]);
    git(&["-c", "user.name=A", "-c", "user.email=a@example.invalid", "commit", "-q", "-m", "One"]);
}

#[test]
fn an_empty_record_is_no_error() {
    let home = tempfile::tempdir().expect("temporary folder");
    repository(home.path());
    for command in ["review", "ops", "lineage"] {
        let output = selfsmith(home.path(), &[command]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{command}");
        let json = selfsmith(home.path(), &[command, "--json"]);
        assert!(json.stdout.is_empty() && json.stderr.is_empty(), "{command}: nothing is no line");
    }
    assert_eq!(selfsmith(home.path(), &["lineage", "--verify"]).status.code(), Some(0));
    assert_eq!(selfsmith(home.path(), &["review", "show", "x"]).status.code(), Some(2));
}

#[test]
fn wrong_settings_and_rules_end_with_3_and_name_the_line() {
    let home = tempfile::tempdir().expect("temporary folder");
    repository(home.path());
    let settings = home.path().join(".config/selfsmith/judge.yaml");
    std::fs::create_dir_all(settings.parent().expect("has one")).expect("folder");
    std::fs::write(&settings, "landing: review\nspeed: fast\n").expect("file");
    let output = selfsmith(home.path(), &["evolve", "--goal", "x"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("judge.yaml:2:") && said.contains("speed"), "{said}");
    std::fs::remove_file(&settings).expect("remove");

    std::fs::create_dir(home.path().join(".selfsmith")).expect("folder");
    std::fs::write(home.path().join(".selfsmith/evolve.yaml"), "zones: []\nbudgets: {}\n").expect("file");
    let commit = ["-c", "user.name=A", "-c", "user.email=a@example.invalid", "commit", "-q", "-m", "Rules"];
    for arguments in [&["add", ".selfsmith"][..], &commit] {
        Command::new("git").arg("-C").arg(home.path()).args(arguments).status().expect("git starts");
    }
    let output = selfsmith(home.path(), &["evolve", "--goal", "x", "--proposer", "cmd:true"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("evolve.yaml") && said.contains("budgets"), "{said}");
}

/// A repository with a manifest, and with these files more.
fn crate_of(home: &Path, more: &[(&str, &str)]) {
    repository(home);
    for (name, text) in [("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n")].iter().chain(more) {
        std::fs::write(home.join(name), text).expect("file");
    }
    let commit = ["-c", "user.name=A", "-c", "user.email=a@example.invalid", "commit", "-q", "-m", "Crate"];
    for arguments in [&["add", "."][..], &commit] {
        let done = Command::new("git").arg("-C").arg(home).args(arguments).status().expect("git starts");
        assert!(done.success());
    }
}

#[test]
fn what_is_missing_for_a_cycle_ends_with_3_and_leaves_no_record() {
    let lock = [("Cargo.lock", "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n")];
    for (files, proposer, word) in [
        (&[][..], "cmd:true", "Cargo.lock"),
        (&lock, "cmd:no-such-agent", "no-such-agent"),
        (&lock, "cmd:./x.sh", "x.sh"),
    ] {
        let home = tempfile::tempdir().expect("temporary folder");
        crate_of(home.path(), files);
        let output = selfsmith(home.path(), &["evolve", "--goal", "x", "--proposer", proposer]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(word), "{said}");
        assert!(selfsmith(home.path(), &["lineage", "--json"]).stdout.is_empty(), "{proposer}");
        assert!(selfsmith(home.path(), &["review", "list", "--all", "--json"]).stdout.is_empty(), "{proposer}");
    }
}

#[test]
fn without_a_model_everything_that_is_missing_is_said_at_once() {
    let home = tempfile::tempdir().expect("temporary folder");
    crate_of(home.path(), &[("Cargo.lock", "version = 4\n")]);
    let file = home.path().join(".config/selfsmith/judge.yaml").display().to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_selfsmith"))
        .args(["evolve", "--goal", "x", "--proposer", "agent"])
        .current_dir(home.path())
        .env("HOME", home.path())
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env("SELFSMITH_BASE_URL", "http://127.0.0.1:1/v1")
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for word in
        [file.as_str(), "model.base_url and model.name", "\n  name: ", "SELFSMITH_BASE_URL", "The agent alone reads"]
    {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn without_a_person_the_key_and_the_file_are_named() {
    let home = tempfile::tempdir().expect("temporary folder");
    repository(home.path());
    // In a session of its own there is no terminal.
    let output = Command::new("setsid")
        .args(["--wait", env!("CARGO_BIN_EXE_selfsmith"), "undo"])
        .current_dir(home.path())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home.path())
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("landing: auto") && said.contains(".config/selfsmith/judge.yaml"), "{said}");
}

#[test]
fn a_word_that_resembles_a_command_is_answered_by_the_judge() {
    let (code, said) = code(&["revue"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("revue") && said.contains(" review`") && said.contains("--help`"), "{said}");
    // Not on the search path: what is to be typed is the whole path.
    assert!(said.contains(env!("CARGO_BIN_EXE_selfsmith")), "{said}");
}

#[test]
fn doctor_ends_with_1_where_the_agents_part_does_not_hold() {
    let home = tempfile::tempdir().expect("temporary folder");
    let agent = home.path().join("agent");
    for (code, expected) in [("0", "ok"), ("1", "BAD")] {
        std::fs::write(&agent, format!("#!/bin/sh\necho '  {expected}   key'\nexit {code}\n")).expect("file");
        std::fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
        let output = Command::new(env!("CARGO_BIN_EXE_selfsmith"))
            .arg("doctor")
            .current_dir(home.path())
            .env("HOME", home.path())
            .env("SELFSMITH_AGENT", &agent)
            .output()
            .expect("starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(&format!("{expected}   key")) && said.contains("model: "), "{said}");
        let bad = said.lines().filter(|line| line.contains("BAD")).count();
        assert_eq!(output.status.code(), Some(i32::from(bad > 0)), "{said}");
    }
}

#[test]
fn what_cannot_be_begun_ends_with_2() {
    let home = tempfile::tempdir().expect("temporary folder");
    for (arguments, word) in
        [(&["evolve", "--goal", "x"][..], "no git repository"), (&["review", "--repo", "/nowhere"], "/nowhere")]
    {
        let output = selfsmith(home.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(word), "{said}");
    }
    repository(home.path());
    for (arguments, word) in [
        (&["evolve"][..], "--goal"),
        (&["evolve", "--goal", "  "], "empty"),
        (&["evolve", "--goal", "x", "--proposer", "who"], "replay:FILE"),
        (&["evolve", "--goal-file", "none.md"], "none.md"),
        (&["evolve", "--goal", "x", "--proposer", "cmd:true"], "Cargo.toml"),
        (&["evolve", "--goal", "x", "--branch", "none", "--proposer", "cmd:true"], "none"),
    ] {
        let output = selfsmith(home.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}
