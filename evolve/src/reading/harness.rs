//! What a test executable said: names, results and the closing line of libtest's human format.
//!
//! It promises to read any bytes in any cuts, to believe no line that stands in a failing test's own output, and to say
//! what is odd about a run (no closing line, counts that do not add up, a name twice, an exit code that disagrees). It does
//! not know which tests should have run: [`crate::gates`] compares with the base.
//!
//! Format: `running N tests`, `test NAME ... RESULT`, then `failures:` with captured output, then
//! `test result: ok. P passed; F failed; I ignored; M measured; D filtered out; finished in T`. Documentation tests may
//! print several such sections.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Longest line that is kept while reading; longer ones are cut, since no result line is that long.
const LONGEST_LINE: usize = 16 * 1024;

/// Most names taken from one executable.
const MOST_TESTS: usize = 200_000;

/// How one test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TestResult {
    /// `ok`
    #[serde(rename = "ok")]
    Ok,
    /// `FAILED`
    #[serde(rename = "FAILED")]
    Failed,
    /// `ignored`
    #[serde(rename = "ignored")]
    Ignored,
}

impl TestResult {
    /// libtest's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "FAILED",
            Self::Ignored => "ignored",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        // `ignored, reason`; `ok`; nothing else stands on a result line in the stable format.
        match text.split([',', ' ']).next()? {
            "ok" => Some(Self::Ok),
            "FAILED" => Some(Self::Failed),
            "ignored" => Some(Self::Ignored),
            _ => None,
        }
    }
}

/// What was heard from one run of one executable (or of `cargo test --doc`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// Every name with its result.
    pub results: BTreeMap<String, TestResult>,
    /// Sections that were opened by `running N tests`.
    pub sections: u32,
    /// What does not fit; empty for an orderly run.
    pub odd: Vec<String>,
}

impl Heard {
    /// Whether this was libtest at all.
    pub const fn is_libtest(&self) -> bool {
        self.sections > 0
    }

    /// How many tests ended so.
    pub fn count(&self, result: TestResult) -> u64 {
        self.results.values().filter(|r| **r == result).count() as u64
    }

    /// What is odd about the run as a whole, given the exit code (`None`: ended by a signal or a limit).
    ///
    /// libtest exits 0 when all passed and 101 when one failed; a zero beside a failure, or a failure beside none, means that
    /// somebody else chose the code.
    pub fn trouble(&self, exit: Option<i32>) -> Option<String> {
        if let Some(first) = self.odd.first() {
            return Some(first.clone());
        }
        let failed = self.count(TestResult::Failed);
        match exit {
            Some(0) if failed > 0 => Some(format!("{failed} tests failed, yet the exit code is 0")),
            Some(code) if code != 0 && failed == 0 => Some(format!("no test failed, yet the exit code is {code}")),
            _ => None,
        }
    }
}

/// Reads output as it comes.
#[derive(Debug, Default)]
pub struct Reader {
    line: Vec<u8>,
    heard: Heard,
    state: State,
    section: Section,
    pending: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before `running N tests`.
    #[default]
    Outside,
    /// Result lines count.
    Results,
    /// Between `failures:` and the closing line: a failing test's own words.
    Report,
}

#[derive(Debug, Default)]
struct Section {
    announced: u64,
    passed: u64,
    failed: u64,
    ignored: u64,
    closings: u32,
    last: Option<Closing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Closing {
    ok: bool,
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Reader {
    /// More output.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|b| *b == b'\n') {
            let (head, tail) = rest.split_at(end);
            self.keep(head);
            self.end_line();
            rest = tail.get(1..).unwrap_or_default();
        }
        self.keep(rest);
    }

    /// No more output.
    pub fn finish(mut self) -> Heard {
        self.end_line();
        self.close_section();
        self.heard
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST_LINE.saturating_sub(self.line.len());
        self.line.extend(bytes.iter().take(room));
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if let Some(count) = announced(line) {
            // In a failing test's report such a line is the test's own words, unless the section was closed before it.
            if self.state != State::Report || self.section_is_closed() {
                self.open_section(count);
                return;
            }
        }
        match self.state {
            State::Outside => {}
            State::Results => self.result_line(line),
            State::Report => {
                if let Some(closing) = closing(line) {
                    self.section.closings += 1;
                    self.section.last = Some(closing);
                }
            }
        }
    }

