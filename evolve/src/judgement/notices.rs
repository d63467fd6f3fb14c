//! What a person should know of a judgement besides the verdict: what could not prove anything. Pure, so that it can be
//! said again from the evidence.

use crate::judgement::gate::{BLIND, GateName, GateOutcome, GateReport, HOLDS, MISSED};
use crate::judgement::weigh::Baseline;

/// A sentence for each gate that fails on the base.
pub fn of_base(baseline: &Baseline) -> Vec<String> {
    let hint = |gate: &GateName| match gate {
        GateName::Scenarios => {
            "; a script finds the built programs on its PATH and in $SELFSMITH_BIN, the target folder is not ./target"
        }
        _ => "",
    };
    let one = |(gate, why): (&GateName, &String)| {
        format!("{gate} fails on the base already, and what fails there proves nothing: {why}{}", hint(gate))
    };
    baseline.red.iter().map(one).collect()
}

/// A sentence for each gate some of whose checks fail on both sides, and one for new tests that nothing was tried of.
pub fn of_reports(reports: &[GateReport]) -> Vec<String> {
    let blind = |report: &GateReport| {
        let number = report.counts.get(BLIND).filter(|number| **number > 0)?;
        Some(format!("{number} of what {} checks fail here as on the base, so they prove nothing", report.gate))
    };
    let untried = |report: &GateReport| match &report.result {
        GateOutcome::NotRun { why } if matches!(report.gate, GateName::Counterfactual | GateName::Mutants) => {
            Some(format!("{}: not run ({why})", report.gate))
        }
        _ => None,
    };
    let weak = |report: &GateReport| {
        let figure = |name: &str| report.counts.get(name).copied().unwrap_or(0);
        match report.gate {
            GateName::Counterfactual if figure(HOLDS) > 0 => Some(format!(
                "of {} new tests {} hold without the change, so they say nothing about it",
                figure("new"),
                figure(HOLDS)
            )),
            GateName::Mutants if figure(MISSED) > 0 => Some(format!(
                "of {} mutations of the changed lines {} are noticed by no test",
                figure("mutants"),
                figure(MISSED)
            )),
            _ => None,
        }
    };
    let all = |report| blind(report).into_iter().chain(untried(report)).chain(weak(report));
    reports.iter().flat_map(all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    #[test]
    fn what_proves_nothing_is_said() {
        let red = BTreeMap::from([(GateName::Scenarios, "`sh x` ended with 1".to_owned())]);
        let said = of_base(&Baseline { red, ..Baseline::default() });
        assert!(
            matches!(said.as_slice(), [one] if one.contains("`sh x`") && one.contains("SELFSMITH_BIN")),
            "{said:?}"
        );
        let report = |number| GateReport {
            gate: GateName::Tests,
            result: GateOutcome::Pass,
            took: Duration::ZERO,
            log: String::new(),
            counts: BTreeMap::from([(BLIND.to_owned(), number)]),
        };
        assert_eq!(of_reports(&[report(0)]), Vec::<String>::new());
        let why = "not built yet".to_owned();
        let untried = GateReport { gate: GateName::Counterfactual, result: GateOutcome::NotRun { why }, ..report(0) };
        assert_eq!(of_reports(&[untried]), ["counterfactual: not run (not built yet)"]);
        assert!(matches!(of_reports(&[report(2)]).as_slice(), [one] if one.starts_with("2 of what tests checks")));
    }
}
