//! Asking the model within a session: what is streamed is told, an interrupt keeps it, a reply is written down.

use super::Session;
use super::compact::Compacted;
use super::report::Report;
use super::stop::Stop;
use crate::event::EventKind;
use crate::message::{Message, Role};
use crate::query::{Delta, QueryError, Reply, Request, State};
use crate::texts::fill;
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Finish reasons that need no word.
const ORDINARY_FINISH: &[&str] = &["", "stop", "end_turn", "eos", "tool_calls", "function_call", "length"];

impl Session {
    /// `None` where the person interrupted. Compacts before the window is full, and once more where the server says that it is.
    pub(super) async fn ask(&mut self, cancel: &CancellationToken, report: &mut Report) -> Result<Option<Reply>, Stop> {
        if self.keep_room(cancel, report).await? == Compacted::Interrupted {
            return Ok(None);
        }
        self.fits().map_err(Stop::Query)?;
        match self.asked(cancel, report).await {
            Err(Stop::Query(error @ QueryError::TooLong { .. })) => match self.overflowed(cancel, report).await? {
                Compacted::Shorter => self.asked(cancel, report).await,
                Compacted::Same => Err(Stop::Query(self.refused(error))),
                Compacted::Interrupted => Ok(None),
            },
            asked => asked,
        }
    }

    /// Whether the next request can fit the model's window at all. Some servers would cut it without saying so.
    fn fits(&self) -> Result<(), QueryError> {
        let capacity = self.parts.model.capacity();
        let tokens = self.tokens();
        if !capacity.is_known || !exceeds(tokens, capacity.window) {
            return Ok(());
        }
        let fixed = self.fixed_tokens();
        let what = format!(
            "fit the conversation into the model's window: it comes to about {tokens} tokens, {fixed} of them \
             instructions and tools; the window has {}",
            capacity.window
        );
        Err(self.refused(QueryError::TooLong { what, hint: String::new(), code: None }))
    }

    /// What does not fit, with what can be done where nothing more can be left out.
    fn refused(&self, error: QueryError) -> QueryError {
        let QueryError::TooLong { what, code, .. } = error else { return error };
        let capacity = self.parts.model.capacity();
        let hint = if capacity.is_known && self.fixed_tokens() > capacity.window {
            "instructions and tools alone do not fit: choose a model that can take more, or let its server give it a larger \
             window (Ollama: num_ctx, llama.cpp: -c, LM Studio: context length; model.context_window where it is set)"
        } else {
            "say it in fewer words or start a new session; if the model can take more, let its server give it a larger window"
        };
        QueryError::TooLong { what, hint: hint.to_owned(), code }
    }

    /// `None` where the person interrupted; what had been streamed by then is kept.
    async fn asked(&mut self, cancel: &CancellationToken, report: &mut Report) -> Result<Option<Reply>, Stop> {
        let streamed = Mutex::new(String::new());
        let thought = Mutex::new(String::new());
        let emitter = &self.emitter;
        let on = |delta: Delta| {
            if let Ok(mut streamed) = streamed.lock() {
                match &delta {
                    Delta::Text(text) => streamed.push_str(text),
                    Delta::Superseded { .. } => streamed.clear(),
                    Delta::Thinking(text) => thought.lock().iter_mut().for_each(|thought| thought.push_str(text)),
                    Delta::Retrying { .. } | Delta::Notice(_) => {}
                }
            }
            emitter.emit(event_of(delta));
        };
        let tokens_left = self.budget.tokens_left();
        let request = Request { messages: &self.messages, tools: &self.parts.specs, model: None, tokens_left };
        let reply = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            reply = self.parts.model.ask(request, &on) => Some(reply.map_err(Stop::Query)?),
        };
        if reply.is_none() {
            let text = streamed.into_inner().unwrap_or_default();
            let thought = thought.into_inner().unwrap_or_default();
            if !text.is_empty() || !thought.is_empty() {
                let prompt = self.parts.model.tokens(&request);
                self.spend_estimated(prompt, &format!("{thought}{text}"), report);
            }
            if !text.trim().is_empty() {
                self.add(Message::text(Role::Assistant, text), &[])?;
            }
        }
        Ok(reply)
    }

    pub(super) fn replied(&mut self, reply: &Reply) -> Result<(), Stop> {
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
}

/// Whether tokens that were estimated certainly exceed a window: an estimate may be off by an eighth.
const fn exceeds(tokens: u64, window: u64) -> bool {
    tokens - tokens / 8 > window
}

/// Why a reply is not whole, if it is not.
pub(super) fn cut(reply: &Reply) -> Option<&str> {
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
