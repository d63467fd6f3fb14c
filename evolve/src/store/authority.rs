//! Who said so: approving, undoing and setting a policy need a person, and which sign of one was seen is recorded.
//!
//! A person is at a terminal of the process's own (`/dev/tty` opens) and no agent stands among its ancestors; or the owner
//! wrote it into the judge's own settings. It cannot tell who sits at the terminal.

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
    /// Typed on the command line of an unattended run, no agent among the ancestors. Enough for `--landing auto`, not for
    /// an approval.
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
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Agent { .. } => "type the command yourself in a terminal",
            Self::NoTerminal => {
                "type it in a terminal, or write `landing: auto` into the judge's own settings (judge.yaml)"
            }
            Self::Unseen { .. } => "write `landing: auto` into the judge's own settings (judge.yaml)",
        }
    }
}

/// Look for a person. `settings` is the owner's file, where that allows it without a terminal.
pub fn person(settings: Option<&Path>) -> Result<Authority, NoAuthority> {
    if let Some(file) = settings {
        return Ok(Authority::Settings { file: file.to_owned() });
    }
    no_agent_above()?;
    match OpenOptions::new().read(true).write(true).open("/dev/tty") {
        Ok(_) => Ok(Authority::Terminal),
        Err(_) => Err(NoAuthority::NoTerminal),
    }
}

/// Look for whoever typed `--landing auto`: a person, or at least nobody's agent.
pub fn command_line(settings: Option<&Path>) -> Result<Authority, NoAuthority> {
    match person(settings) {
        Err(NoAuthority::NoTerminal) => Ok(Authority::CommandLine),
        other => other,
    }
}

/// No ancestor of this process is an agent's program.
fn no_agent_above() -> Result<(), NoAuthority> {
    let mut pid = std::process::id();
    // A chain longer than this does not occur; a circle cannot.
    for _ in 0..4096 {
        let Some(parent) = parent_of(pid)? else { return Ok(()) };
        let name = fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
        let name = name.trim().to_owned();
        if is_agent(&name) {
            return Err(NoAuthority::Agent { pid: parent, name });
        }
        pid = parent;
    }
    Err(NoAuthority::Unseen { what: "the chain of processes does not end".to_owned() })
}

/// The kernel keeps 15 characters of a program's name.
fn is_agent(name: &str) -> bool {
    name.starts_with("selfsmith-agent") || "selfsmith-agent".starts_with(name) && name.len() == 15
}

fn parent_of(pid: u32) -> Result<Option<u32>, NoAuthority> {
    let path = format!("/proc/{pid}/status");
    let status = match fs::read_to_string(&path) {
        Ok(status) => status,
        // An ancestor that ended in between has no ancestors any more; where there is no /proc nothing can be seen.
        Err(_) if Path::new("/proc/self/status").exists() => return Ok(None),
        Err(e) => return Err(NoAuthority::Unseen { what: format!("{path}: {e}") }),
    };
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).and_then(|v| v.trim().parse::<u32>().ok());
    Ok(parent.filter(|p| *p != 0))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_owners_settings_are_enough_and_are_named() {
        let file = PathBuf::from("/home/a/judge.yaml");
        assert_eq!(person(Some(&file)).unwrap(), Authority::Settings { file });
    }

    #[test]
    fn the_agents_program_is_recognised_by_the_name_the_kernel_keeps() {
        assert!(is_agent("selfsmith-agent"));
        assert!(!is_agent("selfsmith"));
        assert!(!is_agent("bash"));
        assert!(!is_agent(""));
    }

    #[test]
    fn parents_are_found_up_to_the_first_process() {
        assert!(parent_of(std::process::id()).unwrap().is_some());
        assert_eq!(parent_of(1).unwrap(), None);
    }
}
