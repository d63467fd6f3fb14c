//! `commit`: a commit as the person would make it, with their identity, hooks, filters and signing.
//!
//! It runs without walls, since hooks and keys are the person's own and out of a command's reach; so a person is asked for
//! each, in every mode. When it fails, files and index are as they were.

use super::{Answer, Effect, Surroundings, Tool, Walled};
use futures::future::BoxFuture;
use selfsmith_repo::Caller;
use selfsmith_repo::person::{Committed, PersonError, Warning, WorkTree};
use selfsmith_sandbox::{Cancel, CancelOnDrop};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long hooks and signing may take.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The tool.
#[derive(Debug, Clone)]
pub struct Commit {
    surroundings: Arc<Surroundings>,
}

impl Commit {
    /// For a workspace.
    pub fn new(surroundings: &Surroundings) -> Self {
        Self { surroundings: Arc::new(surroundings.clone()) }
    }

    fn commit(&self, message: &str, paths: &[String], cancel: &Cancel) -> Result<Committed, PersonError> {
        let caller = Caller { environment: &self.surroundings.environment, cancel };
        let tree = WorkTree::open(&self.surroundings.root, caller)?;
        if paths.is_empty() {
            return tree.commit_all(message, TIMEOUT);
        }
        let paths: Vec<&[u8]> = paths.iter().map(String::as_bytes).collect();
        tree.commit_paths(&paths, message, TIMEOUT)
    }
}

impl Tool for Commit {
    fn name(&self) -> &'static str {
        "commit"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["git_commit"]
    }

    fn prompt(&self) -> &'static str {
        include_str!("../../prompts/tools/commit.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "message": { "type": "string", "minLength": 1 },
                "paths": { "type": "string", "description": "a line each; left out: everything that differs" },
            },
            "required": ["message"],
        })
    }

    fn body(&self) -> Option<&'static str> {
        Some("message")
    }

    fn effect(&self) -> Effect {
        Effect::Runs
    }

    fn walled(&self) -> Walled {
        Walled::No
    }

    fn call<'a>(&'a self, arguments: &'a Map<String, Value>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let message = text("message");
            let paths: Vec<String> =
                text("paths").lines().map(str::trim).filter(|path| !path.is_empty()).map(str::to_owned).collect();
            let (this, cancel) = (self.clone(), Cancel::default());
            // Ends git and its hooks when nobody waits for them any more.
            let _guard = CancelOnDrop::new(cancel.clone());
            let done = tokio::task::spawn_blocking(move || this.commit(&message, &paths, &cancel)).await;
            match done {
                Ok(Ok(committed)) => told(&committed),
                Ok(Err(error)) => Answer::failed(format!("could not {error}\n{}", error.hint())),
                Err(error) => Answer::failed(format!("could not commit: {error}")),
            }
        })
    }
}

fn told(committed: &Committed) -> Answer {
    let mut text = format!("Committed as {}.", committed.id);
    for Warning::EmbeddedRepository(path) in &committed.warnings {
        text.push_str(&format!(" {path} holds a repository of its own and was left out."));
    }
    Answer::done(text).with_detail(json!({ "commit": committed.id }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Outcome;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn sh(folder: &Path, line: &str) -> String {
        let done = std::process::Command::new("bash").args(["-ec", line]).current_dir(folder).output().expect("bash");
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    #[tokio::test]
    async fn a_commit_runs_the_persons_hooks_and_a_refusal_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        sh(
            root,
            "git init -qb main . && git config user.name n && git config user.email n@example.com && echo a > a && echo b > b",
        );
        let hook = root.join(".git/hooks/commit-msg");
        std::fs::create_dir_all(root.join(".git/hooks")).expect("made");
        std::fs::write(&hook, "#!/bin/sh\ngrep -q TICKET \"$1\" || { echo 'no ticket' >&2; exit 1; }\n")
            .expect("a hook");
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("mode");
        let environment = std::env::vars_os().collect();
        let tool = Commit::new(&Surroundings { root: root.to_owned(), environment, ..Surroundings::default() });
        let call = async |arguments: Value| tool.call(arguments.as_object().expect("an object")).await;
        let refused = call(json!({ "message": "first" })).await;
        assert!(refused.outcome == Outcome::Failed && refused.text.contains("no ticket"), "{}", refused.text);
        let done = call(json!({ "message": "TICKET first", "paths": "a\n" })).await;
        assert_eq!(done.outcome, Outcome::Done, "{}", done.text);
        assert_eq!(sh(root, "git log --format=%s; git status --porcelain"), "TICKET first\n?? b\n");
    }
}
