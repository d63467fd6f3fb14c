//! `review verify`: the chain is whole and lacks nothing that others tell of, every verdict follows from its evidence, what
//! landed is what was judged.
//!
//! Reads only. Each fault is one sentence about one link; no fault means that all of it holds.

use super::{ReviewError, witnesses};
use crate::cycle::candidate_ref;
use crate::cycle::compose;
use crate::judgement::candidate::{Candidate, Touched, TreeId};
use crate::judgement::verdict::{self, Verdict};
use crate::rules::Rules;
use crate::store::evidence::{self, Evidence};
use crate::store::lineage::{self, LINEAGE_REF, Link, NOTES_REF};
use crate::store::record::{End, Kind};
use crate::store::state::StateFolder;
use selfsmith_repo::Repo;
use serde::Serialize;
use std::collections::BTreeSet;

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The record, or the link's commit where it cannot be read.
    pub id: String,
    /// What is wrong.
    pub what: String,
}

/// Check everything. `state` is the folder of this machine: what its journals and operation log tell of must be recorded.
pub fn verify(repo: &Repo, state: &StateFolder) -> Result<Vec<Fault>, ReviewError> {
    let links = match lineage::list(repo) {
        Ok(links) => links,
        Err(lineage::LineageError::Damaged { commit, what }) => return Ok(vec![Fault { id: commit, what }]),
        Err(e) => return Ok(vec![Fault { id: LINEAGE_REF.to_owned(), what: format!("could not {e}") }]),
    };
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    let forgotten: BTreeSet<String> = links.iter().flat_map(|link| link.record.forgotten.clone()).collect();
    for (at, link) in links.iter().enumerate() {
        let mut say = |what: String| faults.push(Fault { id: link.record.id.clone(), what });
        if !seen.insert(link.record.id.clone()) {
            say("the chain has another record of this id".to_owned());
        }
        let parents = usize::from(at + 1 < links.len());
        if link.parents.len() != parents {
            say(format!("its link stands on {} commits and not on {parents}", link.parents.len()));
        }
        // What cannot be read is a fault of this record, and the others are looked at all the same.
        if let Err(e) = one(repo, link, &forgotten, &mut say) {
            say(format!("could not {e}"));
        }
    }
    // Every byte, also of what no verdict needs: texts, and what notes said before.
    let tips: Vec<String> = [LINEAGE_REF, NOTES_REF].into_iter().filter_map(|name| repo.read_ref(name).ok()?).collect();
    for (id, why) in repo.unreadable(&tips)? {
        faults.push(Fault { id, what: format!("this object of the record cannot be read: {why}") });
    }
    match witnesses::missing(repo, state, &seen) {
        Ok(missing) => faults.extend(missing),
        Err(e) => faults.push(Fault { id: "what else tells of them".to_owned(), what: format!("could not {e}") }),
    }
    Ok(faults)
}

fn one(
    repo: &Repo,
    link: &Link,
    forgotten: &BTreeSet<String>,
    say: &mut impl FnMut(String),
) -> Result<(), ReviewError> {
    let message = repo.read_commit(&link.commit.0)?;
    if message.trailer("Selfsmith-Evidence").as_deref() != Some(&link.evidence.0) {
        say(format!("the evidence at {LINEAGE_REF} is not the evidence that the link names"));
    }
    let found = evidence::read(repo, &link.evidence)?;
    derived(link, &found, say);
    if let Some(candidate) = &link.record.candidate {
        judged(repo, link, (candidate, forgotten), &found, say)?;
    }
    if link.record.end == End::Landed && link.record.kind != Kind::Undo {
        landed(repo, link, say)?;
    }
    Ok(())
}

/// The verdict follows from the reports.
fn derived(link: &Link, found: &Evidence, say: &mut impl FnMut(String)) {
    let stopped = matches!(&link.record.verdict, Verdict::Inconclusive { gate: None, .. });
    if stopped || link.record.kind == Kind::Undo {
        if link.record.end == End::Landed && link.record.kind != Kind::Undo {
            say("it landed and was never judged".to_owned());
        }
        return;
    }
    let again = found.attempts.last().map(|last| verdict::derive(&last.reports, &last.required));
    if again.as_ref() != Some(&link.record.verdict) {
        say(format!("its verdict, {}, does not follow from the evidence", link.record.verdict.word()));
    }
    if link.record.end == End::Landed && !matches!(&link.record.verdict, Verdict::Accept | Verdict::NeedsHuman { .. }) {
        say(format!("it landed with the verdict {}", link.record.verdict.word()));
    }
    if matches!(&link.record.verdict, Verdict::NeedsHuman { .. })
        && link.record.end == End::Landed
        && link.record.authority.is_none()
    {
        say("it landed without the person that its verdict asks for".to_owned());
    }
}

/// What is kept is what was judged.
fn judged(
    repo: &Repo,
    link: &Link,
    (candidate, forgotten): (&Candidate, &BTreeSet<String>),
    found: &Evidence,
    say: &mut impl FnMut(String),
) -> Result<(), ReviewError> {
    match repo.read_ref(&candidate_ref(&candidate.id))? {
        Some(kept) if repo.tree_of(&kept)? == candidate.tree.0 => {}
        Some(_) => say(format!("{} leads to another tree than the one that was judged", candidate_ref(&candidate.id))),
        // What was forgotten is there no more, and what it was is not to be had.
        None if forgotten.contains(&candidate.id) => return Ok(()),
        None => say(format!("{} is gone", candidate_ref(&candidate.id))),
    }
    if matches!(link.record.kind, Kind::Revert | Kind::Rejection) {
        return Ok(());
    }
    match Rules::parse(&found.rules) {
        Ok(rules) => {
            let base = TreeId(repo.tree_of(&candidate.base.0)?);
            // The judge's own line stands in the changelog whether or not a candidate reached for it.
            let log = rules.changelog();
            let recorded: Vec<Touched> =
                candidate.touched.iter().filter(|t| Some(t.path.as_str()) != log).cloned().collect();
            if compose::touched_between(repo, &base, &candidate.tree, &rules)? != recorded {
                say("what differs from the base is not what was judged".to_owned());
            }
        }
        Err(e) => say(format!("could not {e}")),
    }
    Ok(())
}

/// What landed is what was judged, stands where it was judged, and says so.
fn landed(repo: &Repo, link: &Link, say: &mut impl FnMut(String)) -> Result<(), ReviewError> {
    let (Some(landed), Some(candidate)) = (&link.record.landed, &link.record.candidate) else {
        say("it landed, and the record does not say what".to_owned());
        return Ok(());
    };
    let commit = match repo.read_commit(&landed.0) {
        Ok(commit) => commit,
        Err(e) => {
            say(format!("could not {e}"));
            return Ok(());
        }
    };
    if commit.tree != candidate.tree.0 {
        say("the landed tree is not the tree that was judged".to_owned());
    }
    if commit.parents != [candidate.base.0.clone()] {
        say("the landed commit does not stand on the commit that it was judged on".to_owned());
    }
    if commit.trailer("Selfsmith-Evidence").as_deref() != Some(&link.evidence.0) {
        say("the landed commit names other evidence".to_owned());
    }
    let note = evidence::note(repo, &link.record, &link.evidence)?;
    if repo.note_read(NOTES_REF, &landed.0)?.as_deref() != Some(&note) {
        say("the note on the landed commit is not a copy of the record".to_owned());
    }
    Ok(())
}
