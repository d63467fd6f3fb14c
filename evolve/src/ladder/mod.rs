//! The ladder: runs the gates that a change needs, cheapest first, and ends at the first that fails.
//!
//! The bounds gate is not among them: it needs what the proposer's folder held besides the tree, so the cycle runs it before.
//! Promises that every gate which a touched path calls for is run or named as required, so that a missing one cannot pass
//! for an acceptance. It does not decide a verdict.

pub mod baseline;
mod mutations;
mod proof;

use crate::gates::again::{Settled, times};
use crate::gates::boot::Boot;
use crate::gates::tests::{Doubt, Judged};
use crate::gates::{Bench, Draft, boot, build, command, format, lint, scenarios, schema, tests};
use crate::judgement::candidate::{Candidate, CommitId, TreeId};
use crate::judgement::defence::Defence;
use crate::judgement::gate::{GateName, GateOutcome, GateReport};
use crate::judgement::progress::{Progress, Report};
use crate::judgement::weigh::{Baseline, Lent, Weigh, WeighError, Weighed};
use crate::ladder::baseline::Facts;
use crate::reading::compiled::Unit;
use crate::reading::harness::TestResult;
use crate::reading::inline::{self, Compared};
use crate::rules::Rules;
use crate::rules::plan::{Plan, Step};
use crate::store::faults::NoFaults;
use crate::workshop::{Given, Side, Workshop, WorkshopError};
use selfsmith_repo::{Mode, Repo};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// Weighs candidates by real builds and tests.
pub struct Ladder {
    repo: Repo,
    rules: Rules,
    given: Given,
    learned: Option<Learned>,
    boot: Option<Boot>,
}

#[derive(Debug)]
struct Learned {
    tree: TreeId,
    shop: Workshop,
    plan: Plan,
    facts: Facts,
}

impl Ladder {
    /// For one base's rules.
    pub const fn new(repo: Repo, rules: Rules, given: Given) -> Self {
        Self { repo, rules, given, learned: None, boot: None }
    }

    /// For the project itself: what passes everything else is booted as a generation.
    #[must_use]
    pub fn booting(mut self, boot: Boot) -> Self {
        self.boot = Some(boot);
        self
    }

    fn learn(&mut self, tree: &TreeId, report: Report<'_>) -> Result<&Learned, WeighError> {
        if self.learned.as_ref().is_none_or(|learned| learned.tree != *tree) {
            let shop = Workshop::open(&self.repo, tree, self.given.clone())?;
            let plan = Plan::of(&self.rules, shop.slot.base_tree().join("Cargo.toml").is_file());
            if plan.build.is_empty() && plan.tests.is_empty() && !plan.has_scenarios() {
                return Err(WeighError {
                    what: "find anything that builds or tests the project: there is no Cargo.toml at its top and the rules name \
                           no commands"
                        .to_owned(),
                    hint: format!("name some in {} and commit it", crate::rules::RULES_PATH),
                });
            }
            let facts = baseline::learn(&shop, &self.repo, tree, &plan, report)?;
            self.learned = Some(Learned { tree: tree.clone(), shop, plan, facts });
        }
        self.learned.as_ref().ok_or_else(|| WeighError { what: "learn the base".to_owned(), hint: String::new() })
    }
}

impl Weigh for Ladder {
    fn baseline(&mut self, _base: &CommitId, tree: &TreeId, report: Report<'_>) -> Result<Baseline, WeighError> {
        Ok(self.learn(tree, report)?.facts.baseline())
    }

    fn lend(&mut self) -> Result<Option<Box<dyn Lent>>, WeighError> {
        let Some(learned) = &self.learned else { return Ok(None) };
        let lent = learned.shop.slot.lend().map_err(WorkshopError::from)?;
        Ok(lent.map(|lent| Box::new(lent) as Box<dyn Lent>))
    }

    fn weigh(&mut self, candidate: &Candidate, _: &Baseline, report: Report<'_>) -> Result<Weighed, WeighError> {
        let repo = |source| WeighError::from(WorkshopError::from(source));
        let base = TreeId(self.repo.tree_of(&candidate.base.0).map_err(repo)?);
        self.learn(&base, report)?;
        let Some(learned) = &self.learned else {
            return Err(WeighError { what: "learn the base".to_owned(), hint: String::new() });
        };
        let climb = Climb { boot: self.boot.as_ref(), ..Climb::new(&self.repo, &self.rules, learned, candidate) };
        let weighed = climb.run(report);
        learned.shop.tidy()?;
        weighed
    }
}

