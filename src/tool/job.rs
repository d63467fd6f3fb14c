//! `job`: what commands in the background say, and their end.

use super::bash::{Action, Jobs};
use super::{Answer, Effect, Tool};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The tool.
#[derive(Debug)]
pub struct Job {
    jobs: Arc<Jobs>,
}

impl Job {
    /// For the jobs of `bash`.
    pub(super) fn new(jobs: Arc<Jobs>) -> Self {
        Self { jobs }
    }
}

impl Tool for Job {
    fn name(&self) -> &'static str {
        "job"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["jobs", "bash_output", "kill_shell"]
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/job.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "job": { "type": "string", "description": "its number; left out: list them" },
                "action": { "type": "string", "enum": ["list", "read", "wait", "end"], "description": "default read" },
                "timeout_s": { "type": "integer", "description": "how long to wait; default 30" },
            },
            "required": [],
        })
    }

    fn body(&self) -> Option<&'static str> {
        Some("job")
    }

    /// It touches nothing but what the session itself has started.
    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let text = |name: &str| arguments.get(name).and_then(super::bash::spelled);
            let number = text("job").map(|text| text.trim().to_owned()).filter(|number| !number.is_empty());
            let action = match (text("action").as_deref().map(str::trim), &number) {
                (Some("list"), _) | (None | Some("" | "read"), None) => return Answer::done(self.jobs.list()),
                (None | Some("" | "read"), Some(_)) => Action::Read,
                (Some("wait"), _) => Action::Wait,
                (Some("end" | "kill" | "stop"), _) => Action::End,
                (Some(other), _) => {
                    return Answer::failed(format!("action is list, read, wait or end, not `{other}`"));
                }
            };
            let patience = match text("timeout_s").map(|text| super::bash::seconds(&text)).transpose() {
                Ok(patience) => patience,
                Err(why) => return Answer::failed(why),
            };
            act(&self.jobs, &number.unwrap_or_default(), action, patience).await
        })
    }
}

async fn act(jobs: &Jobs, number: &str, action: Action, patience: Option<Duration>) -> Answer {
    match jobs.act(number, action, patience).await {
        Ok(text) => Answer::done(text),
        Err(why) => Answer::failed(why),
    }
}
