//! Settings that take the place of others in a running session. The request's beginning is none of them: a change of it
//! costs the provider's cache, so it comes by `set_model`, when the person wants it.

use super::check::Check;
use super::{Parts, Session};
use crate::approve::Guard;
use crate::hook::Hooks;
use crate::prompt::Prompts;
use crate::turn;

/// What holds from the next turn on.
pub struct Anew {
    /// Limits of the loop.
    pub settings: turn::Settings,
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
        let Anew { settings, guard, hooks, check, prompts } = anew;
        let Parts { settings: old, guard: judged, hooks: ran, check: checked, prompts: said, .. } = &mut self.parts;
        (*old, *judged, *ran, *checked, *said) = (settings, guard, hooks, check, prompts);
    }
}
