//! What the compiler says after an edit in a Cargo project, so that a model need not ask.
//!
//! Runs `cargo check` as `bash` would run it, behind the same walls, and only where the settings and the person's trust in
//! the project allow it: a build script is a program. Bounded in time; where it takes longer again and again, it is not
//! asked any more. Files of other languages, and folders without a manifest, cost nothing.

use super::bash::{AtLimit, Bash};
use super::files::Files;
use super::{Answer, Surroundings};
use crate::message::Outcome;
use selfsmith_sandbox::{Cancel, CancelOnDrop, End};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the answer to an edit may wait for it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Runs without an answer, one after the other, before it is not asked any more.
const MAX_LOST: u32 = 3;
/// Errors that are shown of the edited files, and new ones of others.
const MAX_OWN: usize = 8;
const MAX_OTHERS: usize = 3;
/// Characters of an error's line.
const MAX_LINE: usize = 240;
/// Bytes of output that are read.
const OUTPUT: usize = 64 * 1024;

/// Whether it is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckEdits {
    /// Never.
    #[default]
    Off,
    /// In Cargo projects that the person trusts.
    Auto,
}

/// The compiler of a session.
#[derive(Debug)]
pub struct Compiler {
    bash: Bash,
    root: PathBuf,
    known: Mutex<Known>,
    patience: Duration,
}

#[derive(Debug, Default)]
struct Known {
    /// What it said last, by manifest.
    errors: HashMap<PathBuf, BTreeSet<(String, String)>>,
    lost: u32,
}

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    path: String,
    /// `12:5`.
    place: String,
    text: String,
}

impl Compiler {
    /// None where it is not to be asked.
    pub fn new(surroundings: &Surroundings) -> Option<Self> {
        if surroundings.check_edits == CheckEdits::Off {
            return None;
        }
        let mut surroundings = surroundings.clone();
        surroundings.bash.output_bytes = OUTPUT;
        surroundings.bash.at_limit = AtLimit::End;
        let known = Mutex::default();
        Some(Self { bash: Bash::new(&surroundings), root: surroundings.root.clone(), known, patience: PATIENCE })
    }

    /// What it says of these files, relative to the root; nothing where there is nothing to say.
    fn say(&self, files: &[String], cancel: &Cancel) -> Option<String> {
        let is_rust = |name: &&String| name.ends_with(".rs") || name.ends_with("Cargo.toml");
        let edited: Vec<&String> = files.iter().filter(is_rust).collect();
        let manifest = manifest(&self.root, edited.first()?)?;
        if self.known.lock().unwrap_or_else(PoisonError::into_inner).lost >= MAX_LOST {
            return None;
        }
        // Tests and examples are compiled only where one of them was edited.
        let all = edited.iter().any(|name| !(name.starts_with("src/") || name.contains("/src/")));
        let targets = if all { " --all-targets" } else { "" };
        let path = manifest.to_str().map(shell_words::quote)?;
        let command = format!("cargo check --offline --quiet --message-format=short --manifest-path {path}{targets}");
        let ran = self.bash.run(&command, Some(self.patience), cancel).ok()?;
        let faults = faults(&format!("{}\n{}", ran.stdout, ran.stderr));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = matches!(ran.end, End::Exit(code) if code == 0 || !faults.is_empty());
        if !ended {
            known.lost += 1;
            return None;
        }
        known.lost = 0;
        let now = faults.iter().map(|fault| (fault.path.clone(), fault.text.clone())).collect();
        let before = known.errors.insert(manifest, now);
        Some(told(&faults, &edited, before.as_ref()))
    }
}

/// The answer of an edit with what the compiler says of it.
pub async fn checked(files: &Arc<Files>, mut answer: Answer) -> Answer {
    if files.compiler().is_none() || answer.outcome != Outcome::Done {
        return answer;
    }
    let names = answer.detail.get("files").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<String> = names.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    let (files, cancel) = (Arc::clone(files), Cancel::default());
    // Ends cargo when nobody waits for it any more.
    let _guard = CancelOnDrop::new(cancel.clone());
    let say = move || files.compiler().and_then(|compiler| compiler.say(&names, &cancel));
    let said = match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(say).await.ok().flatten(),
        Err(_) => say(),
    };
    if let Some(said) = said {
        answer.text = format!("{}\n{said}", answer.text.trim_end_matches('\n'));
    }
    answer
}

/// The nearest manifest above a file, not above the root.
fn manifest(root: &Path, file: &str) -> Option<PathBuf> {
    let file = root.join(file);
    let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    folders.map(|folder| folder.join("Cargo.toml")).find(|path| path.is_file())
}

