//! The proposer `agent`: the agent of the current generation, headless in the room, a model behind the relay.
//!
//! The agent is known by its contract alone: arguments, exit code, JSON lines (docs/contract.md). Lines that are not
//! understood are skipped. A run that ended without `done` still leaves files, and the gates are what judges those.

use crate::judgement::candidate::Proposal;
use crate::judgement::progress::{Progress, Report};
use crate::proposer::room::{self, Kit, RELAY_PORT, Run};
use crate::proposer::{Proposer, ProposerError, Task};
use crate::relay::{Relay, Source};
use selfsmith_sandbox::{Bind, BindMode, End, Stream};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const GOAL: &str = include_str!("../../prompts/goal.md");
const REPAIR: &str = include_str!("../../prompts/repair.md");
/// Where the generation is seen in the room.
const GENERATION: &str = "/selfsmith";
/// Bytes of one JSON line that are kept at most.
const LINE: usize = 4 * 1024 * 1024;

/// The agent as a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProgram {
    /// Its file.
    pub program: PathBuf,
    /// The folder with its `config.yaml` and `prompts/`; without one it uses those embedded in it.
    pub home: Option<PathBuf>,
    /// `dev`, or a tree id.
    pub generation: String,
}

/// The proposer.
#[derive(Debug)]
pub struct Agent {
    name: &'static str,
    program: AgentProgram,
    /// `text` or `native`; none lets it choose.
    channel: Option<&'static str>,
    kit: Kit,
    relay: Relay,
    told: usize,
}

impl Agent {
    /// With what answers behind the relay. The relay lives as long as the proposer, so that a tape goes on over repairs.
    pub fn new(
        name: &'static str,
        program: AgentProgram,
        channel: Option<&'static str>,
        source: Source,
        kit: Kit,
    ) -> Result<Self, ProposerError> {
        let relay = Relay::start(source)
            .map_err(|error| ProposerError { what: format!("could not {error}"), hint: error.hint() })?;
        Ok(Self { name, program, channel, kit, relay, told: 0 })
    }

    fn run<'a>(&'a self, task: Task<'a>) -> Run<'a> {
        let inside = Path::new(GENERATION);
        let mut binds = vec![read_only(&self.program.program, inside.join("selfsmith-agent"))];
        let mut set = vec![
            ("SELFSMITH_BASE_URL".to_owned(), OsString::from(format!("http://127.0.0.1:{RELAY_PORT}/v1"))),
            // The relay takes any; the real key never comes in here.
            ("SELFSMITH_API_KEY".to_owned(), OsString::from("relay")),
            ("SELFSMITH_MODEL".to_owned(), OsString::from(self.relay.model())),
            ("SELFSMITH_GENERATION".to_owned(), OsString::from(&self.program.generation)),
        ];
        if let Some(home) = &self.program.home {
            for name in ["config.yaml", "prompts"] {
                binds.push(read_only(&home.join(name), inside.join(name)));
            }
            set.push(("SELFSMITH_GENERATION_DIR".to_owned(), inside.into()));
        }
        let mut argv: Vec<OsString> = vec![inside.join("selfsmith-agent").into()];
        argv.extend(["exec", "--json", "--approval", "auto"].map(OsString::from));
        if let Some(channel) = self.channel {
            argv.extend(["--channel", channel].map(OsString::from));
        }
        argv.push("-".into());
        let stdin = prompt(task).into_bytes();
        Run {
            shown: "selfsmith-agent exec".to_owned(),
            argv,
            dir: task.dir,
            target: task.target,
            binds,
            set,
            stdin,
            relay: Some(self.relay.socket()),
        }
    }

    fn tell_drifts(&mut self, report: Report<'_>) {
        let drifts = self.relay.drifts();
        for drift in drifts.iter().skip(self.told) {
            report(Progress::Notice { text: format!("the cassette was recorded from another request: {drift}") });
        }
        self.told = drifts.len();
        if let Some(why) = self.relay.record_error() {
            report(Progress::Notice { text: why });
        }
    }
}

impl Proposer for Agent {
    fn name(&self) -> &str {
        self.name
    }

    fn model(&self) -> Option<String> {
        Some(self.relay.model().to_owned())
    }

    fn propose(&mut self, task: Task<'_>, report: Report<'_>) -> Result<Proposal, ProposerError> {
        let mut lines = Lines::default();
        let mut ended = Ended::default();
        let run = self.run(task);
        let finished = room::run(&self.kit, run, &mut |stream, bytes| {
            if matches!(stream, Stream::Stdout) {
                lines.push(bytes, &mut |line| ended.read(line, report));
            }
        })?;
        self.tell_drifts(report);
        let code = match finished.end {
            End::Exit(code) => code,
            other => {
                let what = format!("the agent {}: {}", room::ended(&other), room::last_lines(&finished.stderr, 5));
                return Err(ProposerError {
                    what,
                    hint: "run the same goal again; if it stays so, report it".to_owned(),
                });
            }
        };
        // docs/contract.md, exit codes: done; unfinished; turns ran out; reply cut off; in circles; tokens, money or time ran
        // out. The files are there to be judged.
        if matches!(code, 0 | 6..=8 | 11..=14) {
            if code != 0 {
                report(Progress::Notice {
                    text: format!("the agent ended without `done` (exit {code}); its files are judged"),
                });
            }
            return Ok(proposal(&ended.summary));
        }
        let said = if ended.problem.is_empty() { room::last_lines(&finished.stderr, 5) } else { ended.problem };
        Err(ProposerError {
            what: format!("the agent ended with exit code {code}: {said}"),
            hint: hint(code).to_owned(),
        })
    }
}

