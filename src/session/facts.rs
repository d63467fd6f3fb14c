//! What a conversation must not lose when its older part gives way to a summary: collected as it grows, never by a model.
//!
//! Each fact stands at the place of the message it came with. Places count all messages that ever were, so they stay what
//! they are when a compaction takes messages away.

use crate::message::{Message, Part, Role};

/// Characters of a message of the person's own that are kept.
const MAX_SAID: usize = 6000;
/// Lists of tasks that are kept, for going back.
const MAX_LISTS: usize = 50;

/// The facts so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    said: Vec<(usize, String)>,
    files: Vec<(usize, String)>,
    tasks: Vec<(usize, Vec<String>)>,
}

impl Facts {
    /// A message came.
    pub fn take(&mut self, place: usize, message: &Message) {
        if message.role != Role::User {
            return;
        }
        let mut answers = false;
        for part in &message.parts {
            let Part::Result(result) = part else { continue };
            answers = true;
            let list = |name: &str| {
                let items = result.detail.get(name)?.as_array()?;
                Some(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect::<Vec<_>>())
            };
            for file in list("files").unwrap_or_default() {
                if !self.files.iter().any(|(_, known)| *known == file) {
                    self.files.push((place, file));
                }
            }
            if let Some(tasks) = list("todo") {
                self.tasks.push((place, tasks));
            }
        }
        if self.tasks.len() > MAX_LISTS {
            self.tasks.remove(0);
        }
        let text = message.plain_text();
        if !answers && !text.trim().is_empty() {
            self.said.push((place, clip(&text, MAX_SAID)));
        }
    }

    /// The conversation goes on before that place.
    pub fn back(&mut self, place: usize) {
        self.said.retain(|(at, _)| *at < place);
        self.files.retain(|(at, _)| *at < place);
        self.tasks.retain(|(at, _)| *at < place);
    }

    /// What the person said, oldest first.
    pub fn said(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.said.iter().map(|(_, text)| text.as_str())
    }

    /// Files that tools changed, in the order of their first change.
    pub fn files(&self) -> Vec<&str> {
        self.files.iter().map(|(_, file)| file.as_str()).collect()
    }

    /// The model's list of tasks as it stands; empty where it keeps none.
    pub fn tasks(&self) -> &[String] {
        self.tasks.last().map_or(&[], |(_, tasks)| tasks)
    }
}

/// Head and tail of a text that is too long, with the cut said.
pub fn clip(text: &str, chars: usize) -> String {
    let count = text.chars().count();
    if count <= chars {
        return text.to_owned();
    }
    let head: String = text.chars().take(chars * 2 / 3).collect();
    let tail: String = text.chars().skip(count - chars / 3).collect();
    format!("{head}\n[{} characters left out]\n{tail}", count - head.chars().count() - tail.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Outcome, ToolResult};
    use serde_json::{Value, json};

    fn result(detail: Value) -> Message {
        let result =
            ToolResult { id: "1".into(), name: "t".into(), outcome: Outcome::Done, text: String::new(), detail };
        Message { role: Role::User, parts: vec![Part::Result(result), Part::Text { text: "a note".into() }] }
    }

    #[test]
    fn facts_are_collected_and_forgotten_by_their_place() {
        let mut facts = Facts::default();
        facts.take(1, &Message::text(Role::User, "build it"));
        facts.take(3, &result(json!({ "files": ["b", "a"] })));
        facts.take(5, &result(json!({ "files": ["b"], "todo": ["[x] one", "[ ] two"] })));
        facts.take(7, &result(json!({ "todo": ["[ ] three"] })));
        facts.take(8, &Message::text(Role::Assistant, "no fact"));
        assert_eq!(facts.said().collect::<Vec<_>>(), ["build it"]);
        assert_eq!((facts.files(), facts.tasks()), (vec!["b", "a"], &["[ ] three".to_owned()][..]));
        facts.back(7);
        assert_eq!(facts.tasks(), ["[x] one", "[ ] two"]);
        facts.back(1);
        assert_eq!(facts, Facts::default());
    }

    #[test]
    fn a_long_text_is_cut_in_the_middle_at_characters() {
        let text = clip(&"界".repeat(100), 30);
        assert_eq!(text, format!("{}\n[70 characters left out]\n{}", "界".repeat(20), "界".repeat(10)));
        assert_eq!(clip("short", 5), "short");
    }
}