/// One candidate on its way.
struct Climb<'a> {
    repo: &'a Repo,
    rules: &'a Rules,
    learned: &'a Learned,
    candidate: &'a Candidate,
    bench: Bench<'a>,
    boot: Option<&'a Boot>,
    /// Files that were made for this candidate already: fresh by now, and rightly so.
    made: RefCell<BTreeSet<String>>,
    /// Its sources against the base's, once they were asked for.
    compared: OnceCell<Compared>,
    /// What its tests did, once they ran.
    ran: RefCell<Option<tests::Seen>>,
    /// Cases that were driven.
    cases: RefCell<Vec<String>>,
}

impl<'a> Climb<'a> {
    fn new(repo: &'a Repo, rules: &'a Rules, learned: &'a Learned, candidate: &'a Candidate) -> Self {
        let bench = learned.facts.bench(&learned.shop, &learned.plan, Side::Candidate);
        Self {
            repo,
            rules,
            learned,
            candidate,
            bench,
            boot: None,
            made: RefCell::default(),
            compared: OnceCell::new(),
            ran: RefCell::default(),
            cases: RefCell::default(),
        }
    }

    fn run(&self, report: Report<'_>) -> Result<Weighed, WeighError> {
        let mut required = self.required();
        let mut reports: Vec<GateReport> = Vec::new();
        if required.is_empty() {
            return Ok(Weighed { reports, required });
        }
        self.learned.shop.slot.check_out(self.repo, &self.candidate.tree).map_err(WorkshopError::from)?;
        self.learned.shop.start_target()?;
        for gate in in_order(&required, &self.learned.plan) {
            (report)(Progress::GateStarted { gate });
            let ran = self.gate(gate)?;
            (report)(Progress::GateEnded { report: ran.clone() });
            let ends = matches!(ran.result, GateOutcome::Fail { .. });
            reports.push(ran);
            if ends {
                return Ok(Weighed { reports, required });
            }
        }
        type More<'a, 'b> = &'b dyn Fn(&Climb<'a>, &[GateReport]) -> Result<Option<GateReport>, WorkshopError>;
        let more: [(GateName, More<'a, '_>); 2] =
            [(GateName::Counterfactual, &Self::counterfactual), (GateName::Mutants, &Self::mutants)];
        for (gate, look) in more {
            (report)(Progress::GateStarted { gate });
            let Some(ran) = look(self, &reports)? else { continue };
            (report)(Progress::GateEnded { report: ran.clone() });
            // What ran must not get lost on the way to the verdict; what could not run proves nothing, and is said.
            if !matches!(ran.result, GateOutcome::NotRun { .. }) {
                required.push(gate);
            }
            reports.push(ran);
        }
        Ok(Weighed { reports, required })
    }

    /// Gates that the touched paths call for. What this machine cannot do (no clippy, no rustfmt) stays required where the
    /// base could have it done.
    fn required(&self) -> Vec<GateName> {
        let facts = &self.learned.facts;
        let compiled = facts.build.inputs.iter().chain(&facts.tests.inputs).filter(|path| !path.ends_with(".rs"));
        let compiled: BTreeSet<String> = compiled.cloned().collect();
        let mut gates = self.learned.plan.gates(&self.candidate.touched, self.rules, &compiled);
        let up = self.learned.shop.given.defences.up(Defence::Scenarios);
        gates.retain(|gate| match gate {
            GateName::Format => facts.format.installed && facts.format.trouble.is_none(),
            GateName::Tests => !self.learned.plan.tests.is_empty(),
            GateName::Build => !self.learned.plan.build.is_empty(),
            GateName::Scenarios => up,
            _ => true,
        });
        if self.boot.is_some() && gates.contains(&GateName::Build) {
            gates.push(GateName::Boot);
        }
        gates
    }

    fn gate(&self, gate: GateName) -> Result<GateReport, WeighError> {
        let draft = Draft::of(gate);
        let facts = &self.learned.facts;
        Ok(match gate {
            GateName::Schema => self.schema(draft)?,
            GateName::Format => format::judge(draft, &facts.format, &format::look(&self.bench)?),
            GateName::Lint => {
                let seen = lint::look(&self.bench)?;
                let marks = self.learned.shop.given.defences.up(Defence::Marks);
                let silenced = if marks { self.inline()?.silenced.as_slice() } else { &[] };
                lint::judge(draft, &facts.lint, &seen, silenced)
            }
            GateName::Build => self.build(draft)?,
            GateName::Tests => self.tests(draft)?,
            GateName::Scenarios => {
                let seen = scenarios::look(&self.bench, &facts.scenarios)?;
                self.cases.replace(seen.cases.keys().cloned().collect());
                let plan = &self.learned.plan;
                let mut command =
                    |at: usize, side| self.again(plan.scenarios.get(at), facts.scenarios.commands.get(at), side);
                let mut case = |name: &str, side| {
                    // Without the defence, nothing is asked again.
                    if self.believes_at_once() {
                        Ok(fails_here(side))
                    } else {
                        scenarios::once(&self.bench.of(side), name)
                    }
                };
                let again = scenarios::Again { command: &mut command, case: &mut case };
                scenarios::judge(draft, &facts.scenarios, &seen, again)?
            }
            GateName::Boot => match self.boot {
                Some(boot) => boot::judge(draft, &self.bench, boot, self.candidate, &NoFaults)?,
                None => draft.not_run("only the project itself is booted"),
            },
            GateName::Bounds | GateName::Counterfactual | GateName::Mutants | GateName::Evals => {
                draft.not_run("it is not part of the ladder yet")
            }
        })
    }

    fn schema(&self, draft: Draft) -> Result<GateReport, WorkshopError> {
        let slot = &self.learned.shop.slot;
        let unreadable = schema::unreadable(&self.candidate.touched, &slot.base_tree(), &slot.tree());
        let seen = schema::look(&self.bench, &self.learned.facts.schema)?;
        let (plan, facts) = (&self.learned.plan, &self.learned.facts);
        let mut again = |at: usize, side| self.again(plan.schema.get(at), facts.schema.get(at), side);
        schema::judge(draft, unreadable, &self.learned.facts.schema, &seen, &mut again)
    }

    fn build(&self, draft: Draft) -> Result<GateReport, WorkshopError> {
        let seen = build::look(&self.bench)?;
        let stale = self.stale(&seen.units);
        Ok(build::judge(draft, &self.learned.facts.build, &seen, stale))
    }

    /// What cargo took for built although it changed.
    fn stale(&self, units: &[Unit]) -> Option<String> {
        if !self.learned.shop.given.defences.up(Defence::Fresh) {
            return None;
        }
        let touched = self.candidate.touched.iter().map(|touched| touched.path.clone()).collect();
        let is_old = |unit: &&Unit| !unit.files.iter().any(|file| self.made.borrow().contains(file));
        let old: Vec<Unit> = units.iter().filter(is_old).cloned().collect();
        let made = units.iter().filter(|unit| !unit.fresh).flat_map(|unit| unit.files.iter().cloned());
        let stale = build::stale(&self.bench, &old, &touched);
        self.made.borrow_mut().extend(made);
        stale
    }

    fn tests(&self, mut draft: Draft) -> Result<GateReport, WorkshopError> {
        let facts = &self.learned.facts;
        let seen = tests::look(&self.bench, &facts.tests)?;
        if let Some(stale) = self.stale(&seen.units) {
            return Ok(draft.unknown(stale, ""));
        }
        self.ran.replace(Some(seen.clone()));
        let compared = self.inline()?;
        let defences = self.learned.shop.given.defences;
        let mut settled = BTreeMap::new();
        loop {
            match tests::judge(draft, &facts.tests, &seen, compared, &settled, defences) {
                Judged::Report(report) if matches!(report.result, GateOutcome::Pass | GateOutcome::Ask { .. }) => {
                    return self.commands(report, &seen);
                }
                Judged::Report(report) => return Ok(report),
                Judged::Again(doubts) => {
                    for doubt in doubts {
                        let answer = self.settle(&doubt, &seen)?;
                        settled.insert(doubt, answer);
                    }
                    draft = Draft::of(GateName::Tests);
                }
            }
        }
    }

    /// Test commands of the rules that are not cargo's, after what the judge ran itself.
    fn commands(&self, report: GateReport, seen: &tests::Seen) -> Result<GateReport, WorkshopError> {
        let lines: Vec<_> = self
            .learned
            .plan
            .tests
            .iter()
            .filter_map(|step| match step {
                Step::Command(line) => Some(line),
                Step::Cargo(_) => None,
            })
            .collect();
        if lines.is_empty() {
            return Ok(report);
        }
        let mut draft = Draft::of(GateName::Tests);
        draft.counts.clone_from(&report.counts);
        let was = &self.learned.facts.tests.commands;
        let mut again = |at: usize, side| self.again(lines.get(at).copied(), was.get(at), side);
        let judged = command::judge(draft, was, &seen.commands, &mut again)?;
        let log = crate::gates::bounded(&format!("{}{}", judged.log, report.log));
        let result = if judged.result == GateOutcome::Pass { report.result } else { judged.result };
        Ok(GateReport { took: judged.took + report.took, result, log, ..judged })
    }

    /// A command once more on a side. `was` is its run on the base.
    fn again(
        &self,
        line: Option<&crate::rules::CommandLine>,
        was: Option<&command::Ran>,
        side: Side,
    ) -> Result<command::Ran, WorkshopError> {
        match line {
            Some(_) if self.believes_at_once() => {
                let trouble = fails_here(side).pop();
                Ok(command::Ran { timed_out: trouble.is_some(), trouble, ..command::Ran::default() })
            }
            Some(line) => command::look(&self.bench.of(side), line, was),
            None => Ok(command::Ran::default()),
        }
    }

    /// Without the defence, the first failure is believed.
    fn believes_at_once(&self) -> bool {
        !self.learned.shop.given.defences.up(Defence::Again)
    }

    /// Run a doubtful test again, the same number of times on both sides, never until it is green.
    fn settle(&self, doubt: &Doubt, seen: &tests::Seen) -> Result<Settled, WorkshopError> {
        let test = doubt.test.as_deref();
        let was = self.learned.facts.tests.runs.get(&doubt.run);
        let wall_ms = seen.runs.get(&doubt.run).filter(|run| run.executable.is_empty()).map_or(0, |run| run.wall_ms);
        let times = if test.is_some() { times(wall_ms) } else { 1 };
        Settled::by(times, &mut |side| {
            if self.believes_at_once() {
                return Ok(side == Side::Candidate);
            }
            let run = if side == Side::Base { was } else { seen.runs.get(&doubt.run) };
            let Some(run) = run else { return Ok(false) };
            let again = tests::again(&self.bench.of(side), run, test, was)?;
            Ok(match test {
                Some(test) if run.executable.is_empty() => again.results.get(test) != Some(&TestResult::Ok),
                Some(_) => again.exit != Some(0) || again.odd.is_some(),
                None => again.timed_out,
            })
        })
    }

    /// Sources and inline tests of the candidate against the base's.
    fn inline(&self) -> Result<&Compared, WorkshopError> {
        if let Some(compared) = self.compared.get() {
            return Ok(compared);
        }
        let touches_rust = self.candidate.touched.iter().any(|touched| touched.path.ends_with(".rs"));
        let mut compared = if touches_rust {
            let (base, candidate) = (self.rust_files(&self.learned.tree)?, self.rust_files(&self.candidate.tree)?);
            inline::compare(&base, &candidate, &self.test_roots())
        } else {
            Compared::default()
        };
        compared.findings.extend(self.read_by_tests_alone());
        Ok(self.compared.get_or_init(|| compared))
    }

    fn rust_files(&self, tree: &TreeId) -> Result<inline::Files, WorkshopError> {
        let mut files = inline::Files::new();
        for entry in self.repo.entries(&tree.0)? {
            let Some(path) = entry.path.as_str().filter(|path| path.ends_with(".rs")) else { continue };
            if matches!(entry.mode, Mode::File | Mode::Executable) {
                // What is no UTF-8 does not compile; the comparison says that it cannot be read.
                let text = String::from_utf8_lossy(&self.repo.blob(&entry.id)?).into_owned();
                files.insert(path.to_owned(), text);
            }
        }
        Ok(files)
    }
}

/// What stands for running it again where the first failure is believed.
fn fails_here(side: Side) -> Vec<String> {
    if side == Side::Candidate { vec!["it failed".to_owned()] } else { Vec::new() }
}

/// As they stand, but what runs the project's programs after they were built.
fn in_order(required: &[GateName], plan: &Plan) -> Vec<GateName> {
    let mut gates = required.to_vec();
    if !plan.schema.is_empty() && gates.contains(&GateName::Build) {
        gates.retain(|gate| *gate != GateName::Schema);
        let after = gates.iter().position(|gate| *gate == GateName::Build).map_or(0, |at| at + 1);
        gates.insert(after, GateName::Schema);
    }
    gates
}
