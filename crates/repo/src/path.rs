//! A path in a git tree: bytes with `/` between parts. Promises never to lose a byte; display escapes what is no UTF-8 or
//! would move a terminal's cursor. It does not know whether the path exists.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A path in a git tree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Vec<u8>);

impl TreePath {
    /// A path of these bytes, as they are.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its text, where it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// As a relative path of the file system.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Below this folder.
    pub fn below(&self, dir: &Path) -> PathBuf {
        dir.join(self.as_path())
    }

    /// Its parts.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|b| *b == b'/')
    }

    /// `self`, `/`, `name`; just `name` below the top, which is the empty path.
    pub fn join(&self, name: &[u8]) -> Self {
        let mut bytes = self.0.clone();
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        Self(bytes)
    }

    /// Whether `self` is `dir` or lies below it.
    pub fn is_within(&self, dir: &[u8]) -> bool {
        self.0.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// Why this path may not be written below a folder; none if it may.
    pub fn unsafe_because(&self) -> Option<&'static str> {
        if self.0.is_empty() {
            return Some("it is empty");
        }
        self.parts().find_map(|part| match part {
            b"" => Some("it has an empty part"),
            b"." | b".." => Some("it leads out of its folder"),
            _ if part.contains(&0) => Some("it holds a NUL"),
            _ if part.eq_ignore_ascii_case(b".git") => Some("it lies in a .git"),
            _ => None,
        })
    }
}

impl From<&str> for TreePath {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                if c.is_control() || c == '\\' || is_bidi(c) {
                    write!(f, "{}", c.escape_default())?;
                } else {
                    write!(f, "{c}")?;
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// Characters that turn the direction of text.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{061c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_escapes_what_is_no_utf8_and_what_moves_the_cursor() {
        assert_eq!(TreePath::new(b"caf\xe9.txt".to_vec()).to_string(), "caf\\xe9.txt");
        assert_eq!(TreePath::from("a\tb\u{202e}\\文").to_string(), "a\\tb\\u{202e}\\\\文");
    }

    #[test]
    fn paths_that_leave_their_folder_are_named() {
        for bad in ["", "/a", "a//b", "../a", "a/../b", ".git/config", "a/.GIT/x", "a/", "."] {
            assert!(TreePath::from(bad).unsafe_because().is_some(), "{bad}");
        }
        for good in ["a", "a/b", ".gitignore", "..a", "a/.github/x"] {
            assert_eq!(TreePath::from(good).unsafe_because(), None, "{good}");
        }
    }

    #[test]
    fn within_means_the_folder_itself_or_below() {
        assert!(TreePath::from("target").is_within(b"target"));
        assert!(TreePath::from("target/x").is_within(b"target"));
        assert!(!TreePath::from("targets").is_within(b"target"));
    }
}
