//! Shows a cycle while it goes on: lines and a moving mark on stderr for people, or JSON lines on stdout for programs.
//!
//! Every text that a proposer, a program or a repository had a hand in is made harmless first.

use crate::terminal::streams;
use console::Style;
use indicatif::{ProgressBar, ProgressStyle};
use selfsmith::cycle::sanitize::shown;
use selfsmith::judgement::gate::{GateName, GateOutcome, GateReport};
use selfsmith::judgement::progress::Progress;
use selfsmith::owner::surroundings::Surroundings;
use selfsmith::texts::{EN, count, fill};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::Duration;

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// A person at a terminal, or a log of words.
    People,
    /// A program that reads JSON lines.
    Programs,
}

impl Audience {
    /// As `--json` says.
    pub const fn of(json: bool) -> Self {
        if json { Self::Programs } else { Self::People }
    }
}

/// Colours, where they are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    coloured: bool,
}

impl Look {
    /// As <https://no-color.org> and the terminal say.
    pub fn new(around: &Surroundings, terminal: &impl IsTerminal) -> Self {
        let plain = around.var("NO_COLOR").is_some() || around.text("TERM") == Some("dumb");
        Self { coloured: !plain && terminal.is_terminal() }
    }

    /// Without colours, whatever the terminal says.
    #[cfg(test)]
    pub const fn plain() -> Self {
        Self { coloured: false }
    }

    /// With colours, whatever the terminal says.
    #[cfg(test)]
    pub const fn coloured() -> Self {
        Self { coloured: true }
    }

    fn paint(self, style: Style, text: &str) -> String {
        style.force_styling(self.coloured).apply_to(text).to_string()
    }

    /// Something holds.
    pub fn good(self, text: &str) -> String {
        self.paint(Style::new().green(), text)
    }

    /// Something does not.
    pub fn bad(self, text: &str) -> String {
        self.paint(Style::new().red(), text)
    }

    /// A person is needed.
    pub fn asks(self, text: &str) -> String {
        self.paint(Style::new().yellow(), text)
    }

    /// Something holds, and this word of it is new.
    pub fn good_word(self, text: &str) -> String {
        self.paint(Style::new().green().reverse(), text)
    }

    /// Something does not, and this word of it is gone.
    pub fn bad_word(self, text: &str) -> String {
        self.paint(Style::new().red().reverse(), text)
    }

    /// Whether there are colours.
    pub const fn is_coloured(self) -> bool {
        self.coloured
    }

    /// Less important.
    pub fn dim(self, text: &str) -> String {
        self.paint(Style::new().dim(), text)
    }

    /// Headings.
    pub fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }
}

/// Shows progress.
pub struct Display {
    audience: Audience,
    look: Look,
    mark: ProgressBar,
    /// Gates of which it was said once what they miss on this machine; every attempt would say it again.
    missing: RefCell<BTreeSet<GateName>>,
}

