//! The proposer `cmd:ARGV`: any program, or another agent's command line, in the room and without a network.
//!
//! What it prints is shown as it comes, and its end is kept with the evidence: bounded, lines with keys left out, paths as
//! they were typed. It stands in the candidate's folder, gets the goal on its standard input and in `SELFSMITH_GOAL`, and at a
//! repair the diagnostics behind the goal and in `SELFSMITH_DIAGNOSTICS`. Words that name something outside of the folder are
//! bound read-only, each under a neutral path, and the word is replaced by that path.

use crate::bounds::secret_in;
use crate::judgement::candidate::Proposal;
use crate::judgement::progress::{Progress, Report};
use crate::proposer::room::{self, Kit, Run};
use crate::proposer::{Proposer, ProposerError, Task};
use crate::texts::{EN, fill};
use selfsmith_sandbox::{Bind, BindMode, End, Stream};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Folders that the room has by itself.
const SYSTEM: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/dev", "/proc"];
/// Where what a word names is seen.
const OUTSIDE: &str = "/outside";

/// Where words are looked up.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// The caller's folder.
    pub cwd: PathBuf,
    /// The caller's search path.
    pub path: Option<OsString>,
    /// Folders that a word may not open: the home, the state folder, the repository.
    pub closed: Vec<PathBuf>,
}

/// The proposer.
#[derive(Debug)]
pub struct Command {
    words: Vec<String>,
    outside: Outside,
    kit: Kit,
}

impl Command {
    /// From what stands behind `cmd:`, read as a shell reads words; nothing else of a shell is understood.
    pub fn new(line: &str, outside: Outside, kit: Kit) -> Result<Self, ProposerError> {
        let words = shell_words::split(line).map_err(|error| ProposerError {
            what: format!("could not read the command `{line}`: {error}"),
            hint: "close every quote; for pipes and variables use cmd:sh -c '…'".to_owned(),
        })?;
        if words.is_empty() {
            let what = "the command after `cmd:` is empty".to_owned();
            return Err(ProposerError { what, hint: "name a program, such as cmd:'my-agent --auto'".to_owned() });
        }
        Ok(Self { words, outside, kit })
    }
}

impl Proposer for Command {
    fn name(&self) -> &str {
        "cmd"
    }

    fn propose(&mut self, task: Task<'_>, report: Report<'_>) -> Result<Proposal, ProposerError> {
        let (argv, binds) = bring_in(&self.words, &self.outside, task.dir)?;
        let mut set = vec![("SELFSMITH_GOAL".to_owned(), room::variable(task.goal))];
        let mut stdin = task.goal.to_owned();
        if let Some(found) = task.diagnostics {
            set.push(("SELFSMITH_DIAGNOSTICS".to_owned(), room::variable(found)));
            stdin.push_str("\n\n");
            stdin.push_str(found);
        }
        let shown = shell_words::join(&self.words);
        let mut told = Told::new(&self.words, &binds);
        let run = Run {
            shown: shown.clone(),
            argv,
            dir: task.dir,
            target: task.target,
            binds,
            set,
            stdin: stdin.into_bytes(),
            relay: None,
        };
        let finished = room::run(&self.kit, run, &mut |stream, bytes| told.push(stream, bytes, report))?;
        told.end(report);
        if finished.end != End::Exit(0) {
            let last = told.harmless(&room::last_lines(&finished.stderr, 8));
            return Err(ProposerError {
                what: format!("`{shown}` {}: {last}", room::ended(&finished.end)),
                hint: "it runs in a room without network and home; what it printed is above".to_owned(),
            });
        }
        let said = finished.stdout.text(|dropped| format!("\n… {dropped} bytes left out …\n"));
        let summary = last_paragraph(&told.harmless(&said)).unwrap_or_default();
        Ok(Proposal { summary, prediction: String::new(), output: told.tail() })
    }
}

/// Lines of one attempt that are shown, characters of a line, bytes that are kept as evidence.
const SHOWN: usize = 200;
const LINE: usize = 400;
const TAIL: usize = 4096;

/// What the program prints: line by line to whoever looks, its end for the evidence.
struct Told {
    /// A path in the room, and the word that it stands for.
    names: Vec<(String, String)>,
    open: [Vec<u8>; 2],
    shown: usize,
    lines: std::collections::VecDeque<String>,
    kept: usize,
}

impl Told {
    fn new(words: &[String], binds: &[Bind]) -> Self {
        let word = |at: &Path| {
            let index = at.strip_prefix(OUTSIDE).ok()?.iter().next()?.to_str()?.parse::<usize>().ok()?;
            words.get(index).cloned()
        };
        let names = binds.iter().filter_map(|bind| Some((bind.at.display().to_string(), word(&bind.at)?))).collect();
        Self { names, open: [Vec::new(), Vec::new()], shown: 0, lines: std::collections::VecDeque::new(), kept: 0 }
    }

