//! From what is known to what is to be done: the commits that keep candidates, the evidence, and the effects in order.
//!
//! Writes objects only; no ref moves here. Planning again before a plan is in the journal does no harm.

use super::{CycleError, Hands, Work, checkouts, verdict_of};
use crate::cycle::sanitize;
use crate::judgement::candidate::{Candidate, CommitId, Proposal, TreeId, Zone};
use crate::judgement::gate::{GateName, GateOutcome, GateReport};
use crate::judgement::verdict::Verdict;
use crate::store::evidence;
use crate::store::faults::{self, Half};
use crate::store::journal::{Attempt, Effect, Known, Landing, Move, Opened, Plan};
use crate::store::lineage;
use crate::store::record::{End, Kind, RECORD_VERSION, Record};
use selfsmith_repo::{Identity, NewCommit, message_with_trailers};

/// Longest goal in a trailer, in characters.
const MAX_GOAL: usize = 200;

/// Something that may land: a commit on its base.
#[derive(Debug, Clone)]
pub(crate) struct Landable {
    /// Full name of the target.
    pub target: String,
    /// Where the target must stand.
    pub from: CommitId,
    /// Where it goes.
    pub to: CommitId,
}

/// What is to be done with a cycle's candidates. `stopped` is why the last one was not weighed to the end.
pub(crate) fn cycle_plan(work: &Work<'_>, stopped: Option<String>) -> Result<Plan, CycleError> {
    let (hands, known) = (work.hands, &work.known);
    let at = (hands.clock)();
    let (verdict, end) = decide(known, stopped);
    let evidence = faults::step(hands.faults, "evidence", Half::Nothing, || evidence::write(hands.repo, known))?;
    let mut kept: Vec<(String, CommitId)> = Vec::new();
    for attempt in &known.attempts {
        if let Some(candidate) = &attempt.candidate {
            let commit = faults::step(hands.faults, "candidate's commit", Half::Nothing, || {
                keep(hands, known, (attempt, candidate), &evidence, at)
            })?;
            kept.push((candidate.id.clone(), commit));
        }
    }
    let last = known.judged();
    let record = Record {
        landed: kept.last().filter(|_| end == End::Landed).map(|(_, commit)| commit.clone()),
        ..record(
            &known.opened,
            at,
            last.and_then(|a| a.candidate.clone()),
            last.and_then(|a| a.proposal.clone()).unwrap_or_default(),
            (verdict, end),
        )
    };
    let mut effects = kept_under_refs(&kept);
    effects.extend(branch_gone(known));
    match kept.last().filter(|_| end == End::Landed) {
        Some((_, commit)) => {
            let landable = Landable { target: record.target.clone(), from: record.base.clone(), to: commit.clone() };
            effects.extend(landing_effects(hands, &landable)?);
        }
        None => effects.push(Effect::Lineage),
    }
    Ok(Plan { record, evidence, effects })
}

/// What follows when the target was found moved: nothing lands, all is kept.
pub(super) fn stale_plan(void: &Plan) -> Plan {
    let mut record = void.record.clone();
    record.end = End::Stale;
    record.landed = None;
    let mut effects: Vec<Effect> =
        void.effects.iter().filter(|effect| matches!(effect, Effect::Own(_))).cloned().collect();
    effects.push(Effect::Lineage);
    Plan { record, evidence: void.evidence.clone(), effects }
}

/// A plan that only remembers: for a decision that moves nothing, and for what was stopped before it began.
pub(crate) fn decision_plan(record: Record, evidence: TreeId, effects: Vec<Effect>) -> Plan {
    Plan { record, evidence, effects }
}

/// The order of a landing: lineage object → target → checkouts → operation → lineage → note.
pub(crate) fn landing_effects(hands: Hands<'_>, landable: &Landable) -> Result<Vec<Effect>, CycleError> {
    let moved =
        Move { name: landable.target.clone(), from: Some(landable.from.clone()), to: Some(landable.to.clone()) };
    let checkouts = checkouts::seen(hands, &moved)?;
    Ok(vec![
        Effect::LineageObject,
        Effect::Target(moved.clone()),
        Effect::Checkouts { moved, checkouts },
        Effect::Op,
        Effect::Lineage,
        Effect::Note,
    ])
}

/// A record with what its journal says; nothing landed.
pub(crate) fn record(
    opened: &Opened,
    at: i64,
    candidate: Option<Candidate>,
    proposal: Proposal,
    (verdict, end): (Verdict, End),
) -> Record {
    Record {
        version: RECORD_VERSION,
        id: opened.id.clone(),
        kind: opened.kind,
        at,
        goal: opened.goal.clone(),
        proposer: opened.proposer.clone(),
        model: opened.model.clone(),
        base: opened.base.clone(),
        target: opened.target.clone(),
        candidate,
        proposal,
        verdict,
        end,
        landed: None,
        about: opened.about.clone(),
        authority: opened.authority.clone(),
        judge: opened.judge.clone(),
        forgotten: Vec::new(),
    }
}

