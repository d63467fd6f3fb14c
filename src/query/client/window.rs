//! How much the model can take, as far as it is known: what was set, and what the server says when something does not fit.

use super::Client;
use super::memo::Said;
use crate::query::Request;
use crate::query::failure::Failure;

/// Tokens of an answer below which a limit is not lowered: so short a one would be of no use.
const SHORTEST: u64 = 256;

impl Client {
    /// Tokens that the model can take in all, where somebody said it; the server knows best.
    pub(super) fn window(&self) -> Option<u64> {
        self.learnt().window.or_else(|| self.settings.window_of(&self.name))
    }

    /// The limit on an answer that leaves room for what is asked: many servers refuse a request where both together exceed
    /// the window.
    pub(super) fn within(&self, limit: u64, request: &Request<'_>, said: &Said) -> u64 {
        let Some(window) = self.window().filter(|_| request.model.is_none()) else { return limit };
        let estimate = self.prompt(request, said);
        let prompt = self.learnt().meter.prompt_tokens(estimate);
        // The estimate may be off by an eighth.
        let room = window.saturating_sub(prompt.saturating_add(prompt / 8));
        if room < SHORTEST { limit } else { limit.min(room) }
    }

    /// Learn from a refusal how large the window is, and how the server counts; true if a smaller limit than the one that was
    /// sent may cure it.
    pub(super) fn learn_window(&self, failure: &Failure, request: &Request<'_>, said: &Said, sent: u64) -> bool {
        let Some(window) = failure.window().filter(|_| request.model.is_none()) else { return false };
        if let Some(tokens) = failure.prompt() {
            let estimate = self.prompt(request, said);
            self.learnt().meter.hear(tokens, estimate);
        }
        let is_new = self.learnt().window.replace(window) != Some(window);
        is_new && self.within(sent, request, said) < sent
    }
}
