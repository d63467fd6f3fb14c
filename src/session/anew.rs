//! Settings that take the place of others in a running session. The request's beginning is none of them: a change of it
//! costs the provider's cache, so it comes by `set_model`, when the person wants it.

use super::check::Check;
use super::{Session, Settings};
use crate::approve::Guard;
use crate::hook::Hooks;
use crate::prompt::Prompts;
use crate::turn;

/// What holds from the next turn on.
pub struct Anew {
    /// Limits of the loop.
    pub settings: turn::Settings,
    /// How the conversation is compacted.
    pub memory: Settings,
    /// What commands are judged by.
    pub guard: Guard,
    /// What the person has run before and after calls.
    pub hooks: Hooks,
    /// The project's own check of edits.
    pub check: Check,
    /// What the loop says to the model.
    pub prompts: Prompts,
}

impl Session {
    /// Go on under these.
    pub fn take(&mut self, anew: Anew) {
        let Anew { settings, memory, guard, hooks, check, prompts } = anew;
        let parts = &mut self.parts;
        (parts.settings, parts.memory, parts.guard) = (settings, memory, guard);
        (parts.hooks, parts.check, parts.prompts) = (hooks, check, prompts);
    }
}
