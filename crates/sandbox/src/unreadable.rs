//! Why a program in the room was refused a file: the first file of what was bound that the room's user may not read.
//!
//! Looked for only after a program failed and said so, because it costs a walk through all that was bound. It goes by
//! owner and mode; access control lists are not asked.

use crate::give::ROOM_UID;
use crate::job::{Bind, BindMode, Room};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files and folders that are looked at.
const MOST_LOOKS: usize = 200_000;
/// What the C library's and Rust's words for EACCES have in common.
const REFUSAL: &[u8] = b"ermission denied";

/// A read-only bind that could not be shown to the room's user as its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plain {
    pub(crate) source: PathBuf,
    pub(crate) part: Part,
    pub(crate) why: String,
}

/// What of a bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    Whole,
    /// Only what is mounted below it.
    MountsBelow,
}

/// A file or folder that was bound and that the room's user may not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Its path outside.
    pub path: PathBuf,
    /// Its path in the room.
    pub at: PathBuf,
    /// Why not.
    pub why: String,
}

impl Unreadable {
    /// What to do next, as a sentence.
    pub fn hint(&self) -> String {
        format!("Make it readable for others (chmod -R a+rX `{}`), or run as its owner.", self.path.display())
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, at) = (self.path.display(), self.at.display());
        write!(formatter, "`{path}` (in the room `{at}`) cannot be read in the room: {}", self.why)
    }
}

/// Whether a program's words say that something was refused.
pub(crate) fn is_refusal(output: &[u8]) -> bool {
    output.windows(REFUSAL.len()).any(|piece| piece == REFUSAL)
}

/// The first such file of a room that root made.
pub(crate) fn first(room: &Room, plain: &[Plain]) -> Option<Unreadable> {
    let mut looks = MOST_LOOKS;
    room.binds.iter().find_map(|bind| {
        let plain = plain.iter().find(|plain| plain.source == bind.source);
        let bound = Bound::of(bind, plain)?;
        let found = bound.first_below(&bind.source, &mut looks)?;
        let inner = found.strip_prefix(&bind.source).unwrap_or(Path::new(""));
        let at = if inner.as_os_str().is_empty() { bind.at.clone() } else { bind.at.join(inner) };
        Some(Unreadable { why: bound.why(), path: found, at })
    })
}

/// One bind, and whose its files are in the room.
struct Bound<'a> {
    bind: &'a Bind,
    plain: Option<&'a Plain>,
    top: Metadata,
}

impl<'a> Bound<'a> {
    fn of(bind: &'a Bind, plain: Option<&'a Plain>) -> Option<Self> {
        Some(Self { bind, plain, top: bind.source.metadata().ok()? })
    }

    fn first_below(&self, path: &Path, looks: &mut usize) -> Option<PathBuf> {
        *looks = looks.checked_sub(1)?;
        // Only the top itself may be a link: it was followed.
        let facts = if path == self.bind.source { path.metadata() } else { path.symlink_metadata() }.ok()?;
        if !(facts.is_dir() || facts.is_file()) {
            return None;
        }
        if !self.is_open(&facts) {
            return Some(path.to_owned());
        }
        if !facts.is_dir() {
            return None;
        }
        path.read_dir().ok()?.flatten().find_map(|entry| self.first_below(&entry.path(), looks))
    }

    /// Whether the room's user may read it and, where it is a folder, enter it.
    fn is_open(&self, facts: &Metadata) -> bool {
        let needed = if facts.is_dir() { 0o5 } else { 0o4 };
        let shift = if self.room_owns(facts) { 6 } else { 0 };
        facts.mode() >> shift & needed == needed
    }

    fn room_owns(&self, facts: &Metadata) -> bool {
        if self.is_shown(facts) { facts.uid() == self.top.uid() } else { facts.uid() == ROOM_UID }
    }

    /// Whether owners were changed for it.
    fn is_shown(&self, facts: &Metadata) -> bool {
        let plain = match self.plain {
            None => false,
            Some(Plain { part: Part::Whole, .. }) => true,
            Some(Plain { part: Part::MountsBelow, .. }) => facts.dev() != self.top.dev(),
        };
        self.bind.mode == BindMode::ReadOnly && self.top.uid() != ROOM_UID && !plain
    }

    fn why(&self) -> String {
        match (&self.bind.mode, self.plain) {
            (BindMode::ReadOnly, Some(plain)) => format!("it is for its owner alone, and {}", plain.why),
            (BindMode::ReadOnly, None) => {
                format!(
                    "it is for its owner alone, and that is another than the owner of `{}`",
                    self.bind.source.display()
                )
            }
            _ => "it is for its owner alone, and was not given to the room's user".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_the_owner_alone_may_read_is_found_where_owners_stay_as_they_are() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        for (name, mode) in [("open", 0o644), ("closed", 0o600)] {
            std::fs::write(folder.path().join(name), "").expect("it is ours");
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(folder.path().join(name), mode).expect("it is ours");
        }
        let source = folder.path().to_owned();
        let bind = Bind { source: source.clone(), at: "/at".into(), mode: BindMode::ReadOnly };
        let room = Room { binds: vec![bind], ..Room::default() };
        assert_eq!(first(&room, &[]), None);
        let plain = Plain { source, part: Part::Whole, why: "so".to_owned() };
        let found = first(&room, &[plain]).expect("one is closed");
        assert_eq!((found.path, found.at), (folder.path().join("closed"), "/at/closed".into()));
    }

    #[test]
    fn a_refusal_is_known_by_its_words() {
        assert!(is_refusal(b"error: Permission denied (os error 13)"));
        assert!(is_refusal(b"cat: x: permission denied"));
        assert!(!is_refusal(b"error: no such file"));
    }
}
