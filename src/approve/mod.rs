//! May this call run? A pure answer from the approval mode, what the call may touch, and for commands what they really do:
//! read by a shell's grammar, wrappers taken off, dangers found, the person's rules applied. Asking is the frontend's.

mod danger;
mod place;
mod rule;
mod shell;
mod wrapper;

pub use danger::{Danger, dangers};
pub use rule::{Examples, Rule, RuleError, Rules, Say, grant};

use crate::tool::Effect;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What may be done without a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A question before every change and every command.
    #[default]
    Ask,
    /// Files are edited without a question, commands with one.
    AutoEdit,
    /// No questions, but before dangerous commands.
    Auto,
    /// Nothing is changed and nothing is run.
    ReadOnly,
}

impl Mode {
    /// The word for it in settings and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Auto => "auto",
            Self::ReadOnly => "read-only",
        }
    }
}

/// What is to be done with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Run it.
    Allow,
    /// Ask a person.
    Ask,
    /// Do not run it, and do not ask.
    Refuse,
}

/// Decide.
pub const fn decide(mode: Mode, effect: Effect) -> Answer {
    match (mode, effect) {
        (_, Effect::Reads | Effect::Ends | Effect::Delegates) | (Mode::Auto, _) | (Mode::AutoEdit, Effect::Writes) => {
            Answer::Allow
        }
        (Mode::ReadOnly, Effect::Writes | Effect::Runs) => Answer::Refuse,
        (Mode::Ask, Effect::Writes | Effect::Runs) | (Mode::AutoEdit, Effect::Runs) => Answer::Ask,
    }
}

/// Dangers that no rule of a person lifts: a pattern that was meant for less would let them through.
const NEVER_LIFTED: [Danger; 7] = [
    Danger::RemovesOutside,
    Danger::RemovesAll,
    Danger::RemovesUnknown,
    Danger::WritesDisk,
    Danger::RunsDownload,
    Danger::Bomb,
    Danger::Unclear,
];

/// What commands are judged by.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The person's rules.
    pub rules: Rules,
    /// The workspace.
    pub root: PathBuf,
    /// The person's home.
    pub home: Option<PathBuf>,
}

/// What is to be done with a command, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Run it, ask, or neither.
    pub answer: Answer,
    /// What is dangerous in it.
    pub dangers: BTreeSet<Danger>,
    /// The pattern of the rule that refuses it.
    pub denied_by: Option<String>,
}

impl Guard {
    /// Judges a command line.
    pub fn judge(&self, mode: Mode, command: &str) -> Judgement {
        let dangers = dangers(command, &self.root, self.home.as_deref());
        let line = shell::read(command);
        let said = self.rules.say(&line);
        let mut judgement = Judgement { answer: decide(mode, Effect::Runs), dangers, denied_by: None };
        if mode == Mode::ReadOnly {
            return judgement;
        }
        let held = judgement.dangers.iter().any(|danger| NEVER_LIFTED.contains(danger));
        judgement.answer = match said {
            Some((Say::Deny, pattern)) => {
                judgement.denied_by = Some(pattern.to_owned());
                Answer::Refuse
            }
            Some((Say::Ask, _)) => Answer::Ask,
            Some((Say::Allow, _)) if !held => Answer::Allow,
            _ if !judgement.dangers.is_empty() => Answer::Ask,
            _ => judgement.answer,
        };
        judgement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_lets_through_what_it_says() {
        let row = |mode| [Effect::Reads, Effect::Writes, Effect::Runs, Effect::Ends].map(|e| decide(mode, e));
        use Answer::{Allow, Ask, Refuse};
        assert_eq!(row(Mode::Ask), [Allow, Ask, Ask, Allow]);
        assert_eq!(row(Mode::AutoEdit), [Allow, Allow, Ask, Allow]);
        assert_eq!(row(Mode::Auto), [Allow, Allow, Allow, Allow]);
        assert_eq!(row(Mode::ReadOnly), [Allow, Refuse, Refuse, Allow]);
    }

    #[test]
    fn the_words_are_those_of_the_settings() {
        for mode in [Mode::Ask, Mode::AutoEdit, Mode::Auto, Mode::ReadOnly] {
            assert_eq!(serde_json::to_value(mode).expect("a word"), mode.word());
        }
    }

    #[test]
    fn dangers_are_asked_about_in_every_mode_and_rules_lift_some() {
        let rule = |allow: &str, example: &str| Rule {
            allow: Some(allow.to_owned()),
            tests: Examples { matching: vec![example.to_owned()], other: Vec::new() },
            ..Rule::default()
        };
        let rules = Rules::new(&[rule("git push *", "git push"), rule("rm *", "rm x")]).expect("they hold");
        let guard = Guard { rules, root: "/w".into(), home: None };
        let answer = |mode, command: &str| guard.judge(mode, command).answer;
        assert_eq!(answer(Mode::Auto, "cargo build"), Answer::Allow);
        assert_eq!(answer(Mode::Auto, "git rebase main"), Answer::Ask);
        assert_eq!(answer(Mode::Auto, "git push --force"), Answer::Allow);
        assert_eq!(answer(Mode::Ask, "git push --force"), Answer::Allow);
        assert_eq!(answer(Mode::Auto, "rm -rf /"), Answer::Ask);
        assert_eq!(answer(Mode::Ask, "rm x"), Answer::Allow);
        assert_eq!(answer(Mode::AutoEdit, "ls"), Answer::Ask);
        assert_eq!(answer(Mode::ReadOnly, "rm x"), Answer::Refuse);
    }
}
