//! `todo`: the model's list of steps. Each call replaces it; the session remembers it, people see it.

use super::{Answer, Effect, Tool};
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};

/// Steps of a list, and characters of each.
const MOST: usize = 40;
const LONGEST: usize = 200;

/// The tool.
#[derive(Debug, Clone, Copy)]
pub struct Todo;

impl Tool for Todo {
    fn name(&self) -> &'static str {
        "todo"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["todo_write", "update_plan"]
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/todo.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": { "items": { "type": "string" } },
            "required": ["items"],
        })
    }

    fn body(&self) -> Option<&'static str> {
        Some("items")
    }

    /// It touches nothing but the conversation.
    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        let items = arguments.get("items").and_then(Value::as_str).unwrap_or_default();
        Box::pin(ready(listed(items)))
    }
}

fn listed(items: &str) -> Answer {
    let steps: Vec<String> = items.lines().filter_map(step).collect();
    if steps.is_empty() {
        return Answer::failed("the list is empty: give a line for each step, such as `[ ] run the tests`");
    }
    if steps.len() > MOST {
        return Answer::failed(format!("{} steps are too many: at most {MOST}, so join some", steps.len()));
    }
    let done = steps.iter().filter(|step| step.starts_with("[x]")).count();
    let now = steps.iter().find_map(|step| step.strip_prefix("[>] ")).map(|step| format!("; now: {step}"));
    let text = format!("{done} of {} done{}", steps.len(), now.unwrap_or_default());
    Answer::done(text).with_detail(json!({ "todo": steps }))
}

/// A line as a step, whatever list marks the model likes.
fn step(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let marks = [("[ ]", "[ ]"), ("[]", "[ ]"), ("[>]", "[>]"), ("[~]", "[>]"), ("[x]", "[x]"), ("[X]", "[x]")];
    let marked = marks.iter().find_map(|(mark, own)| Some((*own, line.strip_prefix(mark)?)));
    let (mark, words) = marked.unwrap_or(("[ ]", line));
    let words: String = words.trim().chars().take(LONGEST).collect();
    (!words.is_empty()).then(|| format!("{mark} {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_steps_whatever_marks_they_have() {
        let answer = listed("- [x] one\n* [~] two\n\n[ ]three\nfour\n- [X] five");
        let steps = json!({ "todo": ["[x] one", "[>] two", "[ ] three", "[ ] four", "[x] five"] });
        assert_eq!((answer.text.as_str(), answer.detail), ("2 of 5 done; now: two", steps));
    }

    #[test]
    fn an_empty_or_endless_list_is_refused() {
        for items in ["", " \n- \n", &"[ ] x\n".repeat(MOST + 1)] {
            assert_eq!(listed(items).outcome, crate::message::Outcome::Failed);
        }
    }
}
