//! What a session does, in lines for people: shared by `exec` (on stderr) and the REPL.

use crate::clean::one_line;
use selfsmith_agent::event::{Compacting, EventKind, Means, Usage};
use selfsmith_agent::message::{Outcome, ToolCall, ToolResult};
use selfsmith_agent::texts::{Texts, fill};
use serde_json::Value;

/// Columns of a line where the terminal does not say.
pub const COLUMNS: usize = 100;

/// The line of a call: its name and what it is about.
pub fn call(texts: &Texts, call: &ToolCall, columns: usize) -> String {
    fill(texts.call_line, &[("name", &call.name), ("about", &one_line(&about(call), columns))])
}

/// What a call is about: the argument that tells most.
pub fn about(call: &ToolCall) -> String {
    let told = ["command", "path", "pattern", "query", "prompt", "summary"];
    let named = told.iter().find_map(|name| call.arguments.get(*name));
    let value = named.or_else(|| call.arguments.values().find(|value| value.is_string()));
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The line of a result that was no success.
pub fn result(texts: &Texts, result: &ToolResult, columns: usize) -> Option<String> {
    let text = match result.outcome {
        Outcome::Done => return None,
        Outcome::Failed => texts.call_failed,
        Outcome::Refused => texts.call_refused,
        Outcome::Interrupted => texts.call_interrupted,
    };
    Some(fill(text, &[("name", &result.name), ("why", &one_line(reason(&result.text), columns))]))
}

/// What tells why: the exit code at the end of a command's output, or the first line.
fn reason(text: &str) -> &str {
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    if last.starts_with('[') { last } else { text }
}

/// The model's list of steps, where a result has one.
pub fn tasks(result: &ToolResult) -> Option<String> {
    let steps = result.detail.get("todo")?.as_array()?;
    let steps = steps.iter().filter_map(Value::as_str).map(|step| format!("  {}", one_line(step, COLUMNS)));
    Some(steps.collect::<Vec<_>>().join("\n"))
}

/// What a helper does, in the line that it would have had, set in.
fn of_helper(texts: &Texts, kind: &EventKind) -> Option<String> {
    let line = match kind {
        EventKind::CallStarted { call: its } => call(texts, its, COLUMNS),
        EventKind::CallEnded { result: its } => result(texts, its, COLUMNS)?,
        other_kind => other(texts, other_kind)?,
    };
    Some(format!("  │ {}", line.trim_start()))
}

/// The line of any other event that people should see.
pub fn other(texts: &Texts, kind: &EventKind) -> Option<String> {
    match kind {
        EventKind::Retrying { attempt, wait_ms, why } => {
            let seconds = format!("{:.1}", *wait_ms as f64 / 1000.0);
            let values = [("attempt", attempt.to_string()), ("seconds", seconds), ("why", one_line(why, COLUMNS))];
            let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            Some(fill(texts.retrying, &values))
        }
        EventKind::Superseded { why } => Some(fill(texts.superseded, &[("why", &one_line(why, COLUMNS))])),
        EventKind::CompactionStarted { why, tokens, most } => {
            let why = match why {
                Compacting::NearWindow => texts.compacting_near,
                Compacting::Overflow => texts.compacting_overflow,
                Compacting::Asked => texts.compacting_asked,
            };
            let values = [("tokens", thousands(*tokens)), ("most", thousands(*most)), ("why", why.to_owned())];
            Some(fill(texts.compacting, &values.each_ref().map(|(name, value)| (*name, value.as_str()))))
        }
        EventKind::CompactionEnded { means, before, after, kept } => {
            let how = match means {
                Means::Summary => texts.compacted_summary,
                Means::Digest => texts.compacted_digest,
                Means::None => return Some(fill(texts.not_compacted, &[("before", &thousands(*before))])),
            };
            let values = [
                ("before", thousands(*before)),
                ("after", thousands(*after)),
                ("kept", kept.to_string()),
                ("means", how.to_owned()),
            ];
            Some(fill(texts.compacted, &values.each_ref().map(|(name, value)| (*name, value.as_str()))))
        }
        EventKind::Task { event, .. } => of_helper(texts, &event.kind),
        EventKind::Notice { text } => Some(fill(texts.notice, &[("text", &crate::clean::clean(text))])),
        EventKind::Problem { text } => Some(fill(texts.problem, &[("text", &crate::clean::clean(text))])),
        _ => None,
    }
}

/// What a prompt took, in one line; nothing for an `Ended` that took nothing.
pub fn ended(texts: &Texts, kind: &EventKind) -> Option<String> {
    let EventKind::Ended { files, commands, turns, usage, cost_usd, .. } = kind else { return None };
    let mut parts = Vec::new();
    if !files.is_empty() {
        parts.push(fill(texts.files_changed, &[("count", &files.len().to_string()), ("files", &short_list(files))]));
    }
    if *commands > 0 {
        parts.push(fill(texts.commands_run, &[("count", &commands.to_string())]));
    }
    parts.push(fill(texts.turns_used, &[("count", &turns.to_string())]));
    parts.push(tokens(texts, usage));
    if let Some(cost) = cost_usd {
        parts.push(dollars(*cost));
    }
    (*turns > 0).then(|| parts.join(" · "))
}

/// Tokens in words.
pub fn tokens(texts: &Texts, usage: &Usage) -> String {
    let text = if usage.measured { texts.tokens_measured } else { texts.tokens_estimated };
    fill(text, &[("prompt", &thousands(usage.prompt)), ("completion", &thousands(usage.completion))])
}

/// US dollars with as many digits as say something.
pub fn dollars(cost: f64) -> String {
    if cost == 0.0 || cost >= 0.1 { format!("${cost:.2}") } else { format!("${cost:.4}") }
}

/// `12,345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn short_list(files: &[String]) -> String {
    let shown: Vec<String> = files.iter().take(3).map(|file| one_line(file, 40)).collect();
    let more = if files.len() > 3 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_costs_keep_their_digits() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 0.0042, 1.5].map(dollars), ["$0.00", "$0.0042", "$1.50"]);
    }
}
