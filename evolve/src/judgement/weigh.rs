//! The border between a cycle and what weighs its candidates: the cycle sees reports only.

use crate::judgement::candidate::{Candidate, CommitId, TreeId};
use crate::judgement::gate::{GateName, GateReport};
use crate::judgement::progress::Report;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What is known of the base before anything is judged; cached by tree, toolchain and gate settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Gates that already fail on the base, with why. They are recorded, not fatal.
    pub red: BTreeMap<GateName, String>,
    /// Every test by full name, with its result on the base: `ok`, `FAILED`, `ignored`.
    pub tests: BTreeMap<String, String>,
    /// Milliseconds each gate took on the base, for limits.
    pub took_ms: BTreeMap<GateName, u64>,
}

/// What came of weighing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighed {
    /// Reports in the order the gates ran; gates after a failure are absent.
    pub reports: Vec<GateReport>,
    /// Gates that had to run for what was touched.
    pub required: Vec<GateName>,
}

/// Something that weighs candidates: the ladder of gates, or a scripted one in tests.
pub trait Weigh {
    /// Learn the base. An error means that the base cannot be judged at all: the reason and what to do.
    fn baseline(&mut self, base: &CommitId, tree: &TreeId, report: Report<'_>) -> Result<Baseline, WeighError>;
    /// A folder with what is built of the base already, for the proposer's own builds; none where there is nothing to lend.
    fn lend(&mut self) -> Result<Option<Box<dyn Lent>>, WeighError> {
        Ok(None)
    }
    /// Run the gates on a candidate, cheapest first, ending at the first failure.
    fn weigh(&mut self, candidate: &Candidate, baseline: &Baseline, report: Report<'_>) -> Result<Weighed, WeighError>;
}

/// A folder that is there as long as this is.
pub trait Lent {
    /// Where it lies.
    fn path(&self) -> &Path;
}

/// Why nothing could be weighed. The cycle ends inconclusive.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct WeighError {
    /// What happened.
    pub what: String,
    /// What to do next.
    pub hint: String,
}
