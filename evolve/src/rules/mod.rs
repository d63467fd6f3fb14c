//! The base's rules: `.selfsmith/evolve.yaml`, or what holds for a Cargo project without one.
//!
//! Promises: what no line names is sealed; where several lines name a path the strictest holds, so the order of lines
//! cannot open anything; unknown keys, bad globs and empty commands are errors with the line. Rules come from the base
//! commit only, never from a candidate.

pub mod knobs;
pub mod own;
pub mod plan;

use crate::judgement::candidate::Zone;
use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

/// Where the rules lie in the base.
pub const RULES_PATH: &str = ".selfsmith/evolve.yaml";
/// Where the judge's line goes where the rules say nothing.
const CHANGELOG: &str = "CHANGELOG.md";

/// Rules of one base commit, ready to ask.
#[derive(Debug, Clone)]
pub struct Rules {
    /// As written, or as the defaults would be written; what evidence keeps.
    pub written: Written,
    zones: Vec<(GlobMatcher, Zone)>,
    scenario_files: Vec<GlobMatcher>,
    ratchet: Vec<GlobMatcher>,
}

/// The file itself. Strict: people write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Parts of the tree and what may be done there.
    pub zones: Vec<ZoneLine>,
    /// Commands instead of Cargo's build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Vec<CommandLine>>,
    /// Commands instead of Cargo's tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Vec<CommandLine>>,
    /// Black-box checks; the text of the scripts they name comes from the base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<CommandLine>,
    /// What is too large to land without a person.
    #[serde(default)]
    pub budget: Budget,
    /// Endings that files in open zones may have.
    #[serde(default = "default_endings")]
    pub endings: Vec<String>,
    /// Files of scenarios: not counted in the budget; one that changes is a changed expectation, a person's question.
    #[serde(default = "default_scenario_files")]
    pub scenario_files: Vec<String>,
    /// Texts that may grow only slowly: what a model reads each time.
    #[serde(default)]
    pub ratchet: Ratchet,
    /// Where the judge adds its line, made where it is not there; `none` for nowhere. Without it: [`CHANGELOG`], where there
    /// is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changelog: Option<String>,
    /// The project's tests need a repository: the trial gets a fresh one with one commit.
    #[serde(default)]
    pub git: bool,
    /// Commands of the schema gate: settings and prompts load. A program of the project is found by its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schema: Vec<CommandLine>,
    /// Folders of black-box cases (`case.yaml`, `before/`, `after/` …) that the judge's own runner drives a program through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<Cases>,
    /// Lints that the library of the selected package may not have, whatever its sources expect or allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbid: Vec<String>,
}

/// One folder of black-box cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// Folder in the tree; each folder in it with a `case.yaml` is a case.
    pub folder: String,
    /// Name of the project's program.
    pub program: String,
}

/// One line of `zones`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneLine {
    /// A glob over whole paths; `*` stays within one folder, `**` does not.
    pub path: String,
    /// What may be done there.
    pub zone: Zone,
}

/// One command of the rules, run in the room only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandLine {
    /// Program and arguments; no shell.
    pub command: Vec<String>,
    /// Seconds of wall time, where the judge's own limit is not right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

/// What is too large to land without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Files that differ.
    pub files: u32,
    /// Lines added and removed together.
    pub lines: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { files: 5, lines: 200 }
    }
}

/// Texts that may grow only slowly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ratchet {
    /// Which files, by glob.
    pub paths: Vec<String>,
    /// Bytes by which all of them together may grow in one landing.
    pub grow: u64,
}

impl Default for Ratchet {
    fn default() -> Self {
        Self { paths: strings(&["prompts/**", "memory/**", "**/AGENTS.md"]), grow: 1024 }
    }
}

/// Why the rules cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("read the rules {file}{}: {what}", .line.map(|l| format!(", line {l}")).unwrap_or_default())]
pub struct RulesError {
    /// The file, as named in the base.
    pub file: String,
    /// Line, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl RulesError {
    /// What to do next.
    pub fn hint(&self) -> String {
        format!("correct {} and commit it: the judge reads its rules from the base commit only", self.file)
    }
}