impl Display {
    /// A display on stderr, or of JSON lines on stdout.
    pub fn new(around: &Surroundings, audience: Audience) -> Self {
        let look = Look::new(around, &std::io::stderr());
        let moving =
            audience == Audience::People && std::io::stderr().is_terminal() && around.text("TERM") != Some("dumb");
        let mark = if moving { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}") {
            mark.set_style(style);
        }
        Self { audience, look, mark, missing: RefCell::default() }
    }

    /// Who looks.
    pub const fn audience(&self) -> Audience {
        self.audience
    }

    /// Colours in use.
    pub const fn look(&self) -> Look {
        self.look
    }

    /// Show one thing that happened.
    pub fn show(&self, progress: &Progress) {
        if self.audience == Audience::Programs {
            streams::print_json(progress);
            return;
        }
        match progress {
            Progress::Working { what } => self.moving(&shown(what)),
            Progress::GateStarted { gate } => self.moving(&fill(EN.gate_running, &[("gate", gate.as_str())])),
            Progress::GateEnded { report } if self.is_said_already(report) => {}
            other => {
                for line in self.lines(other) {
                    self.say(&line);
                }
            }
        }
    }

    fn is_said_already(&self, report: &GateReport) -> bool {
        let missing = matches!(&report.result, GateOutcome::NotRun { why } if why.contains("is not installed"));
        missing && !self.missing.borrow_mut().insert(report.gate)
    }

    /// A line of words, above the moving mark; nothing for programs.
    pub fn say(&self, line: &str) {
        if self.audience == Audience::People {
            self.mark.suspend(|| streams::tell(line));
        }
    }

    /// The moving mark goes.
    pub fn rest(&self) {
        self.mark.disable_steady_tick();
        self.mark.finish_and_clear();
    }

    fn moving(&self, what: &str) {
        if self.mark.is_finished() {
            self.mark.reset();
        }
        // The time is that of what is going on now, not of the whole run.
        let what = what.lines().next().unwrap_or_default();
        if self.mark.message() != what {
            self.mark.reset_elapsed();
        }
        self.mark.set_message(what.to_owned());
        self.mark.enable_steady_tick(Duration::from_millis(120));
    }

    fn lines(&self, progress: &Progress) -> Vec<String> {
        match progress {
            Progress::CycleStarted { cycle, goal, base, target, .. } => {
                let base = short(&base.0);
                let target = shown(target.strip_prefix("refs/heads/").unwrap_or(target));
                let head = fill(EN.cycle_started, &[("cycle", cycle), ("target", &target), ("base", base)]);
                vec![self.look.dim(&head), fill(EN.goal, &[("goal", &shown(goal))])]
            }
            Progress::Composed { candidate, files, lines, .. } => {
                let (files, lines) = (count((*files).into(), "file"), count((*lines).into(), "line"));
                let values = [("candidate", candidate.as_str()), ("files", &files), ("lines", &lines)];
                vec![fill(EN.composed, &values)]
            }
            Progress::GateEnded { report } => vec![self.gate(report)],
            Progress::Repairing { attempt, gate } => {
                vec![self.look.asks(&fill(EN.repairing, &[("gate", gate.as_str()), ("attempt", &attempt.to_string())]))]
            }
            Progress::Judged { candidate, verdict } => {
                let text = fill(EN.judged, &[("candidate", candidate), ("verdict", verdict.word())]);
                vec![if verdict.word() == "accept" { self.look.good(&text) } else { self.look.bad(&text) }]
            }
            Progress::Landed { commit, target, .. } => {
                let target = shown(target.strip_prefix("refs/heads/").unwrap_or(target));
                vec![self.look.good(&fill(EN.landed, &[("commit", short(&commit.0)), ("target", &target)]))]
            }
            Progress::Said { text } => vec![self.look.dim(&fill(EN.said, &[("text", &shown(text))]))],
            Progress::TakenBack { commit, target } => {
                let target = shown(target.strip_prefix("refs/heads/").unwrap_or(target));
                vec![self.look.good(&fill(EN.taken_back, &[("commit", short(&commit.0)), ("target", &target)]))]
            }
            Progress::Kept { reference } => vec![fill(EN.kept, &[("reference", &shown(reference))])],
            Progress::Notice { text } => vec![fill(EN.notice, &[("text", &shown(text))])],
            Progress::Working { .. } | Progress::GateStarted { .. } => Vec::new(),
        }
    }

    fn gate(&self, report: &GateReport) -> String {
        let took = took(report.took);
        let gate = ("gate", report.gate.as_str());
        match &report.result {
            GateOutcome::Pass => self.look.good(&fill(EN.gate_pass, &[gate, ("took", &took)])),
            GateOutcome::Fail { why, .. } => {
                self.look.bad(&fill(EN.gate_fail, &[gate, ("took", &took), ("why", &shown(why))]))
            }
            GateOutcome::Ask { why } => {
                self.look.asks(&fill(EN.gate_ask, &[gate, ("took", &took), ("why", &shown(why))]))
            }
            GateOutcome::Unknown { why } => {
                self.look.asks(&fill(EN.gate_unknown, &[gate, ("took", &took), ("why", &shown(why))]))
            }
            GateOutcome::NotRun { why } => self.look.dim(&fill(EN.gate_not_run, &[gate, ("why", &shown(why))])),
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.rest();
    }
}

/// The first digits of an id.
pub fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// A time as people read it.
pub fn took(time: Duration) -> String {
    if time.as_millis() < 1000 { format!("{} ms", time.as_millis()) } else { format!("{:.1} s", time.as_secs_f64()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfsmith::judgement::verdict::Verdict;
    use std::collections::BTreeMap;

    fn display() -> Display {
        Display::new(&Surroundings::default(), Audience::People)
    }

    #[test]
    fn control_characters_of_others_are_shown_not_obeyed() {
        let report = GateReport {
            gate: GateName::Tests,
            result: GateOutcome::Fail { why: "\u{1b}[2Jgone \u{202e}".to_owned(), repairable: true },
            took: Duration::from_millis(1500),
            log: String::new(),
            counts: BTreeMap::new(),
        };
        let lines = display().lines(&Progress::GateEnded { report });
        assert_eq!(lines, ["  FAIL     tests (1.5 s): \\u{1b}[2Jgone \\u{202e}"]);
    }

    #[test]
    fn every_end_of_a_gate_names_it() {
        let why = "because".to_owned();
        for result in [
            GateOutcome::Pass,
            GateOutcome::Ask { why: why.clone() },
            GateOutcome::Unknown { why: why.clone() },
            GateOutcome::NotRun { why },
        ] {
            let report = GateReport {
                gate: GateName::Lint,
                result,
                took: Duration::ZERO,
                log: String::new(),
                counts: BTreeMap::new(),
            };
            assert!(display().gate(&report).contains("lint"));
        }
    }

    #[test]
    fn what_is_not_installed_is_said_once() {
        let report = |why: &str| GateReport {
            gate: GateName::Mutants,
            result: GateOutcome::NotRun { why: why.to_owned() },
            took: Duration::ZERO,
            log: String::new(),
            counts: BTreeMap::new(),
        };
        let display = display();
        let said = ["nothing new", "x is not installed: a", "x is not installed: b", "nothing new"];
        assert_eq!(said.map(|why| display.is_said_already(&report(why))), [false, false, true, false]);
    }

    #[test]
    fn a_verdict_names_candidate_and_word() {
        let judged = Progress::Judged { candidate: "c-0".to_owned(), verdict: Verdict::Accept };
        assert_eq!(display().lines(&judged), ["verdict on c-0: accept"]);
    }
}
