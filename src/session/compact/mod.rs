//! Compaction: the older part of a conversation gives way to a summary, before the model's window is full.
//!
//! The record on disk keeps everything. What must not be lost is collected by the program (`facts`) and stands beside the
//! summary whatever the model writes. A compaction that does not make the conversation smaller by a good part is not made,
//! and not tried again before the conversation has grown. Where no summary can be had, a list of what happened stands in its
//! place. It decides nothing about the work.

mod cut;
mod words;

use super::Session;
use super::facts::clip;
use super::log::{Entry, LogError};
use super::report::Report;
use super::stop::Stop;
use crate::ending::Ending;
use crate::event::{Compacting, EventKind, Means};
use crate::message::{Message, Part, Role};
use crate::prompt::Note;
use crate::query::{QueryError, Request, State};
use crate::snapshot::Keeper;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use words::{SCALES, Scale};

/// What of the weight must go, in hundredths, for a compaction to be worth it.
const LEAST_GAIN: u64 = 20;
/// Hundredths of what may be used that recent turns may take; less where the first try gained too little.
const KEPT: [u64; 2] = [30, 10];
/// Characters of a summary, and of what stands in its place.
const MAX_SUMMARY: usize = 16_000;
/// Characters of the person's last message, and of each earlier one, that are repeated in full.
const MAX_LAST: usize = 6000;
const MAX_EARLIER: usize = 300;
/// Earlier messages of the person that are repeated.
const MAX_SAID: usize = 20;
/// Files that are named.
const MAX_FILES: usize = 200;

/// What people can set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Share of the window at which the conversation is compacted.
    pub compact_threshold: f64,
    /// Another model of the same provider that writes summaries.
    pub summary_model: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { compact_threshold: 0.8, summary_model: None }
    }
}

/// What came of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compacted {
    /// The conversation is shorter.
    Shorter,
    /// Too little could be gained; nothing changed.
    Same,
    /// The person interrupted; nothing changed.
    Interrupted,
}

/// A conversation that could take the place of the present one.
struct Candidate {
    messages: Vec<Message>,
    tokens: u64,
    kept: usize,
    means: Means,
}

impl Session {
    /// Compact now, because the person wants it; `focus` is what the summary should heed.
    pub async fn compact(&mut self, focus: &str, cancel: &CancellationToken) -> (Compacted, Report) {
        let mut report = Report::new();
        let compacted = match self.shorten(Compacting::Asked, focus, cancel, &mut report).await {
            Ok(compacted) => compacted,
            Err(stop) => {
                let (ending, text) = stop.told();
                self.emitter.emit(EventKind::Problem { text });
                report.ending = ending;
                Compacted::Same
            }
        };
        if compacted == Compacted::Interrupted {
            report.ending = Ending::Interrupted;
        }
        self.total.add(&report);
        (compacted, report)
    }

    /// Tokens that the next request would send.
    pub fn tokens(&self) -> u64 {
        self.weigh(&self.messages)
    }

    /// Tokens of what every request begins with: the instructions, and tools where they travel apart.
    pub(super) fn fixed_tokens(&self) -> u64 {
        self.weigh(self.messages.get(..1).unwrap_or_default())
    }

    /// Tokens at which the conversation is compacted.
    pub fn most_tokens(&self) -> u64 {
        let capacity = self.parts.model.capacity();
        let share = self.parts.memory.compact_threshold.clamp(0.05, 1.0);
        let by_share = (capacity.window as f64 * share) as u64;
        let by_room = capacity.window.saturating_sub(capacity.room.min(capacity.window / 4));
        by_share.min(by_room).min(self.most_seen.unwrap_or(u64::MAX))
    }

    /// Compact where the next request would come near the window.
    pub(super) async fn keep_room(
        &mut self,
        cancel: &CancellationToken,
        report: &mut Report,
    ) -> Result<Compacted, Stop> {
        let (tokens, most) = (self.tokens(), self.most_tokens());
        // What did not help is not done again before there is more to gain.
        if tokens <= most || tokens < self.settled.saturating_add(most / 20) {
            return Ok(Compacted::Same);
        }
        self.shorten(Compacting::NearWindow, "", cancel, report).await
    }

