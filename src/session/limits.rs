//! Keeping a run within its limits, and saying which one ended a prompt.

use super::Session;
use super::helper::Rank;
use super::report::Report;
use crate::ending::Ending;
use crate::event::{EventKind, Usage};
use crate::query::Reply;
use crate::texts::fill;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

impl Session {
    /// Go on with the limits of another session of the same run, and with what it took of them.
    pub fn follow(&mut self, before: &Self) {
        self.budget = Arc::clone(&before.budget);
        self.total = before.total.clone();
    }

    /// Work as long as there is time. Helpers work within the time of whoever sent them.
    pub(super) async fn in_time(&mut self, text: &str, cancel: &CancellationToken, report: &mut Report) -> Ending {
        let own = self.rank == Rank::Own;
        let time = self.budget.time_left().filter(|_| own);
        let over = if time.is_some_and(|time| time.is_zero()) { Some(Ending::MaxTime) } else { self.budget.over() };
        if let Some(ending) = over.filter(|_| own) {
            // What earlier prompts took leaves nothing for this one.
            return ending;
        }
        let begun = Instant::now();
        let ending = self.until(time, text, cancel, report).await;
        if own {
            self.budget.worked(begun.elapsed());
        }
        ending
    }

    async fn until(
        &mut self,
        time: Option<Duration>,
        text: &str,
        cancel: &CancellationToken,
        report: &mut Report,
    ) -> Ending {
        let own = cancel.child_token();
        let worked = {
            let work = self.work(text, &own, report);
            tokio::pin!(work);
            let over = async {
                match time {
                    Some(time) => tokio::time::sleep(time).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                worked = &mut work => worked,
                () = over => {
                    // As for a person's interrupt: what runs is ended, and every call gets its result.
                    own.cancel();
                    work.await
                }
            }
        };
        match worked {
            Ok(Ending::Interrupted) if !cancel.is_cancelled() => Ending::MaxTime,
            Ok(ending) => ending,
            Err(stop) => {
                let (ending, text) = stop.told();
                self.emitter.emit(EventKind::Problem { text });
                ending
            }
        }
    }

    /// Turns that are left, for itself and for the tree of agents.
    pub(super) fn left(&self, report: &Report) -> u32 {
        let own = self.parts.settings.max_turns.max(1).saturating_sub(report.turns);
        self.budget.left().min(own)
    }

    /// Whether a limit is reached.
    pub(super) fn spent(&self, report: &Report) -> bool {
        self.left(report) == 0 || self.budget.over().is_some()
    }

    /// Count a reply.
    pub(super) fn spend(&self, reply: &Reply, report: &mut Report) {
        report.count(reply);
        self.budget.count(&reply.usage, reply.cost_usd);
    }

    /// Count what was streamed before a person interrupted; nobody measured it.
    pub(super) fn spend_estimated(&self, prompt: u64, streamed: &str, report: &mut Report) {
        let completion = crate::query::usage::estimate(streamed).round() as u64;
        let usage = Usage { prompt, completion, cached: 0, measured: false };
        let cost_usd = self.parts.model.cost(&usage);
        report.count_usage(&usage, cost_usd);
        self.budget.count(&usage, cost_usd);
    }

    pub(super) fn say_ending(&self, ending: Ending) {
        let texts = self.parts.texts;
        let limits = &self.parts.settings.limits;
        let limit = |text, limit: Option<String>| fill(text, &[("limit", &limit.unwrap_or_default())]);
        let text = match ending {
            Ending::Looping => texts.going_in_circles.to_owned(),
            Ending::MaxTokens => limit(texts.tokens_ran_out, limits.tokens.map(|limit| limit.to_string())),
            Ending::MaxCost => limit(texts.money_ran_out, limits.cost_usd.map(|limit| limit.to_string())),
            Ending::MaxTime => limit(texts.time_ran_out, limits.time_s.map(|limit| limit.to_string())),
            Ending::Unfinished => texts.maybe_unfinished.to_owned(),
            Ending::Truncated => texts.reply_cut_off.to_owned(),
            Ending::MaxTurns => {
                fill(texts.turns_ran_out, &[("turns", &self.parts.settings.max_turns.max(1).to_string())])
            }
            _ => return,
        };
        self.emitter.emit(EventKind::Notice { text });
    }
}
