//! `commit`: a commit as the person would make it, with their identity, hooks, filters and signing.
//!
//! It runs without walls, since hooks and keys are the person's own and out of a command's reach; so a person is asked for
//! each, in every mode. When it fails, files and index are as they were.

use super::guard::{Guard, Touch};
use super::{Answer, Effect, Surroundings, Tool, Walled};
use futures::future::BoxFuture;
use selfsmith_repo::Caller;
use selfsmith_repo::person::{Changed, Committed, Difference, PersonError, Warning, WorkTree};
use selfsmith_sandbox::{Cancel, CancelOnDrop};
use serde_json::{Map, Value, json};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
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

    fn commit(&self, message: &str, paths: &[String], cancel: &Cancel) -> Result<Committed, Refused> {
        let taken = taken(&self.surroundings.root, &self.surroundings.environment, paths, cancel)?;
        let secret = taken.into_iter().filter(|one| one.guarded.is_some() && !one.named);
        let secret: Vec<String> = secret.map(|one| one.path).collect();
        if !secret.is_empty() {
            return Err(Refused::Guarded(secret));
        }
        let caller = Caller { environment: &self.surroundings.environment, cancel };
        let tree = WorkTree::open(&self.surroundings.root, caller)?;
        if paths.is_empty() {
            return Ok(tree.commit_all(message, TIMEOUT)?);
        }
        let paths: Vec<&[u8]> = paths.iter().map(String::as_bytes).collect();
        Ok(tree.commit_paths(&paths, message, TIMEOUT)?)
    }
}

/// Why there is no commit.
#[derive(Debug)]
enum Refused {
    /// git's word.
    Git(PersonError),
    /// Guarded files would be in it.
    Guarded(Vec<String>),
}

impl From<PersonError> for Refused {
    fn from(error: PersonError) -> Self {
        Self::Git(error)
    }
}

/// A file that a commit takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// How it differs, as git marks it.
    pub mark: char,
    /// From the top of the work tree.
    pub path: String,
    /// Why tools keep their hands off it, if they do.
    pub guarded: Option<&'static str>,
    /// Whether the call names this very file, and not a folder of it.
    pub named: bool,
}

/// What a commit takes, guarded files first.
///
/// # Errors
/// git cannot tell.
pub fn taken(
    root: &Path,
    environment: &[(OsString, OsString)],
    paths: &[String],
    cancel: &Cancel,
) -> Result<Vec<Taken>, PersonError> {
    let tree = WorkTree::open(root, Caller { environment, cancel })?;
    let top = tree.top().to_owned();
    let wanted: Vec<PathBuf> = paths.iter().map(|path| plain(&root.join(path))).collect();
    let guards = [Guard::new(root), Guard::new(&top)];
    let one = |changed: Changed| {
        let at = top.join(OsStr::from_bytes(changed.path.as_bytes()));
        let named = wanted.contains(&at);
        if changed.difference == Difference::Embedded
            || !(wanted.is_empty() || wanted.iter().any(|wanted| at.starts_with(wanted)))
        {
            return None;
        }
        let why = |(guard, folder): (&Guard, &Path)| guard.why(at.strip_prefix(folder).ok()?, Touch::Reads);
        // A file that is gone takes nothing along.
        let guarded = (changed.difference != Difference::Removed)
            .then(|| guards.iter().zip([root, top.as_path()]).find_map(why))
            .flatten();
        Some(Taken { mark: mark(changed.difference), path: changed.path.to_string(), guarded, named })
    };
    let mut taken: Vec<Taken> = tree.changed_files()?.into_iter().filter_map(one).collect();
    taken.sort_by_key(|one| one.guarded.is_none());
    Ok(taken)
}

/// The paths that a call names.
pub fn paths(arguments: &Map<String, Value>) -> Vec<String> {
    let text = arguments.get("paths").and_then(Value::as_str).unwrap_or_default();
    text.lines().map(str::trim).filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

const fn mark(difference: Difference) -> char {
    match difference {
        Difference::Added | Difference::Untracked | Difference::Embedded => 'A',
        Difference::Changed => 'M',
        Difference::Removed => 'D',
        Difference::Renamed => 'R',
        Difference::Unmerged => 'U',
    }
}

/// A path without `.` and `..`, by its words alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
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
            let paths = paths(arguments);
            let (this, cancel) = (self.clone(), Cancel::default());
            // Ends git and its hooks when nobody waits for them any more.
            let _guard = CancelOnDrop::new(cancel.clone());
            let done = tokio::task::spawn_blocking(move || this.commit(&message, &paths, &cancel)).await;
            match done {
                Ok(Ok(committed)) => told(&committed),
                Ok(Err(Refused::Git(error))) => Answer::failed(format!("could not {error}\n{}", error.hint())),
                Ok(Err(Refused::Guarded(files))) => Answer::failed(format!(
                    "nothing was committed: these would be in it and look like secrets or are guarded: {}\nname the other \
                     files in `paths`; a guarded one only where the person asked for that very file",
                    files.join(", ")
                ))
                .with_detail(json!({ "error": "guarded" })),
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

    #[tokio::test]
    async fn a_guarded_file_is_committed_only_by_its_own_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        sh(
            &root,
            "git init -qb main . && git config user.name n && git config user.email n@example.com
             mkdir k && for f in a .env k/id_rsa; do echo x > $f; done",
        );
        let environment: Vec<_> = std::env::vars_os().collect();
        let all = taken(&root, &environment, &[], &Cancel::default()).expect("git tells");
        assert_eq!(all.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), [".env", "k/id_rsa", "a"]);
        let tool = Commit::new(&Surroundings { root: root.clone(), environment, ..Surroundings::default() });
        let call = async |arguments: Value| tool.call(arguments.as_object().expect("an object")).await;
        for arguments in [json!({ "message": "m" }), json!({ "message": "m", "paths": "a\nk" })] {
            let refused = call(arguments).await;
            assert!(refused.outcome == Outcome::Failed && refused.text.contains("id_rsa"), "{}", refused.text);
        }
        assert_eq!(sh(&root, "git status --porcelain -uall"), "?? .env\n?? a\n?? k/id_rsa\n");
        let done = call(json!({ "message": "m", "paths": "a\n./k/../.env" })).await;
        assert_eq!(done.outcome, Outcome::Done, "{}", done.text);
        assert_eq!(sh(&root, "git ls-files"), ".env\na\n");
    }
}