    fn push(&mut self, stream: Stream, bytes: &[u8], report: Report<'_>) {
        let at = usize::from(matches!(stream, Stream::Stderr));
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let ends = part.ends_with(b"\n") || part.ends_with(b"\r");
            let Some(open) = self.open.get_mut(at) else { return };
            // What is beyond the bound of a line is not kept.
            let room = (4 * LINE).saturating_sub(open.len());
            open.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
            if ends {
                let line = std::mem::take(open);
                self.line(&line, report);
            }
        }
    }

    /// What stands in a line without an end.
    fn end(&mut self, report: Report<'_>) {
        for line in std::mem::take(&mut self.open) {
            self.line(&line, report);
        }
    }

    fn line(&mut self, bytes: &[u8], report: Report<'_>) {
        let line = self.harmless(String::from_utf8_lossy(bytes).trim_end());
        if line.is_empty() {
            return;
        }
        let line: String = line.chars().take(LINE).collect();
        self.shown += 1;
        match self.shown.cmp(&(SHOWN + 1)) {
            std::cmp::Ordering::Less => report(Progress::Said { text: line.clone() }),
            std::cmp::Ordering::Equal => report(Progress::Said { text: EN.said_more.to_owned() }),
            std::cmp::Ordering::Greater => {}
        }
        self.kept += line.len() + 1;
        self.lines.push_back(line);
        while self.kept > TAIL
            && let Some(gone) = self.lines.pop_front()
        {
            self.kept -= gone.len() + 1;
        }
    }

    /// Without keys, and with paths as they were typed.
    fn harmless(&self, text: &str) -> String {
        let one = |line: &str| match secret_in(line.as_bytes(), b"") {
            Some(what) => fill(EN.said_key, &[("what", what)]),
            None => self.names.iter().fold(line.to_owned(), |line, (at, word)| line.replace(at, word)),
        };
        text.lines().map(one).collect::<Vec<_>>().join("\n")
    }

    /// The end of it.
    fn tail(&self) -> String {
        self.lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Whether the program of the command is there, before anything is begun: on the search path, as a file outside, or in the
/// base (`in_base`).
pub fn look_up(line: &str, outside: &Outside, in_base: &dyn Fn(&str) -> bool) -> Result<(), ProposerError> {
    let Some(word) = shell_words::split(line).ok().and_then(|words| words.into_iter().next()) else { return Ok(()) };
    if !word.contains('/') {
        return program(&word, outside).map(drop);
    }
    let there = outside.cwd.join(&word).is_file() || in_base(word.strip_prefix("./").unwrap_or(&word));
    if there {
        return Ok(());
    }
    Err(ProposerError {
        what: format!("could not find the program `{word}`, neither from {} nor in the base", outside.cwd.display()),
        hint: "give its whole path, or the name of one on the search path (PATH)".to_owned(),
    })
}

/// The argv as seen in the room, and what must be bound for it.
fn bring_in(words: &[String], outside: &Outside, dir: &Path) -> Result<(Vec<OsString>, Vec<Bind>), ProposerError> {
    let mut argv = Vec::new();
    let mut binds: Vec<Bind> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let found = if index == 0 && !word.contains('/') { program(word, outside)? } else { named(word, outside, dir) };
        let Some(found) = found else {
            argv.push(OsString::from(word));
            continue;
        };
        refuse_closed(word, &found, outside)?;
        let name = found.file_name().unwrap_or(OsStr::new("file"));
        let at = Path::new(OUTSIDE).join(index.to_string()).join(name);
        argv.push(at.clone().into());
        binds.push(Bind { source: found, at, mode: BindMode::ReadOnly });
    }
    Ok((argv, binds))
}

/// A program by name: one of the system's needs nothing, another is bound.
fn program(word: &str, outside: &Outside) -> Result<Option<PathBuf>, ProposerError> {
    let found = which::which_in(word, outside.path.as_deref(), &outside.cwd).map_err(|_| ProposerError {
        what: format!("could not find the program `{word}` on the search path (PATH)"),
        hint: "give its whole path".to_owned(),
    })?;
    let real = found.canonicalize().unwrap_or_else(|_| found.clone());
    let systems = |path: &Path| SYSTEM.iter().any(|folder| path.starts_with(folder));
    Ok(if systems(&found) && systems(&real) { None } else { Some(real) })
}

/// What a word names outside of the candidate's folder, if anything.
fn named(word: &str, outside: &Outside, dir: &Path) -> Option<PathBuf> {
    let path = Path::new(word);
    if word.is_empty() || (path.is_relative() && dir.join(path).exists()) {
        return None;
    }
    let real = outside.cwd.join(path).canonicalize().ok()?;
    let inside = SYSTEM.iter().any(|folder| real.starts_with(folder))
        || real == Path::new("/")
        || real.starts_with("/tmp") && real == Path::new("/tmp");
    (!inside).then_some(real)
}

fn refuse_closed(word: &str, found: &Path, outside: &Outside) -> Result<(), ProposerError> {
    let opens = |closed: &PathBuf| closed.canonicalize().is_ok_and(|closed| closed.starts_with(found));
    let git = found.iter().any(|part| part == ".git");
    if git || outside.closed.iter().any(opens) {
        return Err(ProposerError {
            what: format!("the word `{word}` would open {} to the proposer", found.display()),
            hint:
                "name the one file or folder that it needs, not one that holds your home, the repository or our state"
                    .to_owned(),
        });
    }
    Ok(())
}