impl Rules {
    /// Read the text of [`RULES_PATH`].
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let written: Written = serde_yaml::from_str(text).map_err(|e| RulesError {
            file: RULES_PATH.to_owned(),
            line: e.location().map(|l| l.line()),
            what: e.to_string(),
        })?;
        Self::compile(written).map_err(|(needle, what)| RulesError {
            file: RULES_PATH.to_owned(),
            line: line_of(text, &needle),
            what,
        })
    }

    /// What holds for a Cargo project without rules of its own: sources open, tests add-only, all else sealed.
    pub fn cargo_defaults() -> Self {
        let zone = |path: &str, zone| ZoneLine { path: path.to_owned(), zone };
        let mut zones = Vec::new();
        for at in ["", "*/", "*/*/"] {
            for sources in ["src", "examples", "benches"] {
                zones.push(zone(&format!("{at}{sources}/**"), Zone::Open));
            }
            zones.push(zone(&format!("{at}tests/**"), Zone::AddOnly));
        }
        for others in ["vendor/**", "third_party/**", "target/**"] {
            zones.push(zone(others, Zone::Sealed));
        }
        let written = Written {
            zones,
            build: None,
            tests: None,
            scenarios: Vec::new(),
            budget: Budget::default(),
            endings: default_endings(),
            scenario_files: default_scenario_files(),
            ratchet: Ratchet::default(),
            changelog: None,
            git: false,
            schema: Vec::new(),
            cases: Vec::new(),
            forbid: Vec::new(),
        };
        match Self::compile(written.clone()) {
            Ok(rules) => rules,
            // Cannot be reached, and a test says so; without globs everything is sealed.
            Err(_) => Self { written, zones: Vec::new(), scenario_files: Vec::new(), ratchet: Vec::new() },
        }
    }

    /// As YAML, for the evidence.
    pub fn to_yaml(&self) -> String {
        // Values of ours always can be written.
        serde_yaml::to_string(&self.written).unwrap_or_default()
    }

    /// The zone of a path. The strictest line that names it holds; what no line names is sealed.
    pub fn zone(&self, path: &str) -> Zone {
        let named = self.zones.iter().filter(|(glob, _)| glob.is_match(path)).map(|(_, zone)| *zone);
        named.max_by_key(|zone| strictness(*zone)).unwrap_or(Zone::Sealed)
    }

    /// Whether the path belongs to a scenario.
    pub fn is_scenario(&self, path: &str) -> bool {
        self.scenario_files.iter().any(|glob| glob.is_match(path))
    }

    /// Whether the path is a text that may grow only slowly.
    pub fn is_ratcheted(&self, path: &str) -> bool {
        self.ratchet.iter().any(|glob| glob.is_match(path))
    }

    /// Whether files in open zones may end like this path.
    pub fn ending_listed(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.rsplit_once('.').is_some_and(|(_, ending)| self.written.endings.iter().any(|e| e == ending))
    }

    /// Where the judge's line goes.
    pub fn changelog(&self) -> Option<&str> {
        Some(self.written.changelog.as_deref().unwrap_or(CHANGELOG)).filter(|path| *path != "none")
    }

    /// Whether it is made where it is not there.
    pub fn makes_changelog(&self) -> bool {
        self.written.changelog.is_some()
    }

    fn compile(written: Written) -> Result<Self, (String, String)> {
        let mut zones = Vec::with_capacity(written.zones.len());
        for line in &written.zones {
            if line.zone == Zone::Knob {
                return Err((line.path.clone(), format!("knobs are named in {}, and are no zone", knobs::KNOBS_PATH)));
            }
            zones.push((glob(&line.path)?, line.zone));
        }
        let commands = written
            .build
            .iter()
            .flatten()
            .chain(written.tests.iter().flatten())
            .chain(&written.scenarios)
            .chain(&written.schema);
        for line in commands {
            if line.command.first().is_none_or(String::is_empty) {
                return Err(("command".to_owned(), "a command names no program".to_owned()));
            }
        }
        let log = written.changelog.as_deref().unwrap_or(CHANGELOG);
        if log.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err((log.to_owned(), "changelog must be a path in the tree, or none".to_owned()));
        }
        let scenario_files = written.scenario_files.iter().map(|g| glob(g)).collect::<Result<_, _>>()?;
        let ratchet = written.ratchet.paths.iter().map(|g| glob(g)).collect::<Result<_, _>>()?;
        Ok(Self { written, zones, scenario_files, ratchet })
    }
}

const fn strictness(zone: Zone) -> u8 {
    match zone {
        Zone::Open => 0,
        Zone::Review => 1,
        Zone::AddOnly => 2,
        Zone::Sealed => 3,
        // No line of rules says so: `Rules::compile` refuses it.
        Zone::Knob => 4,
    }
}

fn glob(pattern: &str) -> Result<GlobMatcher, (String, String)> {
    let parts_ok = !pattern.is_empty() && !pattern.starts_with('/') && !pattern.split('/').any(|p| p == "..");
    if !parts_ok {
        return Err((pattern.to_owned(), format!("`{pattern}` is not a glob over paths in the tree")));
    }
    match GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(e) => Err((pattern.to_owned(), e.to_string())),
    }
}

