//! Plan mode: nothing is changed until the person agrees to a plan.

use super::Desk;
use super::commands::Wish;
use super::dialog::{Choice, Question, Reply, Words};
use selfsmith_agent::approve::Mode;
use selfsmith_agent::session::Session;
use selfsmith_agent::texts::{Texts, fill};

/// The built-in words; a generation's own files win.
const PLAN: &str = include_str!("../../../prompts/commands/plan.md");
const AGREED: &str = include_str!("../../../prompts/commands/plan-agreed.md");

/// Whether a plan is being made, and how permission is asked for once it is agreed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Planning {
    before: Option<Mode>,
    /// The next prompt carries out the plan.
    agreed: bool,
}

impl Planning {
    /// What Shift-Tab turns to.
    pub fn next(&self, mode: Mode) -> Wish {
        match (self.before, mode) {
            (Some(_), _) | (None, Mode::Auto | Mode::ReadOnly) => Wish::Mode(Mode::Ask),
            (None, Mode::Ask) => Wish::Mode(Mode::AutoEdit),
            (None, Mode::AutoEdit) => Wish::Plan,
        }
    }

    /// Ask for permission in this way from now on.
    pub fn wish(&mut self, wish: Wish, session: &mut Session) {
        match wish {
            Wish::Plan => {
                let mode = session.mode();
                self.before.get_or_insert(mode);
                session.set_mode(Mode::ReadOnly);
            }
            Wish::Mode(mode) => {
                self.before = None;
                session.set_mode(mode);
            }
        }
    }

    /// A word for the person, where it is not the usual way.
    pub fn told(&self, mode: Mode, texts: &Texts) -> Option<String> {
        match (self.before, mode) {
            (Some(_), _) => Some(texts.mode_plan.to_owned()),
            (None, Mode::Ask) => None,
            (None, Mode::AutoEdit) => Some(texts.mode_auto_edit.to_owned()),
            (None, Mode::Auto) => Some(texts.mode_auto.to_owned()),
            (None, Mode::ReadOnly) => Some(texts.mode_read_only.to_owned()),
        }
    }

    /// The prompt as the model gets it; `Err` says why it cannot be put into words.
    pub fn wrapped(&mut self, text: &str, session: &Session) -> Result<String, String> {
        let prompts = &session.parts().prompts;
        let said = if std::mem::take(&mut self.agreed) {
            prompts.command("plan-agreed", AGREED, &[("text", text)])
        } else if self.before.is_some() {
            prompts.command("plan", PLAN, &[("text", text)])
        } else {
            return Ok(text.to_owned());
        };
        said.map_err(|error| format!("{error}\n{}", error.hint()))
    }

    /// A plan is there: may it be carried out? The next prompt, where something is to be done now.
    pub fn asked(&mut self, desk: &Desk<'_>, session: &mut Session, texts: &'static Texts) -> Option<String> {
        let before = self.before?;
        let choice = |name: &str, words| Choice { words, ..Choice::new(name, "") };
        let question = Question {
            choices: vec![
                choice(&fill(texts.plan_yes, &[("mode", before.word())]), &["y", "yes", "是", "好"]),
                choice(texts.plan_yes_edit, &["e", "edit"]),
                choice(texts.plan_no, &["n", "no", "不", "否"]),
            ],
            ..Question::line(texts.plan_question, Words::Answer)
        };
        let mode = match desk.ask(question) {
            Reply::Chosen(0) => before,
            Reply::Chosen(1) => Mode::AutoEdit,
            Reply::Said(text) if !text.trim().is_empty() => return Some(text),
            Reply::Chosen(_) | Reply::Said(_) | Reply::Cancelled => return None,
        };
        self.before = None;
        self.agreed = true;
        session.set_mode(mode);
        Some(String::new())
    }
}
