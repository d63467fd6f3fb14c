//! What builds and tests a project, and which gates a change needs: from the base's rules and the paths that were touched.
//!
//! Pure. Promises that a path it cannot place gets every gate. Commands of the rules that are cargo's own are taken apart,
//! so that the judge can run their phases itself; others run as they are.

use crate::judgement::candidate::Touched;
use crate::judgement::gate::GateName;
use crate::rules::{CommandLine, Rules};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One step of building or testing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// `cargo build` or `cargo test`, with its arguments.
    Cargo(CargoWords),
    /// Anything else.
    Command(CommandLine),
}

/// Arguments of a cargo command, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CargoWords {
    /// Which packages and features, and the profile: holds for build, test and lint alike.
    pub selection: Vec<String>,
    /// Which targets (`--lib`, `--tests` …).
    pub targets: Vec<String>,
    /// What stands after `--`: for the test executables.
    pub trailing: Vec<String>,
    /// Seconds of wall time, where the rules say.
    pub seconds: Option<u64>,
}

/// How a project is built and tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Whether there is a Cargo.toml at the top.
    pub is_cargo: bool,
    /// Steps of the build gate.
    pub build: Vec<Step>,
    /// Steps of the tests gate.
    pub tests: Vec<Step>,
    /// Black-box commands.
    pub scenarios: Vec<CommandLine>,
    /// Commands of the schema gate.
    pub schema: Vec<CommandLine>,
    /// Folders of black-box cases, with the program they drive.
    pub cases: Vec<crate::rules::Cases>,
    /// Lints that the library may not have, whatever it says itself.
    pub forbid: Vec<String>,
    /// Whether tests need a repository.
    pub git: bool,
}

impl Plan {
    /// The plan of a base.
    pub fn of(rules: &Rules, is_cargo: bool) -> Self {
        let written = &rules.written;
        let steps = |lines: &Option<Vec<CommandLine>>, verb: Verb| match lines {
            Some(lines) => lines.iter().map(|line| step(line, verb)).collect(),
            None if is_cargo => vec![Step::Cargo(CargoWords::default())],
            None => Vec::new(),
        };
        Self {
            is_cargo,
            build: steps(&written.build, Verb::Build),
            tests: steps(&written.tests, Verb::Test),
            scenarios: written.scenarios.clone(),
            schema: written.schema.clone(),
            cases: written.cases.clone(),
            forbid: written.forbid.clone(),
            git: written.git,
        }
    }

    /// Packages, features and profile: as the tests have them, or else the build.
    pub fn selection(&self) -> &[String] {
        let cargo = self.tests.iter().chain(&self.build).find_map(|step| match step {
            Step::Cargo(words) => Some(words.selection.as_slice()),
            Step::Command(_) => None,
        });
        cargo.unwrap_or_default()
    }

    /// Whether anything drives the program from outside.
    pub fn has_scenarios(&self) -> bool {
        !self.scenarios.is_empty() || !self.cases.is_empty()
    }