    fn section_is_closed(&self) -> bool {
        self.section.last.is_some_and(|last| self.section.agrees(last))
    }

    fn open_section(&mut self, announced: u64) {
        self.close_section();
        self.heard.sections += 1;
        self.section = Section { announced, ..Section::default() };
        self.state = State::Results;
    }

    fn result_line(&mut self, line: &str) {
        if let Some(closing) = closing(line) {
            self.section.closings += 1;
            self.section.last = Some(closing);
            // Nothing after the closing line is a result; another section may follow.
            self.state = State::Report;
            return;
        }
        if line == "failures:" || line == "successes:" {
            self.state = State::Report;
            return;
        }
        match split_result(line) {
            Some((name, Some(result))) => self.record(name, result),
            Some((name, None)) => self.pending = Some(name.to_owned()),
            None => {
                // With one test thread the name is printed first, so a test that writes past the capture stands between.
                let result = ["ok", "FAILED", "ignored"].iter().find(|word| line.ends_with(**word));
                if let (Some(word), Some(_)) = (result, &self.pending)
                    && let (Some(result), Some(name)) = (TestResult::parse(word), self.pending.take())
                {
                    self.record(&name, result);
                }
            }
        }
    }

    fn record(&mut self, name: &str, result: TestResult) {
        self.pending = None;
        match result {
            TestResult::Ok => self.section.passed += 1,
            TestResult::Failed => self.section.failed += 1,
            TestResult::Ignored => self.section.ignored += 1,
        }
        if self.heard.results.len() >= MOST_TESTS {
            return;
        }
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        if let Some(before) = self.heard.results.insert(name.to_owned(), result) {
            // The worse of the two stands.
            if before == TestResult::Failed {
                self.heard.results.insert(name.to_owned(), before);
            }
            self.heard.odd.push(format!("the test {name} reported twice"));
        }
    }

    fn close_section(&mut self) {
        if self.heard.sections == 0 {
            return;
        }
        let section = std::mem::take(&mut self.section);
        self.pending = None;
        self.state = State::Outside;
        let Some(last) = section.last else {
            self.heard.odd.push("the harness's closing line is missing: the run ended early".to_owned());
            return;
        };
        if !section.agrees(last) {
            self.heard.odd.push(format!(
                "the harness's closing line counts {} passed, {} failed, {} ignored; seen were {}, {}, {} of {} announced",
                last.passed,
                last.failed,
                last.ignored,
                section.passed,
                section.failed,
                section.ignored,
                section.announced
            ));
        } else if section.closings > 1 && section.failed == 0 {
            self.heard.odd.push("the harness's closing line stands there twice".to_owned());
        }
    }
}

impl Section {
    fn agrees(&self, last: Closing) -> bool {
        last.passed == self.passed
            && last.failed == self.failed
            && last.ignored == self.ignored
            && last.ok == (last.failed == 0)
            && self.announced == self.passed + self.failed + self.ignored
    }
}

/// `running 3 tests`, `running 1 test`.
fn announced(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("running ")?;
    rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test"))?.parse().ok()
}

/// `test NAME ... RESULT`; the result is missing where a test's own output follows the name. Output without a line end may
/// stand before `test`.
fn split_result(line: &str) -> Option<(&str, Option<TestResult>)> {
    let rest = match line.strip_prefix("test ") {
        Some(rest) if rest.contains(" ... ") || rest.ends_with(" ...") => rest,
        _ => line.rsplit_once("test ").map(|(_, rest)| rest)?,
    };
    if let Some((name, result)) = rest.rsplit_once(" ... ") {
        return match TestResult::parse(result) {
            Some(result) => Some((name, Some(result))),
            None => Some((rest.split_once(" ... ").map_or(name, |(name, _)| name), None)),
        };
    }
    rest.strip_suffix(" ...").map(|name| (name, None))
}

