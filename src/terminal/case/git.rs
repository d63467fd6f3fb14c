//! Cases of the kind `git`: operations of `selfsmith_repo::person` in the case's repository.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use selfsmith_repo::person::{Class, PersonError, Warning, WorkTree};
use selfsmith_repo::{Caller, TreePath, When};
use selfsmith_sandbox::Cancel;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long hooks and signing may take where the case does not say: below the bound of a case.
const TIMEOUT: Duration = Duration::from_secs(45);

/// Does one operation.
pub fn answer(input: &Value) -> Result<Value, String> {
    let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
    let dir = text(input, "cwd").or_else(|| text(input, "repo")).ok_or("the case names no folder")?;
    let operation = input.get("op").ok_or("the case names no operation")?;
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let cancel = Cancel::default();
    let caller = Caller { environment: &environment, cancel: &cancel };
    let done = WorkTree::open(Path::new(&dir), caller).and_then(|tree| act(&tree, operation).transpose());
    match done {
        Ok(None) => Err(format!("no operation is called {}", operation.get("name").unwrap_or(&Value::Null))),
        Ok(Some(got)) => Ok(got),
        Err(error) => {
            Ok(json!({"error": word(error.class), "message": format!("could not {error}"), "hint": error.hint()}))
        }
    }
}

/// None: there is no such operation.
fn act(tree: &WorkTree<'_>, operation: &Value) -> Option<Result<Value, PersonError>> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or_default();
    let list = |name: &str| -> Vec<&[u8]> {
        let items = operation.get(name).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::as_bytes)).collect()
    };
    let timeout = operation
        .get("timeout_s")
        .and_then(Value::as_f64)
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .unwrap_or(TIMEOUT);
    let ok = |()| json!({"ok": true});
    let committed = |done: selfsmith_repo::person::Committed| {
        let warnings: Vec<String> =
            done.warnings.iter().map(|Warning::EmbeddedRepository(path)| path.to_string()).collect();
        json!({"ok": true, "commit": done.id, "warn": warnings})
    };
    Some(match text("name") {
        "changed_files" => tree.changed_files().map(|changed| {
            let files: Vec<String> = changed.iter().map(|c| readable(&c.path)).collect();
            let renamed: serde_json::Map<String, Value> = changed
                .iter()
                .filter_map(|c| Some((readable(c.from.as_ref()?), Value::from(readable(&c.path)))))
                .collect();
            json!({"ok": true, "files": files, "renamed": renamed})
        }),
        "diff" => tree.diff().map(|diff| {
            let files: Vec<String> = diff.files.iter().map(readable).collect();
            json!({"ok": true, "files": files, "patch": diff.patch})
        }),
        "commit_all" => tree.commit_all(text("message"), timeout).map(committed),
        "commit_paths" => tree.commit_paths(&list("paths"), text("message"), timeout).map(committed),
        "undo_agent_changes" => tree.undo_agent_changes(&list("agent_files"), now()).map(|_| json!({"ok": true})),
        "discard_untracked" => {
            let path = BASE64_STANDARD.decode(text("path_b64")).unwrap_or_default();
            tree.discard_untracked(&path).map(ok)
        }
        "revert_commit" => tree.revert_commit(text("rev"), timeout).map(|id| json!({"ok": true, "commit": id})),
        "undo_last_commit" => tree.undo_last_commit().map(|id| json!({"ok": true, "commit": id})),
        "toplevel_name" => Ok(json!({"ok": true, "name": tree.toplevel_name()})),
        "rename" => tree.rename(text("frm").as_bytes(), text("to").as_bytes()).map(ok),
        "checkpoint" => tree.checkpoint(now()).map(|made| json!({"ok": true, "checkpoint": made.name})),
        "restore_checkpoint" => tree.restore_checkpoint(text("checkpoint"), now()).map(|_| json!({"ok": true})),
        _ => return None,
    })
}

/// The name itself where it is text; otherwise escaped.
fn readable(path: &TreePath) -> String {
    path.as_str().map_or_else(|| path.to_string(), str::to_owned)
}

fn now() -> When {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    When { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), offset_minutes: 0 }
}

/// The word of tests/cases/README.md.
fn word(class: Class) -> &'static str {
    match class {
        Class::NotARepository => "not_a_repo",
        Class::Bare => "bare",
        Class::Ownership => "ownership",
        Class::Identity => "identity",
        Class::Locked => "locked",
        Class::InProgress => "in_progress",
        Class::Detached => "detached",
        Class::Dirty => "dirty",
        Class::Hook => "hook",
        Class::Sign => "sign",
        Class::TimedOut => "timeout_or_sign",
        Class::Filter => "filter",
        Class::NoParent => "no_parent",
        Class::Merge => "merge",
        Class::Published => "published",
        Class::Conflict => "conflict",
        Class::NoChange => "no_change",
        Class::NotFound => "not_found",
        Class::NoSuchFile => "no_such_file",
        Class::Exists => "exists",
        Class::IsDirectory => "is_directory",
        Class::NotAFile => "not_a_file",
        Class::BadPath => "bad_path",
        Class::OutsideRoot => "outside_root",
        Class::Protected => "protected",
        Class::Cancelled => "cancelled",
        Class::Unsupported => "unsupported",
        Class::Failed => "failed",
    }
}
