//! Hooks: commands of the person that run before and after the model's calls.
//!
//! A hook gets the call as JSON on its standard input. Before a call anything but exit code 0 stops it, and what the hook
//! said is the reason: a hook that cannot run stops the call too. After a call what it says is added to the result. Hooks
//! are the person's own, so they run without walls; a project's file cannot set them before it is trusted.

use crate::message::{ToolCall, ToolResult};
use globset::Glob;
use selfsmith_sandbox::{Cancel, CancelOnDrop, End, Environment, Finished, Job, Limits, Program, Walls, run};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of a hook's output that are passed on.
const SAID: usize = 4_000;

/// What people can set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Before a call.
    pub before_tool: Vec<Hook>,
    /// After a call.
    pub after_tool: Vec<Hook>,
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// Tools that it is for, as a pattern such as `{create,write_file}`.
    #[serde(default = "every")]
    pub tool: String,
    /// The command line.
    pub command: String,
    /// Seconds that it may take.
    #[serde(default = "half_a_minute")]
    pub timeout_s: u64,
}

/// The hooks of a session.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    settings: Settings,
    root: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Settings {
    /// The first pattern that cannot be read.
    pub fn fault(&self) -> Option<String> {
        let hooks = self.before_tool.iter().chain(&self.after_tool);
        let wrong = |hook: &Hook| Glob::new(&hook.tool).err().map(|error| format!("`{}`: {error}", hook.tool));
        hooks.filter_map(wrong).next()
    }
}

impl Hooks {
    /// For a workspace.
    pub fn new(settings: Settings, root: PathBuf, environment: Vec<(OsString, OsString)>) -> Self {
        Self { settings, root, environment }
    }

    /// Whether one runs for that tool.
    pub fn any(&self, tool: &str) -> bool {
        self.settings.before_tool.iter().chain(&self.settings.after_tool).any(|hook| fits(hook, tool))
    }

    /// Before a call: why it may not run, if it may not.
    pub async fn before(&self, call: &ToolCall) -> Option<String> {
        let told = json!({ "event": "before_tool", "tool": call.name, "arguments": call.arguments });
        for hook in self.settings.before_tool.iter().filter(|hook| fits(hook, &call.name)) {
            match self.run(hook, &told).await {
                Ok(finished) if finished.end.success() => {}
                Ok(finished) => return Some(said(&finished).unwrap_or_else(|| ended(&finished))),
                Err(why) => return Some(why),
            }
        }
        None
    }

    /// After a call: what is added to its result.
    pub async fn after(&self, call: &ToolCall, result: &ToolResult) -> Option<String> {
        let told = json!({
            "event": "after_tool", "tool": call.name, "arguments": call.arguments, "outcome": result.outcome,
            "detail": result.detail,
        });
        let mut text = String::new();
        for hook in self.settings.after_tool.iter().filter(|hook| fits(hook, &call.name)) {
            let news = match self.run(hook, &told).await {
                Ok(finished) if finished.end.success() => said(&finished),
                Ok(finished) => Some(format!("{}\n[{}]", said(&finished).unwrap_or_default(), ended(&finished))),
                Err(why) => Some(why),
            };
            text.extend(news.map(|news| format!("[hook `{}`]\n{}\n", hook.command, news.trim())));
        }
        (!text.is_empty()).then_some(text)
    }

    async fn run(&self, hook: &Hook, told: &Value) -> Result<Finished, String> {
        let job = Job {
            program: Program::Shell(hook.command.clone()),
            dir: self.root.clone(),
            environment: Environment { keep: vec!["*".to_owned()], set: Vec::new() },
            stdin: format!("{told}\n").into_bytes(),
            limits: Limits { wall: Duration::from_secs(hook.timeout_s), output: SAID, ..Limits::default() },
            walls: Walls::None,
        };
        let (environment, cancel) = (self.environment.clone(), Cancel::default());
        // Ends what runs when nobody waits for it any more.
        let _guard = CancelOnDrop::new(cancel.clone());
        let ran = tokio::task::spawn_blocking(move || run(&job, &environment, &cancel, &mut |_, _| {})).await;
        match ran {
            Ok(Ok(finished)) => Ok(finished),
            Ok(Err(error)) => Err(format!("the hook `{}` could not run: {error}", hook.command)),
            Err(error) => Err(format!("the hook `{}` could not run: {error}", hook.command)),
        }
    }
}

/// A pattern that cannot be read was an error when the settings were.
fn fits(hook: &Hook, tool: &str) -> bool {
    Glob::new(&hook.tool).is_ok_and(|glob| glob.compile_matcher().is_match(tool))
}

fn said(finished: &Finished) -> Option<String> {
    let text = |captured: &selfsmith_sandbox::Captured| captured.text(|lost| format!("\n[… {lost} bytes …]\n"));
    let text = format!("{}{}", text(&finished.stdout), text(&finished.stderr));
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn ended(finished: &Finished) -> String {
    match finished.end {
        End::Exit(code) => format!("the hook ended with exit code {code}"),
        End::TimedOut => "the hook took too long and was ended".to_owned(),
        other => format!("the hook was ended: {other:?}"),
    }
}

fn every() -> String {
    "*".to_owned()
}

const fn half_a_minute() -> u64 {
    30
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Channel, Outcome};

    fn hooks(before: &[(&str, &str)], after: &[(&str, &str)]) -> (tempfile::TempDir, Hooks) {
        let list = |hooks: &[(&str, &str)]| {
            let hook = |(tool, command): &(&str, &str)| Hook {
                tool: (*tool).to_owned(),
                command: (*command).to_owned(),
                timeout_s: 20,
            };
            hooks.iter().map(hook).collect()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let settings = Settings { before_tool: list(before), after_tool: list(after) };
        let hooks = Hooks::new(settings, folder.path().to_owned(), std::env::vars_os().collect());
        (folder, hooks)
    }

    fn call(name: &str) -> ToolCall {
        let arguments = json!({ "command": "make install" }).as_object().cloned().unwrap_or_default();
        ToolCall { id: "1".to_owned(), name: name.to_owned(), arguments, channel: Channel::Text }
    }

    #[tokio::test]
    async fn a_hook_that_says_no_stops_the_call_with_its_reason() {
        let (_folder, hooks) = hooks(&[("bash", "grep -q install && { echo 'not here' >&2; exit 2; }")], &[]);
        assert_eq!(hooks.before(&call("bash")).await.as_deref(), Some("not here"));
        assert_eq!(hooks.before(&call("view")).await, None);
        assert!(hooks.any("bash") && !hooks.any("view"));
    }

    #[tokio::test]
    async fn a_hook_that_fails_stops_the_call_too() {
        let (_folder, hooks) = hooks(&[("*", "exit 1")], &[]);
        assert_eq!(hooks.before(&call("view")).await.as_deref(), Some("the hook ended with exit code 1"));
    }

    #[tokio::test]
    async fn what_hooks_say_after_a_call_is_added() {
        let (folder, hooks) = hooks(&[], &[("{bash,job}", "cat > got; echo formatted"), ("*", "true")]);
        let result = ToolResult {
            id: "1".to_owned(),
            name: "bash".to_owned(),
            outcome: Outcome::Done,
            text: String::new(),
            detail: Value::Null,
        };
        let added = hooks.after(&call("bash"), &result).await.expect("it says something");
        assert!(added.ends_with("]\nformatted\n"), "{added}");
        let got: Value = serde_json::from_slice(&std::fs::read(folder.path().join("got")).expect("it")).expect("json");
        assert_eq!((got["event"].as_str(), got["tool"].as_str()), (Some("after_tool"), Some("bash")));
    }
}
