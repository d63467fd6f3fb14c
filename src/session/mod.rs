//! A session: the conversation, turns until an ending, the record on disk.
//!
//! The list of messages only grows at its end (clearing apart), every stored call has exactly one result, and what was
//! said is on disk before the next thing happens. A session knows no terminal: it emits events and asks its frontend.

mod anew;
pub mod check;
mod copy;
mod emitter;
pub mod export;
mod listing;
mod log;
mod person;
mod report;
mod restore;

pub use anew::Anew;
pub use copy::{fork, read};
pub use emitter::{Clock, Emitter, Ids};
pub use listing::{Listed, list};
pub use log::{Entry, LOG_VERSION, Log, LogError, Recorded, find};
pub use person::Earlier;
pub use report::Report;
pub use restore::{Restored, restore};

use crate::approve::{Guard, Mode};
use crate::ending::Ending;
use crate::event::{EVENT_VERSION, EventKind};
use crate::frontend::Frontend;
use crate::hook::Hooks;
use crate::message::{Channel, Message, Part, Role, ToolCall};
use crate::prompt::{Note, Prompts};
use crate::query::{Delta, Model, QueryError, Reply, Request, State, ToolSpec};
use crate::snapshot::{Job, Keeper, Label};
use crate::texts::{Texts, fill};
use crate::tool::Tool;
use crate::turn::{self, Course, Hands, Next, Seen};
use check::{Check, Checked, Rounds};
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Finish reasons that need no word.
const ORDINARY_FINISH: &[&str] = &["", "stop", "end_turn", "eos", "tool_calls", "function_call", "length"];

/// What a session is made of. `wire` picks the pieces.
pub struct Parts {
    /// The model.
    pub model: Box<dyn Model>,
    /// The tools, sorted by name.
    pub tools: Vec<Box<dyn Tool>>,
    /// How they look to the model, in the same order.
    pub specs: Vec<ToolSpec>,
    /// What is said to the model.
    pub prompts: Prompts,
    /// The rendered system prompt.
    pub system: String,
    /// Limits of the loop.
    pub settings: turn::Settings,
    /// What may be done without a question.
    pub mode: Mode,
    /// What commands are judged by.
    pub guard: Guard,
    /// What the person has run before and after calls.
    pub hooks: Hooks,
    /// Where snapshots of the workspace are kept, if they are.
    pub snapshots: Option<Keeper>,
    /// The project's own check of edits.
    pub check: Check,
    /// Root of the workspace, for people.
    pub root: String,
    /// Whoever watches.
    pub frontend: Arc<dyn Frontend>,
    /// The time.
    pub clock: Clock,
    /// Fresh ids.
    pub ids: Ids,
    /// The language of notices.
    pub texts: &'static Texts,
}

/// A conversation under way.
pub struct Session {
    parts: Parts,
    emitter: Arc<Emitter>,
    id: String,
    messages: Vec<Message>,
    /// What goes with the next prompt.
    attached: Vec<Part>,
    log: Option<Log>,
    total: Report,
}

/// Why a prompt cannot go on.
enum Stop {
    Query(QueryError),
    Log(LogError),
}

impl Session {
    /// A new session. Without a log nothing is kept on disk.
    pub fn start(parts: Parts, id: String, log: Option<Log>) -> Result<Self, LogError> {
        let system = Message::text(Role::System, parts.system.clone());
        let mut session = Self::new(parts, id, log);
        session.record(Entry::Started {
            version: LOG_VERSION,
            session: session.id.clone(),
            at: session.emitter.now(),
            root: session.parts.root.clone(),
            model: session.parts.model.name().to_owned(),
            channel: session.parts.model.channel(),
        })?;
        session.add(system, &[])?;
        session.greet();
        Ok(session)
    }

