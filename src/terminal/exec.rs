//! `exec`: one prompt without a person. The answer on stdout, activity on stderr; with `--json` events on stdout.

use crate::clean::clean;
use crate::cli::{ExecArgs, Flags};
use crate::frontends::{self, Activity, JsonLines};
use crate::open::{self, Opened, Refusal};
use crate::signals;
use crate::streams;
use crate::surroundings::{self, Surroundings};
use selfsmith_agent::ending::Ending;
use selfsmith_agent::event::{Event, EventKind, Usage};
use selfsmith_agent::frontend::Frontend;
use selfsmith_agent::redact::Redactor;
use selfsmith_agent::texts::fill;
use selfsmith_agent::wire::{self, Which};
use std::io::{IsTerminal, Read};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Bytes of a prompt from stdin.
const MAX_STDIN: u64 = 8 * 1024 * 1024;

/// Run it.
pub fn run(flags: &Flags, args: &ExecArgs, surroundings: &Surroundings, runtime: &Runtime) -> Ending {
    match prompted(flags, args, surroundings, runtime) {
        Ok(ending) => ending,
        Err(refusal) => refused(&refusal, args, surroundings),
    }
}

fn prompted(flags: &Flags, args: &ExecArgs, surroundings: &Surroundings, runtime: &Runtime) -> Result<Ending, Refusal> {
    let prompt = prompt(args, surroundings)?;
    let Opened { choices, around, cassette, loaded } = open::open(flags, surroundings)?;
    let cancel = CancellationToken::new();
    let frontend: Arc<dyn Frontend> = if args.json {
        Arc::new(JsonLines::new(wire::redactor(&around.environment), cancel.clone()))
    } else {
        Arc::new(Activity::new(surroundings.texts, choices.mode))
    };
    runtime.block_on(async {
        tokio::spawn(signals::watch(cancel.clone()));
        let mut session = wire::session(&choices, &around, &cassette, Which::New, frontend)
            .map_err(|error| open::wire_refusal(&error, surroundings))?;
        for notice in loaded.notices(surroundings.texts) {
            session.notice(notice);
        }
        let report = session.prompt(&prompt, &cancel).await;
        if !args.json && !report.summary.is_empty() {
            answer(&wire::redactor(&around.environment).text(&report.summary));
        }
        Ok(report.ending)
    })
}

/// The answer: to a pipe as it is, to a terminal without what would steer it.
fn answer(text: &str) {
    let text = if std::io::stdout().is_terminal() { clean(text) } else { text.to_owned() };
    streams::data(&format!("{text}\n"));
}

/// The words of the command line, with what comes on stdin in the place of a lone `-`.
fn prompt(args: &ExecArgs, surroundings: &Surroundings) -> Result<String, Refusal> {
    let mut parts = Vec::new();
    for word in &args.prompt {
        parts.push(if word == "-" { stdin(surroundings)? } else { word.clone() });
    }
    let text = parts.join(if args.prompt.iter().any(|word| word == "-") { "\n\n" } else { " " });
    if text.trim().is_empty() {
        return Err(Refusal { ending: Ending::Usage, text: surroundings.texts.empty_prompt.to_owned() });
    }
    Ok(text)
}

fn stdin(surroundings: &Surroundings) -> Result<String, Refusal> {
    let texts = surroundings.texts;
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_STDIN + 1).read_to_end(&mut bytes);
    let refusal = |why: &str| Refusal { ending: Ending::Usage, text: fill(texts.unreadable_stdin, &[("error", why)]) };
    read.map_err(|error| refusal(&error.to_string()))?;
    if bytes.len() as u64 > MAX_STDIN {
        return Err(refusal(&format!("it is larger than {} MiB", MAX_STDIN >> 20)));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What ends before a session began still ends with an `ended` line where lines were asked for.
fn refused(refusal: &Refusal, args: &ExecArgs, surroundings: &Surroundings) -> Ending {
    let redactor: Redactor = wire::redactor(&surroundings.environment);
    if !args.json {
        streams::tell(&redactor.text(&fill(surroundings.texts.problem, &[("text", &refusal.text)])));
        return refusal.ending;
    }
    let kinds = [
        EventKind::Problem { text: refusal.text.clone() },
        EventKind::Ended {
            ending: refusal.ending,
            exit_code: refusal.ending.exit_code(),
            summary: String::new(),
            files: Vec::new(),
            commands: 0,
            turns: 0,
            usage: Usage { measured: true, ..Usage::default() },
            cost_usd: None,
        },
    ];
    for (seq, kind) in (1..).zip(kinds) {
        frontends::line(&Event { seq, at: surroundings::now(), kind }, &redactor);
    }
    refusal.ending
}
