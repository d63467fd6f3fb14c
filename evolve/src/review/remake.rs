//! From a candidate that was judged a new one: on the base that its target has moved to, or without what a person leaves out.
//! It goes through all the gates again.
//!
//! An approval is bound to the set (path, old blob, new blob): it holds for the new candidate where that set is the one that
//! was approved, and is void where it is not; then the new one waits.

use super::decide::{as_judged, without_line};
use super::{Item, ReviewError, Status, find, hunks, items};
use crate::cycle::{self, Base, CycleEnd, Remade, Setup, compose, free_to_move};
use crate::judgement::candidate::{BlobId, Candidate, Touched, TreeId};
use crate::judgement::defence::Defences;
use crate::judgement::progress::Progress;
use crate::judgement::verdict::Verdict;
use crate::judgement::weigh::Weigh;
use crate::review::Deciding;
use crate::rules::Rules;
use crate::store::journal::Landing;
use crate::store::lineage::{self, Link};
use crate::store::record::Kind;
use selfsmith_repo::{Change, FileDiff, Merged, Mode, Renames, Repo, TreePath};
use selfsmith_sandbox::Cancel;
use std::collections::BTreeSet;

/// What lets the new one land.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// The old one would have landed by itself.
    Policy,
    /// A person approves it now, as far as it is the same.
    Approval,
}

/// Something that a person leaves out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// The file.
    pub path: String,
    /// Which of its hunks, from 1; none for all of it.
    pub hunk: Option<usize>,
}

impl LeftOut {
    /// From `PATH` or `PATH:N`.
    pub fn parse(text: &str) -> Self {
        let numbered = text.rsplit_once(':').and_then(|(path, hunk)| Some((path, hunk.parse().ok()?)));
        match numbered {
            Some((path, hunk)) => Self { path: path.to_owned(), hunk: Some(hunk) },
            None => Self { path: text.to_owned(), hunk: None },
        }
    }
}

/// Whether the target of a candidate stands elsewhere than it was judged on.
pub fn has_moved(repo: &Repo, id: &str) -> Result<bool, ReviewError> {
    let item = super::show(repo, id)?;
    Ok(repo.read_ref(&item.item.target)? != Some(item.record.base.0))
}

/// Make it anew where its target is now.
pub fn rebase(
    deciding: &Deciding<'_>,
    base: &Base,
    (id, ground): (&str, Ground),
    weigh: &mut dyn Weigh,
    cancel: &Cancel,
) -> Result<CycleEnd, ReviewError> {
    let old = Old::find(deciding, id, ground)?;
    let tree = old.changes.clone();
    old.remade(deciding, base, (Kind::Rebase, tree, ground), (weigh, cancel))
}

/// Make it anew without what is left out, where its target is now, and land it on the word of whoever leaves it out.
pub fn select(
    deciding: &Deciding<'_>,
    base: &Base,
    (id, left_out): (&str, &BTreeSet<LeftOut>),
    weigh: &mut dyn Weigh,
    cancel: &Cancel,
) -> Result<CycleEnd, ReviewError> {
    let mut old = Old::find(deciding, id, Ground::Approval)?;
    let tree = old.without(deciding.hands.repo, left_out)?;
    // What is approved is the rest.
    let rules = old.rules.clone();
    old.candidate.touched = compose::touched_between(deciding.hands.repo, &old.before, &tree, &rules)?;
    old.remade(deciding, base, (Kind::Selection, tree, Ground::Approval), (weigh, cancel))
}

/// What was judged.
struct Old {
    item: Item,
    link: Link,
    candidate: Candidate,
    /// The rules it was judged by.
    rules: Rules,
    /// Tree of its base.
    before: TreeId,
    /// Its tree without the judge's own line.
    changes: TreeId,
}

impl Old {
    fn find(deciding: &Deciding<'_>, id: &str, ground: Ground) -> Result<Self, ReviewError> {
        let repo = deciding.hands.repo;
        let links = lineage::list(repo)?;
        let item = find(items(&links), id)?;
        let may =
            matches!((&item.verdict, ground), (Verdict::Accept, _) | (Verdict::NeedsHuman { .. }, Ground::Approval));
        if !matches!(item.status, Status::Waiting | Status::Stale) || !may {
            let status = item.status.word();
            return Err(ReviewError::Unfit {
                what: format!("make {} anew: it is {status} ({})", item.id, item.verdict.word()),
                hint: "only what waits, or is stale, and was not refused".to_owned(),
            });
        }
        let missing = || ReviewError::Unknown { id: id.to_owned() };
        let link = links.into_iter().find(|l| l.record.id == item.cycle).ok_or_else(missing)?;
        let (candidate, _, rules) = as_judged(deciding.hands, &link)?;
        let before = TreeId(repo.tree_of(&candidate.base.0)?);
        let changes = without_line(repo, &candidate.tree, &before, &rules)?;
        Ok(Self { item, link, candidate, rules, before, changes })
    }

    /// The base with the changes but for what is left out.
    fn without(&self, repo: &Repo, left_out: &BTreeSet<LeftOut>) -> Result<TreeId, ReviewError> {
        let files = repo.diff(&self.before.0, &self.changes.0, Renames::AsTwo)?;
        for out in left_out {
            let known = files.iter().any(|file| file.path.to_string() == out.path && out.names_a_part_of(file));
            if !known {
                let hunk = out.hunk.map(|hunk| format!(", hunk {hunk}")).unwrap_or_default();
                return Err(
                    self.unfit(&format!("there is no {}{hunk} in it", out.path), "`review show` lists its parts")
                );
            }
        }
        let mut changes: Vec<Change> = Vec::new();
        for file in &files {
            let path = file.path.to_string();
            let of_it: Vec<&LeftOut> = left_out.iter().filter(|out| out.path == path).collect();
            let whole = |side: &Option<selfsmith_repo::Side>| side.as_ref().map(|side| (side.mode, side.id.clone()));
            let entry = if of_it.is_empty() {
                whole(&file.new)
            } else if of_it.iter().any(|out| out.hunk.is_none()) {
                continue;
            } else {
                match self.partly(repo, file, &of_it)? {
                    Some(entry) => Some(entry),
                    None => continue,
                }
            };
            changes.push(Change { path: file.path.clone(), entry });
        }
        if changes.is_empty() {
            return Err(self.unfit("nothing of it is left", "`review reject` refuses all of it"));
        }
        Ok(TreeId(repo.tree_with(&self.before.0, &changes)?))
    }