    /// The server says that the conversation does not fit.
    pub(super) async fn overflowed(
        &mut self,
        cancel: &CancellationToken,
        report: &mut Report,
    ) -> Result<Compacted, Stop> {
        // Whatever the settings say of the window, this was too much.
        self.most_seen = Some(self.most_tokens().min(self.tokens() / 10 * 9));
        self.shorten(Compacting::Overflow, "", cancel, report).await
    }

    async fn shorten(
        &mut self,
        why: Compacting,
        focus: &str,
        cancel: &CancellationToken,
        report: &mut Report,
    ) -> Result<Compacted, Stop> {
        let before = self.tokens();
        let most = self.most_tokens();
        self.emitter.emit(EventKind::CompactionStarted { why, tokens: before, most });
        let free = most.min(before).saturating_sub(self.fixed_tokens());
        let mut made = None;
        let mut summary = None;
        for share in KEPT {
            let budget = free / 100 * share;
            let weigh = |message: &Message| self.parts.model.tokens(&request(std::slice::from_ref(message)));
            let Some(border) = cut::border(&self.messages, weigh, budget) else { break };
            if summary.is_none() {
                let Some(written) = self.summary(border, focus, cancel, report).await? else {
                    self.emitter.emit(ended(before, before, Means::None, 0));
                    return Ok(Compacted::Interrupted);
                };
                summary = Some(written);
            }
            // Where the first try gained too little the summary itself may be what is too long.
            let written = summary.as_deref().filter(|words| !words.is_empty() && share == KEPT[0]);
            let candidate = self.candidate(border, budget, written);
            if gains(before, candidate.tokens) && (candidate.tokens <= most || share != KEPT[0]) {
                made = Some(candidate);
                break;
            }
        }
        let Some(Candidate { messages, tokens, kept, means }) = made else {
            self.settled = before;
            self.emitter.emit(ended(before, before, Means::None, 0));
            return Ok(Compacted::Same);
        };
        self.replace(messages)?;
        self.settled = tokens;
        self.emitter.emit(ended(before, tokens, means, kept));
        Ok(Compacted::Shorter)
    }

