//! The outside cases, each a named test: `cargo test --test cases`, or `… --test cases -- edit::` for one kind.
//!
//! The runner makes the world of a case (files, repositories, a chat endpoint on loopback), asks the built program
//! `selfsmith-agent case <kind>`, and looks at the world afterwards. What is known to fail stands in
//! `known_failures.txt`; a known failure that passes is a failure of the list.

mod endpoint;
mod judge;
mod kinds;
mod process;
mod program;
mod world;

use libtest_mimic::{Arguments, Failed, Trial};
use program::Program;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// One case, as the files spell it.
struct Case {
    id: String,
    kind: String,
    input: Value,
    expect: Value,
}

/// What became of one.
enum Outcome {
    Passed,
    /// The program answered wrongly; what is wrong, and what it answered.
    Failed(String),
    /// The program says that it cannot do it.
    Unsupported(String),
}

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let known = Arc::new(known_failures(&folder.join("known_failures.txt")));
    let cases = read_cases(&folder);
    let unknown: Vec<String> = known.keys().filter(|id| !cases.iter().any(|c| c.id == **id)).cloned().collect();
    let mut trials = vec![Trial::test("known_failures_name_cases_that_exist", move || {
        if unknown.is_empty() { Ok(()) } else { Err(Failed::from(format!("no such case: {}", unknown.join(", ")))) }
    })];
    for case in cases {
        let known = known.clone();
        let name = format!("{}::{}", case.kind, case.id);
        let needs_root = case.input.get("needs_root").is_some() && !nix::unistd::geteuid().is_root();
        trials.push(Trial::test(name, move || verdict(&case, &known)).with_ignored_flag(needs_root));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn verdict(case: &Case, known: &BTreeMap<String, String>) -> Result<(), Failed> {
    let (words, known) = (run(case), known.get(&case.id));
    match (words, known) {
        (Outcome::Passed, None) | (Outcome::Failed(_) | Outcome::Unsupported(_), Some(_)) => Ok(()),
        (Outcome::Passed, Some(_)) => {
            Err(Failed::from("it passes now: take it out of tests/cases/known_failures.txt".to_owned()))
        }
        (Outcome::Failed(why), None) => Err(Failed::from(why)),
        (Outcome::Unsupported(why), None) => Err(Failed::from(format!("unsupported: {why}"))),
    }
}

fn run(case: &Case) -> Outcome {
    let answer = kinds::run(case);
    match answer {
        Ok(faults) if faults.is_empty() => Outcome::Passed,
        Ok(faults) => Outcome::Failed(faults.join("\n")),
        Err(program::Fault::Unsupported(why)) => Outcome::Unsupported(why),
        Err(program::Fault::Broken(why)) => Outcome::Failed(why),
    }
}

fn read_cases(folder: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in kinds::KINDS {
        let path: PathBuf = folder.join(format!("{kind}.json"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("could not read {}: {e}", path.display()));
        let list: Vec<Value> =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("could not read {}: {e}", path.display()));
        cases.extend(list.into_iter().map(|case| Case {
            id: case["id"].as_str().expect("every case has an id").to_owned(),
            kind: (*kind).to_owned(),
            input: case["input"].clone(),
            expect: case["expect"].clone(),
        }));
    }
    cases
}

/// Id and reason, one a line; `#` starts a comment line.
fn known_failures(path: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("could not read {}: {e}", path.display()));
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (id, why) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            assert!(!why.trim().is_empty(), "{}: {id} has no reason", path.display());
            (id.to_owned(), why.trim().to_owned())
        })
        .collect()
}

/// The program under test.
fn ask(case: &Case, input: &Value) -> Result<judge::View, program::Fault> {
    Program::start(&case.kind, &[], program::Input::Pipe)?.ask(&case.id, input, judge::limit(&case.expect))
}
