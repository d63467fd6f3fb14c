//! The conversation that adds a command to the project itself, answered by hand from the request texts alone, still fits the
//! project: the real agent replays it on the files it touches. What the judge makes of it is shown by `own/run`, which takes
//! minutes of cargo and is run by hand.
//!
//! Once the project has a `/version` of its own, this conversation has nothing left to add: record another.

use std::fs;
use std::path::Path;
use std::process::Command;

const GOAL: &str =
    "Add a slash command /version to the REPL that says which agent and version this is. Give it a scenario.";

#[test]
fn the_recorded_improvement_still_fits_the_project() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = tempfile::tempdir().expect("temporary folder");
    let project = place.path().join("project");
    for part in ["src/terminal/repl", "src/texts", "tests/scenarios"] {
        copy(&here.join("..").join(part), &project.join(part));
    }
    let agent = Path::new(env!("CARGO_BIN_EXE_selfsmith")).with_file_name("selfsmith-agent");
    assert!(agent.is_file(), "{} is not built: run the tests of the whole workspace", agent.display());
    let output = Command::new(agent)
        .current_dir(&project)
        .env_clear()
        .env("PATH", "/usr/bin:/bin") // without cargo: the conversation also runs a check, whose answer is on the tape
        .env("HOME", place.path())
        .env("SELFSMITH_BASE_URL", "http://127.0.0.1:9/v1")
        .env("SELFSMITH_API_KEY", "none")
        .env("SELFSMITH_MODEL", "by-hand")
        .args(["exec", "--approval", "auto", "--channel", "text", "--cassette", "replay"])
        .arg(here.join("tests/own/version.jsonl"))
        .arg(GOAL)
        .output()
        .expect("starts");
    assert!(output.status.success(), "{}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    let read = |path: &str| fs::read_to_string(project.join(path)).expect("reads");
    assert!(read("src/terminal/repl/commands/version.rs").contains("CARGO_PKG_VERSION"));
    let table = read("src/terminal/repl/commands/mod.rs");
    assert!(table.contains("mod version;") && table.contains("    version::COMMAND,"), "{table}");
    let (words, table) = (read("src/texts/en.rs"), read("src/texts/about.rs"));
    assert!(
        words.contains("version: \"which agent and version this is\"") && table.contains("pub version: "),
        "{table}"
    );
    assert!(project.join("tests/scenarios/version-tells-which-agent-this-is/case.yaml").is_file());
    // The judge would turn it away for that, long before anything is compiled.
    let formatted = Command::new("rustfmt")
        .current_dir(&project)
        .args(["--check", "--edition", "2024", "--config-path"])
        .arg(here.join("../rustfmt.toml"))
        .args(["src/terminal/repl/commands/mod.rs", "src/texts/about.rs", "src/texts/en.rs"])
        .output()
        .expect("rustfmt is part of the toolchain");
    assert!(formatted.status.success(), "{}", String::from_utf8_lossy(&formatted.stdout));
}

/// Copy a folder and what is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, target).expect("a file is copied");
        }
    }
}
