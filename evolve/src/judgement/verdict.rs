//! The verdict: a pure function of the gates' reports. "Could not check" never accepts.

use crate::judgement::gate::{GateName, GateOutcome, GateReport};
use serde::{Deserialize, Serialize};

/// What is to be done with a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// Every gate that applies holds.
    Accept,
    /// A gate does not hold. Never lands.
    Reject {
        /// The first gate that failed.
        gate: GateName,
        /// Its sentence.
        why: String,
    },
    /// A person decides.
    NeedsHuman {
        /// The gate that asks.
        gate: GateName,
        /// Its sentence.
        why: String,
    },
    /// Could not be checked.
    Inconclusive {
        /// The gate that could not, where it was a gate.
        gate: Option<GateName>,
        /// Its sentence.
        why: String,
    },
}

impl Verdict {
    /// The word used in JSON, trailers and refs.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject { .. } => "reject",
            Self::NeedsHuman { .. } => "needs-human",
            Self::Inconclusive { .. } => "inconclusive",
        }
    }

    /// The gate that spoke, where one did, and its sentence; both empty for an acceptance.
    pub fn said(&self) -> (Option<GateName>, String) {
        match self {
            Self::Accept => (None, String::new()),
            Self::Reject { gate, why } | Self::NeedsHuman { gate, why } => (Some(*gate), why.clone()),
            Self::Inconclusive { gate, why } => (*gate, why.clone()),
        }
    }
}

/// Derive the verdict. `required` are the gates that had to run for what was touched; one that is missing from the
/// reports, or says that it was not run, could not be checked.
///
/// A failure outweighs a doubt, a doubt outweighs a question: something that is proven wrong is wrong whatever else could
/// not be seen, and a person is only asked about what was otherwise proven.
pub fn derive(reports: &[GateReport], required: &[GateName]) -> Verdict {
    for report in reports {
        if let GateOutcome::Fail { why, .. } = &report.result {
            return Verdict::Reject { gate: report.gate, why: why.clone() };
        }
    }
    for report in reports {
        if let GateOutcome::Unknown { why } = &report.result {
            return Verdict::Inconclusive { gate: Some(report.gate), why: why.clone() };
        }
    }
    for gate in required {
        let ran = reports.iter().any(|r| r.gate == *gate && !matches!(r.result, GateOutcome::NotRun { .. }));
        if !ran {
            return Verdict::Inconclusive { gate: Some(*gate), why: format!("the {gate} gate did not run") };
        }
    }
    for report in reports {
        if let GateOutcome::Ask { why } = &report.result {
            return Verdict::NeedsHuman { gate: report.gate, why: why.clone() };
        }
    }
    if required.is_empty() {
        return Verdict::Inconclusive { gate: None, why: "no gate applied".to_owned() };
    }
    Verdict::Accept
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    fn report(gate: GateName, result: GateOutcome) -> GateReport {
        GateReport { gate, result, took: Duration::ZERO, log: String::new(), counts: BTreeMap::new() }
    }

    fn why() -> String {
        "why".to_owned()
    }

    #[test]
    fn only_what_passed_every_gate_that_had_to_run_is_accepted() {
        let pass = |gate| report(gate, GateOutcome::Pass);
        let both = [GateName::Build, GateName::Tests];
        assert_eq!(derive(&[pass(GateName::Build), pass(GateName::Tests)], &both), Verdict::Accept);
        assert_eq!(derive(&[pass(GateName::Build)], &both).word(), "inconclusive");
        assert_eq!(derive(&[pass(GateName::Build)], &[]).word(), "inconclusive");
        assert_eq!(derive(&[], &both).word(), "inconclusive");
        let not_run = report(GateName::Tests, GateOutcome::NotRun { why: why() });
        assert_eq!(derive(&[pass(GateName::Build), not_run], &both).word(), "inconclusive");
    }

    #[test]
    fn a_failure_outweighs_a_doubt_and_a_doubt_a_question() {
        let fail = report(GateName::Tests, GateOutcome::Fail { why: why(), repairable: true });
        let unknown = report(GateName::Build, GateOutcome::Unknown { why: why() });
        let ask = report(GateName::Bounds, GateOutcome::Ask { why: why() });
        let all = [GateName::Bounds, GateName::Build, GateName::Tests];
        let reject = Verdict::Reject { gate: GateName::Tests, why: why() };
        assert_eq!(derive(&[ask.clone(), unknown.clone(), fail], &all), reject);
        let doubt = Verdict::Inconclusive { gate: Some(GateName::Build), why: why() };
        assert_eq!(derive(&[ask.clone(), unknown], &all), doubt);
        let question = Verdict::NeedsHuman { gate: GateName::Bounds, why: why() };
        assert_eq!(derive(&[ask], &[GateName::Bounds]), question);
    }
}
