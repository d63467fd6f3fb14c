//! What a person decides: approve, reject, revert. Each is a record in the lineage, with the sign of a person that was seen.
//!
//! An approval is bound to the set (path, old blob, new blob) that was judged: it lands exactly the commit that was kept, on
//! exactly the base that it was judged on. A reject of the gates never lands, whoever approves.

use super::{Item, Status, find, items};
use crate::cycle::compose;
use crate::cycle::sanitize;
use crate::cycle::{
    self, Base, CycleError, Hands, Landable, Work, candidate_ref, cycle_plan, decision_plan, free_to_move,
    landing_effects, record, weighed_tree,
};
use crate::judgement::candidate::{Candidate, CommitId, Proposal, TreeId};
use crate::judgement::verdict::{self, Verdict};
use crate::judgement::weigh::Weigh;
use crate::rules::Rules;
use crate::store::authority::Authority;
use crate::store::evidence;
use crate::store::journal::{Effect, Entry, Landing, Opened};
use crate::store::lineage::{self, LineageError, Link};
use crate::store::lock;
use crate::store::record::{End, Kind, Record};
use selfsmith_repo::{Change, Merged, Mode, Repo, RepoError, TreePath};
use selfsmith_sandbox::Cancel;

/// What a decision works with.
#[derive(Clone)]
pub struct Deciding<'a> {
    /// Repository, state folder, clock, and who is told.
    pub hands: Hands<'a>,
    /// Its id, from [`crate::store::state::cycle_id`].
    pub id: String,
    /// On whose word.
    pub authority: Authority,
}

/// How a decision ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Its id, for `undo`.
    pub id: String,
    /// What it is about.
    pub about: String,
    /// What became of it.
    pub end: End,
    /// The verdict; for a revert, the gates' on the revert.
    pub verdict: Verdict,
    /// The commit that landed.
    pub landed: Option<CommitId>,
}

/// Why there is no decision. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// No such candidate.
    #[error("find the candidate {id}: there is none")]
    Unknown {
        /// As asked.
        id: String,
    },
    /// More than one.
    #[error("find the candidate {id}: several begin like that")]
    Ambiguous {
        /// As asked.
        id: String,
    },
    /// It is not something that can be decided so.
    #[error("{what}")]
    Unfit {
        /// Why, completing "could not".
        what: String,
        /// What to do next.
        hint: String,
    },
    /// The target has moved to where the same lines were changed.
    #[error("{what}")]
    Conflicts {
        /// Which, completing "could not".
        what: String,
        /// What to do next.
        hint: String,
    },
    /// The judge could not go on.
    #[error(transparent)]
    Cycle(#[from] CycleError),
    /// The lineage cannot be used.
    #[error(transparent)]
    Lineage(#[from] LineageError),
    /// git refused.
    #[error(transparent)]
    Repo(#[from] RepoError),
}

impl ReviewError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { .. } | Self::Ambiguous { .. } => "`selfsmith review` lists them".to_owned(),
            Self::Unfit { hint, .. } | Self::Conflicts { hint, .. } => hint.clone(),
            Self::Cycle(e) => e.hint(),
            Self::Lineage(e) => e.hint().to_owned(),
            Self::Repo(e) => e.hint().to_owned(),
        }
    }
}

/// Land a candidate that waits.
pub fn approve(deciding: &Deciding<'_>, id: &str) -> Result<Decided, ReviewError> {
    let durable = deciding.hands.durable()?;
    let hands = deciding.hands.with(&durable);
    cycle::recover(hands)?;
    let (item, link) = waiting(hands, id)?;
    let (candidate, commit, _) = as_judged(hands, &link)?;
    free_to_move(hands.repo, &link.record.target)?;
    let opened = opened(deciding, Kind::Approval, &link.record, item.id.clone());
    let mut work = Work::begin(hands, opened)?;
    let landable = Landable { target: link.record.target.clone(), from: candidate.base.clone(), to: commit.clone() };
    let proposal = link.record.proposal.clone();
    let decided = (link.record.verdict.clone(), End::Landed);
    let at = (hands.clock)();
    let record = Record { landed: Some(commit), ..record(&work.known.opened, at, Some(candidate), proposal, decided) };
    let plan = decision_plan(record, link.evidence.clone(), landing_effects(hands, &landable)?);
    work.enter(Entry::Planned(plan))?;
    carried(work)
}