    /// Go on with a recorded session. The recorded system prompt stays, so that the provider's cache stays warm, unless
    /// calls now travel in another way.
    pub fn resume(parts: Parts, restored: Restored, log: Log) -> Result<Self, LogError> {
        let Restored { id, channel, messages, lost, torn } = restored;
        let mut session = Self::new(parts, id, Some(log));
        session.messages = messages;
        session.greet();
        if torn > 0 {
            let text = fill(session.parts.texts.torn_line_dropped, &[("bytes", &torn.to_string())]);
            session.emitter.emit(EventKind::Notice { text });
        }
        if !lost.is_empty() {
            let text = session.parts.prompts.note(Note::InterruptedLost, &[]);
            let results = lost.iter().map(|call| Part::Result(restore::lost_result(call, &text))).collect();
            session.add(Message { role: Role::User, parts: results }, &[])?;
        }
        if channel != session.parts.model.channel() || session.messages.is_empty() {
            session.replace_system()?;
        }
        Ok(session)
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The conversation so far, system message first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// What it is made of.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// What all prompts of this run together took; `ending` and `summary` are the last one's.
    pub fn total(&self) -> &Report {
        &self.total
    }

    /// Tell people something about the session itself.
    pub fn notice(&self, text: String) {
        self.emitter.emit(EventKind::Notice { text });
    }

    /// Forget the conversation; the record on disk keeps it.
    pub fn clear(&mut self) -> Result<(), LogError> {
        self.record(Entry::Cleared { at: self.emitter.now() })?;
        self.messages.truncate(1);
        Ok(())
    }

    /// Another model from the next query on. `system` is the prompt for it.
    pub fn set_model(&mut self, model: Box<dyn Model>, system: String) -> Result<(), LogError> {
        self.parts.model = model;
        if self.parts.system != system {
            self.parts.system = system;
            self.replace_system()?;
        }
        Ok(())
    }

    /// Take a prompt to its end. Ends early, and properly, when `cancel` fires.
    pub async fn prompt(&mut self, text: &str, cancel: &CancellationToken) -> Report {
        let mut report = Report::new();
        self.emitter.emit(EventKind::PromptTaken { text: text.to_owned() });
        report.ending = match self.work(text, cancel, &mut report).await {
            Ok(ending) => ending,
            Err(stop) => {
                let (ending, text) = stop.told();
                self.emitter.emit(EventKind::Problem { text });
                ending
            }
        };
        if let Some(kept) = self.after_turn() {
            // What the last turn changed is written down before the prompt ends.
            let _ = kept.await;
        }
        report.files.extend(self.parts.snapshots.iter().flat_map(Keeper::changed));
        report.files.sort();
        report.files.dedup();
        self.say_ending(report.ending);
        let ended = Entry::Ended { at: self.emitter.now(), ending: report.ending };
        if let Err(error) = self.record(ended) {
            self.emitter.emit(EventKind::Problem { text: Stop::Log(error).told().1 });
            report.ending = Ending::Failed;
        }
        self.emitter.emit(report.event());
        self.total.add(&report);
        report
    }

    async fn work(&mut self, text: &str, cancel: &CancellationToken, report: &mut Report) -> Result<Ending, Stop> {
        let max_turns = self.parts.settings.max_turns.max(1);
        let message = self.messages.len();
        let mut course = Course::default();
        let mut rounds = Rounds::default();
        let mut parts = vec![Part::Text { text: text.to_owned() }];
        parts.append(&mut self.attached);
        parts.extend(self.notes(&Course::first(max_turns)));
        loop {
            self.add(Message { role: Role::User, parts }, &[])?;
            report.turns += 1;
            self.emitter.emit(EventKind::TurnStarted { turn: report.turns });
            self.begin_turn(message, report.turns);
            let Some(reply) = self.ask(cancel).await? else { return Ok(Ending::Interrupted) };
            report.count(&reply);
            self.replied(&reply)?;
            let ran = self.run(&reply, cancel).await;
            // Goes on while the model is asked; the next call that may change something waits for it.
            self.after_turn();
            report.commands += ran.commands;
            report.files.extend(ran.files);
            parts = ran.results.into_iter().map(Part::Result).chain(ran.pictures).collect();
            let seen = Seen {
                channel: self.parts.model.channel(),
                visible: &reply.visible,
                calls: reply.calls.len(),
                refusals: reply.refusals.len(),
                cut: cut(&reply),
                done: ran.done.as_deref(),
                interrupted: ran.interrupted || cancel.is_cancelled(),
                left: max_turns - report.turns,
            };
            match course.next(&seen) {
                Next::Ask(notes) => parts.extend(self.notes(&notes)),
                Next::End(mut ending, summary) => {
                    let checked = match ending {
                        Ending::Done => self.check(&mut rounds, report, cancel).await,
                        _ => Checked::Fine,
                    };
                    match checked {
                        Checked::Fine => {}
                        Checked::Again(failure) => {
                            parts.push(failure);
                            continue;
                        }
                        Checked::GivenUp(instead) => ending = instead,
                    }
                    report.summary = summary;
                    if !parts.is_empty() {
                        self.add(Message { role: Role::User, parts }, &[])?;
                    }
                    return Ok(ending);
                }
            }
        }
    }

    /// `None` where the person interrupted; what had been streamed by then is kept.
    async fn ask(&mut self, cancel: &CancellationToken) -> Result<Option<Reply>, Stop> {
        let streamed = Mutex::new(String::new());
        let emitter = &self.emitter;
        let on = |delta: Delta| {
            if let Ok(mut streamed) = streamed.lock() {
                match &delta {
                    Delta::Text(text) => streamed.push_str(text),
                    Delta::Superseded { .. } => streamed.clear(),
                    Delta::Thinking(_) | Delta::Retrying { .. } | Delta::Notice(_) => {}
                }
            }
            emitter.emit(event_of(delta));
        };
        let request = Request { messages: &self.messages, tools: &self.parts.specs };
        let reply = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            reply = self.parts.model.ask(request, &on) => Some(reply.map_err(Stop::Query)?),
        };
        if reply.is_none() {
            let text = streamed.into_inner().unwrap_or_default();
            if !text.trim().is_empty() {
                self.add(Message::text(Role::Assistant, text), &[])?;
            }
        }
        Ok(reply)
    }

