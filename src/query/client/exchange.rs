//! Tries of one request: waits, adaptations, and what a person sees of them.

use super::Client;
use super::attempt::Broken;
use super::channel::Agreed;
use super::memo::Said;
use crate::event::Usage;
use crate::message::Channel;
use crate::query::assemble::Raw;
use crate::query::failure::{Failure, Kind};
use crate::query::retry::{Decision, Progress, decide};
use crate::query::show::{On, Show};
use crate::query::tape::Tape;
use crate::query::{Delta, QueryError, Request, reply};
use serde_json::Value;

impl Client {
    /// A raw reply, and the limit on tokens that was really sent. What tries took that broke off is added to `spent`.
    pub(super) async fn exchange(
        &self,
        request: &Request<'_>,
        said: &Said,
        limit: u64,
        spent: &mut Usage,
        on: On<'_>,
    ) -> Result<(Raw, u64), QueryError> {
        let mut tried = 0_u32;
        loop {
            let (endpoint, spelling) = {
                let learnt = self.learnt();
                (learnt.endpoint.clone(), learnt.spelling)
            };
            let sent = spelling.limit_at_most.map_or(limit, |at_most| limit.min(at_most));
            let sent = self.within(sent, request, said);
            let body = self.body(request, &said.messages, spelling, sent);
            let held_back = match self.learnt().agreed {
                Agreed::On(Channel::Native) => &[],
                Agreed::On(Channel::Text) | Agreed::Trying => request.tools,
            };
            let mut show = Show::new(on, held_back);
            let broken = match self.attempt(&endpoint, &body, &mut show).await {
                Ok(raw) => {
                    show.finish(reply::finish_of(&raw));
                    self.keep(&body, &raw)?;
                    return Ok((raw, sent));
                }
                Err(broken) => broken,
            };
            if self.adapt(&broken.failure, request, sent, on) || self.learn_window(&broken.failure, request, said, sent)
            {
                continue;
            }
            tried += 1;
            let broke = broken.partial.as_ref();
            let wasted = broke.map(|partial| self.count(partial, self.prompt(request, said), request));
            let took: u64 = wasted.iter().chain([&*spent]).map(|usage| usage.prompt + usage.completion).sum();
            let over = request.tokens_left.is_some_and(|left| took >= left);
            let progress = if broken.partial.is_some() { Progress::Midway } else { Progress::Nothing };
            match self.decide(&broken.failure, tried, progress) {
                Decision::After(wait) if !over => {
                    wasted.iter().for_each(|usage| spent.add(usage));
                    let why = broken.failure.to_string();
                    show.void(&why);
                    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    on(Delta::Retrying { attempt: tried + 1, wait_ms, why });
                    tokio::time::sleep(wait).await;
                }
                Decision::GiveUp | Decision::After(_) => {
                    return self.give_up(broken, &body, tried, show).map(|raw| (raw, sent));
                }
            }
        }
    }

    /// On a cassette a reply that breaks off was recorded so; asking again would take the next turn's reply.
    fn decide(&self, failure: &Failure, tried: u32, progress: Progress) -> Decision {
        let is_replayed_cut = matches!(self.tape, Tape::Replay(_)) && progress == Progress::Midway;
        if is_replayed_cut && failure.kind == Kind::Dropped {
            return Decision::GiveUp;
        }
        decide(&self.settings.retry, failure, tried, progress, (self.surroundings.dice)())
    }

    /// The cut reply where words came and only their end is missing, else the error.
    fn give_up(&self, broken: Broken, body: &Value, tried: u32, mut show: Show<'_>) -> Result<Raw, QueryError> {
        let only_the_end = matches!(broken.failure.kind, Kind::Dropped | Kind::TimedOut | Kind::Broken);
        match broken.partial {
            Some(raw) if only_the_end && broken.failure.code.is_none() => {
                show.finish(reply::finish_of(&raw));
                self.keep(body, &raw)?;
                Ok(raw)
            }
            _ => Err(self.error(&broken.failure, tried)),
        }
    }

    /// Change what is sent where the server's words say how; true if another try is worth it.
    fn adapt(&self, failure: &Failure, request: &Request<'_>, sent: u64, on: On<'_>) -> bool {
        if self.refuses_tools(failure, request) {
            self.settle(Channel::Text, "the server refuses them", on);
            return true;
        }
        let mut learnt = self.learnt();
        if let Some(spelling) = learnt.spelling.adapted(failure, sent) {
            learnt.spelling = spelling;
            return true;
        }
        let is_404 = failure.code == Some(404) && !failure.what.to_lowercase().contains("model");
        let Some(endpoint) = learnt.endpoint.with_v1().filter(|_| is_404) else { return false };
        let told = Delta::Notice(format!("{} has no chat; trying {endpoint}", learnt.endpoint));
        learnt.endpoint = endpoint;
        // Whoever listens may look at the client.
        drop(learnt);
        on(told);
        true
    }

    fn keep(&self, body: &Value, raw: &Raw) -> Result<(), QueryError> {
        self.tape.keep(body, &raw.to_tape()).map_err(|error| {
            let why = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            QueryError::Cassette { what: format!("{error}{why}"), hint: error.hint().to_owned() }
        })
    }

    fn error(&self, failure: &Failure, tried: u32) -> QueryError {
        let hint = failure.kind.remedy().to_owned();
        let address = self.endpoint();
        let what = match tried {
            0 | 1 => format!("ask {address}: {failure}"),
            more => format!("ask {address}, {more} times: {failure}"),
        };
        let code = failure.code;
        match failure.kind {
            // From a file in this process, or behind a relay.
            Kind::Cassette if code.is_none() => QueryError::Cassette { what: failure.what.clone(), hint },
            Kind::Cassette => QueryError::Cassette { what, hint },
            Kind::TooLong => QueryError::TooLong { what, hint, code },
            kind if kind.is_retryable() => QueryError::Unavailable { what, hint, code },
            _ => QueryError::Refused { what, hint, code },
        }
    }
}
