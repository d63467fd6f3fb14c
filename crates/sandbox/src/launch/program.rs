//! The last steps of a process before it becomes the program.

use super::null;
use crate::limits::OwnUser;
use crate::wire::{Executable, Fault, Order};
use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, sigprocmask};
use nix::unistd::Pid;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Longest shell line that is handed over as an argument (the kernel takes 128 KiB).
const LONGEST_ARGUMENT: usize = 100 * 1024;
/// Where programs are looked for when the child has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Where the process stands when it becomes the program.
pub(crate) struct Stage {
    /// The process that it must not outlive; none where it is the first of a PID namespace.
    pub(crate) parent: Option<Pid>,
    /// Whether the limit on processes can be the kernel's.
    pub(crate) own_user: OwnUser,
}

/// Becomes the program, within the walls that `walls` puts up. Returns only why it could not.
pub(crate) fn become_program(order: Order, stage: &Stage, walls: impl FnOnce() -> Result<(), Fault>) -> Fault {
    match prepare(order, stage, walls) {
        Ok(image) => image.execute(),
        Err(fault) => fault,
    }
}

/// Makes the bytes the standard input of the process and its children; none: `/dev/null`.
pub(crate) fn place_stdin(bytes: &[u8]) -> nix::Result<()> {
    let file = if bytes.is_empty() { null().map_err(errno)? } else { file_in_memory(c"stdin", bytes)? };
    nix::unistd::dup2_stdin(&file)
}

fn prepare(order: Order, stage: &Stage, walls: impl FnOnce() -> Result<(), Fault>) -> Result<Image, Fault> {
    let other = |what: &'static str| move |error| Fault::other(what, error);
    if nix::unistd::getpid() != nix::unistd::getsid(None).unwrap_or(Pid::from_raw(0)) {
        nix::unistd::setsid().map_err(other("start a session"))?;
    }
    restore_signals().map_err(other("restore the signals"))?;
    // Where memory runs out, the program goes before whatever the person does.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    order.limits.apply(stage.own_user).map_err(other("set the limits"))?;
    let mut image = Image::of(
        order.program,
        order.variables.into_iter().map(|(name, value)| (name.into_os(), value.into_os())).collect(),
    )?;
    walls()?;
    image.script = match image.script_text.take() {
        Some(text) => Some(file_in_memory(c"script", text.as_bytes()).map_err(other("hand over the script"))?),
        None => None,
    };
    let dir = order.dir.into_os();
    std::env::set_current_dir(&dir)
        .map_err(|error| Fault::Dir { path: dir.into(), errno: error.raw_os_error().unwrap_or(0) })?;
    // After the walls: changing the user forgets it.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(other("follow the supervisor"))?;
    if stage.parent.is_some_and(|parent| nix::unistd::getppid() != parent) {
        return Err(Fault::other("follow the supervisor", Errno::ESRCH));
    }
    Ok(image)
}

/// A program starts with every signal at its default and none blocked, whatever we had from our caller.
fn restore_signals() -> nix::Result<()> {
    for signal in Signal::iterator().filter(|signal| !matches!(signal, Signal::SIGKILL | Signal::SIGSTOP)) {
        // SAFETY: the default action installs no handler.
        unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) }?;
    }
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)
}

/// What execve(2) needs.
struct Image {
    name: OsString,
    arguments: Vec<CString>,
    variables: Vec<CString>,
    path: OsString,
    /// A shell line too long for an argument, first as text, then as a file that the program inherits.
    script_text: Option<String>,
    script: Option<File>,
}

impl Image {
    fn of(program: Executable, variables: Vec<(OsString, OsString)>) -> Result<Self, Fault> {
        let path = variables
            .iter()
            .find(|(name, _)| name == "PATH")
            .map_or_else(|| DEFAULT_PATH.into(), |(_, value)| value.clone());
        let (argv, script_text) = match program {
            Executable::Argv(argv) => (argv.into_iter().map(crate::wire::Bytes::into_os).collect(), None),
            Executable::Loopback => return Err(Fault::other("run a program that was not named", Errno::EINVAL)),
            Executable::Shell(line) => {
                let shell = if find(OsStr::new("bash"), &path).is_ok() { "bash" } else { "sh" };
                if line.len() > LONGEST_ARGUMENT {
                    (vec![OsString::from(shell)], Some(line))
                } else {
                    (vec![OsString::from(shell), "-c".into(), line.into()], None)
                }
            }
        };
        let variables = variables.into_iter().map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            name
        });
        Ok(Self {
            name: argv.first().cloned().unwrap_or_default(),
            arguments: c_strings(argv.iter().cloned())?,
            variables: c_strings(variables)?,
            path,
            script_text,
            script: None,
        })
    }

    fn execute(mut self) -> Fault {
        if let Some(script) = self.script.take() {
            match inherit(script) {
                Ok(argument) => self.arguments.push(argument),
                Err(error) => return Fault::other("hand over the script", error),
            }
        }
        let error = match find(&self.name, &self.path) {
            Ok(file) => match nix::unistd::execve(&file, &self.arguments, &self.variables) {
                Err(error) => error,
                Ok(never) => match never {},
            },
            Err(error) => error,
        };
        Fault::Program { program: self.name.to_string_lossy().into_owned(), errno: error as i32 }
    }
}

/// Leaves the file open for the program; returns its name there.
fn inherit(file: File) -> nix::Result<CString> {
    nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty()))?;
    let name = format!("/dev/fd/{}", file.as_raw_fd());
    // Now the program's.
    let _ = file.into_raw_fd();
    CString::new(name).map_err(|_| Errno::EINVAL)
}

/// The file that execvp(3) would take.
fn find(name: &OsStr, path: &OsStr) -> nix::Result<CString> {
    let c_string = |bytes: &[u8]| CString::new(bytes).map_err(|_| Errno::EINVAL);
    if name.as_bytes().contains(&b'/') {
        return c_string(name.as_bytes());
    }
    let mut denied = false;
    for folder in std::env::split_paths(path) {
        let file = folder.join(name);
        if !file.is_file() {
            continue;
        }
        match nix::unistd::access(&file, nix::unistd::AccessFlags::X_OK) {
            Ok(()) => return c_string(file.as_os_str().as_bytes()),
            Err(_) => denied = true,
        }
    }
    Err(if denied { Errno::EACCES } else { Errno::ENOENT })
}

fn c_strings(list: impl IntoIterator<Item = OsString>) -> Result<Vec<CString>, Fault> {
    let strings = list.into_iter().map(|text| CString::new(text.into_vec()));
    strings.collect::<Result<_, _>>().map_err(|_| Fault::other("pass the command", Errno::EINVAL))
}

/// A file that exists in memory alone, at its beginning.
fn file_in_memory(name: &std::ffi::CStr, bytes: &[u8]) -> nix::Result<File> {
    let mut file = File::from(memfd_create(name, MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes).and_then(|()| file.rewind()).map_err(errno)?;
    Ok(file)
}

fn errno(error: std::io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(0))
}