    /// The model's summary of what stands before the border; empty where none can be had, none where the person
    /// interrupted.
    async fn summary(
        &self,
        border: usize,
        focus: &str,
        cancel: &CancellationToken,
        report: &mut Report,
    ) -> Result<Option<String>, Stop> {
        let old = self.messages.get(1..border).unwrap_or_default();
        let most = self.most_tokens();
        let mut lacking = String::new();
        let mut best = String::new();
        let scales = SCALES.into_iter().map(|scale| self.to_sum_up(old, scale, focus));
        let mut tries: Vec<Vec<Message>> = scales.filter(|asked| self.weigh_bare(asked) <= most).collect();
        tries.reverse();
        let mut again = true;
        while let Some(mut asked) = tries.pop() {
            if !lacking.is_empty() {
                let text = self.parts.prompts.note(Note::SummaryLacks, &[("what", &lacking)]);
                asked.push(Message::text(Role::Assistant, best.clone()));
                asked.push(Message::text(Role::User, text));
            }
            let request = Request { model: self.parts.memory.summary_model.as_deref(), ..request(&asked) };
            let reply = tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(None),
                reply = self.parts.model.ask(request, &|_| {}) => reply,
            };
            match reply {
                Ok(reply) => {
                    self.spend(&reply, report);
                    let words = clip(reply.visible.trim(), MAX_SUMMARY);
                    let lacks = words::lacks(&words);
                    if reply.state == State::Complete && lacks.is_empty() {
                        return Ok(Some(words));
                    }
                    if words.len() > best.len() {
                        best = words;
                    }
                    if !std::mem::take(&mut again) || best.is_empty() {
                        break;
                    }
                    lacking = lacks.join(", ");
                    tries.push(asked.into_iter().take(2).collect());
                }
                Err(QueryError::TooLong { .. }) => {}
                Err(error @ QueryError::Cassette { .. }) => return Err(Stop::Query(error)),
                Err(_) => break,
            }
        }
        Ok(Some(best))
    }

    fn to_sum_up(&self, old: &[Message], scale: Scale, focus: &str) -> Vec<Message> {
        let system = self.parts.prompts.note(Note::SumUp, &[("focus", focus)]);
        vec![Message::text(Role::System, system), Message::text(Role::User, words::transcript(old, scale))]
    }

    fn candidate(&self, border: usize, budget: u64, summary: Option<&str>) -> Candidate {
        let (old, recent) = self.messages.split_at(border.min(self.messages.len()));
        let mut recent = recent.to_vec();
        if self.weigh_bare(&recent) > budget.saturating_mul(2) {
            // Even the last turn alone is too much: about three characters a token, for everything in it.
            let parts = recent.iter().map(|message| message.parts.len()).sum::<usize>().max(1);
            let chars = usize::try_from(budget).unwrap_or(usize::MAX).saturating_mul(3) / parts;
            cut::lighten(&mut recent, chars.max(200));
        }
        let room = usize::try_from(budget).unwrap_or(usize::MAX).saturating_mul(3).clamp(1000, MAX_SUMMARY);
        let (means, words) = match summary {
            Some(words) => (Means::Summary, words.to_owned()),
            None => {
                let head = self.summary_head();
                let is_summary = |text: &str| text.starts_with(&head);
                (Means::Digest, words::digest(old.get(1..).unwrap_or_default(), is_summary, room))
            }
        };
        let mut messages = old.get(..1).unwrap_or_default().to_vec();
        messages.push(Message::text(Role::User, self.summary_message(&words)));
        let kept = recent.len();
        messages.extend(recent);
        Candidate { tokens: self.weigh(&messages), messages, kept, means }
    }

    /// The message that stands for what is gone, with the facts that no model may forget.
    fn summary_message(&self, words: &str) -> String {
        let of_loop = self.words_of_loop();
        let said: Vec<&str> = self.facts.said().filter(|text| !of_loop(text)).collect();
        let from = said.len().saturating_sub(MAX_SAID);
        let last = said.len().saturating_sub(1);
        let said = said.iter().enumerate().skip(from);
        let said: Vec<String> = said
            .map(|(n, text)| {
                let chars = if n == last { MAX_LAST } else { MAX_EARLIER };
                format!("- {}", clip(text, chars))
            })
            .collect();
        // What commands changed is known of the present prompt.
        let by_commands: Vec<String> = self.parts.snapshots.iter().flat_map(Keeper::changed).collect();
        let mut files = self.facts.files();
        let further: Vec<&str> = by_commands.iter().map(String::as_str).filter(|file| !files.contains(file)).collect();
        files.extend(further);
        let more = files.len().saturating_sub(MAX_FILES);
        let mut files = files.into_iter().skip(more).collect::<Vec<_>>().join(", ");
        if more > 0 {
            files.push_str(&format!(", and {more} before them"));
        }
        let tasks = self.facts.tasks().join("\n");
        let values = [("summary", words), ("said", &said.join("\n")), ("files", &files), ("tasks", &tasks)];
        self.parts.prompts.note(Note::Compacted, &values)
    }

    fn replace(&mut self, messages: Vec<Message>) -> Result<(), LogError> {
        let recent = messages.get(1..).unwrap_or_default().to_vec();
        self.record(Entry::Compacted { at: self.emitter.now(), messages: recent })?;
        self.gone += self.messages.len().saturating_sub(messages.len());
        self.messages = messages;
        Ok(())
    }

    fn weigh(&self, messages: &[Message]) -> u64 {
        self.parts.model.tokens(&Request { tools: &self.parts.specs, ..request(messages) })
    }

    fn weigh_bare(&self, messages: &[Message]) -> u64 {
        self.parts.model.tokens(&request(messages))
    }

    /// The fixed words that every message about what is gone begins with.
    pub(super) fn summary_head(&self) -> String {
        let note = self.parts.prompts.note(Note::Compacted, &[]);
        note.lines().next().unwrap_or_default().to_owned()
    }

    /// The message that stands for what is gone, where there is one.
    pub fn summarised(&self) -> Option<&Message> {
        let head = self.summary_head();
        let first = |message: &&Message| match message.parts.first() {
            Some(Part::Text { text }) => text.starts_with(&head),
            _ => false,
        };
        self.messages.get(1).filter(first)
    }
}

const fn request(messages: &[Message]) -> Request<'_> {
    Request { messages, tools: &[], model: None, tokens_left: None }
}

const fn gains(before: u64, after: u64) -> bool {
    after.saturating_mul(100) <= before.saturating_mul(100 - LEAST_GAIN)
}

const fn ended(before: u64, after: u64, means: Means, kept: usize) -> EventKind {
    EventKind::CompactionEnded { means, before, after, kept }
}

#[cfg(test)]
mod tests;