    /// Gates that a change needs, cheapest first. `compiled` are the paths that the base's build reads, besides `.rs` files.
    pub fn gates(&self, touched: &[Touched], rules: &Rules, compiled: &BTreeSet<String>) -> Vec<GateName> {
        let mut gates = BTreeSet::new();
        for Touched { path, .. } in touched {
            gates.insert(GateName::Schema);
            if self.has_scenarios() {
                gates.extend([GateName::Build, GateName::Scenarios]);
            }
            if !self.schema.is_empty() {
                gates.insert(GateName::Build);
            }
            let is_source = path.ends_with(".rs") || compiled.contains(path);
            // Only of cargo it is known what a build reads: elsewhere a text may be what the tests are about.
            let is_prose = self.is_cargo && (path.ends_with(".md") || path.ends_with(".txt"));
            if rules.is_scenario(path) || is_prose && !is_source {
                continue;
            }
            gates.extend([GateName::Build, GateName::Tests]);
            if self.is_cargo && is_source {
                gates.extend([GateName::Format, GateName::Lint]);
            }
        }
        // The order of the words is the order of the gates.
        gates.into_iter().collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Build,
    Test,
}

/// Options with a value that select packages, features and profile.
const SELECTING_VALUE: [&str; 7] = ["-p", "--package", "--exclude", "-F", "--features", "--profile", "--target"];
/// Those without.
const SELECTING: [&str; 6] = ["--workspace", "--all", "--all-features", "--no-default-features", "-r", "--release"];
/// What the judge says itself.
const OURS: [&str; 6] = ["--locked", "--offline", "--frozen", "--no-run", "-q", "--quiet"];
/// Options with a value that choose targets.
const TARGET_VALUE: [&str; 4] = ["--bin", "--test", "--example", "--bench"];
/// Those without.
const TARGETS: [&str; 8] =
    ["--lib", "--bins", "--tests", "--examples", "--benches", "--all-targets", "--doc", "--no-fail-fast"];

fn step(line: &CommandLine, verb: Verb) -> Step {
    let words: Vec<&str> = line.command.iter().map(String::as_str).collect();
    let verbs: &[&str] = if verb == Verb::Build { &["build", "b"] } else { &["test", "t"] };
    match words.split_first() {
        Some((&"cargo", rest)) => match rest.split_first() {
            Some((said, arguments)) if verbs.contains(said) => match take_apart(arguments) {
                Some(mut words) => {
                    words.seconds = line.seconds;
                    Step::Cargo(words)
                }
                None => Step::Command(line.clone()),
            },
            _ => Step::Command(line.clone()),
        },
        _ => Step::Command(line.clone()),
    }
}

/// None where an argument is not known: then the command runs as it is.
fn take_apart(arguments: &[&str]) -> Option<CargoWords> {
    let mut words = CargoWords::default();
    let mut rest = arguments.iter();
    while let Some(&word) = rest.next() {
        let name = word.split('=').next().unwrap_or(word);
        if word == "--" {
            words.trailing.extend(rest.by_ref().map(|word| (*word).to_owned()));
        } else if OURS.contains(&word) {
        } else if SELECTING.contains(&word) || (name != word && SELECTING_VALUE.contains(&name)) {
            words.selection.push(word.to_owned());
        } else if SELECTING_VALUE.contains(&word) {
            words.selection.extend([word.to_owned(), (*rest.next()?).to_owned()]);
        } else if TARGETS.contains(&word) || (name != word && TARGET_VALUE.contains(&name)) {
            words.targets.push(word.to_owned());
        } else if TARGET_VALUE.contains(&word) {
            words.targets.extend([word.to_owned(), (*rest.next()?).to_owned()]);
        } else {
            return None;
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::judgement::candidate::{BlobId, Zone};

    fn rules(more: &str) -> Rules {
        Rules::parse(&format!("zones: [{{path: '**', zone: open}}]\n{more}")).unwrap()
    }

    fn touched(path: &str) -> Touched {
        let blob = Some(BlobId("0".repeat(40)));
        Touched { path: path.to_owned(), zone: Zone::Open, old: blob.clone(), new: blob, added: 1, removed: 1 }
    }

    #[test]
    fn cargos_own_commands_are_taken_apart() {
        let rules = rules(
            "tests: [{command: [cargo, test, --locked, -p, core, '--features=x', --lib, --, --skip, slow], seconds: 9}]",
        );
        let plan = Plan::of(&rules, true);
        let words = CargoWords {
            selection: vec!["-p".into(), "core".into(), "--features=x".into()],
            targets: vec!["--lib".into()],
            trailing: vec!["--skip".into(), "slow".into()],
            seconds: Some(9),
        };
        assert_eq!(plan.tests, [Step::Cargo(words)]);
        assert_eq!(plan.selection(), ["-p", "core", "--features=x"]);
        assert_eq!(plan.build, [Step::Cargo(CargoWords::default())]);
    }

    #[test]
    fn other_commands_run_as_they_are() {
        let rules = rules(
            "build: [{command: [make]}]\ntests: [{command: [cargo, nextest, run]}, {command: [cargo, test, filter]}]",
        );
        let plan = Plan::of(&rules, true);
        assert!(plan.build.iter().chain(&plan.tests).all(|step| matches!(step, Step::Command(_))));
    }

    #[test]
    fn gates_follow_from_what_was_touched() {
        let rules = rules("scenarios: [{command: [sh, run.sh]}]");
        let plan = Plan::of(&rules, true);
        let gates = |path| plan.gates(&[touched(path)], &rules, &BTreeSet::from(["prompts/a.md".to_owned()]));
        use GateName as G;
        let all = [G::Schema, G::Format, G::Lint, G::Build, G::Tests, G::Scenarios];
        assert_eq!(gates("src/lib.rs"), all);
        assert_eq!(gates("prompts/a.md"), all, "the build reads it");
        assert_eq!(gates("README.md"), [G::Schema, G::Build, G::Scenarios]);
        assert_eq!(gates("tests/scenarios/x/case.yaml"), [G::Schema, G::Build, G::Scenarios]);
        assert_eq!(gates("data.json"), [G::Schema, G::Build, G::Tests, G::Scenarios]);
        assert_eq!(plan.gates(&[], &rules, &BTreeSet::new()), []);
    }
}
