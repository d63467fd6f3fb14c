//! May this call run? A pure answer from the approval mode and what the call may touch; asking is the frontend's.

use crate::tool::Effect;
use serde::{Deserialize, Serialize};

/// What may be done without a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A question before every change and every command.
    #[default]
    Ask,
    /// Files are edited without a question, commands with one.
    AutoEdit,
    /// No questions.
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
        (_, Effect::Reads | Effect::Ends) | (Mode::Auto, _) | (Mode::AutoEdit, Effect::Writes) => Answer::Allow,
        (Mode::ReadOnly, Effect::Writes | Effect::Runs) => Answer::Refuse,
        (Mode::Ask, Effect::Writes | Effect::Runs) | (Mode::AutoEdit, Effect::Runs) => Answer::Ask,
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
}
