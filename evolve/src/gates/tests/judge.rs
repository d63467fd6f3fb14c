//! Judges what tests did on the candidate by what they did on the base. Pure.

use super::{Left, Run, Seen};
use crate::gates::Draft;
use crate::gates::again::{Chance, Settled};
use crate::judgement::defence::{Defence, Defences};
use crate::judgement::gate::{BLIND, GateOutcome, GateReport};
use crate::reading::harness::TestResult;
use crate::reading::inline::{Compared, What};
use std::collections::{BTreeMap, BTreeSet};

/// A failure that may be the machine's or chance's: to be run again on both sides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// The executable.
    pub run: String,
    /// The test; none for a whole executable that ran out of time.
    pub test: Option<String>,
}

/// What the gate says, or what has to be run again first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    /// The report.
    Report(GateReport),
    /// Run these again.
    Again(Vec<Doubt>),
}

/// More failures than this are no chance.
const MOST_DOUBTS: usize = 20;
/// Most bytes that one executable may print, unless the base's prints so much.
const MOST_PRINTED: u64 = 32 << 20;
/// Most things named in a report's log.
const MOST_NAMED: usize = 40;

/// Judge. `settled` has the answers to doubts that were raised before.
pub fn judge(
    draft: Draft,
    base: &Seen,
    seen: &Seen,
    inline: &Compared,
    settled: &BTreeMap<Doubt, Settled>,
    defences: Defences,
) -> Judged {
    if let Some(broken) = &seen.broken {
        if base.broken.is_some() {
            let why = format!("the tests build neither here nor on the base, so nothing can be compared: {broken}");
            return Judged::Report(draft.unknown(why, &seen.log));
        }
        let why = format!("the tests do not build: {broken}");
        return Judged::Report(draft.repairable(why, &seen.log));
    }
    let mut judge = Judge::of(base, seen, inline, settled, defences);
    judge.runs();
    judge.files();
    judge.inline();
    judge.nothing_held();
    if judge.doubts.is_empty() || judge.doubts.len() > MOST_DOUBTS || judge.hopeless() {
        return Judged::Report(judge.report(draft));
    }
    Judged::Again(judge.doubts.into_iter().collect())
}

struct Judge<'a> {
    base: &'a Seen,
    seen: &'a Seen,
    inline: &'a Compared,
    settled: &'a BTreeMap<Doubt, Settled>,
    defences: Defences,
    /// What does not hold, with whether a repair is worth trying.
    bad: Vec<(String, bool)>,
    asked: Vec<String>,
    unknown: Vec<String>,
    doubts: BTreeSet<Doubt>,
    /// What fails on both sides, and so proves nothing.
    blind: Vec<String>,
    /// Tests of the base that hold here.
    held: u64,
    log: String,
    counts: BTreeMap<&'static str, u64>,
}

impl<'a> Judge<'a> {
    fn of(
        base: &'a Seen,
        seen: &'a Seen,
        inline: &'a Compared,
        settled: &'a BTreeMap<Doubt, Settled>,
        defences: Defences,
    ) -> Self {
        Self {
            base,
            seen,
            inline,
            settled,
            defences,
            bad: Vec::new(),
            asked: Vec::new(),
            unknown: Vec::new(),
            doubts: BTreeSet::new(),
            blind: Vec::new(),
            held: 0,
            log: String::new(),
            counts: BTreeMap::new(),
        }
    }

    fn add(&mut self, name: &'static str, number: u64) {
        *self.counts.entry(name).or_default() += number;
    }

    fn runs(&mut self) {
        let (base, seen) = (self.base, self.seen);
        for (name, was) in base.runs.iter().filter(|(name, _)| !seen.runs.contains_key(*name)) {
            if self.defences.up(Defence::Harness) {
                self.missing(name, was, &BTreeMap::new());
            }
        }
        for (name, run) in &seen.runs {
            self.run(name, base.runs.get(name), run);
        }
    }

    fn run(&mut self, name: &str, was: Option<&Run>, run: &Run) {
        if run.timed_out {
            self.timed_out(name, run);
            return;
        }
        self.noise(name, was, run);
        if run.writes && !was.is_some_and(|was| was.writes) {
            self.asked.push(format!(
                "the tests of {name} hold only where they may write among the project's files, so what they expect can be \
                 changed by what they test"
            ));
        }
        if !self.defences.up(Defence::Harness) {
            // Believes what cargo believes.
            if run.exit != Some(0) && was.is_none_or(|was| was.exit == Some(0)) {
                self.bad(format!("{name} ended with {:?}", run.exit), true, &run.log);
            }
            return;
        }
        let was_libtest = was.is_some_and(|was| was.libtest);
        if !run.libtest && !was_libtest {
            self.custom(name, was, run);
            return;
        }
        let was_odd = was.and_then(|was| was.odd.as_ref());
        if let Some(odd) = &run.odd {
            if was_odd == Some(odd) {
                self.blind_suite(name, odd);
            } else {
                self.bad(format!("{name}: {odd}"), true, &run.log);
            }
        } else if !run.libtest {
            self.bad(format!("{name} does not report its tests any more"), true, &run.log);
        }
        if let Some(was) = was {
            self.missing(name, was, &run.results);
        }
        for (test, result) in &run.results {
            self.result(name, test, was.and_then(|was| was.results.get(test)), *result, run);
        }
    }

