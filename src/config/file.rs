//! The files of the layers: finding, reading, and the template of the first run.

use super::SHIPPED;
use super::error::ConfigError;
use super::shape;
use serde_yaml::Value;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Bytes of a settings file at most: many times what the shipped one has.
const MAX_BYTES: u64 = 64 * 1024;

/// The shape that every layer fits: the settings that this program was built with.
pub(super) fn shape() -> Result<Value, ConfigError> {
    shape::read(SHIPPED, "the shipped settings", &Value::Null)
}

/// Read one file against the shape.
///
/// # Errors
/// It cannot be read, or does not fit; line and column are named.
pub fn read_file(path: &Path) -> Result<Value, ConfigError> {
    shape::read(&text(path)?, &path.display().to_string(), &shape()?)
}

/// The text of a settings file.
pub(super) fn text(path: &Path) -> Result<String, ConfigError> {
    let read = |source| ConfigError::Read { path: path.to_owned(), source };
    let mut text = String::new();
    std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text)).map_err(read)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(ConfigError::TooLarge { path: path.to_owned(), most: MAX_BYTES });
    }
    Ok(text)
}

/// The project's file: the nearest `.selfsmith/config.yaml` from this folder upwards, not beyond the repository it is in.
pub fn find_project(start: &Path) -> Option<PathBuf> {
    for folder in start.ancestors() {
        let file = folder.join(".selfsmith").join("config.yaml");
        if file.is_file() {
            return Some(file);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// The user's file, whether or not it exists: `$XDG_CONFIG_HOME/selfsmith/config.yaml`, else below `~/.config`.
pub fn user_file(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let absolute = |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(folder.join("selfsmith").join("config.yaml"))
}

/// The shipped settings with every key commented out: what the first run writes for the user.
pub fn template() -> String {
    let mut out = String::from("# Your settings. Take away the # before what you change (and before its group).\n");
    for line in SHIPPED.lines().skip_while(|line| line.starts_with('#')) {
        let is_comment = line.trim_start().starts_with('#') || line.trim().is_empty();
        out.push_str(if is_comment { "" } else { "#" });
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Write the template where nothing is yet; `false` where something is.
///
/// # Errors
/// The folder or file cannot be written.
pub fn write_template(path: &Path) -> Result<bool, ConfigError> {
    let write = |source| ConfigError::Write { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(write)?;
    }
    match std::fs::File::create_new(path) {
        Ok(mut file) => file.write_all(template().as_bytes()).map(|()| true).map_err(write),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(write(error)),
    }
}
