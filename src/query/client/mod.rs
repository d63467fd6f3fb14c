//! The model behind an OpenAI-compatible endpoint, as the loop sees it.
//!
//! One [`Client::ask`] is: spell the conversation, exchange it for a raw reply (`exchange`: tries, waits, adaptations),
//! grow the limit while the reply is cut by it (B3), read the reply by its channel. It knows no terminal and no clock of
//! its own; waiting uses the runtime's timer.

mod attempt;
mod channel;
mod connection;
mod exchange;
mod memo;
mod window;

pub use connection::{ConnectionError, Key, Surroundings};

use crate::event::Usage;
use crate::message::Channel;
use crate::query::adapt::{Sent, Spelling};
use crate::query::assemble::Raw;
use crate::query::channels::Memory;
use crate::query::endpoint::Endpoint;
use crate::query::http::Transport;
use crate::query::quirks::Preset;
use crate::query::settings::{ASSUMED_WINDOW, Growth, Settings};
use crate::query::show::On;
use crate::query::tape::Tape;
use crate::query::usage::{Meter, estimate};
use crate::query::{Capacity, Delta, Model, QueryError, Reply, Request, images, spell};
use channel::{Agreed, Begins};
use futures::future::BoxFuture;
use memo::{Memo, Said};
use serde_json::{Map, Value, json};
use std::sync::{Mutex, PoisonError};

/// Tokens of an answer that is asked for in any case.
const SHORTEST: u64 = 256;

/// A model that is asked over HTTP, or from a cassette.
#[derive(Debug)]
pub struct Client {
    settings: Settings,
    growth: Growth,
    name: String,
    preset: &'static Preset,
    key: Option<Key>,
    transport: Transport,
    tape: Tape,
    surroundings: Surroundings,
    memory: Memory,
    text_prompt: Option<String>,
    learnt: Mutex<Learnt>,
    memo: Mutex<Memo>,
}

/// What this session found out about the server.
#[derive(Debug)]
struct Learnt {
    endpoint: Endpoint,
    spelling: Spelling,
    meter: Meter,
    agreed: Agreed,
    begins: Begins,
    /// The count at which the person was told that the server cuts.
    cut_told: Option<u64>,
    /// Tokens that the model can take, in the server's words.
    window: Option<u64>,
}

impl Model for Client {
    fn name(&self) -> &str {
        &self.name
    }

    fn channel(&self) -> Channel {
        self.learnt().agreed.channel()
    }

    fn capacity(&self) -> Capacity {
        let said = self.window();
        Capacity { window: said.unwrap_or(ASSUMED_WINDOW), room: self.first_limit(), is_known: said.is_some() }
    }

    fn tokens(&self, request: &Request<'_>) -> u64 {
        let estimate = self.prompt(request, &self.spelled(request));
        self.learnt().meter.prompt_tokens(estimate)
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        self.settings.prices.get(&self.name).map(|price| price.cost(usage))
    }

    fn ask<'a>(&'a self, request: Request<'a>, on: On<'a>) -> BoxFuture<'a, Result<Reply, QueryError>> {
        Box::pin(self.grown(request, on))
    }
}

