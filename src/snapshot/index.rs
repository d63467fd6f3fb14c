//! The last look at a workspace, kept on disk so that the next session reads only what has changed since.
//!
//! It is a memory, not a truth: a file that is torn, of another version or of other settings reads as none. Layout: magic,
//! digest of the settings, folders with their nodes, SHA-256 of all that. Numbers are little-endian.

use super::entry::{Digest, Entry, Outside, Rel, Stamp};
use super::tree::{Folder, Node, Tree};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::Arc;

const MAGIC: &[u8] = b"selfsmith tree 1\n";
/// Reasons by their numbers.
const REASONS: [Outside; 8] = [
    Outside::Git,
    Outside::Generated,
    Outside::Excluded,
    Outside::OtherDisk,
    Outside::TooLarge,
    Outside::OverTotal,
    Outside::Unreadable,
    Outside::NoFile,
];

/// Writes it, in one piece.
pub fn save(path: &Path, tree: &Tree, settings: Digest) -> io::Result<()> {
    let mut out = Vec::with_capacity(128 * tree.folders.len());
    out.extend(MAGIC);
    out.extend(settings.0);
    number(&mut out, tree.folders.len() as u64);
    for (folder_path, folder) in &tree.folders {
        text(&mut out, folder_path.bytes());
        out.push(folder.outside.map_or(u8::MAX, reason));
        number(&mut out, folder.nodes.len() as u64);
        folder.nodes.iter().for_each(|node| write_node(&mut out, node));
    }
    let digest = Digest::of(&out);
    out.extend(digest.0);
    let aside = path.with_extension(format!("new-{}", std::process::id()));
    fs::write(&aside, &out)?;
    fs::rename(&aside, path)
}

/// Reads it; none where there is none that fits.
pub fn load(path: &Path, settings: Digest) -> Option<Tree> {
    let bytes = fs::read(path).ok()?;
    let (body, digest) = bytes.split_last_chunk::<32>().map(|(body, digest)| (body, Digest(*digest)))?;
    if Digest::of(body) != digest {
        return None;
    }
    let mut rest = Reader(body.strip_prefix(MAGIC)?);
    if Digest(rest.array()?) != settings {
        return None;
    }
    let count = rest.number()?;
    let mut folders = HashMap::new();
    for _ in 0..count {
        let path = Rel::new(rest.text()?);
        let outside = match rest.byte()? {
            u8::MAX => None,
            number => Some(*REASONS.get(usize::from(number))?),
        };
        let nodes = (0..rest.number()?).map(|_| read_node(&mut rest)).collect::<Option<Vec<_>>>()?;
        folders.insert(path, Arc::new(Folder { outside, nodes }));
    }
    Some(Tree { folders })
}

fn write_node(out: &mut Vec<u8>, node: &Node) {
    text(out, node.name.as_bytes());
    let Stamp { size, ino, mtime, ctime, mode } = node.stamp;
    [size, ino, u64::from(mode)].into_iter().for_each(|value| number(out, value));
    [mtime.0, mtime.1, ctime.0, ctime.1].into_iter().for_each(|value| out.extend(value.to_le_bytes()));
    out.push(u8::from(node.settled));
    match &node.entry {
        Entry::File { digest, .. } => {
            out.push(0);
            out.extend(digest.0);
        }
        Entry::Link { target } => {
            out.push(1);
            text(out, target.bytes());
        }
        Entry::Folder { .. } => out.push(2),
        Entry::Outside { why, .. } => out.extend([3, reason(*why)]),
    }
}

fn read_node(rest: &mut Reader<'_>) -> Option<Node> {
    let name = OsString::from_vec(rest.text()?);
    let (size, ino, mode) = (rest.number()?, rest.number()?, u32::try_from(rest.number()?).ok()?);
    let (mtime, ctime) = ((rest.signed()?, rest.signed()?), (rest.signed()?, rest.signed()?));
    let stamp = Stamp { size, ino, mtime, ctime, mode };
    let settled = rest.byte()? == 1;
    let mode = stamp.permissions();
    let entry = match rest.byte()? {
        0 => Entry::File { mode, size, digest: Digest(rest.array()?) },
        1 => Entry::Link { target: Rel::new(rest.text()?) },
        2 => Entry::Folder { mode },
        3 => Entry::Outside { why: *REASONS.get(usize::from(rest.byte()?))?, stamp },
        _ => return None,
    };
    Some(Node { name, stamp, settled, entry })
}

fn reason(why: Outside) -> u8 {
    REASONS.iter().position(|other| *other == why).and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}

fn number(out: &mut Vec<u8>, value: u64) {
    out.extend(value.to_le_bytes());
}

fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend(bytes);
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn signed(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let stamp = Stamp { size: 3, ino: 7, mtime: (-1, 5), ctime: (2, 9), mode: 0o100_644 };
        let node = |name: &str, entry| Node { name: name.into(), stamp, settled: true, entry };
        let nodes = vec![
            node("a", Entry::File { mode: 0o644, size: 3, digest: Digest::of(b"abc") }),
            node("b", Entry::Link { target: Rel::new(b"a".to_vec()) }),
            node("c", Entry::Folder { mode: 0o644 }),
            node("d", Entry::Outside { why: Outside::NoFile, stamp }),
        ];
        let generated = Folder { outside: Some(Outside::Generated), nodes: Vec::new() };
        let folders = [(Rel::default(), Folder { outside: None, nodes }), (Rel::new(b"c".to_vec()), generated)];
        Tree { folders: folders.into_iter().map(|(path, folder)| (path, Arc::new(folder))).collect() }
    }

    #[test]
    fn a_tree_reads_back_and_anything_torn_or_foreign_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("index");
        let settings = Digest::of(b"settings");
        save(&path, &tree(), settings).expect("saved");
        assert_eq!(load(&path, settings), Some(tree()));
        assert_eq!(load(&path, Digest::of(b"others")), None);
        let bytes = fs::read(&path).expect("the file");
        for length in 0..bytes.len() {
            fs::write(&path, bytes.get(..length).expect("a length within")).expect("torn");
            assert_eq!(load(&path, settings), None, "{length}");
        }
    }
}
