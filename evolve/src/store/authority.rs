//! Who said so: approving, undoing, forgetting and setting a policy need a person, and which sign of one was seen is recorded.
//!
//! A person is at a terminal of the process's own (`/dev/tty` opens), no agent stands among its ancestors, and none of them
//! confined it; or the owner wrote it into the judge's own settings. It cannot tell who sits at the terminal, nor recognise
//! an agent that runs outside of every wall, under a name of its own making, and cut itself off from what it started.

use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// The sign of a person that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Authority {
    /// A terminal of its own, no agent among the ancestors.
    Terminal,
    /// The owner's settings allow it without one.
    Settings {
        /// The file that says so.
        file: PathBuf,
    },
    /// Nobody's word is needed: the repository is the judge's own sample, made by the very process that lands on it.
    Sample,
    /// Typed on the command line of an unattended run. Stands in older records; it is enough for nothing any more.
    CommandLine,
}

/// Why there is no authority.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAuthority {
    /// An agent asks for it.
    #[error("do this for an agent: process {pid} ({name}) started this command")]
    Agent {
        /// The ancestor.
        pid: u32,
        /// Its program.
        name: String,
    },
    /// An ancestor takes rights away from what it starts, as agents do.
    #[error("do this behind a wall: process {pid} ({name}) confines what it starts, as agents do")]
    Confined {
        /// The nearest ancestor that is not confined itself.
        pid: u32,
        /// Its program.
        name: String,
    },
    /// Nobody is there.
    #[error("do this without a person: there is no terminal of its own")]
    NoTerminal,
    /// It cannot be seen who started this.
    #[error("see who started this command: {what}")]
    Unseen {
        /// Why.
        what: String,
    },
}

impl NoAuthority {
    /// Whether it was seen that no person asks: being one is then the only remedy.
    pub const fn is_an_agents(&self) -> bool {
        matches!(self, Self::Agent { .. } | Self::Confined { .. })
    }
}

/// Programs that act for a model, by the names of their files, scripts or processes.
const AGENTS: [&str; 12] = [
    "selfsmith-agent",
    "aider",
    "amp",
    "claude",
    "codex",
    "copilot",
    "crush",
    "cursor-agent",
    "gemini",
    "goose",
    "opencode",
    "qwen",
];
/// The launcher sets it for the agent, and whatever the agent starts inherits it.
const MARK: &[u8] = b"SELFSMITH_GENERATION=";
/// The kernel keeps so many characters of a process's name.
const KEPT: usize = 15;

/// Look for a person. `settings` is the owner's file, where that allows it without one; `more` are programs that the owner
/// counts as agents besides the known ones.
pub fn person(settings: Option<&Path>, more: &[String]) -> Result<Authority, NoAuthority> {
    if let Some(file) = settings {
        return Ok(Authority::Settings { file: file.to_owned() });
    }
    no_agent_above(more)?;
    match OpenOptions::new().read(true).write(true).open("/dev/tty") {
        Ok(_) => Ok(Authority::Terminal),
        Err(_) => Err(NoAuthority::NoTerminal),
    }
}

/// No ancestor of this process is an agent's program, or confines what it starts.
fn no_agent_above(more: &[String]) -> Result<(), NoAuthority> {
    let me = Facts::of(std::process::id())?;
    let me = me.ok_or_else(|| NoAuthority::Unseen { what: "this process is not listed in /proc".to_owned() })?;
    if me.marked {
        let name = me.names.into_iter().next().unwrap_or_default();
        return Err(NoAuthority::Agent { pid: std::process::id(), name });
    }
    let mut outside = None;
    let mut next = me.parent;
    // A chain longer than this does not occur; a circle cannot.
    for _ in 0..4096 {
        let Some(pid) = next else {
            return outside.map_or(Ok(()), |(pid, name)| Err(NoAuthority::Confined { pid, name }));
        };
        // An ancestor that ended in between has no ancestors any more.
        let facts = Facts::of(pid)?.unwrap_or_default();
        if let Some(name) = facts.agent(more) {
            return Err(NoAuthority::Agent { pid, name });
        }
        if me.confined && !facts.confined && outside.is_none() {
            outside = Some((pid, facts.names.first().cloned().unwrap_or_default()));
        }
        next = facts.parent;
    }
    Err(NoAuthority::Unseen { what: "the chain of processes does not end".to_owned() })
}

/// What `/proc` tells of a process.
#[derive(Debug, Default)]
struct Facts {
    parent: Option<u32>,
    /// It and what it starts can gain no rights (`no_new_privs`): every wall needs that, and nothing takes it back.
    confined: bool,
    /// What it is called: the process, its file, and the script that an interpreter runs.
    names: Vec<String>,
    /// It was started as the agent, or below it.
    marked: bool,
}

