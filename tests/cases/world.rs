//! Worlds: fresh folders, what is in them, and what changed.

use base64::Engine;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use tempfile::TempDir;

/// What stands at a path: its kind, mode and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen(char, u32, Vec<u8>);

/// A fresh folder.
pub fn fresh() -> TempDir {
    tempfile::Builder::new().prefix("case-").tempdir().expect("a temporary folder")
}

/// A fresh folder outside the system's temporary ones, which a sandbox may leave open.
pub fn outside_temp() -> TempDir {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tempfile::Builder::new().prefix(".case-").tempdir_in(target).expect("a folder in the target")
}

/// Text, or `{"b64": …}`, as bytes.
pub fn blob(value: &Value) -> Vec<u8> {
    match value.get("b64") {
        Some(text) => from_base64(text),
        None => value.as_str().unwrap_or_default().as_bytes().to_vec(),
    }
}

pub fn from_base64(text: &Value) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.decode(text.as_str().unwrap_or_default()).expect("a case's base64")
}

/// Write a file and the folders above it.
pub fn write(path: &Path, data: &[u8], mode: u32) {
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folders can be made");
    fs::write(path, data).expect("the file can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode can be set");
}

/// Everything below a folder, by relative name.
pub fn snapshot(top: &Path) -> BTreeMap<String, Seen> {
    let mut seen = BTreeMap::new();
    walk(top, top, &mut seen).expect("the world can be read");
    seen
}

/// Names that differ.
pub fn changes(before: &BTreeMap<String, Seen>, after: &BTreeMap<String, Seen>) -> Vec<String> {
    let mut names: Vec<String> = before.keys().chain(after.keys()).cloned().collect();
    names.sort();
    names.dedup();
    names.retain(|name| before.get(name) != after.get(name));
    names
}

/// `a/b/c` and the folders above it.
pub fn with_parents(name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    let mut rest = name;
    while let Some((parent, _)) = rest.rsplit_once('/') {
        names.push(parent.to_owned());
        rest = parent;
    }
    names
}

fn walk(top: &Path, folder: &Path, seen: &mut BTreeMap<String, Seen>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let info = fs::symlink_metadata(&path)?;
        let mode = info.permissions().mode() & 0o7777;
        let kind = info.file_type();
        let value = if kind.is_symlink() {
            Seen('l', 0, fs::read_link(&path)?.into_os_string().into_encoded_bytes())
        } else if kind.is_dir() {
            Seen('d', mode, Vec::new())
        } else if kind.is_file() {
            Seen('f', mode, fs::read(&path)?)
        } else {
            Seen(if kind.is_fifo() { 'p' } else { '?' }, mode, Vec::new())
        };
        let name = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
        seen.insert(name, value);
        if kind.is_dir() {
            walk(top, &path, seen)?;
        }
    }
    Ok(())
}
