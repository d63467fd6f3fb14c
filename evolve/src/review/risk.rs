//! What a person should weigh before an approval: what makes a candidate risky, and what nothing has checked.
//!
//! Sentences from the record and the evidence alone; it judges nothing.

use super::Shown;
use crate::judgement::candidate::{Touched, Zone};
use crate::judgement::gate::{GateName, GateOutcome, GateReport};
use crate::rules::Rules;
use crate::texts::count;

/// Gates that say something about every candidate, if they run.
const SAID_OF_ALL: [GateName; 7] = [
    GateName::Build,
    GateName::Tests,
    GateName::Scenarios,
    GateName::Counterfactual,
    GateName::Mutants,
    GateName::Evals,
    GateName::Boot,
];

/// What makes it risky, a sentence each.
pub fn of(shown: &Shown) -> Vec<String> {
    let touched = shown.record.candidate.as_ref().map(|c| c.touched.as_slice()).unwrap_or_default();
    let mut risks = Vec::new();
    let lines: u64 = touched.iter().map(|t| u64::from(t.added) + u64::from(t.removed)).sum();
    let size = format!("{} in {}", count(lines, "line"), count(touched.len() as u64, "file"));
    match Rules::parse(&shown.evidence.rules) {
        Ok(rules) => {
            let budget = rules.written.budget;
            risks.push(format!(
                "{size} (may land by itself: {} in {})",
                budget.lines,
                count(budget.files.into(), "file")
            ));
        }
        Err(_) => risks.push(size),
    }
    let named = |what: &str, which: &dyn Fn(&&Touched) -> bool| {
        let paths: Vec<&str> = touched.iter().filter(which).map(|t| t.path.as_str()).collect();
        (!paths.is_empty()).then(|| format!("{what}: {}", paths.join(", ")))
    };
    risks.extend(named("in a zone that a person always looks at", &|t| t.zone == Zone::Review));
    risks.extend(named("removed", &|t| t.new.is_none()));
    risks.extend(named("sealed, and differs", &|t| t.zone == Zone::Sealed));
    risks.extend(last(shown).iter().filter_map(|report| match &report.result {
        GateOutcome::Ask { why } => Some(format!("{} asks: {why}", report.gate)),
        _ => None,
    }));
    let attempts = shown.evidence.attempts.len();
    if attempts > 1 {
        risks.push(format!("it took {}", count(attempts as u64, "attempt")));
    }
    let red = shown.evidence.baseline.as_ref().map(|b| b.red.keys().map(|g| g.as_str()).collect::<Vec<_>>());
    if let Some(red) = red.filter(|red| !red.is_empty()) {
        risks.push(format!("on the base these do not hold either: {}", red.join(", ")));
    }
    risks
}

/// What nothing has checked, a sentence each.
pub fn unchecked(shown: &Shown) -> Vec<String> {
    let reports = last(shown);
    let mut unchecked: Vec<String> = reports
        .iter()
        .filter_map(|report| match &report.result {
            GateOutcome::NotRun { why } => Some(format!("{}: not run, {why}", report.gate)),
            GateOutcome::Unknown { why } => Some(format!("{}: {why}", report.gate)),
            _ => None,
        })
        .collect();
    let silent: Vec<&str> = SAID_OF_ALL
        .iter()
        .filter(|gate| !reports.iter().any(|report| report.gate == **gate))
        .map(|gate| gate.as_str())
        .collect();
    if !silent.is_empty() {
        unchecked.push(format!("no word from {}", silent.join(", ")));
    }
    if !reports.iter().any(|r| r.gate == GateName::Scenarios && r.result == GateOutcome::Pass) {
        unchecked
            .push("nothing drove the program from outside: tests alone can be forged by what they test".to_owned());
    }
    unchecked
}

fn last(shown: &Shown) -> &[GateReport] {
    shown.evidence.attempts.last().map(|attempt| attempt.reports.as_slice()).unwrap_or_default()
}
