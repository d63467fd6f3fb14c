//! What a gate reports. The words of [`GateName`] are those of reports, trailers and the JSON contract.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The gates, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateName {
    /// Zones, file kinds, budget, secrets.
    Bounds,
    /// Config and prompts load and render.
    Schema,
    /// rustfmt.
    Format,
    /// clippy.
    Lint,
    /// Cargo's build, or the repository's own command.
    Build,
    /// The base's tests.
    Tests,
    /// Black-box scenarios: what decides.
    Scenarios,
    /// New tests fail on the old source.
    Counterfactual,
    /// The tests notice mutations of the changed lines.
    Mutants,
    /// Paired tasks.
    Evals,
    /// The generation boots.
    Boot,
}

impl GateName {
    /// The word used everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bounds => "bounds",
            Self::Schema => "schema",
            Self::Format => "format",
            Self::Lint => "lint",
            Self::Build => "build",
            Self::Tests => "tests",
            Self::Scenarios => "scenarios",
            Self::Counterfactual => "counterfactual",
            Self::Mutants => "mutants",
            Self::Evals => "evals",
            Self::Boot => "boot",
        }
    }
}

impl fmt::Display for GateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The figure of a report for what fails on both sides, and so proves nothing.
pub const BLIND: &str = "failing_on_the_base";

/// The figure of new tests that hold without the change, and so say nothing about it.
pub const HOLDS: &str = "hold_without_the_change";

/// The figure of mutations that no test noticed.
pub const MISSED: &str = "missed";

/// What a gate found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum GateOutcome {
    /// It holds.
    Pass,
    /// It does not hold. `repairable` says that the diagnostics are worth giving back to the proposer.
    Fail {
        /// One sentence.
        why: String,
        /// Compile errors and failing tests are; planted runners and sealed files are not.
        repairable: bool,
    },
    /// Right or wrong is a person's question.
    Ask {
        /// One sentence.
        why: String,
    },
    /// It could not be checked. Never accepts.
    Unknown {
        /// One sentence, with what to do.
        why: String,
    },
    /// It does not apply here, or is not built yet.
    NotRun {
        /// One sentence.
        why: String,
    },
}

/// One gate's report; a pure value from which the verdict is derived again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// Which gate.
    pub gate: GateName,
    /// What it found.
    #[serde(flatten)]
    pub result: GateOutcome,
    /// How long it took.
    pub took: Duration,
    /// The end of what the programs printed, bounded, for repair and evidence.
    pub log: String,
    /// Figures: `tests`, `failed`, `ignored`, `findings`, `fresh_members` …
    pub counts: BTreeMap<String, u64>,
}
