//! What a command said: its last lines at once, all of it by a key. Both are printed as final lines.

use super::super::line::cut;
use super::state::{State, size};
use crate::activity;
use crate::clean::clean;
use selfsmith_agent::message::{Outcome, ToolResult};
use selfsmith_agent::texts::fill;

/// The tool whose output is shown.
const SHELL: &str = "bash";
/// Lines that are shown of a command that went well, and of one that did not.
const WELL: usize = 5;
const BADLY: usize = 10;
/// Lines that are shown of all of it.
const ALL: usize = 400;
/// How the tool's own words about a bad end begin; they are told apart from the output.
const ENDS: &[&str] = &["[exit code ", "[ended by signal ", "[ended after ", "[timed out", "[cancelled]"];
/// The tool's own words for none.
const NOTHING: &str = "[no output]";

/// The lines of a command that ran; nothing where it said nothing, or is no command.
fn lines(result: &ToolResult) -> Vec<&str> {
    let ran = result.name == SHELL && result.detail.get("exit").is_some();
    let mut lines: Vec<&str> = result.text.trim_end().lines().filter(|_| ran).collect();
    if result.outcome != Outcome::Done
        && let Some(end) = lines.iter().rposition(|line| ENDS.iter().any(|words| line.starts_with(words)))
    {
        lines.truncate(end);
    }
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    if lines == [NOTHING] { Vec::new() } else { lines }
}

/// The last of these lines, set in and short enough for a row each, and how many stand before them.
fn tail(lines: &[&str], most: usize, columns: usize) -> (usize, Vec<String>) {
    let before = lines.len().saturating_sub(most);
    let row = |line: &&str| cut(&format!("  {}", clean(&line.replace('\t', "    "))), columns);
    (before, lines.iter().skip(before).map(row).collect())
}

impl State {
    /// Show the end of what a command said, and keep all of it for the key.
    pub(super) fn said(&mut self, result: &ToolResult) {
        let lines = lines(result);
        if lines.is_empty() {
            return;
        }
        let most = if result.outcome == Outcome::Done { WELL } else { BADLY };
        let columns = if self.awake { size().0.saturating_sub(1) } else { activity::COLUMNS };
        let (before, mut shown) = tail(&lines, most, columns);
        let text = if self.editor.is_some() { self.texts.lines_before_key } else { self.texts.lines_before };
        self.put(before, text, &mut shown);
        self.whole = lines.join("\n");
    }

    fn put(&mut self, before: usize, text: &str, shown: &mut Vec<String>) {
        if before > 0 {
            shown.insert(0, fill(text, &[("count", &before.to_string())]));
        }
        let shown = self.dimmed(&shown.join("\n"));
        self.line(&shown);
    }

    /// Show all that the last command said.
    pub(super) fn show_whole(&mut self) {
        if self.whole.is_empty() {
            return self.words_of_ours(self.texts.nothing_said);
        }
        let whole = std::mem::take(&mut self.whole);
        let (before, mut shown) = tail(&whole.lines().collect::<Vec<_>>(), ALL, usize::MAX);
        self.words_of_ours(self.texts.all_of_it);
        self.put(before, self.texts.lines_before, &mut shown);
        self.whole = whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn result(outcome: Outcome, text: &str, detail: Value) -> ToolResult {
        ToolResult { id: "1".to_owned(), name: SHELL.to_owned(), outcome, text: text.to_owned(), detail }
    }

    #[test]
    fn the_output_of_a_command_is_told_from_what_the_tool_says_about_it() {
        let ran = || json!({ "exit": 0 });
        let said = |outcome, text: &str| lines(&result(outcome, text, ran())).join("|");
        assert_eq!(said(Outcome::Done, "a\n[exit code 3]\n"), "a|[exit code 3]");
        assert_eq!(said(Outcome::Failed, "a\nb\n\n[exit code 3]\n[a hint]\n"), "a|b");
        assert_eq!(said(Outcome::Failed, "[no output]\n[exit code 3]\n"), "");
        assert_eq!(said(Outcome::Done, "[no output]\n"), "");
        assert_eq!(lines(&result(Outcome::Refused, "not allowed", Value::Null)), Vec::<&str>::new());
    }

    #[test]
    fn the_last_lines_are_shown_a_row_each_and_those_before_them_counted() {
        let (before, shown) = tail(&["1", "2", "3\t4", "12345678901234567890"], 2, 12);
        assert_eq!((before, shown), (2, vec!["  3    4".to_owned(), "  123456789…".to_owned()]));
    }
}
