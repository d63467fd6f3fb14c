//! The screen as a session's frontend: events are shown, calls are asked for with what they would change.

use super::super::dialog::{Choice, Question, Reply, Words};
use super::super::line::cut;
use super::super::rules::{Rules, rule_for};
use super::view::styled;
use super::{Screen, Whereabouts};
use crate::activity;
use crate::clean::{clean, one_line};
use console::Style;
use futures::future::BoxFuture;
use selfsmith_agent::approve::dangers;
use selfsmith_agent::event::Event;
use selfsmith_agent::frontend::{Decision, Frontend};
use selfsmith_agent::message::ToolCall;
use selfsmith_agent::texts::fill;
use selfsmith_agent::tool::preview::preview;

/// Lines that are shown of what a call is about, and columns of each.
const ABOUT_LINES: usize = 200;
const ABOUT_COLUMNS: usize = 400;

impl Frontend for Screen {
    fn notify(&self, event: &Event) {
        self.state().event(&event.kind);
    }

    fn approve<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        if !self.asks {
            return Box::pin(async { Decision::Nobody });
        }
        // A rule was given for what a command mostly does, not for what makes this one dangerous.
        let dangerous = self.is_dangerous(call);
        if !dangerous && self.whereabouts.rules.allow(call) {
            return Box::pin(async { Decision::Allow });
        }
        {
            let mut state = self.state();
            state.waiting = None;
            state.shown_call = Some(call.id.clone());
            match self.difference_of(call) {
                Some(difference) => {
                    state.faint(&activity::call(self.texts, call, activity::COLUMNS));
                    state.line(&difference);
                }
                None => state.line(&self.about(call)),
            }
        }
        let rule = rule_for(call).filter(|_| !dangerous);
        let question = self.permission(call, rule.as_deref());
        Box::pin(async move {
            match self.ask(question).await {
                Reply::Chosen(0) => Decision::Allow,
                Reply::Chosen(1) => Decision::Deny { why: String::new() },
                Reply::Chosen(_) => {
                    if let Some(Err(error)) = rule.map(|rule| self.whereabouts.rules.add(&rule)) {
                        self.say(&fill(self.texts.rule_not_kept, &[("error", &error.to_string())]));
                    }
                    Decision::Allow
                }
                Reply::Said(why) => Decision::Deny { why },
                Reply::Cancelled if self.interrupt.token().is_cancelled() => Decision::Nobody,
                Reply::Cancelled => Decision::Deny { why: String::new() },
            }
        })
    }

    fn go_on<'a>(&'a self, name: &'a str, call: Option<&'a ToolCall>) -> BoxFuture<'a, Decision> {
        if !self.asks {
            return Box::pin(async { Decision::Nobody });
        }
        let about = call.map(|call| one_line(&activity::about(call), ABOUT_COLUMNS)).unwrap_or_default();
        let title = fill(self.texts.may_it_circle, &[("name", name), ("about", &about)]);
        let question = Question { choices: self.yes_or_no(), ..Question::line(title, Words::Answer) };
        self.state().waiting = None;
        Box::pin(async move {
            match self.ask(question).await {
                Reply::Chosen(0) => Decision::Allow,
                Reply::Chosen(_) => Decision::Deny { why: String::new() },
                Reply::Said(why) => Decision::Deny { why },
                Reply::Cancelled => Decision::Nobody,
            }
        })
    }
}

impl Screen {
    /// What was allowed once and for all.
    pub fn rules(&self) -> &Rules {
        &self.whereabouts.rules
    }

    /// A difference with colours, where the terminal takes them.
    pub fn difference(&self, text: &str) -> String {
        let line = |line: &str| {
            let style = match line.chars().next() {
                Some('+') => Style::new().green(),
                Some('-') => Style::new().red(),
                Some('@') => Style::new().cyan(),
                _ => return line.to_owned(),
            };
            styled(self.look, style, line)
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    fn permission(&self, call: &ToolCall, rule: Option<&str>) -> Question {
        let mut choices = self.yes_or_no();
        if let Some(rule) = rule {
            let always = Choice::new(fill(self.texts.answer_always, &[("rule", rule)]), "");
            choices.push(Choice { words: &["a", "always", "总是"], ..always });
        }
        let title = fill(self.texts.may_it_run, &[("name", &call.name)]);
        Question { choices, ..Question::line(title, Words::Answer) }
    }

    fn yes_or_no(&self) -> Vec<Choice> {
        let choice = |item: &str, words| Choice { words, ..Choice::new(item, "") };
        vec![
            choice(self.texts.answer_yes, &["y", "yes", "是", "好"]),
            choice(self.texts.answer_no, &["n", "no", "不", "否"]),
        ]
    }

    fn is_dangerous(&self, call: &ToolCall) -> bool {
        let Whereabouts { root, home, .. } = &self.whereabouts;
        let command = call.arguments.get("command").and_then(|command| command.as_str());
        command.is_some_and(|command| !dangers(command, root, home.as_deref()).is_empty())
    }

    /// The difference that a call would make, where that can be told.
    fn difference_of(&self, call: &ToolCall) -> Option<String> {
        let difference = preview(&self.whereabouts.root, &call.name, &call.arguments)?;
        Some(self.difference(&self.bounded(&self.whereabouts.redactor.text(&difference)).join("\n")))
    }

    /// What a call is about, in lines.
    fn about(&self, call: &ToolCall) -> String {
        fill(
            self.texts.call_line,
            &[("name", &call.name), ("about", &self.bounded(&activity::about(call)).join("\n  "))],
        )
    }

    /// The first lines of a text, harmless for a terminal, with what is missing said.
    fn bounded(&self, text: &str) -> Vec<String> {
        let count = text.lines().count();
        let mut lines: Vec<String> =
            text.lines().take(ABOUT_LINES).map(|line| cut(&clean(line), ABOUT_COLUMNS)).collect();
        if count > ABOUT_LINES {
            lines.push(fill(self.texts.more_lines, &[("count", &(count - ABOUT_LINES).to_string())]));
        }
        lines
    }
}