impl Client {
    /// The provider's row in use.
    pub const fn preset(&self) -> &'static Preset {
        self.preset
    }

    /// Where requests go by now.
    pub fn endpoint(&self) -> Endpoint {
        self.learnt().endpoint.clone()
    }

    /// Ask until the reply fits its limit, or the limit may not grow.
    async fn grown(&self, request: Request<'_>, on: On<'_>) -> Result<Reply, QueryError> {
        let said = self.spelled(&request);
        let prompt = self.prompt(&request, &said);
        let within = |spent: &Usage| request.tokens_left.is_none_or(|left| spent.prompt + spent.completion < left);
        // Short answers still say what they are, so a limit that is all but reached leaves room for one.
        let room = request.tokens_left.map(|left| left.saturating_sub(prompt as u64).max(SHORTEST));
        let mut limit = room.map_or(self.first_limit(), |room| self.first_limit().min(room));
        let mut spent = Usage { measured: true, ..Usage::default() };
        for round in 0_u32.. {
            let (raw, sent) = self.exchange(&request, &said, limit, &mut spent, on).await?;
            for drift in self.tape.take_drifts() {
                on(Delta::Notice(format!("the cassette differs from what is asked: {drift}")));
            }
            let tools = self.tools_estimate(&request);
            if request.model.is_some() {
                // Another model counts in its own way.
            } else if self.dropped_tools(&raw, prompt - tools, tools) {
                self.settle(Channel::Text, "the server counted the conversation without them", on);
            } else {
                self.notice_cut(&raw, prompt, on);
            }
            spent.add(&self.count(&raw, prompt, &request));
            let next = limit.saturating_mul(2).min(self.growth.max_tokens_limit);
            // Where the server itself bounds the limit, asking again gives the same again.
            let next = room.map_or(next, |room| next.min(room));
            let can_grow = round < self.growth.max_retries && next > limit && sent == limit && within(&spent);
            if raw.is_at_limit() && can_grow {
                on(Delta::Superseded { why: format!("it was cut off at {limit} tokens; asked again with {next}") });
                limit = next;
                continue;
            }
            return Ok(self.reply(&raw, &request, spent, on));
        }
        unreachable!("the loop returns or goes on")
    }

    fn reply(&self, raw: &Raw, request: &Request<'_>, usage: Usage, on: On<'_>) -> Reply {
        let read = self.read(raw, request, on);
        Reply {
            message: read.message,
            visible: read.visible,
            calls: read.calls,
            refusals: read.refusals,
            state: read.state,
            finish: raw.finish.clone().unwrap_or_default(),
            usage,
            cost_usd: self.settings.prices.get(self.asked(request)).map(|price| price.cost(&usage)),
        }
    }

    /// Say where the server counted much less than it was sent (B6): it cut the conversation and answered the rest.
    fn notice_cut(&self, raw: &Raw, prompt: f64, on: On<'_>) {
        let Some(usage) = raw.usage else { return };
        let expected = {
            let mut learnt = self.learnt();
            let expected = learnt.meter.cut(usage, prompt);
            if expected.is_none() || learnt.cut_told.is_some_and(|told| told.abs_diff(usage.prompt) < told / 4) {
                return;
            }
            learnt.cut_told = Some(usage.prompt);
            expected.unwrap_or_default()
        };
        on(Delta::Notice(format!(
            "the server counted {} of about {expected} tokens that it was sent: it cut the conversation without saying so. \
             Give it a larger window (Ollama: num_ctx, llama.cpp: -c, LM Studio: context length)",
            usage.prompt
        )));
    }

    fn count(&self, raw: &Raw, prompt: f64, request: &Request<'_>) -> Usage {
        let calls: f64 = raw.calls.iter().map(|call| estimate(&call.arguments) + estimate(&call.name) + 8.0).sum();
        let completion = estimate(&raw.text) + estimate(&raw.thinking) + calls;
        let mut learnt = self.learnt();
        // Another model counts in its own way.
        let mut other = learnt.meter;
        let meter = if request.model.is_some() { &mut other } else { &mut learnt.meter };
        meter.read(raw.usage, prompt, completion)
    }

    fn spelled(&self, request: &Request<'_>) -> Said {
        let fitted = images::fitted(request.messages, &self.settings, &self.name);
        self.memo.lock().unwrap_or_else(PoisonError::into_inner).follow(&fitted, self.preset.echo)
    }

    /// What a request sends, by our own estimate, uncorrected.
    fn prompt(&self, request: &Request<'_>, said: &Said) -> f64 {
        said.tokens + self.tools_estimate(request)
    }

    fn first_limit(&self) -> u64 {
        self.growth.initial_max_tokens.min(self.growth.max_tokens_limit)
    }

    fn tools_estimate(&self, request: &Request<'_>) -> f64 {
        match self.channel() {
            Channel::Text => 0.0,
            Channel::Native => self.memo.lock().unwrap_or_else(PoisonError::into_inner).tools(request.tools),
        }
    }

    /// The body of a request. What never changes stands first, the limit last.
    fn body(&self, request: &Request<'_>, messages: &[Value], spelling: Spelling, limit: u64) -> Value {
        let mut body = Map::new();
        body.insert("model".into(), self.asked(request).into());
        if self.channel() == Channel::Native && !request.tools.is_empty() {
            body.insert("tools".into(), spell::tools(request.tools).into());
        }
        body.insert("messages".into(), spell::folded(self.begun(messages), spelling.roles).into());
        body.insert("stream".into(), self.settings.stream.into());
        if self.settings.stream && spelling.stream_options == Sent::Yes {
            body.insert("stream_options".into(), json!({"include_usage": true}));
        }
        if let (Some(temperature), Sent::Yes) = (self.settings.temperature, spelling.temperature) {
            body.insert("temperature".into(), temperature.into());
        }
        if let (Some(effort), Sent::Yes) = (self.settings.effort, spelling.effort) {
            body.extend(self.preset.effort.fields(effort).into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        body.insert(spelling.limit.name().into(), limit.into());
        Value::Object(body)
    }

    fn asked<'a>(&'a self, request: &Request<'a>) -> &'a str {
        request.model.unwrap_or(&self.name)
    }

    fn learnt(&self) -> std::sync::MutexGuard<'_, Learnt> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
