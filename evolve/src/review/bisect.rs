//! Which landing made something fail: a search over the states that the judge's landings left behind, oldest to newest.
//!
//! The search itself is pure; whoever calls it runs the check.

use super::{ReviewError, items};
use crate::judgement::candidate::CommitId;
use crate::store::lineage;
use selfsmith_repo::Repo;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a check says of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It cannot be told here.
    Untold,
}

/// One state: what a landing left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct State {
    /// The commit.
    pub commit: CommitId,
    /// Id of the candidate that landed; none for what was there before the first one.
    pub candidate: Option<String>,
    /// Its goal.
    pub goal: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// This one made it fail; between, states of which nothing could be told.
    First {
        /// Where it certainly fails.
        bad: usize,
        /// The last one where it certainly holds.
        good: usize,
    },
    /// It holds now.
    HoldsNow,
    /// It failed before the first landing already.
    FailedBefore,
    /// Nothing can be told of the first or the last state.
    Untold,
}

/// The states that the judge's landings left on a target, oldest first: what was there before the first of them, and each.
pub fn states(repo: &Repo, target: &str) -> Result<Vec<State>, ReviewError> {
    let links = lineage::list(repo)?;
    let Some(head) = repo.read_ref(target)? else { return Ok(Vec::new()) };
    let items = items(&links);
    let landed: BTreeMap<&str, &super::Item> =
        items.iter().filter_map(|item| Some((item.landed.as_ref()?.0.as_str(), item))).collect();
    let mut states = Vec::new();
    let mut before = None;
    for commit in repo.first_parents(&head, 100_000)? {
        if let Some(item) = landed.get(commit.id.as_str()) {
            before = commit.parents.first().cloned();
            states.push(State {
                commit: CommitId(commit.id),
                candidate: Some(item.id.clone()),
                goal: item.goal.clone(),
            });
        }
    }
    let first = before.map(|commit| State { commit: CommitId(commit), candidate: None, goal: String::new() });
    states.extend(first);
    states.reverse();
    Ok(states)
}

/// Search among `count` states.
///
/// # Errors
/// From the check.
pub fn search<E>(count: usize, check: &mut dyn FnMut(usize) -> Result<Answer, E>) -> Result<Found, E> {
    let Some(newest) = count.checked_sub(1) else { return Ok(Found::HoldsNow) };
    match check(newest)? {
        Answer::Holds => return Ok(Found::HoldsNow),
        Answer::Untold => return Ok(Found::Untold),
        Answer::Fails => {}
    }
    match if newest == 0 { Answer::Fails } else { check(0)? } {
        Answer::Fails => return Ok(Found::FailedBefore),
        Answer::Untold => return Ok(Found::Untold),
        Answer::Holds => {}
    }
    let (mut good, mut bad) = (0, newest);
    loop {
        // The middle first, then what lies nearest to it.
        let middle = good + (bad - good) / 2;
        let mut between: Vec<usize> = (good + 1..bad).collect();
        between.sort_by_key(|at| (at.abs_diff(middle), *at));
        let mut told = false;
        for at in between {
            match check(at)? {
                Answer::Holds => good = at,
                Answer::Fails => bad = at,
                Answer::Untold => continue,
            }
            told = true;
            break;
        }
        if !told {
            return Ok(Found::First { bad, good });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(answers: &[Answer]) -> (Found, usize) {
        let mut asked = 0;
        let found = search::<()>(answers.len(), &mut |at| {
            asked += 1;
            Ok(answers.get(at).copied().unwrap_or(Answer::Untold))
        });
        (found.unwrap_or(Found::Untold), asked)
    }

    #[test]
    fn the_first_that_fails_is_found_in_few_steps_wherever_it_is() {
        for bad in 1..64 {
            let answers: Vec<Answer> = (0..64).map(|at| if at < bad { Answer::Holds } else { Answer::Fails }).collect();
            let (found, asked) = found(&answers);
            assert_eq!(found, Found::First { bad, good: bad - 1 });
            assert!(asked <= 8, "{bad}: {asked}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_left_between() {
        use Answer::{Fails, Holds, Untold};
        assert_eq!(found(&[Holds, Untold, Untold, Fails]).0, Found::First { bad: 3, good: 0 });
        assert_eq!(found(&[Holds, Untold, Holds, Fails]).0, Found::First { bad: 3, good: 2 });
        assert_eq!(found(&[Holds, Fails, Holds]).0, Found::HoldsNow);
        assert_eq!(found(&[Fails, Holds, Fails]).0, Found::FailedBefore);
        assert_eq!(found(&[Holds, Fails, Untold]).0, Found::Untold);
        assert_eq!(found(&[Fails]).0, Found::FailedBefore);
        assert_eq!(found(&[]).0, Found::HoldsNow);
    }
}