/// Refuse a candidate that waits. It stays under its ref.
pub fn reject(deciding: &Deciding<'_>, id: &str, why: &str) -> Result<Decided, ReviewError> {
    let durable = deciding.hands.durable()?;
    let hands = deciding.hands.with(&durable);
    cycle::recover(hands)?;
    let (item, link) = waiting(hands, id)?;
    let opened = opened(deciding, Kind::Rejection, &link.record, item.id.clone());
    let mut work = Work::begin(hands, opened)?;
    let said = Proposal { summary: why.to_owned(), ..Proposal::default() };
    let decided = (link.record.verdict.clone(), End::Refused);
    let record = record(&work.known.opened, (hands.clock)(), link.record.candidate.clone(), said, decided);
    work.enter(Entry::Planned(decision_plan(record, link.evidence.clone(), vec![Effect::Lineage])))?;
    carried(work)
}

/// Take back a landed commit by one more commit that passes the gates: what was green before the landing must be green.
pub fn revert(
    deciding: &Deciding<'_>,
    base: &Base,
    id: &str,
    weigh: &mut dyn Weigh,
    cancel: &Cancel,
) -> Result<Decided, ReviewError> {
    propose_revert(deciding, (base, id), Landing::Auto, weigh, cancel)
}

/// The same, of which nobody but the machine has said that it shall be: it lands as other candidates do.
pub fn propose_revert(
    deciding: &Deciding<'_>,
    (base, id): (&Base, &str),
    landing: Landing,
    weigh: &mut dyn Weigh,
    cancel: &Cancel,
) -> Result<Decided, ReviewError> {
    let durable = deciding.hands.durable()?;
    let hands = deciding.hands.with(&durable);
    let _lock = lock::take(&hands.state.cycle_lock()).map_err(CycleError::from)?;
    cycle::recover(hands)?;
    let links = lineage::list(hands.repo)?;
    let item = find(items(&links), id)?;
    let landed = match (&item.landed, item.status) {
        (Some(landed), Status::Landed) if item.target == base.target => landed.clone(),
        _ => {
            return Err(ReviewError::Unfit {
                what: format!("revert {}: it is {} and not landed on {}", item.id, item.status.word(), base.target),
                hint: "`selfsmith review` lists what has landed".to_owned(),
            });
        }
    };
    let link = links.iter().find(|l| l.record.id == item.cycle).ok_or_else(|| unknown(id))?;
    let tree = without(hands, base, &landed, &item)?;
    let touched = compose::touched_between(hands.repo, &base.tree, &tree, &base.rules)?;
    let candidate = Candidate { id: format!("{}-0", deciding.id), base: base.commit.clone(), tree, touched };
    let tests_from = Candidate { base: link.record.base.clone(), ..candidate.clone() };
    let mut opened = opened(deciding, Kind::Revert, &link.record, landed.0.clone());
    opened.base = base.commit.clone();
    opened.rules = base.rules_text();
    opened.landing = landing;
    let mut work = Work::begin(hands, opened)?;
    let stopped = weighed_tree(&mut work, candidate, &tests_from, weigh, cancel)?;
    let plan = cycle_plan(&work, stopped)?;
    work.enter(Entry::Planned(plan))?;
    carried(work)
}

/// A tree with the changelog of another one, in which the judge's own line is not there yet.
pub(super) fn without_line(repo: &Repo, tree: &TreeId, before: &TreeId, rules: &Rules) -> Result<TreeId, ReviewError> {
    let Some(path) = rules.changelog().map(TreePath::from) else { return Ok(tree.clone()) };
    let entry = repo.entry(&before.0, &path)?.map(|e| (e.mode, e.id));
    Ok(TreeId(repo.tree_with(&tree.0, &[Change { path, entry }])?))
}

/// The head's tree without what the commit changed; the changelog only gains a line.
fn without(hands: Hands<'_>, base: &Base, landed: &CommitId, item: &Item) -> Result<TreeId, ReviewError> {
    let repo = hands.repo;
    let commit = repo.read_commit(&landed.0)?;
    let parent = commit.parents.first().ok_or_else(|| unknown(&landed.0))?;
    let before = TreeId(repo.tree_of(parent)?);
    let log = base.rules.changelog().map(TreePath::from);
    let after = without_line(repo, &TreeId(commit.tree.clone()), &before, &base.rules)?;
    let tree = match repo.merge_trees(&after.0, &base.tree.0, &before.0)? {
        Merged::Tree(tree) => tree,
        Merged::Conflicts(paths) => {
            let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
            return Err(ReviewError::Unfit {
                what: format!("revert {}: later commits changed the same lines in {}", item.id, paths.join(", ")),
                hint: "revert those first, or write the revert by hand".to_owned(),
            });
        }
    };
    let Some(path) = log else { return Ok(TreeId(tree)) };
    match repo.entry(&tree, &path)? {
        Some(entry) if entry.mode == Mode::File => {
            let text = String::from_utf8_lossy(&repo.blob(&entry.id)?).into_owned();
            let line = format!("Reverted: {}", sanitize::line(&item.goal, 110));
            let blob = repo.write_blob(compose::changelog_with(&text, &line).as_bytes())?;
            Ok(TreeId(repo.tree_with(&tree, &[Change { path, entry: Some((Mode::File, blob)) }])?))
        }
        _ => Ok(TreeId(tree)),
    }
}

