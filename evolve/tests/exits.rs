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

#[test]
fn what_is_not_built_says_so_and_ends_with_14() {
    for command in ["rollback", "trust", "gc"] {
        let (code, said) = code(&[command]);
        assert_eq!(code, Some(14), "{command}");
        assert!(said.contains(command) && said.contains("not built yet"), "{said}");
    }
}
