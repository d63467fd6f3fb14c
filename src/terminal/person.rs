//! Whether a person typed a command: what makes a project trusted must not be said by the agent itself.
//!
//! The sign is that of the judge: a terminal of the process's own (`/dev/tty` opens), and no agent among its ancestors.

use std::fs::{self, OpenOptions};
use std::path::Path;

/// Why it was no person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nobody {
    /// An agent started this program.
    Agent(String),
    /// There is no terminal, or it cannot be seen who started this.
    NoTerminal,
}

/// Look for a person.
pub fn person() -> Result<(), Nobody> {
    no_agent_above(std::process::id())?;
    OpenOptions::new().read(true).write(true).open("/dev/tty").map(|_| ()).map_err(|_| Nobody::NoTerminal)
}

fn no_agent_above(mut pid: u32) -> Result<(), Nobody> {
    // Where there is no /proc (macOS) ancestors cannot be seen; the terminal alone decides.
    if !Path::new("/proc/self/status").exists() {
        return Ok(());
    }
    // A chain longer than this does not occur; a circle cannot.
    for _ in 0..4096 {
        let Some(parent) = parent_of(pid) else { return Ok(()) };
        let name = fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
        let name = name.trim();
        // The kernel keeps 15 characters of a program's name.
        if name.starts_with("selfsmith-agent") {
            return Err(Nobody::Agent(name.to_owned()));
        }
        pid = parent;
    }
    Err(Nobody::NoTerminal)
}

/// None for the first process, and for one that ended in between: it has no ancestors any more.
fn parent_of(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    (parent != 0).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_are_followed_up_to_the_first_process() {
        assert!(parent_of(std::process::id()).is_some());
        assert_eq!(parent_of(1), None);
        assert_eq!(no_agent_above(std::process::id()), Ok(()));
    }
}