fn read_only(source: &Path, at: PathBuf) -> Bind {
    Bind { source: source.to_owned(), at, mode: BindMode::ReadOnly }
}

fn prompt(task: Task<'_>) -> String {
    match task.diagnostics {
        None => GOAL.replacen("{goal}", task.goal, 1),
        Some(found) => {
            // Both are other people's text: neither may be searched for the other's placeholder.
            let (before, after) = REPAIR.split_once("{goal}").unwrap_or((REPAIR, ""));
            let fenced = found.replace("```", "'''");
            format!("{before}{}{}", task.goal, after.replacen("{diagnostics}", &fenced, 1))
        }
    }
}

const fn hint(code: i32) -> &'static str {
    match code {
        3 => "check the agent's settings with `selfsmith config check`",
        4 | 5 => "check address, model and key variable in the judge's settings (`selfsmith doctor` shows them)",
        9 => "the cassette ended, or differs from what is asked: record it again",
        _ => "run `selfsmith exec` with the same goal to see what it does",
    }
}

/// A summary with its prediction apart.
fn proposal(said: &str) -> Proposal {
    let mut summary = Vec::new();
    let mut prediction = String::new();
    for line in said.lines() {
        match line.trim().strip_prefix("Prediction:") {
            Some(rest) => prediction = rest.trim().to_owned(),
            None => summary.push(line),
        }
    }
    Proposal { summary: summary.join("\n").trim().to_owned(), prediction, output: String::new() }
}

/// What the agent's lines said.
#[derive(Debug, Default)]
struct Ended {
    summary: String,
    problem: String,
}

impl Ended {
    fn read(&mut self, line: &[u8], report: Report<'_>) {
        let Ok(event) = serde_json::from_slice::<Value>(line) else { return };
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match event.get("type").and_then(Value::as_str) {
            Some("ended") => self.summary = text(&event, "summary"),
            Some("problem") => self.problem = text(&event, "text"),
            Some("call_started") => {
                let Some(call) = event.get("call") else { return };
                let arguments = call.get("arguments");
                let of = |key: &str| arguments.map(|arguments| text(arguments, key)).unwrap_or_default();
                let on = ["path", "command", "pattern"].map(of).into_iter().find(|found| !found.is_empty());
                let on: String = on.unwrap_or_default().lines().next().unwrap_or_default().chars().take(60).collect();
                report(Progress::Working { what: format!("agent: {} {on}", text(call, "name")).trim().to_owned() });
            }
            _ => {}
        }
    }
}

/// Cuts a stream into lines.
#[derive(Debug, Default)]
struct Lines {
    open: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8])) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.open.len() < LINE {
                self.open.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                take(&self.open);
                self.open.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn the_prediction_is_parted_from_the_summary() {
        let said = "Accept binary suffixes.\nPrediction: `sizes 1KiB` prints 1024";
        let expected = Proposal {
            summary: "Accept binary suffixes.".to_owned(),
            prediction: "`sizes 1KiB` prints 1024".to_owned(),
            output: String::new(),
        };
        assert_eq!(proposal(said), expected);
    }

    #[test]
    fn a_goal_that_names_a_placeholder_stays_as_it_is() {
        let task = Task {
            cycle: "c",
            goal: "print {diagnostics}",
            dir: Path::new("/"),
            target: None,
            attempt: 1,
            diagnostics: Some("E0308"),
        };
        let prompt = prompt(task);
        assert!(prompt.contains("print {diagnostics}") && prompt.contains("E0308"), "{prompt}");
    }

    #[test]
    fn lines_are_read_whatever_the_pieces_and_unknown_ones_are_skipped() {
        let seen = RefCell::new(Vec::new());
        let report = |progress: Progress| seen.borrow_mut().push(progress);
        let (mut lines, mut ended) = (Lines::default(), Ended::default());
        let stream = "not json\n{\"type\":\"later\"}\n{\"type\":\"call_started\",\"call\":{\"name\":\"view\",\"arguments\":\
                      {\"path\":\"a.rs\"}}}\n{\"type\":\"ended\",\"summary\":\"Did ü\"}\n";
        for byte in stream.as_bytes() {
            lines.push(&[*byte], &mut |line| ended.read(line, &report));
        }
        assert_eq!(ended.summary, "Did ü");
        assert_eq!(*seen.borrow(), [Progress::Working { what: "agent: view a.rs".to_owned() }]);
    }
}
