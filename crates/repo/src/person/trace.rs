//! Which of git's children failed or was still running: hooks and the signing program, from git's own event trace
//! (Documentation/technical/api-trace2). Promises not to guess from texts, which a hook can forge. Where git writes no trace,
//! it knows nothing.

use serde::Deserialize;
use std::ffi::OsString;
use std::fs;
use tempfile::NamedTempFile;

/// The trace of one command.
pub(super) struct Trace {
    file: NamedTempFile,
}

/// A child that git started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Child {
    /// Name of the hook, where it was one.
    pub hook: Option<String>,
    /// Its program.
    pub program: String,
    /// Its exit code; none while it runs.
    pub code: Option<i64>,
}

#[derive(Deserialize)]
struct Line {
    event: String,
    sid: String,
    child_id: Option<u64>,
    hook_name: Option<String>,
    #[serde(default)]
    argv: Vec<String>,
    code: Option<i64>,
}

impl Trace {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self { file: NamedTempFile::with_prefix("selfsmith-git-")? })
    }

    /// The variable that makes git write it.
    pub(super) fn variable(&self) -> (&'static str, OsString) {
        ("GIT_TRACE2_EVENT", self.file.path().as_os_str().to_owned())
    }

    /// The children of the command itself, not those of a git that a hook ran.
    pub(super) fn children(&self) -> Vec<Child> {
        let text = fs::read(self.file.path()).unwrap_or_default();
        children_in(&String::from_utf8_lossy(&text))
    }
}

fn children_in(text: &str) -> Vec<Child> {
    let mut children: Vec<(u64, Child)> = Vec::new();
    for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        let Some(id) = line.child_id.filter(|_| !line.sid.contains('/')) else { continue };
        if line.event == "child_start" {
            let program = line.argv.into_iter().next().unwrap_or_default();
            children.push((id, Child { hook: line.hook_name, program, code: None }));
        } else if line.event == "child_exit"
            && let Some((_, child)) = children.iter_mut().rev().find(|(started, _)| *started == id)
        {
            child.code = line.code;
        }
    }
    children.into_iter().map(|(_, child)| child).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_failed_is_told_from_what_it_ran_itself() {
        let text = r#"
{"event":"child_start","sid":"A","child_id":0,"child_class":"hook","hook_name":"pre-commit","argv":[".git/hooks/pre-commit"]}
{"event":"child_start","sid":"A/B","child_id":0,"argv":["inner"]}
{"event":"child_exit","sid":"A/B","child_id":0,"code":7}
{"event":"child_exit","sid":"A","child_id":0,"code":1}
no json
{"event":"child_start","sid":"A","child_id":1,"argv":["gpg"]}"#;
        let child = |hook: Option<&str>, program: &str, code| Child {
            hook: hook.map(str::to_owned),
            program: program.to_owned(),
            code,
        };
        assert_eq!(
            children_in(text),
            [child(Some("pre-commit"), ".git/hooks/pre-commit", Some(1)), child(None, "gpg", None)]
        );
    }
}
