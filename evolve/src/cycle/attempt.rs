//! Attempts: have the proposer edit, compose, weigh; give diagnostics back within the budget of repairs.

use super::{CycleError, Setup, Work, branch, repairable, verdict_of};
use crate::cycle::compose::{self, Composed, Composing};
use crate::cycle::said;
use crate::cycle::sanitize;
use crate::judgement::candidate::{Candidate, Proposal, Touched, TreeId};
use crate::judgement::gate::{GateName, GateOutcome, GateReport};
use crate::judgement::notices;
use crate::judgement::progress::{Progress, Report};
use crate::judgement::verdict::Verdict;
use crate::judgement::weigh::{Baseline, Weigh, WeighError};
use crate::proposer::{Proposer, Task};
use crate::rules::own;
use crate::store::faults::{self, Half};
use crate::store::journal::{Arrow, Attempt, Entry, Known};
use crate::store::lineage;
use crate::store::record::Record;
use crate::texts::EN;
use selfsmith_sandbox::Cancel;
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest line in the changelog, in characters.
const MAX_LINE: usize = 120;
/// Why nothing was weighed, where somebody ended the cycle, or the judge itself.
pub(super) const INTERRUPTED: &str = "it was interrupted";

/// Everything between opening the journal and planning. Gives the reason where it stopped before a candidate was weighed.
pub(super) fn attempts(
    setup: &Setup<'_>,
    work: &mut Work<'_>,
    proposer: &mut dyn Proposer,
    weigh: &mut dyn Weigh,
) -> Result<Option<String>, CycleError> {
    let report = setup.hands.report;
    let interrupted = || setup.cancel.is_cancelled().then(|| INTERRUPTED.to_owned());
    let baseline = match baselined(setup, work, weigh)? {
        Ok(baseline) => baseline,
        Err(stopped) => return Ok(Some(stopped)),
    };
    branch::make(setup, work)?;
    let dir = work.folder().candidate();
    let seen = compose::visible(setup.hands.repo, &setup.base.tree)?;
    faults::step(setup.hands.faults, "candidate's files", Half::Folder(&dir), || {
        setup.hands.repo.materialise(&seen.0, &dir, &[])
    })?;
    let lent = match weigh.lend() {
        Ok(lent) => lent,
        Err(e) => return Ok(Some(unweighed(&e, &setup.cancel))),
    };
    let mut diagnostics: Option<String> = None;
    for attempt in 0..=setup.max_repairs {
        if let Some(stopped) = interrupted() {
            return Ok(Some(stopped));
        }
        let task = Task {
            cycle: &setup.id,
            goal: &setup.goal,
            dir: &dir,
            target: lent.as_ref().map(|lent| lent.path()),
            attempt,
            diagnostics: diagnostics.as_deref(),
        };
        if let Some(stopped) = one(setup, work, &baseline, (task, proposer), weigh)? {
            return Ok(Some(stopped));
        }
        let Some((gate, text)) = repairable(&work.known) else { break };
        if attempt < setup.max_repairs {
            report(Progress::Repairing { attempt: attempt + 1, gate });
            diagnostics = Some(text);
        }
    }
    Ok(None)
}

