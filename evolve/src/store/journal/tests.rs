//! What a journal may say, and what is known from it.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::judgement::candidate::TreeId;
use crate::judgement::gate::GateOutcome;
use crate::judgement::verdict::Verdict;
use crate::store::record::RECORD_VERSION;
use std::collections::BTreeMap;
use std::time::Duration;

fn opened() -> Opened {
    Opened {
        id: "c1".into(),
        kind: Kind::Cycle,
        goal: "g".into(),
        proposer: "p".into(),
        model: None,
        base: CommitId("1".repeat(40)),
        target: "refs/heads/main".into(),
        branch: "refs/heads/evolve/c1".into(),
        at: 5,
        landing: Landing::Auto,
        rules: String::new(),
        about: None,
        authority: None,
        judge: String::new(),
    }
}

fn bounds() -> GateReport {
    GateReport {
        gate: GateName::Bounds,
        result: GateOutcome::Pass,
        took: Duration::ZERO,
        log: String::new(),
        counts: BTreeMap::new(),
    }
}

fn plan(end: End) -> Plan {
    let opened = opened();
    let moved = Move { name: opened.target.clone(), from: Some(opened.base.clone()), to: Some(opened.base.clone()) };
    let record = Record {
        version: RECORD_VERSION,
        id: opened.id,
        kind: opened.kind,
        at: 6,
        goal: opened.goal,
        proposer: opened.proposer,
        model: None,
        base: opened.base,
        target: opened.target,
        candidate: None,
        proposal: Proposal::default(),
        verdict: Verdict::Accept,
        end,
        landed: None,
        about: None,
        authority: None,
        judge: String::new(),
        forgotten: Vec::new(),
    };
    Plan { record, evidence: TreeId("2".repeat(40)), effects: vec![Effect::Target(moved), Effect::Lineage] }
}

fn whole_run() -> Vec<Entry> {
    let started = |arrow| Entry::Started { arrow };
    let weighed = || Entry::Weighed { reports: vec![bounds()], required: vec![GateName::Bounds] };
    let composed = || Entry::Composed { candidate: None, bounds: bounds() };
    vec![
        Entry::Opened(opened()),
        started(Arrow::Baseline),
        Entry::Baselined { baseline: Baseline::default() },
        started(Arrow::Branch),
        Entry::Branched,
        started(Arrow::Propose),
        Entry::Proposed { proposal: Proposal::default() },
        started(Arrow::Compose),
        composed(),
        weighed(),
        started(Arrow::Propose),
        Entry::Proposed { proposal: Proposal::default() },
        started(Arrow::Compose),
        composed(),
        started(Arrow::Weigh),
        weighed(),
        Entry::Planned(plan(End::Landed)),
        Entry::Doing { effect: 0 },
        Entry::Done { effect: 0, outcome: Outcome::Done },
        Entry::Doing { effect: 1 },
        Entry::Done { effect: 1, outcome: Outcome::Done },
        Entry::Ended,
    ]
}

#[test]
fn a_whole_run_is_understood() {
    let known = Known::fold(&whole_run()).unwrap().unwrap();
    assert!(known.ended);
    assert_eq!(known.attempts.len(), 2);
    assert_eq!(known.done, 2);
    assert_eq!(known.end(), Some(End::Landed));
}

#[test]
fn every_beginning_of_a_run_is_understood_and_can_be_planned_from() {
    let run = whole_run();
    for cut in 0..run.len() {
        let known = Known::fold(run.get(..cut).unwrap()).unwrap();
        let Some(mut known) = known else { continue };
        assert!(!known.ended);
        if known.plan.is_none() {
            known.apply(&Entry::Planned(plan(End::Inconclusive))).unwrap();
            assert_eq!(known.end(), Some(End::Inconclusive));
        } else {
            assert_eq!(known.apply(&Entry::Planned(plan(End::Stale))), None, "a plan holds");
        }
    }
}

#[test]
fn an_entry_left_out_is_noticed() {
    let run = whole_run();
    // Without these the rest still tells a run that can have happened.
    let harmless: &[usize] = &[run.len() - 1];
    for at in 0..run.len() {
        let mut shorter = run.clone();
        let out = shorter.remove(at);
        let weighing_begins = matches!(out, Entry::Started { arrow: Arrow::Weigh });
        if !harmless.contains(&at) && !weighing_begins {
            assert!(Known::fold(&shorter).is_err(), "without entry {at} ({})", out.word());
        }
    }
}

#[test]
fn an_effect_begun_when_the_process_died_is_begun_again() {
    let mut run = whole_run();
    run.truncate(18);
    run.push(Entry::Doing { effect: 0 });
    run.push(Entry::Done { effect: 0, outcome: Outcome::Done });
    assert_eq!(Known::fold(&run).unwrap().unwrap().done, 1);
    run.push(Entry::Done { effect: 0, outcome: Outcome::Done });
    assert_eq!(Known::fold(&run).unwrap_err().number, 21);
}

#[test]
fn a_moved_target_voids_the_plan() {
    let mut run = whole_run();
    run.truncate(18);
    run.push(Entry::Done { effect: 0, outcome: Outcome::Moved });
    let known = Known::fold(&run).unwrap().unwrap();
    assert!(known.moved);
    let mut on = run.clone();
    on.push(Entry::Doing { effect: 1 });
    assert!(Known::fold(&on).is_err(), "nothing of the void plan is done");
    run.push(Entry::Planned(plan(End::Stale)));
    let known = Known::fold(&run).unwrap().unwrap();
    assert_eq!((known.end(), known.done, known.moved), (Some(End::Stale), 0, false));
}

#[test]
fn entries_are_read_back_as_they_were_written() {
    for entry in whole_run() {
        let json = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&json).unwrap(), entry);
    }
}