impl Facts {
    /// None for a process that is not there.
    fn of(pid: u32) -> Result<Option<Self>, NoAuthority> {
        let file = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
        let status = match fs::read_to_string(file("status")) {
            Ok(status) => status,
            Err(_) if Path::new("/proc/self/status").exists() => return Ok(None),
            Err(e) => return Err(NoAuthority::Unseen { what: format!("{}: {e}", file("status").display()) }),
        };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let named = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut names: Vec<String> = field("Name:").map(str::to_owned).into_iter().collect();
        // What cannot be read belongs to somebody else, and so to no agent of this person's.
        names.extend(fs::read_link(file("exe")).ok().as_deref().and_then(named));
        let line = fs::read(file("cmdline")).unwrap_or_default();
        let words: Vec<String> =
            line.split(|byte| *byte == 0).take(2).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let words: Vec<String> = words.iter().filter_map(|word| named(Path::new(word))).collect();
        names.extend(told_by(&words).iter().cloned());
        let variables = fs::read(file("environ")).unwrap_or_default();
        Ok(Some(Self {
            parent: field("PPid:").and_then(|text| text.parse().ok()).filter(|pid| *pid != 0),
            confined: field("NoNewPrivs:") == Some("1"),
            marked: variables.split(|byte| *byte == 0).any(|variable| variable.starts_with(MARK)),
            names,
        }))
    }

    /// The name by which it is an agent's.
    fn agent(&self, more: &[String]) -> Option<String> {
        let known = || AGENTS.iter().copied().chain(more.iter().map(String::as_str));
        let is_known = |name: &&String| known().any(|agent| is_called(name, agent));
        let marked = self.names.first().filter(|_| self.marked);
        self.names.iter().find(is_known).or(marked).cloned()
    }
}

/// What the words of a command line tell of who runs: the program, and behind an interpreter its script. Behind an editor the
/// second word is a file like any other.
fn told_by(words: &[String]) -> &[String] {
    let interpreters = ["node", "bun", "deno", "python", "ruby", "perl", "sh", "bash", "dash", "zsh", "ksh", "fish"];
    let interprets = |word: &String| {
        let stem = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        interpreters.contains(&stem)
    };
    let count = if words.first().is_some_and(interprets) { 2 } else { 1 };
    words.get(..count.min(words.len())).unwrap_or_default()
}

/// Whether a name is this program's: whole, cut off by the kernel, with an ending of a script or of a platform, or of a file
/// that was replaced while it ran.
fn is_called(name: &str, agent: &str) -> bool {
    let name = name.strip_suffix(" (deleted)").unwrap_or(name);
    let stem = [".exe", ".js", ".mjs", ".cjs", ".py"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    stem == agent || (name.len() == KEPT && agent.starts_with(name))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_owners_settings_are_enough_and_are_named() {
        let file = PathBuf::from("/home/a/judge.yaml");
        assert_eq!(person(Some(&file), &[]).unwrap(), Authority::Settings { file });
    }

    #[test]
    fn agents_are_recognised_by_process_file_script_and_mark() {
        let called =
            |names: &[&str]| Facts { names: names.iter().map(|&n| n.to_owned()).collect(), ..Facts::default() };
        for names in [
            &["selfsmith-agent"][..],
            &["sh", "selfsmith-agent (deleted)"],
            &["node", "node", "node", "gemini.js"],
            &["python3", "python3.12", "python3", "aider"],
            &["claude", "node"],
        ] {
            assert!(called(names).agent(&[]).is_some(), "{names:?}");
        }
        for names in [&["bash", "bash"][..], &["selfsmith"], &["claude-notes"], &[""], &[]] {
            assert_eq!(called(names).agent(&[]), None, "{names:?}");
        }
        assert_eq!(called(&["my-robot"]).agent(&["my-robot".to_owned()]).as_deref(), Some("my-robot"));
        // Fifteen characters are what the kernel keeps of a longer name.
        assert!(called(&["my-robot-with-a"]).agent(&["my-robot-with-a-long-name".to_owned()]).is_some());
        let renamed = Facts { marked: true, ..called(&["bash"]) };
        assert_eq!(renamed.agent(&[]).as_deref(), Some("bash"));
    }

    #[test]
    fn a_script_behind_an_interpreter_tells_who_runs_and_a_file_behind_an_editor_does_not() {
        let words = |line: &[&str]| line.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        for (line, count) in [
            (&["node", "claude"][..], 2),
            (&["python3.12", "aider"], 2),
            (&["sh"], 1),
            (&["vim", "claude"], 1),
            (&["less", "codex"], 1),
            (&[], 0),
        ] {
            assert_eq!(told_by(&words(line)).len(), count, "{line:?}");
        }
    }

    #[test]
    fn parents_are_found_up_to_the_first_process() {
        assert!(Facts::of(std::process::id()).unwrap().unwrap().parent.is_some());
        assert_eq!(Facts::of(1).unwrap().and_then(|facts| facts.parent), None);
    }
}