/// `test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`
fn closing(line: &str) -> Option<Closing> {
    let rest = line.strip_prefix("test result: ")?;
    let (verdict, counts) = rest.split_once(". ")?;
    let mut closing = Closing { ok: verdict == "ok", passed: 0, failed: 0, ignored: 0 };
    for part in counts.split("; ") {
        if let Some((number, what)) = part.split_once(' ') {
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => closing.passed = number,
                "failed" => closing.failed = number,
                "ignored" => closing.ignored = number,
                _ => {}
            }
        }
    }
    Some(closing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(text: &str) -> Heard {
        let mut reader = Reader::default();
        // In cuts of seven bytes, so that no test depends on where a read ends.
        for cut in text.as_bytes().chunks(7) {
            reader.feed(cut);
        }
        reader.finish()
    }

    const ORDERLY: &str = "\nrunning 4 tests\ntest tests::a ... ok\ntest tests::b ... ignored, slow\n\
        test tests::c - should panic ... ok\ntest tests::d ... FAILED\n\nfailures:\n\n---- tests::d stdout ----\n\
        test tests::forged ... ok\ntest result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n\
        failures:\n    tests::d\n\n\
        test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\n";

    #[test]
    fn names_and_results_are_read_and_captured_output_is_not() {
        let heard = hear(ORDERLY);
        assert_eq!(heard.odd, Vec::<String>::new());
        let seen: Vec<_> = heard.results.iter().map(|(name, result)| (name.as_str(), result.word())).collect();
        assert_eq!(
            seen,
            [("tests::a", "ok"), ("tests::b", "ignored"), ("tests::c", "ok"), ("tests::d", "FAILED")],
            "the forged line stands in captured output"
        );
        assert_eq!(heard.trouble(Some(101)), None);
    }

    #[test]
    fn an_exit_in_the_middle_leaves_no_closing_line() {
        let heard = hear("\nrunning 3 tests\ntest a ... ok\n");
        assert!(heard.trouble(Some(0)).is_some_and(|why| why.contains("closing line is missing")));
    }

    #[test]
    fn an_exit_code_that_disagrees_with_the_results_is_trouble() {
        assert!(hear(ORDERLY).trouble(Some(0)).is_some_and(|why| why.contains("exit code is 0")));
        let fine = "\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n";
        assert_eq!(hear(fine).trouble(Some(0)), None);
        assert!(hear(fine).trouble(Some(3)).is_some());
    }

    #[test]
    fn a_forged_closing_line_with_other_counts_is_trouble() {
        let heard =
            hear("\nrunning 2 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured\n");
        assert!(heard.trouble(Some(0)).is_some_and(|why| why.contains("counts 2 passed")));
    }

    #[test]
    fn a_name_that_reports_twice_is_trouble_and_its_failure_stands() {
        let heard = hear(
            "\nrunning 1 test\ntest a ... FAILED\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n",
        );
        assert_eq!(heard.results.get("a"), Some(&TestResult::Failed));
        assert!(heard.trouble(Some(0)).is_some());
    }

    #[test]
    fn output_past_the_capture_does_not_hide_a_result() {
        let heard = hear(
            "\nrunning 2 tests\ntest a ... hello from a child\nok\nno line endtest b ... ok\n\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        );
        assert_eq!(heard.trouble(Some(0)), None);
        assert_eq!(heard.results.len(), 2);
    }

    #[test]
    fn documentation_tests_may_come_in_several_sections() {
        let heard = hear(
            "\nrunning 1 test\ntest src/lib.rs - add (line 3) ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n\n\
             \nrunning 1 test\ntest src/lib.rs - sub (line 9) - compile ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n",
        );
        assert_eq!(heard.trouble(Some(0)), None);
        assert_eq!((heard.sections, heard.results.len()), (2, 2));
    }

    #[test]
    fn other_output_is_not_libtest() {
        assert!(!hear("all 3 checks passed\n").is_libtest());
        assert!(!hear("").is_libtest());
    }
}
