//! What differs from the last commit, as git itself says it: line ends, filters and ignore files are git's business.
//! Promises that every name comes as bytes and that nothing on disk changes, the index's own notes of times included.

use super::{PersonError, WorkTree, error};
use crate::path::TreePath;
use crate::program::fields;

/// How a path differs from the last commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// Not in the last commit, and known to git.
    Added,
    /// Content, mode or kind.
    Changed,
    /// Not there any more.
    Removed,
    /// Moved, perhaps changed as well.
    Renamed,
    /// Not known to git, and not ignored.
    Untracked,
    /// A folder with a git repository of its own that no submodule entry names.
    Embedded,
    /// Both sides of a merge changed it.
    Unmerged,
}

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// From the top.
    pub path: TreePath,
    /// How.
    pub difference: Difference,
    /// Of a renamed file: its old path.
    pub from: Option<TreePath>,
}

/// Whether a moved file is one entry or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    AsOne,
    AsTwo,
}

impl WorkTree<'_> {
    /// What differs from the last commit, untracked files included, sorted by path.
    ///
    /// # Errors
    /// git cannot tell.
    pub fn changed_files(&self) -> Result<Vec<Changed>, PersonError> {
        self.changes(Moves::AsOne)
    }

    pub(super) fn changes(&self, moves: Moves) -> Result<Vec<Changed>, PersonError> {
        let renames = match moves {
            Moves::AsOne => "--find-renames",
            Moves::AsTwo => "--no-renames",
        };
        let done = self.git().finish(&["status", "--porcelain=v2", "-z", "--untracked-files=all", renames])?;
        if !done.ok() {
            return Err(error::of_command("see what changed", &done));
        }
        let mut changed = parse(&done.stdout()?);
        changed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changed)
    }
}

/// Reads `git status --porcelain=v2 -z` (git-status(1), "Porcelain Format Version 2").
fn parse(output: &[u8]) -> Vec<Changed> {
    let mut found = Vec::new();
    let mut fields = fields(output);
    while let Some(field) = fields.next() {
        let nth = |n: usize| field.splitn(n + 1, |b| *b == b' ').nth(n).map(TreePath::new);
        let states = field.get(2..4).unwrap_or_default();
        let (path, difference, from) = match field.first() {
            Some(b'1') => (nth(8), difference_of(states), None),
            Some(b'2') => (nth(9), Difference::Renamed, fields.next().map(TreePath::new)),
            Some(b'u') => (nth(10), Difference::Unmerged, None),
            Some(b'?') => match nth(1) {
                Some(path) if path.as_bytes().ends_with(b"/") => {
                    let folder = path.as_bytes().strip_suffix(b"/").unwrap_or_default();
                    (Some(TreePath::new(folder)), Difference::Embedded, None)
                }
                path => (path, Difference::Untracked, None),
            },
            _ => continue,
        };
        // git calls a copy what a setting makes it look for; the old file is still there.
        let copied = difference == Difference::Renamed && states.contains(&b'C');
        let (difference, from) = if copied { (Difference::Added, None) } else { (difference, from) };
        if let Some(path) = path {
            found.push(Changed { path, difference, from });
        }
    }
    found
}

/// From the states of index and work tree.
fn difference_of(states: &[u8]) -> Difference {
    match states {
        [_, b'D'] | [b'D', b'.'] => Difference::Removed,
        [b'A', _] | [_, b'A'] => Difference::Added,
        _ => Difference::Changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_blanks_arrows_and_line_breaks_come_whole() {
        let zero = "0000000000000000000000000000000000000000";
        let output = format!(
            "1 .M N... 100644 100644 100644 {zero} {zero} a b\n.txt\0\
             2 R. N... 100644 100644 100644 {zero} {zero} R100 b -> c\0a.txt\0\
             u UU N... 100644 100644 100644 100644 {zero} {zero} {zero} both x\0\
             1 D. N... 100644 000000 000000 {zero} {zero} gone\0? new one\0? vendor/\0"
        );
        let shown: Vec<String> = parse(output.as_bytes())
            .into_iter()
            .map(|c| format!("{:?} {} {}", c.difference, c.path, c.from.map(|f| f.to_string()).unwrap_or_default()))
            .collect();
        assert_eq!(
            shown,
            [
                "Changed a b\\n.txt ",
                "Renamed b -> c a.txt",
                "Unmerged both x ",
                "Removed gone ",
                "Untracked new one ",
                "Embedded vendor "
            ]
        );
    }
}
