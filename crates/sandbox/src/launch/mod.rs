//! What every process between supervisor and program needs: its streams, how it becomes the program, how it tells what
//! went wrong.

pub(crate) mod program;
pub(crate) mod report;

use nix::errno::Errno;
use std::fs::File;

/// The program's streams must close when the program and its children close them, so nobody else may hold them.
pub(crate) fn detach_streams() -> nix::Result<()> {
    let null = null().map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))?;
    nix::unistd::dup2_stdin(&null)?;
    nix::unistd::dup2_stdout(&null)?;
    nix::unistd::dup2_stderr(&null)
}

/// `/dev/null`, for reading and writing.
pub(crate) fn null() -> std::io::Result<File> {
    File::options().read(true).write(true).open("/dev/null")
}
