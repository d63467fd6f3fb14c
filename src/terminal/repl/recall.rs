//! A session that goes on: what it was, and its last exchange, so that nobody comes back to an empty screen.

use super::Screen;
use crate::clean::one_line;
use crate::when::when;
use selfsmith_agent::session::Session;
use selfsmith_agent::texts::{Texts, fill};

/// Lines of the last prompt, and of what was said to it.
const ASKED: usize = 10;
const ANSWERED: usize = 40;

/// Show it; nothing of a session without prompts. A script that goes on with one gets the line alone.
pub fn show(screen: &Screen, session: &Session, texts: &Texts) {
    let Some(recall) = session.recall() else { return };
    let values = [
        ("count", recall.prompts.to_string()),
        ("began", when(recall.began)),
        ("last", when(recall.last)),
        ("first", one_line(&recall.first, 100)),
    ];
    screen.say(&fill(texts.resumed, &values.each_ref().map(|(name, value)| (*name, value.as_str()))));
    if !screen.is_attended() {
        return;
    }
    let lines: Vec<&str> = recall.asked.lines().collect();
    screen.echo(&lines.get(..lines.len().min(ASKED)).unwrap_or_default().join("\n"));
    more(screen, texts, lines.len().saturating_sub(ASKED));
    let (before, end) = tail(&recall.answered, ANSWERED);
    more(screen, texts, before);
    screen.quote(&end);
}

fn more(screen: &Screen, texts: &Texts, count: usize) {
    if count > 0 {
        screen.say(&fill(texts.more_lines, &[("count", &count.to_string())]));
    }
}

/// The last lines of a text in Markdown, and how many stand before them. What is cut off within a code block stays code.
fn tail(text: &str, most: usize) -> (usize, String) {
    let lines: Vec<&str> = text.lines().collect();
    let before = lines.len().saturating_sub(most);
    let (gone, kept) = lines.split_at_checked(before).unwrap_or_default();
    let fences = gone.iter().filter(|line| line.trim_start().starts_with("```")).count();
    let open = if fences % 2 == 1 { "```\n" } else { "" };
    (before, format!("{open}{}", kept.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_answer_stays_code_where_it_was() {
        assert_eq!(tail("a\nb\nc", 2), (1, "b\nc".to_owned()));
        assert_eq!(tail("a", 2), (0, "a".to_owned()));
        assert_eq!(tail("```rust\nx\ny\n```\nend", 3), (2, "```\ny\n```\nend".to_owned()));
    }
}