    fn replied(&mut self, reply: &Reply) -> Result<(), Stop> {
        self.add(reply.message.clone(), &reply.calls)?;
        self.emitter.emit(EventKind::Replied {
            text: reply.visible.clone(),
            finish: reply.finish.clone(),
            usage: reply.usage,
            cost_usd: reply.cost_usd,
        });
        if !ORDINARY_FINISH.contains(&reply.finish.as_str()) {
            let text = fill(self.parts.texts.unusual_finish, &[("finish", &reply.finish)]);
            self.emitter.emit(EventKind::Notice { text });
        }
        Ok(())
    }

    async fn run(&self, reply: &Reply, cancel: &CancellationToken) -> turn::Ran {
        let hands = Hands {
            tools: &self.parts.tools,
            prompts: &self.parts.prompts,
            mode: self.parts.mode,
            guard: &self.parts.guard,
            hooks: &self.parts.hooks,
            frontend: self.parts.frontend.as_ref(),
            emit: &|kind| self.emitter.emit(kind),
            id: &|| (self.parts.ids)(),
            snapshots: self.parts.snapshots.as_ref(),
            texts: self.parts.texts,
            cancel,
        };
        turn::run(&hands, reply).await
    }

    fn begin_turn(&self, message: usize, turn: u32) {
        if let Some(keeper) = &self.parts.snapshots {
            keeper.begin(Label { session: self.id.clone(), message, turn, at: self.emitter.now() });
        }
    }

    /// Looks at what the turn changed, in the background.
    fn after_turn(&self) -> Option<JoinHandle<()>> {
        let keeper = self.parts.snapshots.clone()?;
        let runs = self.parts.tools.iter().any(|tool| tool.job() == Job::Runs);
        let job = if runs { Job::Runs } else { Job::None };
        let (emitter, texts) = (Arc::clone(&self.emitter), self.parts.texts);
        Some(tokio::task::spawn_blocking(move || {
            if let Some(error) = keeper.after(job) {
                let text = fill(texts.snapshot_lost, &[("why", &chain(&error))]);
                emitter.emit(EventKind::Notice { text });
            }
        }))
    }