/// `src/lib.rs:3:5: error[E0425]: cannot find …`, each once.
fn faults(output: &str) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for line in output.lines() {
        let Some((place, text)) = line.split_once(": error") else { continue };
        let mut parts = place.rsplitn(3, ':');
        let (Some(column), Some(row), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let numbers = [row, column].iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        if !numbers || path.contains(' ') {
            continue;
        }
        let text: String = format!("error{text}").chars().take(MAX_LINE).collect();
        let fault = Fault { path: path.replace('\\', "/"), place: format!("{row}:{column}"), text };
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    faults
}

fn told(faults: &[Fault], edited: &[&String], before: Option<&BTreeSet<(String, String)>>) -> String {
    if faults.is_empty() {
        return "[cargo check: no errors]".to_owned();
    }
    // The compiler names files from its own workspace's root.
    let same = |path: &str, name: &str| path.ends_with(name) || name.ends_with(path);
    let is_own = |fault: &&Fault| edited.iter().any(|name| same(&fault.path, name));
    let is_new = |fault: &&Fault| before.is_none_or(|old| !old.contains(&(fault.path.clone(), fault.text.clone())));
    let own = faults.iter().filter(is_own).take(MAX_OWN);
    let others = faults.iter().filter(|fault| !is_own(fault) && is_new(fault)).take(MAX_OTHERS);
    let shown: Vec<&Fault> = own.chain(others).collect();
    let plural = if faults.len() == 1 { "" } else { "s" };
    let new = before.map(|_| format!(", {} new", faults.iter().filter(is_new).count())).unwrap_or_default();
    let mut text = format!("[cargo check: {} error{plural}{new}]", faults.len());
    for fault in &shown {
        text.push_str(&format!("\n{}:{}: {}", fault.path, fault.place, fault.text));
    }
    if shown.len() < faults.len() {
        text.push_str(&format!("\n[{} more]", faults.len() - shown.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_edit_is_answered_with_what_the_compiler_says_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("src")).expect("a folder");
        fs::write(at("Cargo.toml"), "[package]\nname = \"a\"\nedition = \"2024\"\n[workspace]\n").expect("a file");
        fs::write(at("src/lib.rs"), "mod b;\npub fn f() -> u8 {\n    b::g()\n}\n").expect("a file");
        fs::write(at("src/b.rs"), "pub fn g() -> u8 {\n    1\n}\n").expect("a file");
        let surroundings = Surroundings {
            root: folder.path().canonicalize().expect("the folder"),
            environment: std::env::vars_os().filter(|(name, _)| name != "CARGO_TARGET_DIR").collect(),
            check_edits: CheckEdits::Auto,
            ..Surroundings::default()
        };
        let patience = Duration::from_secs(300);
        let compiler = Compiler { patience, ..Compiler::new(&surroundings).expect("it is asked") };
        let edit = |path: &str, text: &str| {
            fs::write(at(path), text).expect("a file");
            compiler.say(&[path.to_owned()], &Cancel::default()).expect("it is said")
        };
        let broken = edit("src/b.rs", "pub fn g() -> u8 {\n    x\n}\n");
        assert!(broken.starts_with("[cargo check: 1 error]\nsrc/b.rs:2:5: error[E0425]: "), "{broken}");
        let worse = edit("src/lib.rs", "mod b;\npub fn f() -> u8 {\n    b::h()\n}\n");
        assert!(worse.starts_with("[cargo check: 2 errors, 1 new]\nsrc/lib.rs:3:8: error[E0425]: "), "{worse}");
        assert!(worse.ends_with("[1 more]"), "{worse}");
        edit("src/lib.rs", "mod b;\npub fn f() -> u8 {\n    b::g()\n}\n");
        assert_eq!(edit("src/b.rs", "pub fn g() -> u8 {\n    1\n}\n"), "[cargo check: no errors]");
        assert_eq!(compiler.say(&["a.py".to_owned()], &Cancel::default()), None);
    }

    #[test]
    fn lines_that_only_look_like_errors_are_none() {
        let output =
            "error: could not compile\nsrc/a.rs:1: error\nnote: a b.rs:1:2: error\nsrc/a.rs:1:2: error[E1]: x\n";
        let want = Fault { path: "src/a.rs".to_owned(), place: "1:2".to_owned(), text: "error[E1]: x".to_owned() };
        assert_eq!(faults(output), [want]);
    }
}
