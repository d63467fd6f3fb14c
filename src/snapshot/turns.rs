//! Pure: what turns changed, taken together, told apart, and chosen for an undo.

use super::entry::{Digest, Entry, Rel};
use super::plan::Doubtful;
use super::record::{Author, Label, Open, Record};
use super::terms::What;
use super::tree::{Change, Tree};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Changes of the whole workspace, with single files as they were seen before it was looked at.
pub(super) fn merged(open: &Open, changes: Vec<Change>, now: impl Fn(&Rel) -> Option<Entry>) -> Vec<Change> {
    let mut merged: BTreeMap<Rel, Change> = changes.into_iter().map(|change| (change.path.clone(), change)).collect();
    for (path, before) in open.files.values() {
        let change = Change { path: path.clone(), before: before.clone(), after: now(path) };
        if change.before == change.after {
            merged.remove(path);
        } else {
            merged.insert(path.clone(), change);
        }
    }
    merged.into_values().collect()
}

/// Of changes; a change and its way back are alike.
pub(super) fn digest(changes: &[Change]) -> u64 {
    let of = |path: &Rel, entry: &Option<Entry>| {
        let mut hasher = DefaultHasher::new();
        (path, format!("{entry:?}")).hash(&mut hasher);
        hasher.finish()
    };
    let both = |change: &Change| of(&change.path, &change.before) ^ of(&change.path, &change.after);
    changes.iter().map(both).fold(0, |all, one| all ^ one)
}

/// A turn or what came between: whose it was, and what changed.
pub(super) type Undoable<'a> = (&'a Label, Author, &'a [Change]);

/// The turns that are meant, newest first. Doubtful changes that came after them are among them, so that what they touched
/// is known.
pub(super) fn chosen<'a>(turns: Vec<Undoable<'a>>, what: What<'_>, doubtful: Doubtful) -> Vec<Undoable<'a>> {
    let plain = |author: Author| doubtful == Doubtful::Undo || author == Author::Turn;
    let Some((last, ..)) = turns.iter().find(|(_, author, _)| plain(*author)).copied() else { return turns };
    let same_prompt = |label: &Label| label.session == last.session && label.message == last.message;
    let same_turn = |label: &Label| same_prompt(label) && (label.turn, label.at) == (last.turn, last.at);
    let wanted = |label: &Label| match what {
        What::Turn => same_turn(label),
        What::Prompt => same_prompt(label),
        What::Since { session, message } => label.session == session && label.message >= message,
    };
    let Some(oldest) = turns.iter().rposition(|(label, ..)| wanted(label)) else {
        return Vec::new();
    };
    let meant = turns.into_iter().take(oldest + 1).filter(|(label, author, _)| !plain(*author) || wanted(label));
    meant.collect()
}

/// Contents that records and the last look need.
pub(super) fn wanted(records: &[Record], tree: &Tree) -> HashSet<Digest> {
    let changes = records.iter().filter_map(|record| match record {
        Record::Turn { changes, .. } | Record::Undone { changes, .. } => Some(changes),
        Record::Redone { .. } => None,
    });
    let entries = changes.flatten().flat_map(|change| [&change.before, &change.after]).flatten();
    let nodes = tree.folders.values().flat_map(|folder| &folder.nodes).map(|node| &node.entry);
    entries
        .chain(nodes)
        .filter_map(|entry| if let Entry::File { digest, .. } = entry { Some(*digest) } else { None })
        .collect()
}
