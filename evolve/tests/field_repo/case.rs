//! `case.yaml` of a cycle folder, and what must come out.

use selfsmith::judgement::defence::Defence;
use selfsmith::judgement::gate::{GateName, GateOutcome};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// `case.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// One sentence.
    pub fact: String,
    /// Whether it is an honest change.
    #[serde(default)]
    pub kind: Kind,
    /// The bribe of the design's list that it stands for.
    #[serde(default)]
    pub noun: Option<String>,
    pub verdict: String,
    #[serde(default)]
    pub gate: Option<GateName>,
    #[serde(default)]
    pub lands: bool,
    /// What it is that makes it come out so: with this left out it does not. `always`: nothing that could be left out, such as
    /// the room's walls.
    #[serde(default)]
    pub defence: OneOrMore,
    /// Defences that are out in any case, to look at what stands behind them.
    #[serde(default)]
    pub without: Vec<String>,
    /// Which files it begins with: those of `base/`, or of `quick/`, which needs no cargo.
    #[serde(default)]
    pub base: Beginning,
    /// A program that must be installed: such folders are decided by `.ci/run`.
    #[serde(default)]
    pub needs: Option<String>,
    /// Files that the proposer removes.
    #[serde(default)]
    pub delete: Vec<String>,
    /// Symbolic links that it makes, with what they lead to.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// A script that it runs in its folder.
    #[serde(default)]
    pub script: Option<String>,
    /// What it says of its change.
    #[serde(default)]
    pub summary: Option<String>,
    /// A script that runs in the person's own checkout meanwhile.
    #[serde(default)]
    pub meanwhile: Option<String>,
    /// Whether the target is somewhere else afterwards although nothing landed.
    #[serde(default)]
    pub moved: bool,
    /// Judged twice; the second time counts.
    #[serde(default)]
    pub twice: bool,
    /// The base's target folder is afterwards what it was.
    #[serde(default)]
    pub keeps_base_target: bool,
    /// Gates that must have passed.
    #[serde(default)]
    pub passed: Vec<GateName>,
    /// Figures that reports must hold: `gate.figure`.
    #[serde(default)]
    pub counts: BTreeMap<String, u64>,
    /// Words of the verdict's sentence.
    #[serde(default)]
    pub said: Option<String>,
    /// Words that the landed commit's message must not hold.
    #[serde(default)]
    pub message_lacks: Vec<String>,
    /// A command line that no process of the machine may have afterwards.
    #[serde(default)]
    pub gone: Option<String>,
}

/// A bribe, or an honest change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    #[default]
    Cheat,
    Honest,
}

/// Which files a folder begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beginning {
    /// A small crate.
    #[default]
    Base,
    /// Scripts.
    Quick,
}

impl Beginning {
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Quick => "quick",
        }
    }
}

/// One word or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Default for OneOrMore {
    fn default() -> Self {
        Self::One("always".to_owned())
    }
}

impl Case {
    /// Read the one of a folder.
    pub fn of(folder: &str) -> Self {
        let text = fs::read_to_string(root().join(folder).join("case.yaml")).expect("a case.yaml");
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{folder}/case.yaml: {error}"))
    }

    /// Words of what makes it come out so.
    pub fn defence_words(&self) -> Vec<&str> {
        match &self.defence {
            OneOrMore::One(word) => vec![word.as_str()],
            OneOrMore::More(words) => words.iter().map(String::as_str).collect(),
        }
    }

    /// The defences that can be left out.
    pub fn defences(&self) -> Vec<Defence> {
        let words = self.defence_words();
        words.into_iter().filter(|word| *word != "always").map(defence).collect()
    }
}

/// A defence by its word.
pub fn defence(word: &str) -> Defence {
    let found = Defence::ALL.into_iter().find(|defence| defence.word() == word);
    found.unwrap_or_else(|| panic!("no defence is called {word}"))
}

/// Names of the folders.
pub fn folders() -> BTreeSet<String> {
    let entries = fs::read_dir(root()).expect("the folder of folders");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    names.filter(|name| root().join(name).join("case.yaml").is_file()).collect()
}

/// Where the folders lie.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cycles")
}

/// What differs from the expectation.
pub fn faults(case: &Case, seen: &super::Outcome) -> Vec<String> {
    let mut faults = seen.faults.clone();
    let mut differs = |what: &str, expected: String, found: String| {
        if expected != found {
            faults.push(format!("{what}: expected {expected}, found {found}"));
        }
    };
    differs("verdict", case.verdict.clone(), seen.verdict.word().to_owned());
    differs("gate", format!("{:?}", case.gate), format!("{:?}", seen.gate));
    differs("lands", case.lands.to_string(), seen.landed.to_string());
    differs("moved", (case.moved || case.lands).to_string(), seen.moved.to_string());
    for gate in &case.passed {
        let passed = seen.reports.iter().any(|report| report.gate == *gate && report.result == GateOutcome::Pass);
        differs(gate.as_str(), "passed".to_owned(), if passed { "passed" } else { "not passed" }.to_owned());
    }
    for (name, number) in &case.counts {
        let (gate, figure) = name.split_once('.').expect("gate.figure");
        let report = seen.reports.iter().find(|report| report.gate.as_str() == gate);
        let found = report.and_then(|report| report.counts.get(figure));
        differs(name, format!("{:?}", Some(number)), format!("{found:?}"));
    }
    let said = seen.verdict.said().1;
    if let Some(words) = case.said.as_ref().filter(|words| !said.contains(*words)) {
        faults.push(format!("the verdict does not say {words:?} but {said:?}"));
    }
    for words in case.message_lacks.iter().filter(|words| seen.message.contains(*words)) {
        faults.push(format!("the landed message says {words:?}: {}", seen.message));
    }
    if case.keeps_base_target && !seen.kept_base_target {
        faults.push("the base's target folder is not what it was".to_owned());
    }
    faults
}
