//! The calls of one reply, run in order.
//!
//! `done` counts only if every call before it in the reply succeeded; what comes after a `done` that counted is refused.
//! An interrupt ends the running call by dropping it and leaves a result for it and for every call that waited.

use super::kept::keep;
use crate::approve::{self, Danger, Guard, Mode};
use crate::event::EventKind;
use crate::frontend::{Decision, Frontend};
use crate::hook::Hooks;
use crate::message::{Outcome, Part, ToolCall, ToolResult};
use crate::prompt::{Note, Prompts};
use crate::query::{Refusal, Reply};
use crate::snapshot::Keeper;
use crate::texts::{Texts, fill};
use crate::tool::bash::OPEN;
use crate::tool::fetch_url::Host;
use crate::tool::{Answer, Effect, Tool, Walled};
use futures::future::LocalBoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Bytes of a result that the model may be given; tools have smaller bounds of their own, this one is the last.
const MAX_RESULT: usize = 128 * 1024;

/// Whoever has a helper do what a call of `task` asks for.
pub trait Delegate {
    /// To its end; an interrupt reaches the helper by itself.
    fn delegate<'s>(&'s self, call: &'s ToolCall) -> LocalBoxFuture<'s, Answer>;
}

/// What running calls takes.
pub struct Hands<'a> {
    /// The tools.
    pub tools: &'a [Box<dyn Tool>],
    /// What the loop says to the model.
    pub prompts: &'a Prompts,
    /// What may be done without a question.
    pub mode: Mode,
    /// What commands are judged by.
    pub guard: &'a Guard,
    /// Whoever may be asked.
    pub frontend: &'a dyn Frontend,
    /// Where events go.
    pub emit: &'a (dyn Fn(EventKind) + Send + Sync),
    /// Makes ids for results of refusals that have none.
    pub id: &'a (dyn Fn() -> String + Send + Sync),
    /// What the person has run before and after calls.
    pub hooks: &'a Hooks,
    /// Where snapshots are kept, if they are.
    pub snapshots: Option<&'a Keeper>,
    /// The language of notices.
    pub texts: &'a Texts,
    /// Sends helpers.
    pub helpers: &'a dyn Delegate,
    /// The person's interrupt.
    pub cancel: &'a CancellationToken,
}

/// What came of the calls of a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ran {
    /// One for each refusal and each call, refusals first.
    pub results: Vec<ToolResult>,
    /// Summary of a `done` that counted.
    pub done: Option<String>,
    /// Commands that were run.
    pub commands: u32,
    /// Files that tools say they changed, in order.
    pub files: Vec<String>,
    /// Pictures that tools looked at.
    pub pictures: Vec<Part>,
    /// A person or a signal stopped it.
    pub interrupted: bool,
}

/// Run every call of a reply.
pub async fn run(hands: &Hands<'_>, reply: &Reply) -> Ran {
    let mut ran = Ran::default();
    let mut failed: Option<String> = None;
    for refusal in &reply.refusals {
        let result = refused(hands, refusal);
        failed.get_or_insert_with(|| format!("`{}`", result.name));
        (hands.emit)(EventKind::CallEnded { result: result.clone() });
        ran.results.push(result);
    }
    for call in &reply.calls {
        let result = if ran.interrupted || hands.cancel.is_cancelled() {
            ran.interrupted = true;
            synthetic(call, Outcome::Interrupted, hands.prompts.note(Note::InterruptedWaiting, &[]))
        } else if ran.done.is_some() {
            synthetic(call, Outcome::Refused, hands.prompts.note(Note::AfterDone, &[]))
        } else {
            one(hands, call, failed.as_deref(), &mut ran).await
        };
        if result.outcome != Outcome::Done {
            failed.get_or_insert_with(|| format!("`{}`", call.name));
        }
        (hands.emit)(EventKind::CallEnded { result: result.clone() });
        ran.results.push(result);
    }
    ran
}

