//! Mutations of a candidate's changed lines, and the files that only tests read.

use super::Climb;
use crate::gates::{Bench, mutants};
use crate::judgement::defence::Defence;
use crate::judgement::gate::GateReport;
use crate::reading::inline::{Finding, What};
use crate::rules::plan::Step;
use crate::workshop::WorkshopError;
use similar::TextDiff;

impl Climb<'_> {
    /// Show mutations of the changed lines to the tests; nothing to report where no code that cargo tests was changed.
    pub(super) fn mutants(&self, _: &[GateReport]) -> Result<Option<GateReport>, WorkshopError> {
        let plan = &self.learned.plan;
        let by_cargo = plan.is_cargo && plan.tests.iter().any(|step| matches!(step, Step::Cargo(_)));
        let up = self.learned.shop.given.defences.up(Defence::Mutants);
        let diff = if by_cargo && up { self.source_diff()? } else { String::new() };
        if diff.is_empty() {
            return Ok(None);
        }
        let draft = mutants::draft();
        let tests_ms = self.learned.facts.tests.runs.values().map(|run| run.wall_ms).sum();
        let bench: Bench<'_> = self.bench;
        let seen = mutants::look(&bench, &diff, tests_ms)?;
        Ok(mutants::judge(draft, &seen, plan.has_scenarios()))
    }

    /// What differs in the sources that are no tests, as a patch.
    fn source_diff(&self) -> Result<String, WorkshopError> {
        let (base, candidate) = (self.rust_files(&self.learned.tree)?, self.rust_files(&self.candidate.tree)?);
        let roots = self.test_roots();
        let mut diff = String::new();
        for (path, new) in &candidate {
            let of_tests = roots.contains(path) || path.split('/').any(|part| part == "tests" || part == "benches");
            let old = base.get(path).map_or("", String::as_str);
            if old != new && !of_tests {
                let from = if base.contains_key(path) { format!("a/{path}") } else { "/dev/null".to_owned() };
                let lines = TextDiff::from_lines(old, new.as_str());
                diff.push_str(&lines.unified_diff().header(&from, &format!("b/{path}")).to_string());
            }
        }
        Ok(diff)
    }

    /// Files that go into test executables and into nothing else, and differ: what tests expect, kept beside the code.
    pub(super) fn read_by_tests_alone(&self) -> Vec<Finding> {
        let facts = &self.learned.facts;
        let alone = |path: &&String| {
            !path.ends_with(".rs") && facts.tests.inputs.contains(path) && !facts.build.inputs.contains(*path)
        };
        let differs = self.candidate.touched.iter().filter(|touched| touched.old.is_some());
        let paths = differs.map(|touched| &touched.path).filter(alone).filter(|path| !self.rules.is_scenario(path));
        let found = paths.map(|path| {
            let name = "only tests are built from it".to_owned();
            Finding { name, file: path.clone(), what: What::Check }
        });
        found.collect()
    }
}
