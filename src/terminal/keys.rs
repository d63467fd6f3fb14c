//! Keys that the first run was given: a file beside the user's settings, one `NAME=value` a line, readable by its owner
//! alone. A variable of the environment wins over it; children of this program never see what is in it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Bytes of the file.
const MAX_BYTES: u64 = 64 * 1024;

/// Where it is.
pub fn path(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    Some(selfsmith_agent::config::user_file(environment)?.parent()?.join("keys"))
}

/// What a file holds; nothing of one that others can read, which is the error.
///
/// # Errors
/// Others can read it.
pub fn read(path: &Path) -> Result<Vec<(String, String)>, String> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(Vec::new()) };
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(path.display().to_string());
    }
    if metadata.len() > MAX_BYTES {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    let pair = |line: &str| {
        let (name, value) = line.trim().split_once('=')?;
        (!name.starts_with('#')).then(|| (name.trim().to_owned(), value.trim().to_owned()))
    };
    Ok(text.lines().filter_map(pair).collect())
}

/// Keep a key; one of the same name is replaced.
///
/// # Errors
/// The file cannot be written.
pub fn keep(path: &Path, name: &str, value: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let others = read(path).unwrap_or_default().into_iter().filter(|(other, _)| other != name);
    let all = others.chain([(name.to_owned(), value.to_owned())]);
    let text: String = all.map(|(name, value)| format!("{name}={value}\n")).collect();
    // A temporary file is its owner's alone from the start.
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist(path).map(|_| ()).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_kept_for_its_owner_alone_and_a_file_that_others_can_read_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sub/keys");
        keep(&path, "A_KEY", "one").expect("it is written");
        keep(&path, "B_KEY", "two=2").expect("it is written");
        keep(&path, "A_KEY", "three").expect("it is written");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read(&path), Ok(vec![pair("B_KEY", "two=2"), pair("A_KEY", "three")]));
        assert_eq!(fs::metadata(&path).expect("the file").permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("a mode");
        assert!(read(&path).is_err());
        assert_eq!(read(&folder.path().join("none")), Ok(vec![]));
    }
}
