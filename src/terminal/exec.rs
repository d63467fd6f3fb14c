//! `exec`: one prompt without a person. The answer on stdout, activity on stderr; with `--json` events on stdout.

use crate::clean::clean;
use crate::cli::{ExecArgs, Flags};
use crate::frontends::{Activity, JsonLines, Loud};
use crate::open::{self, Opened, Refusal};
use crate::signals;
use crate::stdin;
use crate::streams;
use crate::surroundings::Surroundings;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::frontend::Frontend;
use selfsmith_agent::texts::{Texts, fill};
use selfsmith_agent::wire::{self, Which};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Run it.
pub fn run(flags: &Flags, args: &ExecArgs, which: Which, surroundings: &Surroundings, runtime: &Runtime) -> Ending {
    let cancel = CancellationToken::new();
    let lines = args.json.then(|| lines(&surroundings.environment, cancel.clone()));
    match runtime.block_on(prompted(flags, args, which, surroundings, lines.clone(), cancel)) {
        Ok(ending) => ending,
        Err(refusal) => refused(&refusal, lines.as_deref(), &surroundings.environment, surroundings.texts),
    }
}

/// Event lines on stdout without the secrets of this environment; `cancel` fires when nobody reads them any more.
pub fn lines(environment: &BTreeMap<String, String>, cancel: CancellationToken) -> Arc<JsonLines> {
    Arc::new(JsonLines::new(wire::redactor(environment), cancel))
}

/// What ends before a session began still ends with an `ended` line where lines were asked for.
pub fn refused(
    refusal: &Refusal,
    lines: Option<&JsonLines>,
    environment: &BTreeMap<String, String>,
    texts: &Texts,
) -> Ending {
    match lines {
        Some(lines) => lines.close(refusal.ending, Some(&refusal.text)),
        None => streams::tell(&wire::redactor(environment).text(&fill(texts.problem, &[("text", &refusal.text)]))),
    }
    refusal.ending
}

async fn prompted(
    flags: &Flags,
    args: &ExecArgs,
    which: Which,
    surroundings: &Surroundings,
    lines: Option<Arc<JsonLines>>,
    cancel: CancellationToken,
) -> Result<Ending, Refusal> {
    let last = lines.clone();
    signals::watch(cancel.clone(), move || {
        if let Some(lines) = &last {
            lines.close(Ending::Interrupted, None);
        }
    });
    let (prompt, cut) = prompt(args, surroundings, &cancel).await?;
    let opened = open::open(flags, surroundings)?;
    let notices = opened.notices(surroundings.texts);
    let Opened { choices, around, cassette, .. } = opened;
    let loud = if args.quiet { Loud::Problems } else { Loud::All };
    let activity = Arc::new(Activity::new(surroundings.texts, choices.mode, loud));
    let frontend: Arc<dyn Frontend> = match lines {
        Some(lines) => lines,
        None => activity.clone(),
    };
    let mut session = wire::session(&choices, &around, &cassette, which, frontend)
        .map_err(|error| open::wire_refusal(&error, surroundings))?;
    for notice in notices.into_iter().chain(cut) {
        session.notice(notice);
    }
    let report = session.prompt(&prompt, &cancel).await;
    let told = activity.answer(&report.summary);
    if !args.json && !told.is_empty() {
        answer(&wire::redactor(&around.environment).text(&told));
    }
    Ok(report.ending)
}

/// The answer: to a pipe as it is, to a terminal without what would steer it.
fn answer(text: &str) {
    let text = if std::io::stdout().is_terminal() { clean(text) } else { text.to_owned() };
    streams::data(&format!("{text}\n"));
}

/// The words of the command line, with what comes on stdin in the place of a lone `-`, or beside them; and what to tell the
/// person of it.
async fn prompt(
    args: &ExecArgs,
    surroundings: &Surroundings,
    cancel: &CancellationToken,
) -> Result<(String, Option<String>), Refusal> {
    let named = args.prompt.iter().any(|word| word == "-");
    let mut parts = Vec::new();
    for word in &args.prompt {
        parts.push(if word == "-" { stdin::prompt(surroundings, cancel).await? } else { word.clone() });
    }
    let text = parts.join(if named { "\n\n" } else { " " });
    if text.trim().is_empty() {
        return Err(Refusal { ending: Ending::Usage, text: surroundings.texts.empty_prompt.to_owned() });
    }
    if named || !stdin::is_piped() {
        return Ok((text, None));
    }
    stdin::beside(text, surroundings, cancel).await
}
