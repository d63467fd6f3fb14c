//! The project's own check: run when the model says that its edits are done, and what fails goes back to it, until the
//! check is green or the rounds are used up.
//!
//! The command runs as a call of `bash` would: same permission, same walls, same snapshot, seen in the same events. It is
//! the person's own setting, or found in a project that they trust.

use super::{Report, Session};
use crate::approve::{self, decide};
use crate::ending::Ending;
use crate::event::Usage;
use crate::message::{Message, Outcome, Part, Role, ToolCall};
use crate::query::{Reply, State};
use crate::texts::fill;
use crate::tool::Effect;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// The built-in words; a generation's own file wins.
const FAILED: &str = include_str!("../../prompts/commands/check-failed.md");
/// Bytes of a failure that the model is told: a little of its beginning, more of its end.
const HEAD: usize = 1000;
const TAIL: usize = 3000;
/// Bytes of a manifest that are looked at.
const MAX_MANIFEST: u64 = 256 * 1024;

/// What people can set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `auto`, `off`, or the command.
    pub command: String,
    /// Failures that go back to the model, for one prompt.
    pub rounds: u32,
    /// Seconds that it may take.
    pub timeout_s: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { command: "auto".to_owned(), rounds: 3, timeout_s: 300 }
    }
}

/// Whether a check may be one that was found in the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finds {
    /// The person trusts it.
    Yes,
    /// Nobody does: its check runs its code.
    No,
}

/// What is checked, and how.
#[derive(Debug, Clone)]
pub struct Check {
    /// The settings.
    pub settings: Settings,
    /// Whether a command may be found.
    pub finds: Finds,
}

impl Default for Check {
    fn default() -> Self {
        Self { settings: Settings::default(), finds: Finds::No }
    }
}

impl Check {
    /// The command for a workspace, if there is one.
    fn command(&self, root: &Path) -> Option<String> {
        match (self.settings.command.trim(), self.finds) {
            ("off" | "", _) | ("auto", Finds::No) => None,
            ("auto", Finds::Yes) => detect(root).map(str::to_owned),
            (command, _) => Some(command.to_owned()),
        }
    }
}

/// The rounds of one prompt.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rounds {
    failed: u32,
    /// Edits that the last check saw.
    edits: usize,
}

/// What came of a check.
pub(super) enum Checked {
    /// The work may end.
    Fine,
    /// The model is told this, and goes on.
    Again(Part),
    /// It ends though the check fails.
    GivenUp(Ending),
}

impl Session {
    /// Check what was edited since the last check.
    pub(super) async fn check(&self, rounds: &mut Rounds, report: &mut Report, cancel: &CancellationToken) -> Checked {
        let texts = self.parts.texts;
        let check = &self.parts.check;
        let Some(command) = check.command(Path::new(&self.parts.root)) else { return Checked::Fine };
        if report.files.len() == rounds.edits {
            return if rounds.failed > 0 { self.given_up(&command) } else { Checked::Fine };
        }
        rounds.edits = report.files.len();
        if decide(self.parts.mode, Effect::Runs) == approve::Answer::Ask {
            self.notice(fill(texts.check_runs, &[("command", &command)]));
        }
        let ran = self.run(&self.made(&command), cancel).await;
        report.commands += ran.commands;
        let Some(result) = ran.results.into_iter().next() else { return Checked::Fine };
        let missing = result.detail.get("exit").and_then(Value::as_i64) == Some(127);
        match result.outcome {
            Outcome::Done => {
                rounds.failed = 0;
                self.notice(fill(texts.check_green, &[("command", &command)]));
                Checked::Fine
            }
            Outcome::Failed if !missing => {
                rounds.failed += 1;
                if rounds.failed > check.settings.rounds || self.spent(report) {
                    return self.given_up(&command);
                }
                let (round, most) = (rounds.failed.to_string(), check.settings.rounds.to_string());
                let text = compact(&result.text);
                let values = [("command", command.as_str()), ("round", &round), ("rounds", &most), ("text", &text)];
                match self.parts.prompts.command("check-failed", FAILED, &values) {
                    Ok(text) => Checked::Again(Part::Text { text }),
                    Err(error) => {
                        self.notice(format!("could not {error}: {}", error.hint()));
                        Checked::GivenUp(Ending::Unfinished)
                    }
                }
            }
            Outcome::Failed | Outcome::Refused | Outcome::Interrupted => {
                self.notice(fill(texts.check_not_run, &[("command", &command)]));
                Checked::Fine
            }
        }
    }

    fn given_up(&self, command: &str) -> Checked {
        self.notice(fill(self.parts.texts.check_given_up, &[("command", command)]));
        Checked::GivenUp(Ending::Unfinished)
    }

