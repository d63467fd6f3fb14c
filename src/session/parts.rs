//! What a session is made of.

use super::check::Check;
use super::emitter::{Clock, Ids};
use super::helper::Helpers;
use crate::approve::{Guard, Mode};
use crate::frontend::Frontend;
use crate::hook::Hooks;
use crate::prompt::Prompts;
use crate::query::{Model, ToolSpec};
use crate::snapshot::Keeper;
use crate::texts::Texts;
use crate::tool::Tool;
use crate::turn;
use std::sync::Arc;

/// What a session is made of. `wire` picks the pieces.
pub struct Parts {
    /// The model.
    pub model: Arc<dyn Model>,
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
    /// How the conversation is compacted.
    pub memory: super::Settings,
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
    /// Where helpers come from, if there are any.
    pub helpers: Option<Helpers>,
    /// The language of notices.
    pub texts: &'static Texts,
}