/// Where in the text the offending value stands first.
fn line_of(text: &str, needle: &str) -> Option<usize> {
    text.lines().position(|line| line.contains(needle)).map(|at| at + 1)
}

fn default_endings() -> Vec<String> {
    strings(&["rs", "md", "txt", "json", "jsonl", "yaml", "yml", "csv", "html", "css", "svg", "sql"])
}

fn default_scenario_files() -> Vec<String> {
    strings(&["tests/scenarios/**", "scenarios/**"])
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const SAMPLE: &str = r#"
zones:                       # what no line names is sealed
  - { path: "src/**", zone: open }
  - { path: "src/keep/**", zone: sealed }
  - { path: "tests/**", zone: add-only }
  - { path: "docs/*.md", zone: review }
build:     [ { command: [cargo, build, --locked] } ]
scenarios: [ { command: [sh, checks/run.sh], seconds: 20 } ]
budget: { files: 3 }
"#;

    #[test]
    fn what_no_line_names_is_sealed() {
        let rules = Rules::parse(SAMPLE).unwrap();
        assert_eq!(rules.zone("src/lib.rs"), Zone::Open);
        assert_eq!(rules.zone("src/a/b.rs"), Zone::Open);
        assert_eq!(rules.zone("tests/a.rs"), Zone::AddOnly);
        assert_eq!(rules.zone("docs/a.md"), Zone::Review);
        for sealed in ["docs/a/b.md", "Cargo.toml", "srcx/lib.rs", "a/src/lib.rs", ".selfsmith/evolve.yaml", ""] {
            assert_eq!(rules.zone(sealed), Zone::Sealed, "{sealed}");
        }
    }

    #[test]
    fn the_strictest_line_holds_in_any_order() {
        let rules = Rules::parse(SAMPLE).unwrap();
        assert_eq!(rules.zone("src/keep/x.rs"), Zone::Sealed);
        let turned = "zones: [{path: 'src/keep/**', zone: sealed}, {path: 'src/**', zone: open}]";
        assert_eq!(Rules::parse(turned).unwrap().zone("src/keep/x.rs"), Zone::Sealed);
    }

    #[test]
    fn commands_and_budget_are_read() {
        let rules = Rules::parse(SAMPLE).unwrap();
        assert_eq!(rules.written.budget, Budget { files: 3, lines: 200 });
        assert_eq!(rules.written.build.as_ref().unwrap()[0].command, ["cargo", "build", "--locked"]);
        assert!(rules.written.tests.is_none());
        assert_eq!(rules.written.scenarios[0].seconds, Some(20));
    }

    #[test]
    fn mistakes_name_the_line() {
        let cases = [
            ("zones: []\nbudgets: {}\n", Some(2), "budgets"),
            ("zones:\n  - { path: 'src/**', zone: opne }\n", Some(2), "opne"),
            ("zones:\n  - { path: 'src/{a', zone: open }\n", Some(2), "src/{a"),
            ("zones:\n  - { path: '../x', zone: open }\n", Some(2), "../x"),
            ("zones: []\ntests: [ { command: [] } ]\n", Some(2), "no program"),
            ("zones: []\nchangelog: ../x\n", Some(2), "changelog"),
        ];
        for (text, line, word) in cases {
            let error = Rules::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.to_string().contains(word), "{text}: {error}");
            assert!(error.hint().contains(RULES_PATH));
        }
    }

    #[test]
    fn a_cargo_project_without_rules_has_open_sources_and_kept_tests() {
        let rules = Rules::cargo_defaults();
        assert_eq!(rules.zone("src/lib.rs"), Zone::Open);
        assert_eq!(rules.zone("crates/a/src/lib.rs"), Zone::Open);
        assert_eq!(rules.zone("tests/a.rs"), Zone::AddOnly);
        assert_eq!(rules.zone("vendor/src/lib.rs"), Zone::Sealed);
        assert_eq!(rules.zone("src/tests/a.rs"), Zone::AddOnly);
        for sealed in ["Cargo.toml", "Cargo.lock", "build.rs", ".github/workflows/ci.yml", "README.md"] {
            assert_eq!(rules.zone(sealed), Zone::Sealed, "{sealed}");
        }
    }

    #[test]
    fn defaults_can_be_written_and_read_back() {
        let text = serde_yaml::to_string(&Rules::cargo_defaults().written).unwrap();
        assert_eq!(Rules::parse(&text).unwrap().written, Rules::cargo_defaults().written);
    }
}