    /// A reply that holds nothing but the call of the check. It is no part of the conversation.
    fn made(&self, command: &str) -> Reply {
        let timeout = self.parts.check.settings.timeout_s;
        let arguments = json!({ "command": command, "timeout_s": timeout }).as_object().cloned().unwrap_or_default();
        let channel = self.parts.model.channel();
        Reply {
            message: Message { role: Role::Assistant, parts: Vec::new() },
            visible: String::new(),
            calls: vec![ToolCall { id: (self.parts.ids)(), name: "bash".to_owned(), arguments, channel }],
            refusals: Vec::new(),
            state: State::Complete,
            finish: String::new(),
            usage: Usage::default(),
            cost_usd: None,
        }
    }
}

/// The check that a project has by the habits of its kind.
pub fn detect(root: &Path) -> Option<&'static str> {
    let has = |name: &str| root.join(name).is_file();
    let holds = |name: &str, wanted: &dyn Fn(&str) -> bool| {
        let small = fs::metadata(root.join(name)).is_ok_and(|info| info.is_file() && info.len() <= MAX_MANIFEST);
        small && fs::read_to_string(root.join(name)).is_ok_and(|text| wanted(&text))
    };
    let target = |name: &'static str| {
        move |text: &str| text.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
    };
    let tested = |text: &str| {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let test = value["scripts"]["test"].as_str().unwrap_or_default().to_owned();
        !test.is_empty() && !test.contains("no test specified")
    };
    if has("Cargo.toml") {
        Some("cargo test --quiet")
    } else if holds("package.json", &tested) {
        let runner = [("pnpm-lock.yaml", "pnpm test"), ("yarn.lock", "yarn test"), ("bun.lock", "bun test")];
        Some(runner.iter().find(|(lock, _)| has(lock)).map_or("npm test --silent", |(_, command)| command))
    } else if has("pytest.ini") || holds("pyproject.toml", &|text| text.contains("pytest")) || has("conftest.py") {
        Some("python3 -m pytest -q")
    } else if has("go.mod") {
        Some("go test ./...")
    } else if holds("Makefile", &target("check")) {
        Some("make check")
    } else if holds("Makefile", &target("test")) {
        Some("make test")
    } else {
        None
    }
}

/// A failure without what passed, bounded.
fn compact(text: &str) -> String {
    let passed = |line: &&str| line.trim_end().ends_with("... ok") || line.trim().is_empty();
    let text = text.lines().filter(|line| !passed(line)).collect::<Vec<_>>().join("\n");
    if text.len() <= HEAD + TAIL {
        return text;
    }
    let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - TAIL)..).unwrap_or_default();
    format!("{head}\n[{} bytes left out]\n{tail}", text.len() - head.len() - tail.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(files: &[(&str, &str)]) -> Option<&'static str> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        detect(folder.path())
    }

    #[test]
    fn a_check_is_found_by_the_habits_of_a_projects_kind() {
        assert_eq!(detected(&[("Cargo.toml", "")]), Some("cargo test --quiet"));
        assert_eq!(detected(&[("package.json", r#"{"scripts":{"test":"vitest run"}}"#)]), Some("npm test --silent"));
        let pnpm = [("package.json", r#"{"scripts":{"test":"x"}}"#), ("pnpm-lock.yaml", "")];
        assert_eq!(detected(&pnpm), Some("pnpm test"));
        assert_eq!(detected(&[("package.json", r#"{"scripts":{"test":"echo \"Error: no test specified\""}}"#)]), None);
        assert_eq!(detected(&[("pyproject.toml", "[tool.pytest.ini_options]")]), Some("python3 -m pytest -q"));
        assert_eq!(detected(&[("Makefile", "all:\n\ncheck: all\n")]), Some("make check"));
        assert_eq!(detected(&[("Makefile", "tests:\n")]), None);
    }

    #[test]
    fn what_nobody_trusts_is_not_found_and_a_setting_counts_in_any_case() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("Cargo.toml"), "").expect("a file");
        let command = |command: &str, finds| {
            let settings = Settings { command: command.to_owned(), ..Settings::default() };
            Check { settings, finds }.command(folder.path())
        };
        assert_eq!(command("auto", Finds::No), None);
        assert_eq!(command("auto", Finds::Yes).as_deref(), Some("cargo test --quiet"));
        assert_eq!(command("make lint", Finds::No).as_deref(), Some("make lint"));
        assert_eq!(command("off", Finds::Yes), None);
    }

    #[test]
    fn a_failure_goes_back_without_what_passed_and_with_its_end() {
        let passed: String = (0..1000).map(|n| format!("test t{n} ... ok\n")).collect();
        assert_eq!(compact(&format!("{passed}\ntest x ... FAILED\n")), "test x ... FAILED");
        let long: String = (0..2000).map(|n| format!("line {n}\n")).collect();
        let short = compact(&long);
        assert!(short.len() < HEAD + TAIL + 60 && short.ends_with("line 1999") && short.contains("left out"));
    }
}