/// The candidate that is meant, if it waits.
fn waiting(hands: Hands<'_>, id: &str) -> Result<(Item, Link), ReviewError> {
    let links = lineage::list(hands.repo)?;
    let item = find(items(&links), id)?;
    if item.status != Status::Waiting {
        return Err(ReviewError::Unfit {
            what: format!("decide about {}: it is {} and does not wait", item.id, item.status.word()),
            hint: "`selfsmith review` lists what waits".to_owned(),
        });
    }
    let link = links.into_iter().find(|l| l.record.id == item.cycle).ok_or_else(|| unknown(id))?;
    Ok((item, link))
}

/// The candidate, its commit and the rules it was judged by, if all are still what was judged and the verdict still follows
/// from the evidence.
pub(super) fn as_judged(hands: Hands<'_>, link: &Link) -> Result<(Candidate, CommitId, Rules), ReviewError> {
    let void = |why: &str| ReviewError::Unfit {
        what: format!("approve {}: {why}", link.record.id),
        hint: "the approval would be void; run the goal again".to_owned(),
    };
    let candidate = link.record.candidate.clone().ok_or_else(|| void("nothing was kept"))?;
    let kept = hands.repo.read_ref(&candidate_ref(&candidate.id))?.ok_or_else(|| void("its ref is gone"))?;
    let commit = hands.repo.read_commit(&kept)?;
    if commit.tree != candidate.tree.0 || commit.parents != [candidate.base.0.clone()] {
        return Err(void("its ref leads to something else than what was judged"));
    }
    let found = evidence::read(hands.repo, &link.evidence)?;
    let last = found.attempts.last().ok_or_else(|| void("there is no evidence"))?;
    if verdict::derive(&last.reports, &last.required) != link.record.verdict {
        return Err(void("the verdict does not follow from the evidence"));
    }
    if !matches!(link.record.verdict, Verdict::Accept | Verdict::NeedsHuman { .. }) {
        return Err(void("only what was accepted, or left to a person, may land"));
    }
    let rules = Rules::parse(&found.rules).map_err(CycleError::from)?;
    let base_tree = TreeId(hands.repo.tree_of(&candidate.base.0)?);
    if compose::touched_between(hands.repo, &base_tree, &candidate.tree, &rules)? != candidate.touched {
        return Err(void("what differs is not what was judged"));
    }
    Ok((candidate, CommitId(kept), rules))
}

fn opened(deciding: &Deciding<'_>, kind: Kind, of: &Record, about: String) -> Opened {
    let (goal, proposer) = match kind {
        Kind::Revert => (format!("Revert \"{}\"", of.goal), "review".to_owned()),
        _ => (of.goal.clone(), of.proposer.clone()),
    };
    Opened {
        id: deciding.id.clone(),
        kind,
        goal,
        proposer,
        model: of.model.clone().filter(|_| kind != Kind::Revert),
        base: of.base.clone(),
        target: of.target.clone(),
        branch: String::new(),
        at: (deciding.hands.clock)(),
        landing: Landing::Auto,
        rules: String::new(),
        about: Some(about),
        authority: Some(deciding.authority.clone()),
        judge: deciding.hands.judge.to_owned(),
    }
}

/// Carry out what is planned, and say how it ended.
pub(crate) fn carried(mut work: Work<'_>) -> Result<Decided, ReviewError> {
    work.carry_out()?;
    let opened = &work.known.opened;
    let unplanned = || ReviewError::Unknown { id: opened.id.clone() };
    let record = work.known.plan.as_ref().map(|plan| &plan.record).ok_or_else(unplanned)?;
    Ok(Decided {
        id: record.id.clone(),
        about: record.about.clone().unwrap_or_default(),
        end: record.end,
        verdict: record.verdict.clone(),
        landed: record.landed.clone(),
    })
}

fn unknown(id: &str) -> ReviewError {
    ReviewError::Unknown { id: id.to_owned() }
}