fn one(
    setup: &Setup<'_>,
    work: &mut Work<'_>,
    baseline: &Baseline,
    (task, proposer): (Task<'_>, &mut dyn Proposer),
    weigh: &mut dyn Weigh,
) -> Result<Option<String>, CycleError> {
    let report = setup.hands.report;
    work.enter(Entry::Started { arrow: Arrow::Propose })?;
    report(Progress::Working { what: EN.proposing.to_owned() });
    let proposal = match proposer.propose(task, report) {
        Ok(proposal) => proposal,
        // What went wrong because of the interrupt is not why it ended.
        Err(_) if setup.cancel.is_cancelled() => return Ok(Some(INTERRUPTED.to_owned())),
        Err(e) => return Ok(Some(said::reason(format!("{}: {}", e.what, e.hint)))),
    };
    let (proposal, notice) = said::without_keys(proposal);
    told(report, notice.into_iter().collect());
    work.enter(Entry::Proposed { proposal })?;
    let interrupted = || setup.cancel.is_cancelled().then(|| INTERRUPTED.to_owned());
    if let Some(stopped) = interrupted() {
        return Ok(Some(stopped));
    }
    work.enter(Entry::Started { arrow: Arrow::Compose })?;
    let id = format!("{}-{}", setup.id, task.attempt);
    let composed = faults::step(setup.hands.faults, "trial tree", Half::Nothing, || {
        composing(setup, &id, &line(setup)).folder(task.dir).map_err(CycleError::from)
    })?;
    if composed.candidate.is_none() {
        keep_outside(work)?;
    }
    weighed(setup, work, baseline, (id, composed), weigh)
}

/// Everything from what is composed to the verdict. Gives the reason where it stopped before.
fn weighed(
    setup: &Setup<'_>,
    work: &mut Work<'_>,
    baseline: &Baseline,
    (id, composed): (String, Composed),
    weigh: &mut dyn Weigh,
) -> Result<Option<String>, CycleError> {
    let report = setup.hands.report;
    let interrupted = || setup.cancel.is_cancelled().then(|| INTERRUPTED.to_owned());
    let Composed { candidate, bounds, left_out } = composed;
    told(report, left_out);
    told_composed(setup, candidate.as_ref(), &bounds);
    work.enter(Entry::Composed { candidate: candidate.clone(), bounds: bounds.clone() })?;
    if let Some(stopped) = interrupted() {
        return Ok(Some(stopped));
    }
    let (reports, required) = match (&candidate, &bounds.result) {
        (Some(candidate), GateOutcome::Pass | GateOutcome::Ask { .. }) => {
            if let Some(before) = refused_before(work, candidate)? {
                (vec![bounds, before], vec![GateName::Bounds])
            } else {
                work.enter(Entry::Started { arrow: Arrow::Weigh })?;
                let weighed = match weigh.weigh(candidate, baseline, report) {
                    Ok(weighed) => weighed,
                    Err(e) => return Ok(Some(unweighed(&e, &setup.cancel))),
                };
                with_bounds(bounds, weighed.reports, weighed.required)
            }
        }
        _ => (vec![bounds], vec![GateName::Bounds]),
    };
    // Gates that were cut short say nothing.
    if let Some(stopped) = interrupted() {
        return Ok(Some(stopped));
    }
    work.enter(Entry::Weighed { reports, required })?;
    if let Some(verdict) = verdict_of(&work.known) {
        told(report, work.known.last().map(noticed).unwrap_or_default());
        let verdict_on = candidate.map_or(id, |c| c.id);
        report(Progress::Judged { candidate: verdict_on, verdict });
    }
    Ok(None)
}

/// The base, judged; the reason where nothing can be weighed against it.
fn baselined(
    setup: &Setup<'_>,
    work: &mut Work<'_>,
    weigh: &mut dyn Weigh,
) -> Result<Result<Baseline, String>, CycleError> {
    let report = setup.hands.report;
    let interrupted = || setup.cancel.is_cancelled().then(|| INTERRUPTED.to_owned());
    if let Some(stopped) = interrupted() {
        return Ok(Err(stopped));
    }
    if let Some(why) = own::foreign(setup.hands.repo, &setup.base.tree, setup.hands.judge)? {
        return Ok(Err(why));
    }
    work.enter(Entry::Started { arrow: Arrow::Baseline })?;
    let baseline = match weigh.baseline(&setup.base.commit, &setup.base.tree, report) {
        Ok(baseline) => baseline,
        Err(e) => return Ok(Err(unweighed(&e, &setup.cancel))),
    };
    work.enter(Entry::Baselined { baseline: baseline.clone() })?;
    told(report, notices::of_base(&baseline));
    if let Some(stopped) = interrupted() {
        return Ok(Err(stopped));
    }
    Ok(Ok(baseline))
}

/// The one attempt of a candidate that is made anew from one that was judged before: `tree` holds its changes already, `said` is
/// what was said of it then. Bounds hold for it as for any other.
pub(super) fn of_tree(
    setup: &Setup<'_>,
    work: &mut Work<'_>,
    (tree, said): (&TreeId, Proposal),
    weigh: &mut dyn Weigh,
) -> Result<Option<String>, CycleError> {
    let interrupted = || setup.cancel.is_cancelled().then(|| INTERRUPTED.to_owned());
    let baseline = match baselined(setup, work, weigh)? {
        Ok(baseline) => baseline,
        Err(stopped) => return Ok(Some(stopped)),
    };
    work.enter(Entry::Started { arrow: Arrow::Propose })?;
    work.enter(Entry::Proposed { proposal: said })?;
    if let Some(stopped) = interrupted() {
        return Ok(Some(stopped));
    }
    work.enter(Entry::Started { arrow: Arrow::Compose })?;
    let id = format!("{}-0", setup.id);
    let composed = composing(setup, &id, &line(setup)).whole(tree)?;
    weighed(setup, work, &baseline, (id, composed), weigh)
}

/// Weigh a tree that no proposer made: a revert. What bounds say does not apply to a person's own decision.
pub(crate) fn weighed_tree(
    work: &mut Work<'_>,
    candidate: Candidate,
    tests_from: &Candidate,
    weigh: &mut dyn Weigh,
    cancel: &Cancel,
) -> Result<Option<String>, CycleError> {
    let report = work.hands.report;
    let interrupted = || cancel.is_cancelled().then(|| INTERRUPTED.to_owned());
    let base_tree = TreeId(work.hands.repo.tree_of(&tests_from.base.0)?);
    if let Some(stopped) = interrupted() {
        return Ok(Some(stopped));
    }
    work.enter(Entry::Started { arrow: Arrow::Baseline })?;
    let baseline = match weigh.baseline(&tests_from.base, &base_tree, report) {
        Ok(baseline) => baseline,
        Err(e) => return Ok(Some(unweighed(&e, cancel))),
    };
    work.enter(Entry::Baselined { baseline: baseline.clone() })?;
    told(report, notices::of_base(&baseline));
    if let Some(stopped) = interrupted() {
        return Ok(Some(stopped));
    }
    work.enter(Entry::Started { arrow: Arrow::Compose })?;
    let why = "a person takes back what was judged before".to_owned();
    let bounds = gate_report(GateName::Bounds, GateOutcome::NotRun { why });
    work.enter(Entry::Composed { candidate: Some(candidate.clone()), bounds: bounds.clone() })?;
    work.enter(Entry::Started { arrow: Arrow::Weigh })?;
    let weighed = match weigh.weigh(tests_from, &baseline, report) {
        Ok(weighed) => weighed,
        Err(e) => return Ok(Some(unweighed(&e, cancel))),
    };
    if let Some(stopped) = interrupted() {
        return Ok(Some(stopped));
    }
    let mut reports = vec![bounds];
    reports.extend(weighed.reports.into_iter().filter(|r| r.gate != GateName::Bounds));
    let required = weighed.required.into_iter().filter(|g| *g != GateName::Bounds).collect();
    work.enter(Entry::Weighed { reports, required })?;
    if let Some(verdict) = verdict_of(&work.known) {
        told(report, work.known.last().map(noticed).unwrap_or_default());
        report(Progress::Judged { candidate: candidate.id, verdict });
    }
    Ok(None)
}

/// Why nothing was weighed; where a person ended it, that is why, whatever else went wrong because of it.
fn unweighed(error: &WeighError, cancel: &Cancel) -> String {
    if cancel.is_cancelled() { INTERRUPTED.to_owned() } else { format!("could not {}: {}", error.what, error.hint) }
}

/// What the reports of an attempt say besides the verdict.
fn noticed(attempt: &Attempt) -> Vec<String> {
    attempt.weighed.as_ref().map(|(reports, _)| notices::of_reports(reports)).unwrap_or_default()
}

fn told(report: Report<'_>, notices: Vec<String>) {
    for text in notices {
        (report)(Progress::Notice { text });
    }
}

/// Everything of the kind that a cycle has to say at its end.
pub(super) fn notices(known: &Known) -> Vec<String> {
    let base = known.baseline.as_ref().map(notices::of_base).unwrap_or_default();
    base.into_iter().chain(known.last().map(noticed).unwrap_or_default()).collect()
}

fn composing<'a>(setup: &'a Setup<'a>, id: &'a str, line: &'a str) -> Composing<'a> {
    Composing {
        repo: setup.hands.repo,
        base: &setup.base.commit,
        base_tree: &setup.base.tree,
        rules: &setup.base.rules,
        defences: setup.defences,
        id,
        line,
        stopwatch: setup.hands.stopwatch,
    }
}

/// The judge's line: the goal, which a person wrote, not what the proposer says of itself.
fn line(setup: &Setup<'_>) -> String {
    let goal = sanitize::line(setup.goal.trim().lines().next().unwrap_or_default(), MAX_LINE);
    if goal.is_empty() { format!("Change of cycle {}", setup.id) } else { goal }
}

fn told_composed(setup: &Setup<'_>, candidate: Option<&Candidate>, bounds: &GateReport) {
    if let Some(candidate) = candidate {
        let lines = |t: &Touched| t.added + t.removed;
        (setup.hands.report)(Progress::Composed {
            candidate: candidate.id.clone(),
            tree: candidate.tree.clone(),
            files: candidate.touched.len() as u32,
            lines: candidate.touched.iter().map(lines).sum(),
        });
    }
    (setup.hands.report)(Progress::GateStarted { gate: GateName::Bounds });
    (setup.hands.report)(Progress::GateEnded { report: bounds.clone() });
}

/// The reports with bounds first and once, whether or not the ladder names them.
fn with_bounds(
    bounds: GateReport,
    reports: Vec<GateReport>,
    mut required: Vec<GateName>,
) -> (Vec<GateReport>, Vec<GateName>) {
    let mut all = vec![bounds];
    all.extend(reports.into_iter().filter(|r| r.gate != GateName::Bounds));
    // A ladder that requires nothing has proven nothing; bounds alone must not hide that.
    if !required.is_empty() && !required.contains(&GateName::Bounds) {
        required.insert(0, GateName::Bounds);
    }
    (all, required)
}

/// The same change on the same base, refused before by the same judge: refused again, by the same gate. The first refusal
/// speaks; those that only repeated it stand on it.
///
/// What bounds refused before and let pass now lay in the proposer's folder (a pipe, a socket, a folder too deep) and not
/// in the change: on the same tree they can say nothing else.
fn refused_before(work: &Work<'_>, candidate: &Candidate) -> Result<Option<GateReport>, CycleError> {
    let links = lineage::list(work.hands.repo)?;
    let same = |record: &Record| {
        record.judge == work.hands.judge
            && record.base == candidate.base
            && record.candidate.as_ref().is_some_and(|c| c.touched == candidate.touched)
    };
    let first = links.iter().rev().filter(|link| same(&link.record)).find_map(|link| match &link.record.verdict {
        Verdict::Reject { gate, why } if *gate != GateName::Bounds => Some((&link.record.id, *gate, why)),
        _ => None,
    });
    Ok(first.map(|(id, gate, why)| {
        let why = format!("the same change was refused in {id}: {why}");
        gate_report(gate, GateOutcome::Fail { why, repairable: false })
    }))
}

/// What must not enter the repository stays in the state folder, and is out of the way of what comes next.
fn keep_outside(work: &Work<'_>) -> Result<(), CycleError> {
    let (from, to) = (work.folder().candidate(), work.folder().refused());
    faults::step(work.hands.faults, "candidate kept outside", Half::Nothing, || std::fs::rename(&from, &to))
        .map_err(super::work::disk("move", &from))?;
    let text = format!("the candidate holds a key; it is kept in {} and nowhere else", to.display());
    (work.hands.report)(Progress::Notice { text });
    Ok(())
}

fn gate_report(gate: GateName, result: GateOutcome) -> GateReport {
    GateReport { gate, result, took: Duration::ZERO, log: String::new(), counts: BTreeMap::new() }
}
