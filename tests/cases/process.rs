//! The processes of this machine, as far as `/proc` shows them: to find and end what a case left behind.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the variable that marks the processes of one case.
pub const MARK: &str = "CASES_MARK";

pub struct Process {
    pub pid: i32,
    pub command: String,
    pub folder: PathBuf,
    pub mark: String,
}

/// Every living process but this one.
pub fn all() -> Vec<Process> {
    let own = std::process::id().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| *name != own).filter_map(|name| read(&name)).collect()
}

/// End every process that is chosen, and what it starts meanwhile.
pub fn end(chosen: impl Fn(&Process) -> bool) {
    for _ in 0..3 {
        let victims: Vec<Process> = all().into_iter().filter(|process| chosen(process)).collect();
        if victims.is_empty() {
            return;
        }
        for victim in victims {
            let _ = kill(Pid::from_raw(victim.pid), Signal::SIGKILL);
        }
        std::thread::yield_now();
    }
}

fn read(name: &str) -> Option<Process> {
    let pid: i32 = name.parse().ok()?;
    let at = Path::new("/proc").join(name);
    let status = fs::read_to_string(at.join("stat")).ok()?;
    if status.rsplit_once(')')?.1.split_whitespace().next() == Some("Z") {
        return None;
    }
    let command = String::from_utf8_lossy(&fs::read(at.join("cmdline")).ok()?).replace('\0', " ").trim().to_owned();
    let variables = fs::read(at.join("environ")).unwrap_or_default();
    let wanted = format!("{MARK}=");
    let mark = String::from_utf8_lossy(&variables)
        .split('\0')
        .find_map(|pair| Some(pair.strip_prefix(&wanted)?.to_owned()))
        .unwrap_or_default();
    Some(Process { pid, command, folder: fs::read_link(at.join("cwd")).unwrap_or_default(), mark })
}
