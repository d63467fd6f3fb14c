//! How a path may be spelled, and what it is made of.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The spellings under which a file is looked for, the written one first.
pub(super) fn candidates(written: &str) -> Vec<String> {
    let plain = written.trim();
    let bare = plain.trim_matches(['"', '\'', '`', '“', '”', '‘', '’']);
    let mut all = vec![written.to_owned(), plain.to_owned(), bare.to_owned()];
    if bare.contains('&') {
        all.push(decoded(bare));
    }
    if bare.contains('\\') {
        all.push(bare.replace('\\', "/"));
    }
    all.retain(|one| !one.is_empty());
    all.dedup();
    all
}

/// The five entities of XML, the ampersand last.
pub(super) fn decoded(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (entity, c)| text.replace(entity, c))
}

pub(super) fn is_home(path: &str) -> bool {
    path == "~" || path.starts_with("~/") || path.starts_with("~\\")
}

/// Put the parts of a path before the rest; an absolute one starts over.
pub(super) fn prepend(rest: &mut VecDeque<OsString>, path: &Path, current: &mut PathBuf) {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_owned()),
            Component::ParentDir => parts.push(OsString::from("..")),
            Component::RootDir => *current = PathBuf::from("/"),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    for part in parts.into_iter().rev() {
        rest.push_front(part);
    }
}

/// An entry of the folder whose name differs only in capitals.
pub(super) fn twin(folder: &Path, name: &Component<'_>) -> Option<PathBuf> {
    let wanted = name.as_os_str().to_string_lossy().to_lowercase();
    let mut twins: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().to_lowercase() == wanted)
        .map(|entry| entry.path())
        .collect();
    twins.sort();
    twins.into_iter().next()
}

pub(super) fn shortened(path: &str) -> String {
    if path.chars().count() <= 200 { path.to_owned() } else { path.chars().take(200).chain(['…']).collect() }
}
