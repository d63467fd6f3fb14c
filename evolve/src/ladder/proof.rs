//! What the new tests of a candidate prove: tried on the base's code, and on code that does not work.
//!
//! The slot holds other files meanwhile, and the candidate's own again afterwards; its target folder is the candidate's.

use super::Climb;
use crate::gates::counterfactual::{self, Name, Says, Seen};
use crate::gates::{command, scenarios};
use crate::judgement::candidate::{Touched, TreeId, Zone};
use crate::judgement::defence::Defence;
use crate::judgement::gate::{GateName, GateReport};
use crate::reading::inline::{self, Files};
use crate::rules::plan::Step;
use crate::workshop::{Side, WorkshopError};
use selfsmith_repo::{Change, Mode, TreePath};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

impl Climb<'_> {
    /// Try what is new; nothing to report where nothing is.
    pub(super) fn counterfactual(&self, reports: &[GateReport]) -> Result<Option<GateReport>, WorkshopError> {
        if !self.learned.shop.given.defences.up(Defence::Counterfactual) {
            return Ok(None);
        }
        let mut seen = Seen { scenarios: self.new_scenarios()?, ..Seen::default() };
        let sources = (self.rust_files(&self.learned.tree)?, self.rust_files(&self.candidate.tree)?);
        let trial = inline::old_code_new_tests(&sources.0, &sources.1, &self.test_roots());
        seen.code_differs = trial.code_differs || self.other_code_differs();
        let ran = self.ran.borrow();
        let moved = &self.inline()?.moved;
        let names = ran.as_ref().map(|ran| counterfactual::new_tests(&self.learned.facts.tests, ran, moved));
        let names = names.unwrap_or_default();
        let counted: u64 =
            reports.iter().filter(|r| r.gate == GateName::Tests).filter_map(|r| r.counts.get("new")).sum();
        if !names.is_empty() {
            self.tests_elsewhere(&names, &trial, &sources.1, &mut seen)?;
        }
        self.commands_elsewhere(&mut seen)?;
        let draft = counterfactual::draft();
        if seen.tests.is_empty() && seen.scenarios.is_empty() && seen.commands.is_empty() {
            // New names that cannot be run alone: examples in documentation, a harness of its own.
            let why = "the new tests are examples in documentation, or have a harness of their own";
            return Ok((counted > 0).then(|| draft.not_run(why)));
        }
        Ok(Some(counterfactual::judge(draft, &seen)))
    }

    /// New cases with the base's programs.
    fn new_scenarios(&self) -> Result<BTreeMap<String, bool>, WorkshopError> {
        let known = &self.learned.facts.scenarios.cases;
        let cases = self.cases.borrow();
        let new = cases.iter().filter(|name| !known.contains_key(*name));
        new.map(|name| Ok((name.clone(), scenarios::once(&self.bench.of(Side::Base), name)?.is_empty()))).collect()
    }

    /// New tests on the base's code; and those that do not fail there on code that does not work.
    fn tests_elsewhere(
        &self,
        names: &BTreeSet<Name>,
        trial: &inline::Trial,
        candidate: &Files,
        seen: &mut Seen,
    ) -> Result<(), WorkshopError> {
        let roots = self.test_roots();
        seen.tests = names.iter().map(|name| (name.clone(), (None, None))).collect();
        let mut files = trial.files.clone();
        let old = if seen.code_differs {
            self.with_their_files(&mut files)?;
            self.in_slot(&self.learned.tree, &mut files, names, false)?
        } else {
            // The same code: that they hold was seen.
            Some(names.iter().map(|name| (name.clone(), Says::Holds)).collect())
        };
        for (name, says) in old.into_iter().flatten() {
            seen.tests.entry(name).or_default().0 = Some(says);
        }
        let rest: BTreeSet<Name> =
            seen.tests.iter().filter(|(_, says)| says.0 != Some(Says::Fails)).map(|(name, _)| name.clone()).collect();
        if !rest.is_empty() {
            let mut files = inline::broken(candidate, &roots, &|path| self.is_own_code(path));
            for (name, says) in self.in_slot(&self.candidate.tree, &mut files, &rest, true)?.into_iter().flatten() {
                seen.tests.entry(name).or_default().1 = Some(says);
            }
        }
        self.learned.shop.slot.check_out(self.repo, &self.candidate.tree)?;
        Ok(())
    }

    /// What only tests read goes with them.
    fn with_their_files(&self, files: &mut Files) -> Result<(), WorkshopError> {
        for touched in self.candidate.touched.iter().filter(|touched| self.goes_with_tests(touched)) {
            let text = touched.new.as_ref().map(|blob| self.repo.blob(&blob.0)).transpose()?;
            if let Some(Ok(text)) = text.map(String::from_utf8) {
                files.insert(touched.path.clone(), text);
            }
        }
        Ok(())
    }

    /// Tests on a tree with other files on top. Where they do not compile, those on the lines in question are left out.
    fn in_slot(
        &self,
        tree: &TreeId,
        files: &mut Files,
        names: &BTreeSet<Name>,
        alone: bool,
    ) -> Result<Option<BTreeMap<Name, Says>>, WorkshopError> {
        self.lay_out(tree, files)?;
        let bench = self.bench;
        let built = counterfactual::build(&bench, names, &mut |places| {
            let mended = mend(files, places);
            if mended {
                self.lay_out(tree, files)?;
            }
            Ok(mended)
        })?;
        let Some(built) = built else { return Ok(None) };
        let ran = self.ran.borrow();
        let Some(ran) = ran.as_ref() else { return Ok(None) };
        counterfactual::look(&bench, names, &built, ran, alone).map(Some)
    }

    /// A tree's files in the slot, with others on top. They go by no way into the repository.
    fn lay_out(&self, tree: &TreeId, files: &Files) -> Result<(), WorkshopError> {
        let slot = &self.learned.shop.slot;
        slot.check_out(self.repo, tree)?;
        for (path, text) in files {
            let path = slot.tree().join(path);
            let disk = |source| WorkshopError::Disk { doing: "write", path: path.clone(), source };
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(disk)?;
            }
            fs::write(&path, text).map_err(disk)?;
        }
        Ok(())
    }

    /// Test commands on the base's files with the candidate's new tests among them.
    fn commands_elsewhere(&self, seen: &mut Seen) -> Result<(), WorkshopError> {
        let lines = self.learned.plan.tests.iter().filter_map(|step| match step {
            Step::Command(line) => Some(line),
            Step::Cargo(_) => None,
        });
        let lines: Vec<_> = lines.collect();
        let is_new = |touched: &&Touched| touched.old.is_none() && touched.zone == Zone::AddOnly;
        let new: Vec<&Touched> = self.candidate.touched.iter().filter(is_new).collect();
        let new: Vec<_> = new.into_iter().filter(|touched| !self.rules.is_scenario(&touched.path)).collect();
        let all_new = new.len() == self.candidate.touched.len();
        if lines.is_empty() || new.is_empty() || self.learned.plan.is_cargo {
            return Ok(());
        }
        seen.code_differs |= !all_new;
        let mut changes = Vec::new();
        for touched in new {
            let entry = touched.new.as_ref().map(|blob| (Mode::File, blob.0.clone()));
            changes.push(Change { path: TreePath::from(touched.path.as_str()), entry });
        }
        let tree = TreeId(self.repo.tree_with(&self.learned.tree.0, &changes)?);
        self.learned.shop.slot.check_out(self.repo, &tree)?;
        for (at, line) in lines.iter().enumerate() {
            let ran = command::look(&self.bench, line, self.learned.facts.tests.commands.get(at))?;
            seen.commands.insert(line.command.join(" "), ran.trouble.is_none());
        }
        self.learned.shop.slot.check_out(self.repo, &self.candidate.tree)?;
        Ok(())
    }

    /// Sources that cargo takes for tests, wherever they lie: targets of that kind in the base's manifests.
    pub(super) fn test_roots(&self) -> BTreeSet<String> {
        let targets = self.learned.facts.members.iter().flat_map(|member| &member.targets);
        let tests = targets.filter(|target| target.kind == "test" || target.kind == "bench");
        tests.map(|target| in_tree(&target.source)).collect()
    }

    /// Whether functions of this file are the project's own and run only when it runs: no build script, no macro of the
    /// compiler, no example.
    fn is_own_code(&self, path: &str) -> bool {
        let at_compile_time = |kind: &str| matches!(kind, "proc-macro" | "custom-build" | "example");
        let targets = self.learned.facts.members.iter().flat_map(|member| &member.targets);
        let mut roots = targets.filter(|target| at_compile_time(&target.kind)).map(|target| in_tree(&target.source));
        let below = |root: &String| match root.rsplit_once('/') {
            // A package of macros is one altogether; a build script beside the manifest is a single file.
            Some((folder, _)) if !root.ends_with("build.rs") => path.starts_with(&format!("{folder}/")),
            _ => path == root,
        };
        !roots.any(|root| below(&root))
    }

    /// Files besides Rust's that differ and that code may read.
    fn other_code_differs(&self) -> bool {
        let prose = |path: &str| path.ends_with(".md") || path.ends_with(".txt");
        let reads = |path: &String| self.learned.facts.build.inputs.contains(path);
        self.candidate.touched.iter().any(|touched| {
            let path = &touched.path;
            !path.ends_with(".rs")
                && !self.rules.is_scenario(path)
                && !self.goes_with_tests(touched)
                && (!prose(path) || reads(path))
        })
    }

    fn goes_with_tests(&self, touched: &Touched) -> bool {
        !touched.path.ends_with(".rs") && touched.zone == Zone::AddOnly && !self.rules.is_scenario(&touched.path)
    }
}

/// Leave out the tests that do not compile; a file in which something else does not goes back to what it was. Whether
/// anything could be done.
fn mend(files: &mut Files, places: &BTreeSet<(String, usize)>) -> bool {
    let mut by_file: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (file, line) in places {
        by_file.entry(in_tree_str(file)).or_default().insert(*line);
    }
    let mut mended = false;
    for (file, lines) in by_file {
        let Some(text) = files.get(file) else { continue };
        match inline::without_tests_on(text, &lines) {
            Some(less) => {
                files.insert(file.to_owned(), less);
            }
            // As on the side itself, where a new file is not there.
            None => {
                files.remove(file);
            }
        }
        mended = true;
    }
    mended
}

fn in_tree(path: &str) -> String {
    in_tree_str(path).to_owned()
}

fn in_tree_str(path: &str) -> &str {
    path.strip_prefix(crate::workshop::TREE).unwrap_or(path).trim_start_matches('/')
}
