//! Helpers: a call of `task` is a session of its own, with an empty context, inside the one that asks.
//!
//! It has the same model, approvals, walls and snapshots, and takes from the same budget; its events travel inside the
//! asking session's, its record lies in a folder beside that session's. A helper has no helpers.

use super::check::Check;
use super::emitter::Emitter;
use super::facts::clip;
use super::{Log, Parts, Report, Session, chain};
use crate::ending::Ending;
use crate::event::{Event, EventKind};
use crate::frontend::{Decision, Frontend};
use crate::message::{Channel, ToolCall};
use crate::prompt::Note;
use crate::query::ToolSpec;
use crate::redact::Redactor;
use crate::texts::fill;
use crate::tool::{Access, Answer, Tool};
use crate::turn::Delegate;
use futures::future::{BoxFuture, LocalBoxFuture};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use tokio_util::sync::CancellationToken;

/// Turns that a helper may take.
const MOST_TURNS: u32 = 30;
/// Characters of its answer.
const MOST_WORDS: usize = 12_000;

/// What a helper works with.
pub struct Crew {
    /// Its tools, sorted by name.
    pub tools: Vec<Box<dyn Tool>>,
    /// How they look to the model.
    pub specs: Vec<ToolSpec>,
    /// Its system prompt.
    pub system: String,
}

/// Makes a crew; `Err` says why not.
pub type MakeCrew = Arc<dyn Fn(Access, Channel) -> Result<Crew, String> + Send + Sync>;

/// Where helpers come from.
#[derive(Clone)]
pub struct Helpers {
    /// What they work with.
    pub crew: MakeCrew,
    /// The folder of sessions, where they are written down.
    pub folder: Option<PathBuf>,
    /// Takes secrets out of their records.
    pub redactor: Redactor,
}

/// Whether a session is a person's or a helper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    Own,
    Helper,
}

/// A session that sends helpers.
pub(super) struct Sender<'a> {
    pub session: &'a Session,
    pub cancel: &'a CancellationToken,
}

impl Delegate for Sender<'_> {
    fn delegate<'s>(&'s self, call: &'s ToolCall) -> LocalBoxFuture<'s, Answer> {
        Box::pin(async move {
            match self.session.help(call, self.cancel).await {
                Ok(answer) => answer,
                Err(why) => Answer::failed(why),
            }
        })
    }
}

/// A helper's events, inside those of the session that asked.
struct Nested {
    emitter: Arc<Emitter>,
    frontend: Arc<dyn Frontend>,
    call: String,
}

impl Frontend for Nested {
    fn notify(&self, event: &Event) {
        // Its pieces of text are nobody's answer: the whole reply follows.
        if !matches!(event.kind, EventKind::TextDelta { .. } | EventKind::ThinkingDelta { .. }) {
            self.emitter.emit(EventKind::Task { call: self.call.clone(), event: Box::new(event.clone()) });
        }
    }

    fn approve<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Decision> {
        self.frontend.approve(call)
    }

    fn go_on<'a>(&'a self, name: &'a str, call: Option<&'a ToolCall>) -> BoxFuture<'a, Decision> {
        self.frontend.go_on(name, call)
    }
}

impl Session {
    async fn help(&self, call: &ToolCall, cancel: &CancellationToken) -> Result<Answer, String> {
        let access = Access::of(&call.arguments)?;
        let prompt = call.arguments.get("prompt").and_then(Value::as_str).unwrap_or_default().trim();
        if prompt.is_empty() {
            return Err("the prompt is empty: say what is to be done and what to answer".to_owned());
        }
        let mut helper = self.helper(call, access)?;
        // Beside the prompt and not in the system's text: that is the client's where the channel changes.
        let note = self.parts.prompts.note(Note::Helper, &[("access", access.word())]);
        let report = helper.prompt(&format!("{prompt}\n\n{note}"), cancel).await;
        let answer = told(&report, helper.id());
        let mut all = self.helped.lock().unwrap_or_else(PoisonError::into_inner);
        all.add(&report);
        Ok(answer)
    }

    fn helper(&self, call: &ToolCall, access: Access) -> Result<Session, String> {
        let own = &self.parts;
        let helpers = own.helpers.as_ref().ok_or("there are no helpers here: do it yourself")?;
        let Crew { tools, specs, system } = (helpers.crew)(access, own.model.channel())?;
        let id = (own.ids)();
        let folder = helpers.folder.as_ref().map(|folder| folder.join(&self.id));
        let log = folder.map(|folder| Log::create(&folder, &id, helpers.redactor.clone())).transpose();
        let (log, lost) = match log {
            Ok(log) => (log, None),
            Err(error) => (None, Some(chain(&error))),
        };
        let nested =
            Nested { emitter: Arc::clone(&self.emitter), frontend: Arc::clone(&own.frontend), call: call.id.clone() };
        let mut settings = own.settings.clone();
        settings.max_turns = settings.max_turns.min(MOST_TURNS);
        let parts = Parts {
            model: Arc::clone(&own.model),
            tools,
            specs,
            prompts: own.prompts.clone(),
            system,
            settings,
            memory: own.memory.clone(),
            mode: own.mode,
            guard: own.guard.clone(),
            hooks: own.hooks.clone(),
            snapshots: own.snapshots.clone(),
            // What it changed is checked with the work that it is for.
            check: Check::default(),
            root: own.root.clone(),
            frontend: Arc::new(nested),
            clock: own.clock.clone(),
            ids: own.ids.clone(),
            texts: own.texts,
            helpers: None,
        };
        let mut session = Session::start(parts, id, log).map_err(|error| chain(&error))?;
        session.rank = Rank::Helper;
        session.budget.clone_from(&self.budget);
        if let Some(why) = lost {
            session.notice(fill(own.texts.record_not_kept, &[("why", &why)]));
        }
        Ok(session)
    }
}

/// A helper's end as the result of the call.
fn told(report: &Report, session: &str) -> Answer {
    let words = clip(report.summary.trim(), MOST_WORDS);
    let mut text = match report.ending {
        Ending::Done if words.is_empty() => "(done, without words)".to_owned(),
        Ending::Done => words,
        ending => {
            let ending = serde_json::to_value(ending).ok();
            let ending = ending.as_ref().and_then(Value::as_str).unwrap_or("failed");
            format!("the helper did not finish ({ending}); its last words: {words}")
        }
    };
    if !report.files.is_empty() {
        text.push_str(&format!("\n[files it changed: {}]", report.files.join(", ")));
    }
    let answer = if report.ending == Ending::Done { Answer::done(text) } else { Answer::failed(text) };
    answer.with_detail(json!({
        "files": report.files, "session": session, "ending": report.ending, "turns": report.turns,
        "usage": report.usage, "cost_usd": report.cost_usd,
    }))
}

#[cfg(test)]
mod tests;
