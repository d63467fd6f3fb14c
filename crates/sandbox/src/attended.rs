//! A program on the person's own terminal: an editor, a pager. Not behind walls: the person started it and sits before it.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;

/// Runs `program` on the caller's own standard streams and waits for it; whether it ended well. It sees exactly these
/// variables, of which those are left out whose names say that they hold a secret.
///
/// # Errors
/// It could not be started.
pub fn attended(
    program: &Path,
    arguments: &[OsString],
    folder: &Path,
    variables: &[(OsString, OsString)],
) -> Result<bool, io::Error> {
    let harmless = |(name, _): &&(OsString, OsString)| !name.to_str().is_some_and(crate::is_secret_name);
    let variables = variables.iter().filter(harmless).map(|(name, value)| (name, value));
    let status = Command::new(program).args(arguments).current_dir(folder).env_clear().envs(variables).status()?;
    Ok(status.success())
}