fn decide(known: &Known, stopped: Option<String>) -> (Verdict, End) {
    let unseen = |why| (Verdict::Inconclusive { gate: None, why }, End::Inconclusive);
    if let Some(why) = stopped {
        return unseen(why);
    }
    let Some(verdict) = verdict_of(known) else { return unseen("nothing was weighed".to_owned()) };
    let end = match &verdict {
        Verdict::Accept if may_land(known) => End::Landed,
        Verdict::NeedsHuman { gate, .. } if is_answered(known, *gate) => End::Landed,
        Verdict::Accept | Verdict::NeedsHuman { .. } => End::Waiting,
        Verdict::Reject { .. } => End::Refused,
        Verdict::Inconclusive { .. } => End::Inconclusive,
    };
    (verdict, end)
}

/// An accepted candidate lands by itself where the owner said so and no review zone is touched. A revert is a person's own
/// word already.
fn may_land(known: &Known) -> bool {
    let candidate = known.last().and_then(|attempt| attempt.candidate.as_ref());
    let reviewed = candidate.is_none_or(|c| c.touched.iter().any(|t| t.zone == Zone::Review));
    match known.opened.landing {
        Landing::Review => false,
        Landing::Knobs => candidate.is_some_and(|c| c.touched.iter().all(|t| t.zone == Zone::Knob)),
        Landing::Auto => known.opened.kind == Kind::Revert || !reviewed,
        Landing::Approved { .. } => true,
    }
}

/// What a gate asks of a candidate that was approved and made anew with the same blobs, it asked before.
fn is_answered(known: &Known, gate: GateName) -> bool {
    known.opened.landing == Landing::Approved { question: Some(gate) }
}

/// The commit of a candidate: the tested tree on its base, with what the gates said.
fn keep(
    hands: Hands<'_>,
    known: &Known,
    (attempt, candidate): (&Attempt, &Candidate),
    evidence: &TreeId,
    at: i64,
) -> Result<CommitId, CycleError> {
    let opened = &known.opened;
    let said = attempt.proposal.clone().unwrap_or_default();
    let mut message = sanitize::message(&said.summary, &opened.goal);
    let prediction = sanitize::harmless(&said.prediction);
    if !prediction.is_empty() {
        message.body = format!("{}\n\nExpected: {prediction}", message.body).trim().to_owned();
    }
    let text = format!("{}\n\n{}", message.subject, message.body);
    let goal = sanitize::line(&opened.goal, MAX_GOAL);
    let model = sanitize::line(opened.model.as_deref().unwrap_or("none"), MAX_GOAL);
    let gates = gates(attempt);
    let trailers = [
        ("Selfsmith-Cycle", opened.id.as_str()),
        ("Selfsmith-Goal", &goal),
        ("Selfsmith-Model", &model),
        ("Selfsmith-Base", &candidate.base.0),
        ("Selfsmith-Gates", &gates),
        ("Selfsmith-Evidence", &evidence.0),
    ];
    let author = Identity { name: "Selfsmith agent".to_owned(), email: "agent@selfsmith.invalid".to_owned() };
    let commit = hands.repo.commit(NewCommit {
        tree: &candidate.tree.0,
        parents: &[&candidate.base.0],
        author: &author,
        message: &message_with_trailers(text.trim(), &trailers),
        when: lineage::at(at),
    })?;
    Ok(CommitId(commit))
}

/// `bounds=pass format=pass …`, for the trailer.
fn gates(attempt: &Attempt) -> String {
    let word = |report: &GateReport| match &report.result {
        GateOutcome::Pass => "pass",
        GateOutcome::Fail { .. } => "fail",
        GateOutcome::Ask { .. } => "ask",
        GateOutcome::Unknown { .. } => "unknown",
        GateOutcome::NotRun { .. } => "not-run",
    };
    let one = |report: &GateReport| format!("{}={}", report.gate, word(report));
    match (&attempt.weighed, &attempt.bounds) {
        (Some((reports, _)), _) => reports.iter().map(one).collect::<Vec<_>>().join(" "),
        (None, Some(bounds)) => one(bounds),
        (None, None) => "none".to_owned(),
    }
}

/// Each candidate under a ref of its own.
fn kept_under_refs(kept: &[(String, CommitId)]) -> Vec<Effect> {
    let one =
        |(id, commit): &(String, CommitId)| Move { name: candidate_ref(id), from: None, to: Some(commit.clone()) };
    kept.iter().map(one).map(Effect::Own).collect()
}

/// The cycle's branch has served; what it would lead to is kept above. One that somebody moved is left alone.
fn branch_gone(known: &Known) -> Option<Effect> {
    let opened = &known.opened;
    let gone = Move { name: opened.branch.clone(), from: Some(opened.base.clone()), to: None };
    known.branched.then_some(Effect::Own(gone))
}

/// The ref under which a candidate stays.
pub(crate) fn candidate_ref(id: &str) -> String {
    format!("refs/selfsmith/candidates/{id}")
}