    /// What prints without end hides what it says, and fills whatever keeps it.
    fn noise(&mut self, name: &str, was: Option<&Run>, run: &Run) {
        let most = MOST_PRINTED.max(was.map_or(0, |was| was.printed.saturating_mul(10)));
        if self.defences.up(Defence::Output) && run.printed > most {
            let why = format!("{name} prints {} MiB, more than {}", run.printed >> 20, most >> 20);
            self.bad(why, true, &run.log);
        }
    }

    /// A test without libtest's harness: compared by exit and output, never left uncounted.
    fn custom(&mut self, name: &str, was: Option<&Run>, run: &Run) {
        self.add("custom", 1);
        match was {
            None if run.exit != Some(0) => self.bad(format!("{name} ended with {}", exit_word(run)), true, &run.log),
            None => {}
            Some(was) if was.exit != Some(0) && run.exit == Some(0) => self.fixed(),
            Some(was) if was.exit != Some(0) => self.blind_suite(name, &format!("it ended with {}", exit_word(run))),
            Some(_) if run.exit != Some(0) => self.bad(format!("{name} ended with {}", exit_word(run)), true, &run.log),
            Some(was) if was.digest.is_some() && was.digest != run.digest => {
                self.asked.push(format!("{name} has a harness of its own and prints something else than on the base"));
            }
            Some(_) => self.held += 1,
        }
    }

    /// A whole executable that fails on both sides hides everything that it would have said.
    fn blind_suite(&mut self, name: &str, why: &str) {
        self.blind.push(name.to_owned());
        self.asked.push(format!(
            "{name} fails on the base as well ({why}), so nothing that it checks was proven: mend it on the base"
        ));
    }

    fn fixed(&mut self) {
        self.add("fixed", 1);
        self.held += 1;
    }

    /// A test that fails on both sides hides itself alone, unless there is none that holds.
    fn nothing_held(&mut self) {
        let Some(first) = self.blind.first() else { return };
        if self.held == 0 {
            self.asked.push(format!(
                "no test of the base holds, there or here, so nothing was proven; the first of {} is {first}",
                self.blind.len()
            ));
        }
    }

    fn timed_out(&mut self, name: &str, run: &Run) {
        let doubt = Doubt { run: name.to_owned(), test: None };
        match self.settled.get(&doubt) {
            None => {
                self.doubts.insert(doubt);
            }
            Some(settled) if settled.base > 0 => {
                self.unknown
                    .push(format!("{name} runs out of time, and so does the base now: the machine is too busy"));
            }
            Some(settled) if settled.candidate > 0 => self.bad(format!("{name} runs out of time"), true, &run.log),
            Some(_) => self.unknown.push(format!("{name} ran out of time once and not again")),
        }
    }

    /// Tests of the base that did not run.
    fn missing(&mut self, name: &str, was: &Run, now: &BTreeMap<String, TestResult>) {
        for test in was.results.keys().filter(|test| !now.contains_key(*test)) {
            if name == "documentation" && self.example_moved(test, was, now) {
                self.add("moved", 1);
            } else if name == "documentation" {
                self.asked.push(format!("the documentation test {test} is gone"));
            } else if self.moved_and_ran(test) {
                self.add("moved", 1);
            } else if !self.explained(test) {
                self.bad(format!("the test {test} of the base ({name}) did not run"), true, "");
            }
        }
    }

    /// It stands elsewhere now, with its code, and ran there.
    fn moved_and_ran(&self, test: &str) -> bool {
        let mut to = self.inline.moved.iter().filter(|(old, _)| same_test(old, test)).map(|(_, new)| new);
        self.defences.up(Defence::Inline)
            && to.any(|new| self.seen.runs.values().any(|run| run.results.keys().any(|name| same_test(new, name))))
    }

    /// Its item stands in another file or module now, with an example that ran, and every example of the base is still
    /// there word for word.
    fn example_moved(&self, test: &str, was: &Run, now: &BTreeMap<String, TestResult>) -> bool {
        let item = |test: &str| test.rsplit(" - ").next().and_then(|item| item.rsplit("::").next()).map(str::to_owned);
        let arrived = |other: &&String| !was.results.contains_key(*other) && item(other) == item(test);
        let ran = now.iter().any(|(other, result)| arrived(&other) && *result == TestResult::Ok);
        let lost = self.inline.findings.iter().any(|finding| finding.what == What::Example);
        self.defences.up(Defence::Inline) && ran && !lost
    }

    /// The comparison of inline tests says itself that it is gone.
    fn explained(&self, test: &str) -> bool {
        let gone = |what: &What| matches!(what, What::Gone | What::Changed | What::Parted);
        self.defences.up(Defence::Inline)
            && self.inline.findings.iter().any(|finding| gone(&finding.what) && same_test(&finding.name, test))
    }

