//! Whether an edit made a text worse: errors of the grammar before it against those after it.

use super::grammar::Grammar;
use std::path::Path;
use std::time::Duration;
use tree_sitter::{Node, Tree};

/// The longest that one text may take.
const PATIENCE: Duration = Duration::from_millis(150);
/// Errors that are counted.
const MOST: usize = 1000;

/// A text that parses worse than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worse {
    /// The language.
    pub language: &'static str,
    /// Errors before.
    pub before: usize,
    /// Errors after.
    pub after: usize,
    /// Where to look, from 1 on; none where the place tells nothing.
    pub line: Option<usize>,
}

/// Compare; none where it is not worse, or cannot be told.
pub fn worse(path: &Path, before: &str, after: &str) -> Option<Worse> {
    let grammar = Grammar::of(path)?;
    let after = faults(&grammar.read(after, PATIENCE)?);
    if after.is_empty() {
        return None;
    }
    let before = faults(&grammar.read(before, PATIENCE)?);
    let is_worse = after.len() > before.len();
    is_worse.then(|| Worse { language: grammar.name, before: before.len(), after: after.len(), line: line(&after) })
}

/// One error.
struct Fault {
    bytes: usize,
    line: usize,
    lines: usize,
    of: usize,
}

fn faults(tree: &Tree) -> Vec<Fault> {
    let root = tree.root_node();
    let mut faults = Vec::new();
    let mut open: Vec<Node<'_>> = if root.has_error() { vec![root] } else { Vec::new() };
    let mut cursor = root.walk();
    while let Some(node) = open.pop() {
        if node.is_error() || node.is_missing() {
            let (first, last) = (node.start_position().row, node.end_position().row);
            let of = root.end_position().row + 1;
            faults.push(Fault { bytes: node.byte_range().len(), line: first + 1, lines: last + 1 - first, of });
        }
        if faults.len() == MOST {
            break;
        }
        open.extend(node.children(&mut cursor).filter(|child| child.has_error() || child.is_missing()));
    }
    faults
}

/// The narrowest error tells most; one that holds half of the text tells nothing.
fn line(faults: &[Fault]) -> Option<usize> {
    let narrowest = faults.iter().min_by_key(|fault| (fault.bytes, fault.line))?;
    (narrowest.lines == 1 || narrowest.lines * 2 < narrowest.of).then_some(narrowest.line)
}
