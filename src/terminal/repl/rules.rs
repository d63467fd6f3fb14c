//! What a person allowed once and for all in a workspace: kept in a file of its own, one rule a line.
//!
//! A rule is a tool's name, and for commands the words that they begin with; a final `*` lets more words follow. Strict
//! where it decides: a command in which a shell would see more than plain words (a pipe, a redirection, a variable, a
//! second command) fits no rule.

use selfsmith_agent::message::ToolCall;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The rule for every tool that writes files of the workspace.
const FILES: &str = "files";
/// Tools that write files.
const FILE_TOOLS: &[&str] = &["create", "edit_symbol", "str_replace", "undo_edit", "write_file"];
/// Programs whose second word says what they do.
const COMMANDED: &[&str] = &[
    "bun", "cargo", "deno", "docker", "dotnet", "gh", "git", "go", "gradle", "just", "kubectl", "make", "mvn", "npm",
    "pip", "pnpm", "poetry", "uv", "yarn",
];
/// Second words that only say that a third one does.
const RUNNERS: &[&str] = &["compose", "exec", "run", "tool"];
/// Bytes of the file.
const MAX_BYTES: u64 = 256 * 1024;

/// The rules of a workspace.
pub struct Rules {
    path: Option<PathBuf>,
    rules: Mutex<BTreeSet<String>>,
}

impl Rules {
    /// Read a file; it need not exist.
    pub fn open(path: Option<PathBuf>) -> Self {
        let small = path.as_ref().filter(|path| std::fs::metadata(path).is_ok_and(|m| m.len() <= MAX_BYTES));
        let text = small.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        let rules = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self { path, rules: Mutex::new(rules.map(str::to_owned).collect()) }
    }

    /// The rules, sorted.
    pub fn all(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }

    /// Whether one of them lets a call through.
    pub fn allow(&self, call: &ToolCall) -> bool {
        self.lock().iter().any(|rule| fits(rule, call))
    }

    /// Keep a rule; the file, where there is one.
    ///
    /// # Errors
    /// It cannot be written; the rule then holds until the program ends.
    pub fn add(&self, rule: &str) -> std::io::Result<()> {
        self.lock().insert(rule.to_owned());
        self.write()
    }

    /// Forget a rule; whether there was one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remove(&self, rule: &str) -> std::io::Result<bool> {
        let there = self.lock().remove(rule);
        self.write().map(|()| there)
    }

    fn write(&self) -> std::io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let text: String = self.lock().iter().map(|rule| format!("{rule}\n")).collect();
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut beside, text.as_bytes())?;
        beside.persist(path).map(|_| ()).map_err(|error| error.error)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rule that would let calls of this kind through; nothing where only a look at each one helps.
pub fn rule_for(call: &ToolCall) -> Option<String> {
    if FILE_TOOLS.contains(&call.name.as_str()) {
        return Some(FILES.to_owned());
    }
    if call.name != "bash" {
        return None;
    }
    let words = plain_words(call.arguments.get("command")?.as_str()?)?;
    let more = words.get(1).is_some_and(|word| RUNNERS.contains(&word.as_str()));
    let named = if more { 3 } else { 2 };
    let wide = words.first().is_some_and(|first| COMMANDED.contains(&first.as_str()))
        && words.get(..named).is_some_and(|words| words.iter().all(|word| !word.starts_with('-')));
    let kept: Vec<&str> = words.iter().take(if wide { named } else { words.len() }).map(String::as_str).collect();
    Some(format!("bash {}{}", shell_words::join(kept), if wide { " *" } else { "" }))
}

fn fits(rule: &str, call: &ToolCall) -> bool {
    if rule == FILES {
        return FILE_TOOLS.contains(&call.name.as_str());
    }
    let Some(rule) = rule.strip_prefix("bash ").filter(|_| call.name == "bash") else { return false };
    let (rule, open) = rule.strip_suffix(" *").map_or((rule, false), |rule| (rule, true));
    let Ok(wanted) = shell_words::split(rule) else { return false };
    let command = call.arguments.get("command").and_then(|command| command.as_str()).and_then(plain_words);
    let plain = call.arguments.keys().all(|key| matches!(key.as_str(), "command" | "timeout_s"));
    command.is_some_and(|words| {
        plain && !wanted.is_empty() && if open { words.starts_with(&wanted) } else { words == wanted }
    })
}

/// The words of a command that is nothing but one program and its arguments.
fn plain_words(command: &str) -> Option<Vec<String>> {
    let special = |c: char| c.is_control() || ";|&<>`$(){}*?[]~!#\\\n".contains(c);
    if command.contains(special) {
        return None;
    }
    let words = shell_words::split(command).ok()?;
    // `A=b program` sets a variable first.
    words.first().is_some_and(|first| !first.contains('=')).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfsmith_agent::message::Channel;
    use serde_json::json;

    fn call(name: &str, command: &str) -> ToolCall {
        let arguments = json!({ "command": command }).as_object().cloned().expect("an object");
        ToolCall { id: "1".to_owned(), name: name.to_owned(), arguments, channel: Channel::Text }
    }

    fn rule(command: &str) -> Option<String> {
        rule_for(&call("bash", command))
    }

    #[test]
    fn a_rule_is_as_narrow_as_the_program_allows() {
        assert_eq!(rule("cargo test --lib x").as_deref(), Some("bash cargo test *"));
        assert_eq!(rule("npm run build -- -w").as_deref(), Some("bash npm run build *"));
        assert_eq!(rule("rm -r target").as_deref(), Some("bash rm -r target"));
        assert_eq!(rule("git -c color push").as_deref(), Some("bash git -c color push"));
        assert_eq!(rule("ls | sh"), None);
        assert_eq!(rule_for(&call("create", "")).as_deref(), Some("files"));
        assert_eq!(rule_for(&call("fetch_url", "")), None);
    }

    #[test]
    fn only_plain_words_fit_a_rule() {
        let rules = Rules::open(None);
        rules.add("bash cargo test *").expect("no file");
        for fitting in ["cargo test", "cargo  test 'a b'", "cargo test --lib"] {
            assert!(rules.allow(&call("bash", fitting)), "{fitting}");
        }
        for other in [
            "cargo test; rm -rf x",
            "cargo test && x",
            "cargo test > /etc/x",
            "cargo test $(x)",
            "cargo test\nrm x",
            "X=1 cargo test",
            "env cargo test",
            "cargo testing",
            "cargo",
        ] {
            assert!(!rules.allow(&call("bash", other)), "{other}");
        }
        assert!(!rules.allow(&call("create", "")));
    }

    #[test]
    fn rules_outlive_the_program_and_can_be_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rules/w");
        let rules = Rules::open(Some(path.clone()));
        rules.add("files").expect("it is written");
        rules.add("bash ls").expect("it is written");
        let again = Rules::open(Some(path));
        assert_eq!(again.all(), ["bash ls", "files"]);
        assert!(again.allow(&call("str_replace", "")) && again.remove("files").expect("it is written"));
        assert!(!again.allow(&call("str_replace", "")));
    }
}