async fn one(hands: &Hands<'_>, call: &ToolCall, failed: Option<&str>, ran: &mut Ran) -> ToolResult {
    let Some(tool) = hands.tools.iter().find(|tool| tool.name() == call.name) else {
        return synthetic(call, Outcome::Failed, format!("there is no tool named `{}`", call.name));
    };
    let effect = tool.effect();
    if let (Effect::Ends, Some(failed)) = (effect, failed) {
        return synthetic(call, Outcome::Failed, hands.prompts.note(Note::DoneTooEarly, &[("failed", failed)]));
    }
    if let Some(refusal) = permission(hands, call, tool.as_ref()).await {
        ran.interrupted = refusal.outcome == Outcome::Interrupted;
        return refusal;
    }
    keep(hands, tool.as_ref(), call).await;
    match hands.cancel.run_until_cancelled(hands.hooks.before(call)).await {
        Some(None) => {}
        Some(Some(why)) => {
            return synthetic(call, Outcome::Refused, hands.prompts.note(Note::StoppedByHook, &[("why", &why)]));
        }
        None => {
            ran.interrupted = true;
            return synthetic(call, Outcome::Interrupted, hands.prompts.note(Note::InterruptedWaiting, &[]));
        }
    }
    (hands.emit)(EventKind::CallStarted { call: call.clone() });
    let answer = if effect == Effect::Delegates {
        // A helper ends in an orderly way by itself.
        let answer = hands.helpers.delegate(call).await;
        (!hands.cancel.is_cancelled()).then_some(answer)
    } else {
        hands.cancel.run_until_cancelled(tool.call(&call.arguments)).await
    };
    let Some(answer) = answer else {
        ran.interrupted = true;
        count(ran, effect, &Value::Null);
        return synthetic(call, Outcome::Interrupted, hands.prompts.note(Note::InterruptedRunning, &[]));
    };
    count(ran, effect, &answer.detail);
    if let Some(what) = answer.detail.get(OPEN).and_then(Value::as_str) {
        (hands.emit)(EventKind::Notice { text: fill(hands.texts.walls_open, &[("what", what)]) });
    }
    let picture = answer.picture.map(|one| Part::Image { mime: one.mime.to_owned(), base64: one.base64 });
    ran.pictures.extend(picture);
    if effect == Effect::Ends && answer.outcome == Outcome::Done {
        ran.done = Some(answer.text.clone());
    }
    let mut result = ToolResult {
        id: call.id.clone(),
        name: call.name.clone(),
        outcome: answer.outcome,
        text: bounded(answer.text),
        detail: answer.detail,
    };
    let added = hands.cancel.run_until_cancelled(hands.hooks.after(call, &result)).await.flatten();
    if let Some(added) = added {
        result.text = format!("{}\n{added}", result.text.trim_end_matches('\n'));
    }
    result
}

/// `None` where the call may run, else the result that it gets instead.
async fn permission(hands: &Hands<'_>, call: &ToolCall, tool: &dyn Tool) -> Option<ToolResult> {
    let effect = tool.effect();
    let command = call.arguments.get("command").and_then(Value::as_str).filter(|_| effect == Effect::Runs);
    let judgement = command.map(|command| hands.guard.judge(hands.mode, command));
    let mut answer = judgement.as_ref().map_or_else(|| approve::decide(hands.mode, effect), |judged| judged.answer);
    let mut dangers: Vec<&str> =
        judgement.iter().flat_map(|judged| &judged.dangers).map(|danger| named(hands.texts, *danger)).collect();
    if tool.walled() == Walled::No && answer == approve::Answer::Allow {
        answer = approve::Answer::Ask;
        dangers.push(hands.texts.danger_without_walls);
    }
    let host = tool.asks(&call.arguments).filter(|_| answer == approve::Answer::Allow);
    let private = match &host {
        Some(Host::Private(host)) => Some(fill(hands.texts.danger_private, &[("host", host)])),
        Some(Host::Public(_)) | None => None,
    };
    if host.is_some() {
        answer = approve::Answer::Ask;
        dangers.extend(private.as_deref());
    }
    let dangers = dangers.join(", ");
    let refuse =
        |note, values: &[(&str, &str)]| Some(synthetic(call, Outcome::Refused, hands.prompts.note(note, values)));
    match answer {
        approve::Answer::Allow => None,
        approve::Answer::Refuse => match judgement.and_then(|judged| judged.denied_by) {
            Some(rule) => refuse(Note::DeniedByRule, &[("rule", &rule)]),
            None => refuse(Note::ReadOnly, &[]),
        },
        approve::Answer::Ask => {
            if !dangers.is_empty() {
                (hands.emit)(EventKind::Notice { text: fill(hands.texts.dangerous, &[("what", &dangers)]) });
            }
            let decision = tokio::select! {
                biased;
                () = hands.cancel.cancelled() => {
                    let text = hands.prompts.note(Note::InterruptedWaiting, &[]);
                    return Some(synthetic(call, Outcome::Interrupted, text));
                }
                decision = hands.frontend.approve(call) => decision,
            };
            match decision {
                Decision::Allow => None,
                Decision::Deny { why } => {
                    offer(hands, command, host.as_ref());
                    refuse(Note::Denied, &[("why", &why)])
                }
                Decision::Nobody => {
                    offer(hands, command, host.as_ref());
                    refuse(Note::NobodyToAsk, &[("mode", hands.mode.word()), ("danger", &dangers)])
                }
            }
        }
    }
}