/// The last paragraph of what a program said, bounded.
fn last_paragraph(said: &str) -> Option<String> {
    let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
    let end = lines.iter().rposition(|line| !line.is_empty())?;
    let start = lines.iter().take(end).rposition(|line| line.is_empty()).map_or(0, |blank| blank + 1);
    let text = lines.get(start..=end)?.join("\n");
    Some(text.chars().take(1000).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_file_outside_is_bound_and_one_inside_or_of_the_system_is_not() {
        let caller = tempfile::tempdir().expect("temporary folder");
        let candidate = tempfile::tempdir().expect("temporary folder");
        fs::write(caller.path().join("edit.sh"), "").expect("file");
        fs::write(caller.path().join("both.rs"), "").expect("file");
        fs::write(candidate.path().join("both.rs"), "").expect("file");
        let outside = Outside { cwd: caller.path().to_owned(), path: Some("/usr/bin:/bin".into()), closed: Vec::new() };
        let line = words(&["sh", "edit.sh", "both.rs", "/usr/bin/env", "word", ""]);
        let (argv, binds) = bring_in(&line, &outside, candidate.path()).expect("is right");
        assert_eq!(argv, ["sh", "/outside/1/edit.sh", "both.rs", "/usr/bin/env", "word", ""]);
        assert_eq!(binds.len(), 1);
        assert_eq!(binds.first().map(|bind| &bind.mode), Some(&BindMode::ReadOnly));
    }

    #[test]
    fn a_word_cannot_open_a_closed_folder_or_git_data() {
        let home = tempfile::tempdir().expect("temporary folder");
        let state = home.path().join("state");
        fs::create_dir_all(home.path().join("repo/.git")).expect("folder");
        fs::write(home.path().join("repo/.git/config"), "").expect("file");
        fs::create_dir(&state).expect("folder");
        let outside = Outside { cwd: home.path().to_owned(), path: None, closed: vec![state] };
        for word in [home.path().to_string_lossy().as_ref(), "repo/.git/config", "state"] {
            assert!(bring_in(&words(&["/usr/bin/cat", word]), &outside, Path::new("/nowhere")).is_err(), "{word}");
        }
    }

    #[test]
    fn a_missing_program_is_said_at_once() {
        let outside = Outside { cwd: "/".into(), path: Some("/usr/bin".into()), closed: Vec::new() };
        let error = bring_in(&words(&["no-such-agent"]), &outside, Path::new("/nowhere")).expect_err("is missing");
        assert!(error.what.contains("no-such-agent"), "{error}");
    }

    #[test]
    fn what_it_prints_is_shown_bounded_without_keys_and_with_paths_as_typed() {
        let line = words(&["sh", "slow.sh"]);
        let bind = Bind { source: "/x/slow.sh".into(), at: "/outside/1/slow.sh".into(), mode: BindMode::ReadOnly };
        let seen = std::cell::RefCell::new(Vec::new());
        let report = |progress: Progress| seen.borrow_mut().push(progress);
        let mut told = Told::new(&line, &[bind]);
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let text = format!("working\n\n{key}\n/outside/1/slow.sh: line 3: oops");
        for byte in text.as_bytes() {
            told.push(Stream::Stderr, &[*byte], &report);
        }
        told.end(&report);
        let tail = told.tail();
        assert!(tail.starts_with("working\n(") && tail.ends_with("\nslow.sh: line 3: oops"), "{tail}");
        assert!(!tail.contains(&key), "{tail}");
        assert_eq!(seen.borrow().len(), 3);
        for number in 0..9000 {
            told.push(Stream::Stdout, format!("{number}\n").as_bytes(), &report);
        }
        assert_eq!(seen.borrow().len(), SHOWN + 1, "the last one says that there is more");
        assert!(told.tail().len() <= TAIL && told.tail().ends_with("8999"));
    }

    #[test]
    fn a_program_is_looked_for_before_anything_begins() {
        let place = tempfile::tempdir().expect("temporary folder");
        fs::write(place.path().join("edit.sh"), "").expect("file");
        let outside = Outside { cwd: place.path().into(), path: Some("/usr/bin:/bin".into()), closed: Vec::new() };
        let base = |path: &str| path == "tools/agent";
        for there in ["sh -c x", "./edit.sh", "tools/agent --auto", "./tools/agent"] {
            assert!(look_up(there, &outside, &base).is_ok(), "{there}");
        }
        for missing in ["no-such-agent", "./none.sh", "/nowhere/agent"] {
            assert!(look_up(missing, &outside, &base).is_err(), "{missing}");
        }
    }

    #[test]
    fn the_summary_is_the_last_paragraph() {
        assert_eq!(last_paragraph("log\n\nDid it.\nIn two lines.\n\n"), Some("Did it.\nIn two lines.".to_owned()));
        assert_eq!(last_paragraph("\n \n"), None);
    }
}
