//! What stands at a path: its kind, its mode, its content by digest; and the stamp by which a file is known to be unchanged.
//!
//! Promises that two entries are equal only if a person could not tell them apart (times and owners aside). Knows no disk.

use crate::texts::Texts;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A path relative to the workspace, byte for byte; empty for the workspace itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Spelled", into = "Spelled")]
pub struct Rel(Vec<u8>);

/// SHA-256 of a file's content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(pub(super) [u8; 32]);

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A file whose content is kept.
    File {
        /// Permission bits.
        mode: u32,
        /// Bytes.
        size: u64,
        /// Of its content.
        digest: Digest,
    },
    /// A symbolic link.
    Link {
        /// Where it points to, as it is written.
        target: Rel,
    },
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// Something whose content is not kept.
    Outside {
        /// Why.
        why: Outside,
        /// By which a change is noticed.
        stamp: Stamp,
    },
}

/// Why something is left out of snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// A repository's own folder: git changes it, and git has its own ways back.
    Git,
    /// A folder of files that a tool makes anew: a build's, a package manager's.
    Generated,
    /// The settings say so, or it is where snapshots are kept.
    Excluded,
    /// Another file system is mounted there.
    OtherDisk,
    /// The file is larger than one file may be.
    TooLarge,
    /// All files together are larger than they may be.
    OverTotal,
    /// It cannot be read.
    Unreadable,
    /// A pipe, a socket, a device.
    NoFile,
}

/// What the file system says of a file. Equal stamps, taken long enough after the last change, mean equal content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Number of the inode.
    pub ino: u64,
    /// Time of the last change of content: seconds and nanoseconds.
    pub mtime: (i64, i64),
    /// Time of the last change of anything.
    pub ctime: (i64, i64),
    /// Kind and permission bits.
    pub mode: u32,
}

impl Rel {
    /// The path below a root; none where it is not below it.
    pub fn below(root: &Path, path: &Path) -> Option<Self> {
        path.strip_prefix(root).ok().map(|rest| Self(rest.as_os_str().as_bytes().to_vec()))
    }

    /// From bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// As a path.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Below a root.
    pub fn at(&self, root: &Path) -> PathBuf {
        if self.0.is_empty() { root.to_owned() } else { root.join(self.path()) }
    }

    /// An entry of this folder.
    pub fn join(&self, name: &OsStr) -> Self {
        let mut bytes = self.0.clone();
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        bytes.extend(name.as_bytes());
        Self(bytes)
    }

    /// Folder and name; none for the workspace itself.
    pub fn split(&self) -> Option<(Self, OsString)> {
        if self.0.is_empty() {
            return None;
        }
        let (folder, name) = match self.0.iter().rposition(|byte| *byte == b'/') {
            Some(at) => self.0.split_at(at),
            None => (&[][..], self.0.as_slice()),
        };
        let name = name.strip_prefix(b"/").unwrap_or(name);
        Some((Self(folder.to_vec()), OsString::from_vec(name.to_vec())))
    }
}

impl fmt::Display for Rel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

/// Text where it is text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Spelled {
    Text(String),
    Bytes { b64: String },
}

impl From<Spelled> for Rel {
    fn from(spelled: Spelled) -> Self {
        match spelled {
            Spelled::Text(text) => Self(text.into_bytes()),
            Spelled::Bytes { b64 } => Self(BASE64_STANDARD.decode(b64).unwrap_or_default()),
        }
    }
}

impl From<Rel> for Spelled {
    fn from(rel: Rel) -> Self {
        match String::from_utf8(rel.0) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Bytes { b64: BASE64_STANDARD.encode(error.as_bytes()) },
        }
    }
}

impl Digest {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// In hexadecimal digits.
    pub fn hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.hex()
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let mut bytes = [0; 32];
        let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)?.try_into().ok()).collect();
        if digits.len() != 64 || text.len() != 64 {
            return Err("a digest has 64 hexadecimal digits");
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair.iter().fold(0, |sum, digit| sum * 16 + digit);
        }
        Ok(Self(bytes))
    }
}

impl Stamp {
    /// Of a file's metadata.
    pub fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            size: metadata.size(),
            ino: metadata.ino(),
            mtime: (metadata.mtime(), metadata.mtime_nsec()),
            ctime: (metadata.ctime(), metadata.ctime_nsec()),
            mode: metadata.mode(),
        }
    }

    /// Permission bits.
    pub const fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }
}

impl Outside {
    /// The reason in words.
    pub fn told(self, texts: &Texts) -> &'static str {
        match self {
            Self::Git => texts.outside_git,
            Self::Generated => texts.outside_generated,
            Self::Excluded => texts.outside_excluded,
            Self::OtherDisk => texts.outside_other_disk,
            Self::TooLarge => texts.outside_too_large,
            Self::OverTotal => texts.outside_over_total,
            Self::Unreadable => texts.outside_unreadable,
            Self::NoFile => texts.outside_no_file,
        }
    }
}

impl Entry {
    /// Whether it is a folder, covered or not.
    pub fn is_folder(&self) -> bool {
        const KIND: u32 = 0o170_000;
        const FOLDER: u32 = 0o040_000;
        match self {
            Self::Folder { .. } => true,
            Self::Outside { stamp, .. } => stamp.mode & KIND == FOLDER,
            Self::File { .. } | Self::Link { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_and_join_and_survive_json_byte_for_byte() {
        let rel = Rel::default().join(OsStr::new("a")).join(OsStr::from_bytes(b"\xff"));
        let (folder, name) = rel.split().expect("a name");
        assert_eq!((folder.bytes(), name.as_bytes()), (&b"a"[..], &b"\xff"[..]));
        assert_eq!(Rel::default().split(), None);
        for rel in [rel, Rel::new(b"b/c".to_vec())] {
            let json = serde_json::to_string(&rel).expect("json");
            assert_eq!(serde_json::from_str::<Rel>(&json).expect("it reads"), rel);
        }
    }

    #[test]
    fn digests_survive_json_and_anything_else_is_refused() {
        let digest = Digest::of(b"x");
        assert_eq!(Digest::try_from(digest.hex()), Ok(digest));
        assert!(Digest::try_from("12".to_owned()).is_err());
        assert!(Digest::try_from(format!("{}é", "0".repeat(62))).is_err());
    }
}