/// How to allow just that command, or that host, from now on.
fn offer(hands: &Hands<'_>, command: Option<&str>, host: Option<&Host>) {
    if let Some(host) = host {
        (hands.emit)(EventKind::Notice { text: fill(hands.texts.grant_host, &[("host", host.name())]) });
    }
    let rule = command.and_then(approve::grant).and_then(|rule| serde_json::to_string(&rule).ok());
    if let Some(rule) = rule {
        (hands.emit)(EventKind::Notice { text: fill(hands.texts.grant, &[("rule", &rule)]) });
    }
}

fn named(texts: &Texts, danger: Danger) -> &str {
    match danger {
        Danger::RemovesOutside => texts.danger_removes_outside,
        Danger::RemovesAll => texts.danger_removes_all,
        Danger::RemovesUnknown => texts.danger_removes_unknown,
        Danger::WritesOutside => texts.danger_writes_outside,
        Danger::WritesDisk => texts.danger_writes_disk,
        Danger::RewritesHistory => texts.danger_rewrites_history,
        Danger::ReadsSecrets => texts.danger_reads_secrets,
        Danger::RunsDownload => texts.danger_runs_download,
        Danger::AsOtherUser => texts.danger_as_other_user,
        Danger::StopsSystem => texts.danger_stops_system,
        Danger::Bomb => texts.danger_bomb,
        Danger::Unclear => texts.danger_unclear,
    }
}

fn count(ran: &mut Ran, effect: Effect, detail: &Value) {
    if effect == Effect::Runs {
        ran.commands += 1;
    }
    if matches!(effect, Effect::Writes | Effect::Delegates)
        && let Some(files) = detail.get("files").and_then(Value::as_array)
    {
        ran.files.extend(files.iter().filter_map(|file| Some(file.as_str()?.to_owned())));
    }
}

fn refused(hands: &Hands<'_>, refusal: &Refusal) -> ToolResult {
    ToolResult {
        id: refusal.id.clone().unwrap_or_else(|| (hands.id)()),
        name: refusal.name.clone(),
        outcome: Outcome::Refused,
        text: bounded(refusal.why.clone()),
        detail: json!({ "class": refusal.class }),
    }
}

fn synthetic(call: &ToolCall, outcome: Outcome, text: String) -> ToolResult {
    ToolResult { id: call.id.clone(), name: call.name.clone(), outcome, text, detail: Value::Null }
}

/// Head and tail of a text that is too long, with the cut said.
fn bounded(text: String) -> String {
    if text.len() <= MAX_RESULT {
        return text;
    }
    let head = text.floor_char_boundary(MAX_RESULT / 2);
    let tail = text.ceil_char_boundary(text.len() - MAX_RESULT / 2);
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    format!("{}\n[{} bytes left out]\n{}", part(0..head), tail - head, part(tail..text.len()))
}

#[cfg(test)]
mod tests;
