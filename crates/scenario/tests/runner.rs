//! The runner against a real program, `sh`: what holds is said to hold, and each kind of difference is told.

use selfsmith_scenario::{Bless, Options, Outcome, Place, ScenarioError, run};
use std::fs;
use std::path::Path;

const HOLDS: &str = "fact: it greets\nargv: [-c, \"echo hi > new.txt; echo said; echo told >&2; exit 4\"]\nexit: 4\n\
                     stdout: { is: said }\nstderr: { has: [told], lacks: [secret], matches: [\"^told$\"] }\n";

fn case(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn outcome(folder: &Path, bless: Bless) -> Result<Outcome, ScenarioError> {
    let options =
        Options { place: Place::Here, bless, scratch: std::env::temp_dir(), parent: std::env::vars_os().collect() };
    run(Path::new("/bin/sh"), folder, &options)
}

fn faults(files: &[(&str, &str)]) -> String {
    let folder = case(files);
    outcome(folder.path(), Bless::No).expect("the case runs").faults.join("\n")
}

#[test]
fn a_case_that_holds_has_no_faults() {
    let given = [("case.yaml", HOLDS), ("before/a.txt", "a\n"), ("after/a.txt", "a\n"), ("after/new.txt", "hi\n")];
    assert_eq!(faults(&given), "");
}

#[test]
fn every_difference_is_told() {
    let no_after = faults(&[("case.yaml", HOLDS), ("before/a.txt", "a\n")]);
    assert!(no_after.contains("new.txt should not be there"), "{no_after}");
    let other_bytes = faults(&[("case.yaml", HOLDS), ("after/new.txt", "ho\n")]);
    assert!(other_bytes.contains("new.txt differs") && other_bytes.contains("-ho"), "{other_bytes}");
    let missing = faults(&[("case.yaml", HOLDS), ("after/new.txt", "hi\n"), ("after/b.txt", "b\n")]);
    assert!(missing.contains("b.txt is missing"), "{missing}");
    let streams =
        faults(&[("case.yaml", "fact: f\nargv: [-c, \"echo no; exit 1\"]\nstdout: { is: yes, has: [yes] }\n")]);
    assert!(streams.contains("exit 0 expected") && streams.contains("standard output differs"), "{streams}");
}

#[test]
fn a_model_that_is_not_asked_is_told() {
    let told = faults(&[("case.yaml", "fact: f\nargv: [-c, \"true\"]\n"), ("model.yaml", "- reply: { text: hi }\n")]);
    assert!(told.contains("asked 0 times, 1 turns are scripted"), "{told}");
}

#[test]
fn an_endless_program_ends_with_a_fault() {
    let told = faults(&[("case.yaml", "fact: f\nargv: [-c, \"while :; do :; done\"]\nwithin_s: 1\n")]);
    assert!(told.contains("TimedOut"), "{told}");
}

#[test]
fn an_unknown_key_is_an_error_with_file_and_place() {
    let folder = case(&[("case.yaml", "fact: f\nargv: []\nexti: 1\n")]);
    let error = outcome(folder.path(), Bless::No).expect_err("no case").to_string();
    assert!(error.contains("case.yaml") && error.contains("exti") && error.contains("line 3"), "{error}");
}

#[test]
fn blessing_makes_the_case_hold() {
    let folder = case(&[("case.yaml", HOLDS), ("before/a.txt", "a\n"), ("after/wrong.txt", "")]);
    outcome(folder.path(), Bless::Yes).expect("the case runs");
    assert_eq!(outcome(folder.path(), Bless::No).expect("the case runs").faults, Vec::<String>::new());
    assert!(!folder.path().join("after/wrong.txt").exists());
}
