//! The screen as a session's frontend: events are shown, calls are asked for with what they would change.

use super::super::dialog::{Choice, Question, Reply, Words};
use super::super::line::wrap;
use super::super::rules::{Rules, rule_for};
use super::shown::Shown;
use super::state::size;
use super::view::styled;
use super::{Screen, Whereabouts};
use crate::activity;
use crate::clean::one_line;
use console::Style;
use futures::future::BoxFuture;
use selfsmith_agent::approve::dangers;
use selfsmith_agent::event::Event;
use selfsmith_agent::frontend::{Decision, Frontend};
use selfsmith_agent::message::ToolCall;
use selfsmith_agent::texts::fill;
use selfsmith_agent::tool::commit;
use selfsmith_agent::tool::preview::preview;
use selfsmith_sandbox::Cancel;

/// Columns of what a call is about where it goes in circles.
const ABOUT_COLUMNS: usize = 400;
/// Rows of a page that stay free for the question below it.
const BELOW_PAGE: usize = 4;

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
        let difference = self.difference_of(call);
        let is_difference = difference.is_some();
        let shown = Shown::new(self.texts, &difference.unwrap_or_else(|| self.about(call)));
        {
            let mut state = self.state();
            state.waiting = None;
            state.shown_call = Some(call.id.clone());
            if is_difference {
                state.faint(&activity::call(self.texts, call, activity::COLUMNS));
            }
            state.line(&self.painted(shown.at_once(), is_difference));
        }
        let rule = rule_for(call).filter(|_| !dangerous);
        Box::pin(async move {
            // What is not shown yet cannot be allowed.
            let mut seen = shown.short.is_none();
            let long = !seen || shown.all.len() + BELOW_PAGE > size().1;
            let view = long.then_some(if rule.is_some() { 3 } else { 2 });
            loop {
                let question = self.permission(call, rule.as_deref(), long, seen);
                return match self.ask(question).await {
                    Reply::Chosen(n) if Some(n) == view || (!seen && n != 1) => {
                        seen |= self.paged(&shown.all, is_difference).await;
                        continue;
                    }
                    Reply::Chosen(0) => Decision::Allow,
                    Reply::Chosen(1) => Decision::Deny { why: String::new() },
                    Reply::Chosen(_) => {
                        if let Some(Err(error)) = rule.as_deref().map(|rule| self.whereabouts.rules.add(rule)) {
                            self.say(&fill(self.texts.rule_not_kept, &[("error", &error.to_string())]));
                        }
                        Decision::Allow
                    }
                    Reply::Said(why) => Decision::Deny { why },
                    Reply::Cancelled if self.interrupt.token().is_cancelled() => Decision::Nobody,
                    Reply::Cancelled => Decision::Deny { why: String::new() },
                };
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

    fn permission(&self, call: &ToolCall, rule: Option<&str>, long: bool, seen: bool) -> Question {
        let mut choices = self.yes_or_no();
        if let Some(rule) = rule {
            let always = Choice::new(fill(self.texts.answer_always, &[("rule", rule)]), "");
            choices.push(Choice { words: &["a", "always", "总是"], ..always });
        }
        if long {
            choices.push(Choice { words: &["v", "view", "看"], ..Choice::new(self.texts.answer_view, "") });
        }
        let text = if seen { self.texts.may_it_run } else { self.texts.may_it_run_unseen };
        let title = fill(text, &[("name", &call.name)]);
        Question { choices, ..Question::line(title, Words::Answer) }
    }

    /// Shows a text page by page; whether to its end.
    async fn paged(&self, lines: &[String], is_difference: bool) -> bool {
        let (columns, height) = size();
        let rows: Vec<String> = lines.iter().flat_map(|line| wrap(line, columns.saturating_sub(1))).collect();
        let pages: Vec<&[String]> = rows.chunks(height.saturating_sub(BELOW_PAGE).max(1)).collect();
        for (n, page) in pages.iter().enumerate() {
            self.state().line(&self.painted(page, is_difference));
            if n + 1 == pages.len() {
                break;
            }
            let (page, pages) = ((n + 1).to_string(), pages.len().to_string());
            let title = fill(self.texts.page_of, &[("page", &page), ("pages", &pages)]);
            match self.ask(Question::line(title, Words::Answer)).await {
                Reply::Said(word) if word.trim().is_empty() => {}
                Reply::Said(_) | Reply::Chosen(_) | Reply::Cancelled => return false,
            }
        }
        true
    }

    fn painted(&self, lines: &[String], is_difference: bool) -> String {
        let text = lines.join("\n");
        if is_difference { self.difference(&text) } else { text }
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
        Some(self.whereabouts.redactor.text(&difference).into_owned())
    }

    /// What a call is about: everything that it was given, and of a commit what it takes.
    fn about(&self, call: &ToolCall) -> String {
        let about = activity::about(call);
        let mut lines =
            vec![fill(self.texts.call_line, &[("name", &call.name), ("about", &about.replace('\n', "\n  "))])];
        for (name, value) in &call.arguments {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if value != about && !value.is_empty() && !matches!(value.as_str(), "null" | "false") {
                lines.push(format!("  {name}: {}", value.replace('\n', "\n    ")));
            }
        }
        if call.name == "commit" {
            lines.extend(self.commit_takes(call));
        }
        self.whereabouts.redactor.text(&lines.join("\n")).into_owned()
    }

    /// The files that a commit takes.
    fn commit_takes(&self, call: &ToolCall) -> Vec<String> {
        let Whereabouts { root, environment, .. } = &self.whereabouts;
        let taken = match commit::taken(root, environment, &commit::paths(&call.arguments), &Cancel::default()) {
            Ok(taken) => taken,
            Err(error) => return vec![format!("  {error}")],
        };
        let mut lines = vec![fill(self.texts.commit_takes, &[("count", &taken.len().to_string())])];
        for one in taken {
            let values = [("mark", one.mark.to_string()), ("path", one.path)];
            let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
            let line = fill(self.texts.commit_file, &values);
            lines.push(match one.guarded {
                Some(why) => format!("{line}{}", fill(self.texts.commit_guarded, &[("why", why)])),
                None => line,
            });
        }
        lines
    }
}
