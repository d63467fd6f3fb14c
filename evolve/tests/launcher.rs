//! From the judge's program to the agent, seen from outside: which program, with what arguments, variables and exit code.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A stand-in for the agent that tells what it was given.
fn agent(dir: &Path) -> PathBuf {
    let program = dir.join("agent");
    fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"args:$*\"\nenv\nexit 7\n").expect("file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("mode");
    program
}

fn selfsmith(dir: &Path, arguments: &[&str], vars: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfsmith"));
    command.args(arguments).current_dir(dir).env_clear().stdin(Stdio::null());
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", dir);
    command.envs(vars.iter().copied());
    command.output().expect("starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_is_not_the_judges_goes_to_the_agent_as_it_is() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let agent = agent(dir.path());
    let named = agent.to_str().expect("is text");
    for arguments in [&[][..], &["exec", "--json", "a b"], &["-m", "x"]] {
        let output = selfsmith(dir.path(), arguments, &[("SELFSMITH_AGENT", named)]);
        assert_eq!(output.status.code(), Some(7), "the agent's own exit code");
        let said = text(&output.stdout);
        assert!(said.starts_with(&format!("args:{}\n", arguments.join(" "))), "{said}");
        assert!(said.contains("SELFSMITH_GENERATION=named\n"), "{said}");
    }
}

#[test]
fn what_cargo_leaked_does_not_reach_the_agent_and_what_people_set_does() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let agent = agent(dir.path());
    let vars = [
        ("SELFSMITH_AGENT", agent.to_str().expect("is text")),
        ("CARGO_MANIFEST_DIR", "/x"),
        ("CARGO_TARGET_DIR", "/x"),
        ("RUSTFLAGS", "-Cx"),
        ("RUSTUP_TOOLCHAIN", "x"),
        ("CARGO_HOME", "/mine"),
        ("CARGO_NET_OFFLINE", "true"),
    ];
    let said = text(&selfsmith(dir.path(), &["exec"], &vars).stdout);
    for name in ["CARGO_MANIFEST_DIR", "CARGO_TARGET_DIR", "RUSTFLAGS", "RUSTUP_TOOLCHAIN"] {
        assert!(!said.contains(&format!("{name}=")), "{name} in {said}");
    }
    assert!(said.contains("CARGO_HOME=/mine") && said.contains("CARGO_NET_OFFLINE=true"), "{said}");
}

#[test]
fn a_named_agent_that_is_not_there_is_one_clear_error() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let output = selfsmith(dir.path(), &["exec"], &[("SELFSMITH_AGENT", "/no/such/agent")]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("/no/such/agent") && said.contains("next: "), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn an_installed_pair_works_together_without_a_checkout() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).expect("folder");
    fs::copy(env!("CARGO_BIN_EXE_selfsmith"), bin.join("selfsmith")).expect("copy");
    fs::rename(agent(dir.path()), bin.join("selfsmith-agent")).expect("move");
    let output =
        Command::new(bin.join("selfsmith")).arg("exec").env_clear().env("HOME", dir.path()).output().expect("starts");
    assert_eq!(output.status.code(), Some(7));
    assert!(text(&output.stdout).contains("SELFSMITH_GENERATION=installed\n"));
}
