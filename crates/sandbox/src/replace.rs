//! Becoming another program: no child is made, this process goes on as that program.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Becomes `program` with these arguments and exactly these variables; standard streams and working folder stay.
///
/// # Errors
/// Returns only where that failed.
pub fn replace(
    program: &Path,
    arguments: &[OsString],
    variables: &[(OsString, OsString)],
) -> Result<Infallible, io::Error> {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
    Err(command.exec())
}
