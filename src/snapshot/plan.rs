//! What an undo has to do, from what turns changed. Pure.
//!
//! Several turns fold into one step for each path: from what stands there after the last of them to what stood there before
//! the first. Where somebody else changed a path in between, it goes back only as far as that.

use super::entry::{Entry, Outside, Rel};
use super::record::Author;
use super::tree::Change;
use std::collections::BTreeMap;

/// What is done with changes that may be somebody else's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Doubtful {
    /// They stay.
    #[default]
    Leave,
    /// They are undone too.
    Undo,
}

/// One path's way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The path.
    pub path: Rel,
    /// What must stand there now.
    pub expected: Option<Entry>,
    /// What is to stand there.
    pub target: Option<Entry>,
}

impl From<Change> for Step {
    fn from(change: Change) -> Self {
        Self { path: change.path, expected: change.before, target: change.after }
    }
}

/// Why a path is left as it is, or is not brought all the way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Somebody changed it after the turn.
    Changed,
    /// Somebody changed it between two of the turns; it is back as it was then.
    ChangedBetween,
    /// It changed while a background job ran, so it may be somebody else's change.
    Job,
    /// It changed in a turn whose session was killed, or later.
    Killed,
    /// Its content was not kept.
    NotKept(Outside),
    /// What is there now is a content that is not kept, so that no way would lead back to it.
    NoWayBack(Outside),
    /// The content that was kept is damaged or gone.
    Lost,
    /// The folder holds something that stays.
    NotEmpty,
    /// The disk says no.
    Disk(String),
}

struct Way {
    expected: Option<Entry>,
    target: Option<Entry>,
    stopped: Option<Why>,
}

/// Steps and paths that are left, both sorted by path. `turns` has the newest first.
pub fn plan<'a>(
    turns: impl IntoIterator<Item = (Author, &'a [Change])>,
    doubtful: Doubtful,
) -> (Vec<Step>, Vec<(Rel, Why)>) {
    let mut ways: BTreeMap<&Rel, Way> = BTreeMap::new();
    for (author, changes) in turns {
        let doubt = match author {
            Author::Job if doubtful == Doubtful::Leave => Some(Why::Job),
            Author::Killed if doubtful == Doubtful::Leave => Some(Why::Killed),
            Author::Turn | Author::Job | Author::Killed => None,
        };
        for change in changes {
            let way = ways.entry(&change.path).or_insert_with(|| Way {
                expected: change.after.clone(),
                target: change.after.clone(),
                stopped: None,
            });
            if way.stopped.is_some() {
                continue;
            }
            if doubt.is_some() {
                way.stopped.clone_from(&doubt);
            } else if way.target == change.after {
                way.target.clone_from(&change.before);
            } else {
                way.stopped = Some(Why::ChangedBetween);
            }
        }
    }
    let mut steps = Vec::new();
    let mut left = Vec::new();
    for (path, Way { expected, target, stopped }) in ways {
        if let Some(why) = stopped {
            left.push((path.clone(), why));
        }
        match (&expected, &target) {
            (expected, target) if expected == target => {}
            (_, Some(Entry::Outside { why, .. })) => left.push((path.clone(), Why::NotKept(*why))),
            (Some(Entry::Outside { why, .. }), _) if doubtful == Doubtful::Leave && is_content(*why) => {
                left.push((path.clone(), Why::NoWayBack(*why)));
            }
            _ => steps.push(Step { path: path.clone(), expected, target }),
        }
    }
    (steps, left)
}

/// Whether what is left out is a file with a content that could be somebody's.
fn is_content(why: Outside) -> bool {
    match why {
        Outside::TooLarge | Outside::OverTotal | Outside::Unreadable => true,
        Outside::Git | Outside::Generated | Outside::Excluded | Outside::OtherDisk | Outside::NoFile => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::entry::Digest;

    fn file(text: &str) -> Option<Entry> {
        Some(Entry::File { mode: 0o644, size: text.len() as u64, digest: Digest::of(text.as_bytes()) })
    }

    fn change(before: Option<Entry>, after: Option<Entry>) -> Vec<Change> {
        vec![Change { path: Rel::new(b"p".to_vec()), before, after }]
    }

    fn planned(turns: &[(Author, Vec<Change>)], doubtful: Doubtful) -> (Vec<Step>, Vec<Why>) {
        let (steps, left) = plan(turns.iter().map(|(author, changes)| (*author, changes.as_slice())), doubtful);
        (steps, left.into_iter().map(|(_, why)| why).collect())
    }

    fn step(expected: Option<Entry>, target: Option<Entry>) -> Vec<Step> {
        vec![Step { path: Rel::new(b"p".to_vec()), expected, target }]
    }

    #[test]
    fn turns_fold_into_one_step() {
        let turns = [(Author::Turn, change(file("b"), file("c"))), (Author::Turn, change(file("a"), file("b")))];
        assert_eq!(planned(&turns, Doubtful::Leave), (step(file("c"), file("a")), vec![]));
    }

    #[test]
    fn what_was_made_and_removed_again_needs_nothing() {
        let turns = [(Author::Turn, change(file("b"), None)), (Author::Turn, change(None, file("b")))];
        assert_eq!(planned(&turns, Doubtful::Leave), (vec![], vec![]));
    }

    #[test]
    fn a_change_by_others_between_two_turns_stays() {
        let turns = [(Author::Turn, change(file("x"), file("c"))), (Author::Turn, change(file("a"), file("b")))];
        assert_eq!(planned(&turns, Doubtful::Leave), (step(file("c"), file("x")), vec![Why::ChangedBetween]));
    }

    #[test]
    fn doubtful_changes_stay_unless_they_are_asked_for() {
        let turns = [(Author::Job, change(file("b"), file("c"))), (Author::Turn, change(file("a"), file("b")))];
        assert_eq!(planned(&turns, Doubtful::Leave), (vec![], vec![Why::Job]));
        assert_eq!(planned(&turns, Doubtful::Undo), (step(file("c"), file("a")), vec![]));
    }
}