    /// A file with those of its hunks that are not left out; none where all are.
    fn partly(&self, repo: &Repo, file: &FileDiff, out: &[&LeftOut]) -> Result<Option<(Mode, String)>, ReviewError> {
        let parts = hunks::parse(&file.patch);
        let kept: Vec<&hunks::Hunk> = parts
            .iter()
            .enumerate()
            .filter(|(n, _)| !out.iter().any(|out| out.hunk == Some(n + 1)))
            .map(|(_, hunk)| hunk)
            .collect();
        if kept.is_empty() {
            return Ok(None);
        }
        let apart = || self.unfit(&format!("{} cannot be taken apart", file.path), "leave all of it out, or nothing");
        let (Some(old), Some(new)) = (&file.old, &file.new) else { return Err(apart()) };
        let (before, after) = (repo.blob(&old.id)?, repo.blob(&new.id)?);
        // That all of them give the new file shows that they were read rightly.
        if hunks::apply(&before, &parts).as_deref() != Some(after.as_slice()) {
            return Err(apart());
        }
        let some = hunks::apply(&before, kept).ok_or_else(apart)?;
        Ok(Some((new.mode, repo.write_blob(&some)?)))
    }

    fn remade(
        self,
        deciding: &Deciding<'_>,
        base: &Base,
        (kind, tree, ground): (Kind, TreeId, Ground),
        (weigh, cancel): (&mut dyn Weigh, &Cancel),
    ) -> Result<CycleEnd, ReviewError> {
        let repo = deciding.hands.repo;
        if base.target != self.item.target {
            return Err(
                self.unfit(&format!("it is for {} and not for {}", self.item.target, base.target), "name its branch")
            );
        }
        free_to_move(repo, &base.target)?;
        let tree = match repo.merge_trees(&self.before.0, &base.tree.0, &tree.0)? {
            Merged::Tree(tree) => TreeId(tree),
            Merged::Conflicts(paths) => {
                let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
                let why = format!("{} has moved, and both changed the same lines of {}", base.target, paths.join(", "));
                return Err(ReviewError::Conflicts {
                    what: format!("make {} anew: {why}", self.item.id),
                    hint: "run the goal again on what is there now".to_owned(),
                });
            }
        };
        let touched = compose::touched_between(repo, &base.tree, &tree, &base.rules)?;
        let landing = match (ground, set(&touched) == set(&self.candidate.touched)) {
            (Ground::Policy, _) => Landing::Auto,
            (Ground::Approval, true) => Landing::Approved { question: self.item.verdict.said().0 },
            (Ground::Approval, false) => {
                let text = format!(
                    "the approval of {} is void: on {} it is another set of changes (path, old and new content). It is made anew \
                     there, weighed again, and waits for an approval of its own",
                    self.item.id, base.target
                );
                (deciding.hands.report)(Progress::Notice { text });
                Landing::Review
            }
        };
        let setup = Setup {
            hands: deciding.hands,
            base: base.clone(),
            id: deciding.id.clone(),
            goal: self.link.record.goal.clone(),
            landing,
            authority: Some(deciding.authority.clone()),
            max_repairs: 0,
            defences: Defences::all(),
            cancel: cancel.clone(),
        };
        let remade = Remade {
            kind,
            about: self.item.id.clone(),
            proposer: self.link.record.proposer.clone(),
            model: self.link.record.model.clone(),
            said: self.link.record.proposal.clone(),
            tree,
        };
        Ok(cycle::remake(setup, remade, weigh)?)
    }

    fn unfit(&self, why: &str, hint: &str) -> ReviewError {
        ReviewError::Unfit { what: format!("make {} anew: {why}", self.item.id), hint: hint.to_owned() }
    }
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.hunk {
            Some(hunk) => write!(f, "{}:{hunk}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

impl LeftOut {
    fn names_a_part_of(&self, file: &FileDiff) -> bool {
        self.hunk.is_none_or(|hunk| hunk >= 1 && hunk <= hunks::parse(&file.patch).len())
    }
}

/// What an approval is bound to.
fn set(touched: &[Touched]) -> BTreeSet<(&str, Option<&BlobId>, Option<&BlobId>)> {
    touched.iter().map(|t| (t.path.as_str(), t.old.as_ref(), t.new.as_ref())).collect()
}

/// What a person sees of a candidate, part by part: the judge's own line is not theirs to choose.
pub fn parts(repo: &Repo, id: &str) -> Result<Vec<FileDiff>, ReviewError> {
    let shown = super::show(repo, id)?;
    let rules = Rules::parse(&shown.evidence.rules).map_err(crate::cycle::CycleError::from)?;
    let (Some(commit), log) = (&shown.commit, rules.changelog().map(TreePath::from)) else { return Ok(Vec::new()) };
    let (before, after) = (repo.tree_of(&shown.record.base.0)?, repo.tree_of(&commit.0)?);
    let files = repo.diff(&before, &after, Renames::AsTwo)?;
    Ok(files.into_iter().filter(|file| Some(&file.path) != log.as_ref()).collect())
}