    fn result(&mut self, name: &str, test: &str, was: Option<&TestResult>, result: TestResult, run: &Run) {
        self.add("tests", 1);
        match (was, result) {
            (Some(TestResult::Ok), TestResult::Failed) => self.fails_now(name, test, run),
            (Some(TestResult::Failed), TestResult::Failed) => self.blind.push(format!("{test} ({name})")),
            (Some(TestResult::Failed), TestResult::Ok) => self.fixed(),
            (Some(TestResult::Ok), TestResult::Ok) => self.held += 1,
            (None | Some(TestResult::Ignored), TestResult::Failed) => {
                self.bad(format!("the test {test} ({name}) fails"), true, &run.log);
                self.add("failed", 1);
            }
            (Some(TestResult::Ok | TestResult::Failed), TestResult::Ignored) => {
                self.bad(format!("the test {test} ({name}) is ignored and was not on the base"), true, "");
            }
            (None, _) => self.add("new", 1),
            _ => {}
        }
    }

    fn fails_now(&mut self, name: &str, test: &str, run: &Run) {
        let doubt = Doubt { run: name.to_owned(), test: Some(test.to_owned()) };
        let Some(settled) = self.settled.get(&doubt).copied() else {
            self.doubts.insert(doubt);
            return;
        };
        match settled.chance() {
            Chance::Fails => {
                self.add("failed", 1);
                self.bad(format!("the test {test} ({name}) fails"), true, &run.log);
            }
            Chance::Flaky => {
                self.add("flaky", 1);
                self.log.push_str(&format!("{test} is flaky: {}\n", settled.figures()));
            }
            Chance::Unknown => {
                self.unknown.push(format!("the test {test} ({name}) fails by chance: {}", settled.figures()));
            }
        }
    }

    fn files(&mut self) {
        if !self.defences.up(Defence::Rehash) {
            return;
        }
        let base_leaves_new = self.base.left.values().any(|left| *left == Left::New);
        for (path, left) in &self.seen.left {
            let known = self.base.left.contains_key(path) || (*left == Left::New && base_leaves_new);
            if !known {
                let what = if *left == Left::New { "leave" } else { "change" };
                self.bad.push((format!("the tests {what} {path} in the project's own files"), false));
            }
        }
    }

    fn inline(&mut self) {
        self.add("inline", self.inline.compared);
        let up = |what: &What| {
            self.defences.up(match what {
                What::Marked(_) => Defence::Marks,
                What::Check => Defence::Checks,
                _ => Defence::Inline,
            })
        };
        let shown = self.inline.findings.iter().filter(|finding| up(&finding.what));
        self.asked.extend(shown.map(ToString::to_string));
    }

    fn bad(&mut self, why: String, repairable: bool, log: &str) {
        self.bad.push((why, repairable));
        if !log.is_empty() && !self.log.contains(log) {
            self.log.push_str(log);
        }
    }

    /// Whether running again could not change the verdict.
    fn hopeless(&self) -> bool {
        !self.bad.is_empty()
    }

    fn report(mut self, mut draft: Draft) -> GateReport {
        for doubt in std::mem::take(&mut self.doubts) {
            let test = doubt.test.map_or_else(String::new, |test| format!(" {test}"));
            let log = self.seen.runs.get(&doubt.run).map(|run| run.log.clone()).unwrap_or_default();
            self.bad(format!("the test{test} ({}) fails", doubt.run), true, &log);
            self.add("failed", 1);
        }
        for (name, number) in &self.counts {
            draft.count(name, *number);
        }
        draft.add(BLIND, self.blind.len() as u64);
        let all: Vec<&String> = self.bad.iter().map(|(why, _)| why).chain(&self.unknown).chain(&self.asked).collect();
        let named: String = all.iter().take(MOST_NAMED).map(|why| format!("{why}\n")).collect();
        let blind: String =
            self.blind.iter().take(MOST_NAMED).map(|name| format!("fails on the base as well: {name}\n")).collect();
        let log = format!("{named}{blind}\n{}", self.log);
        let gravest = self.bad.iter().find(|(_, repairable)| !repairable).or(self.bad.first());
        let result = if let Some((why, repairable)) = gravest {
            GateOutcome::Fail { why: why.clone(), repairable: *repairable }
        } else if let Some(why) = self.unknown.first() {
            GateOutcome::Unknown { why: why.clone() }
        } else if let Some(why) = self.asked.first() {
            GateOutcome::Ask { why: why.clone() }
        } else {
            GateOutcome::Pass
        };
        draft.report(result, log.trim())
    }
}

fn exit_word(run: &Run) -> String {
    run.exit.map_or_else(|| run.odd.clone().unwrap_or_else(|| "a signal".to_owned()), |code| code.to_string())
}

/// Whether a name from the sources and one from the harness are the same test; the sources may not know the crate's root.
fn same_test(from_sources: &str, from_harness: &str) -> bool {
    from_harness == from_sources
        || from_sources.ends_with(&format!("::{from_harness}"))
        || from_harness.ends_with(&format!("::{from_sources}"))
}

#[cfg(test)]
mod tests;
