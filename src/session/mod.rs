//! A session: the conversation, turns until an ending, the record on disk.
//!
//! The list of messages only grows at its end (compacting, clearing and going back apart), every stored call has exactly one
//! result, and what was said is on disk before the next thing happens. A session knows no terminal: it emits events and asks its frontend.

mod anew;
mod ask;
pub mod check;
mod circle;
mod compact;
mod copy;
mod emitter;
pub mod export;
mod facts;
mod helper;
mod limits;
mod listing;
mod log;
mod parts;
mod person;
mod recall;
mod report;
mod restore;
mod stop;

pub use anew::Anew;
pub use compact::{Compacted, Settings};
pub use copy::{fork, read};
pub use emitter::{Clock, Emitter, Ids};
pub use helper::{Crew, Helpers, MakeCrew};
pub use listing::{Listed, list, list_below};
pub use log::{Entry, LOG_VERSION, Log, LogError, Recorded, find};
pub use parts::Parts;
pub use person::Earlier;
pub use recall::Recall;
pub use report::Report;
pub use restore::{Restored, restore};

use crate::approve::Mode;
use crate::ending::Ending;
use crate::event::{EVENT_VERSION, EventKind};
use crate::message::{Channel, Message, Part, Role, ToolCall};
use crate::prompt::Note;
use crate::query::{Model, Reply};
use crate::snapshot::{Job, Keeper, Label};
use crate::texts::fill;
use crate::turn::{self, Budget, Course, Hands, Next, Progress, Seen};
use ask::cut;
use check::{Checked, Rounds};
use circle::Moves;
use facts::Facts;
use helper::{Rank, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use stop::Stop;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

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
    /// What must outlive a compaction.
    facts: Facts,
    /// Messages that are no longer part of the conversation.
    gone: usize,
    /// Of a recorded session: when it began, and when something happened in it last.
    times: Option<(u64, u64)>,
    /// Tokens after the last compaction, or at one that gained nothing.
    settled: u64,
    /// Tokens that a server's refusal leaves room for.
    most_seen: Option<u64>,
    /// What the run may still take.
    budget: Arc<Budget>,
    rank: Rank,
    /// What helpers took since it was last looked at.
    helped: Mutex<Report>,
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
        let Restored { id, channel, messages, facts, gone, times, lost, torn } = restored;
        let mut session = Self { messages, facts, gone, times, ..Self::new(parts, id, Some(log)) };
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
        self.gone += self.messages.len().saturating_sub(1);
        self.messages.truncate(1);
        self.facts = Facts::default();
        Ok(())
    }

    /// Another model from the next query on. `system` is the prompt for it.
    pub fn set_model(&mut self, model: Box<dyn Model>, system: String) -> Result<(), LogError> {
        self.parts.model = Arc::from(model);
        (self.settled, self.most_seen) = (0, None);
        let same = self.beginning() == system;
        self.parts.system = system;
        if same { Ok(()) } else { self.replace_system() }
    }

    /// The system prompt that requests begin with: of a session that goes on, as it was recorded.
    pub fn beginning(&self) -> String {
        self.messages.first().map(Message::plain_text).unwrap_or_default()
    }

    /// Take a prompt to its end. Ends early, and properly, when `cancel` fires.
    pub async fn prompt(&mut self, text: &str, cancel: &CancellationToken) -> Report {
        let mut report = Report::new();
        self.emitter.emit(EventKind::PromptTaken { text: text.to_owned() });
        if self.rank == Rank::Own {
            self.budget.begin(&self.parts.settings);
        }
        report.ending = self.in_time(text, cancel, &mut report).await;
        if let Some(kept) = self.after_turn() {
            // What the last turn changed is written down before the prompt ends.
            let _ = kept.await;
        }
        if self.rank == Rank::Own {
            report.files.extend(self.parts.snapshots.iter().flat_map(Keeper::changed));
        }
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
        let mut progress = Progress::default();
        let message = self.gone + self.messages.len();
        let mut course = Course::default();
        let mut rounds = Rounds::default();
        let mut parts = vec![Part::Text { text: text.to_owned() }];
        parts.append(&mut self.attached);
        parts.extend(self.notes(&Course::first(self.left(report))));
        loop {
            self.add(Message { role: Role::User, parts }, &[])?;
            report.turns += 1;
            self.budget.turn();
            self.emitter.emit(EventKind::TurnStarted { turn: report.turns });
            self.begin_turn(message, report.turns);
            let Some(reply) = self.ask(cancel, report).await? else { return Ok(Ending::Interrupted) };
            self.spend(&reply, report);
            self.replied(&reply)?;
            let workspace = self.workspace(report.files.len()).await;
            let ran = self.run(&reply, cancel).await;
            // Goes on while the model is asked; the next call that may change something waits for it.
            self.after_turn();
            report.commands += ran.commands;
            report.add_work(&std::mem::replace(
                &mut *self.helped.lock().unwrap_or_else(PoisonError::into_inner),
                Report::new(),
            ));
            report.files.extend(ran.files);
            let moves = self.moves(&mut progress, &reply, &ran.results, workspace, cancel).await;
            parts = ran.results.into_iter().map(Part::Result).chain(ran.pictures).collect();
            let seen = Seen {
                channel: self.parts.model.channel(),
                visible: &reply.visible,
                calls: reply.calls.len(),
                refusals: reply.refusals.len(),
                cut: cut(&reply),
                done: ran.done.as_deref(),
                interrupted: ran.interrupted || cancel.is_cancelled(),
                left: self.left(report),
                over: self.budget.over(),
                circles: moves == Moves::Not,
            };
            match course.next(&seen) {
                Next::Ask(mut notes) => {
                    if let Moves::Told(name) = moves {
                        notes.insert(0, (Note::Circling, name));
                    }
                    parts.extend(self.notes(&notes));
                }
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
            helpers: &Sender { session: self, cancel },
            cancel,
        };
        turn::run(&hands, reply).await
    }

    fn begin_turn(&self, message: usize, turn: u32) {
        // What a helper does belongs to the turn that it works for.
        if let (Some(keeper), Rank::Own) = (&self.parts.snapshots, self.rank) {
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
            Note::Circling => self.parts.prompts.note(*note, &[("name", why)]),
            Note::CutOff => self.parts.prompts.note(*note, &[("why", why)]),
            _ => self.parts.prompts.note(*note, &[]),
        };
        notes.iter().map(|(note, why)| Part::Text { text: text(note, why) }).collect()
    }

    fn add(&mut self, message: Message, calls: &[ToolCall]) -> Result<(), LogError> {
        // On the native channel the message itself holds its calls.
        let calls = if message.calls().next().is_some() { Vec::new() } else { calls.to_vec() };
        self.record(Entry::Message { at: self.emitter.now(), message: message.clone(), calls })?;
        self.facts.take(self.gone + self.messages.len(), &message);
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
        let budget = Arc::new(Budget::new(&parts.settings));
        Self {
            parts,
            emitter,
            id,
            messages: Vec::new(),
            attached: Vec::new(),
            log,
            total: Report::new(),
            facts: Facts::default(),
            gone: 0,
            times: None,
            settled: 0,
            most_seen: None,
            budget,
            rank: Rank::Own,
            helped: Mutex::new(Report::new()),
        }
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

#[cfg(test)]
mod tests;