    fn notes(&self, notes: &[(Note, String)]) -> Vec<Part> {
        let channel = word(self.parts.model.channel());
        let text = |note: &Note, why: &str| match note {
            Note::LastTurn => self.parts.prompts.note(*note, &[("channel", channel)]),
            Note::CutOff => self.parts.prompts.note(*note, &[("why", why)]),
            _ => self.parts.prompts.note(*note, &[]),
        };
        notes.iter().map(|(note, why)| Part::Text { text: text(note, why) }).collect()
    }

    fn say_ending(&self, ending: Ending) {
        let texts = self.parts.texts;
        let text = match ending {
            Ending::Unfinished => texts.maybe_unfinished.to_owned(),
            Ending::Truncated => texts.reply_cut_off.to_owned(),
            Ending::MaxTurns => {
                fill(texts.turns_ran_out, &[("turns", &self.parts.settings.max_turns.max(1).to_string())])
            }
            _ => return,
        };
        self.emitter.emit(EventKind::Notice { text });
    }

    fn add(&mut self, message: Message, calls: &[ToolCall]) -> Result<(), LogError> {
        // On the native channel the message itself holds its calls.
        let calls = if message.calls().next().is_some() { Vec::new() } else { calls.to_vec() };
        self.record(Entry::Message { at: self.emitter.now(), message: message.clone(), calls })?;
        self.messages.push(message);
        Ok(())
    }

    fn replace_system(&mut self) -> Result<(), LogError> {
        let message = Message::text(Role::System, self.parts.system.clone());
        self.record(Entry::Message { at: self.emitter.now(), message: message.clone(), calls: Vec::new() })?;
        match self.messages.first_mut() {
            Some(first) => *first = message,
            None => self.messages.push(message),
        }
        Ok(())
    }

    fn record(&mut self, entry: Entry) -> Result<(), LogError> {
        self.log.as_mut().map_or(Ok(()), |log| log.append(&entry))
    }

    fn new(parts: Parts, id: String, log: Option<Log>) -> Self {
        let emitter = Arc::new(Emitter::new(parts.frontend.clone(), parts.clock.clone()));
        Self { parts, emitter, id, messages: Vec::new(), attached: Vec::new(), log, total: Report::new() }
    }

    fn greet(&self) {
        self.emitter.emit(EventKind::SessionStarted {
            version: EVENT_VERSION,
            session: self.id.clone(),
            model: self.parts.model.name().to_owned(),
            root: self.parts.root.clone(),
        });
    }
}

impl Stop {
    /// The ending, and the words with what to do next.
    fn told(&self) -> (Ending, String) {
        match self {
            Self::Query(error) => {
                let ending = match error {
                    QueryError::Refused { .. } => Ending::ModelRefused,
                    QueryError::Unavailable { .. } => Ending::ModelUnavailable,
                    QueryError::Cassette { .. } => Ending::CassetteDrift,
                };
                (ending, format!("could not {error}\n{}", error.hint()))
            }
            Self::Log(error) => (Ending::Failed, format!("could not {}\n{}", chain(error), error.hint())),
        }
    }
}

impl From<LogError> for Stop {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

/// The word of a channel in prompts.
pub const fn word(channel: Channel) -> &'static str {
    match channel {
        Channel::Text => "text",
        Channel::Native => "native",
    }
}

/// An error with all its causes, in one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

fn cut(reply: &Reply) -> Option<&str> {
    match &reply.state {
        State::Complete => None,
        State::Truncated { why } => Some(why),
    }
}

fn event_of(delta: Delta) -> EventKind {
    match delta {
        Delta::Text(text) => EventKind::TextDelta { text },
        Delta::Thinking(text) => EventKind::ThinkingDelta { text },
        Delta::Retrying { attempt, wait_ms, why } => EventKind::Retrying { attempt, wait_ms, why },
        Delta::Superseded { why } => EventKind::Superseded { why },
        Delta::Notice(text) => EventKind::Notice { text },
    }
}

#[cfg(test)]
mod tests;
