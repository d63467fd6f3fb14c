//! What a session needs of whoever watches it: to be heard, and to be answered. REPL, JSON lines and tests are three.

use crate::event::Event;
use crate::message::ToolCall;
use futures::future::BoxFuture;

/// A person's answer to a call that needs one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Allow,
    /// Do not run it.
    Deny {
        /// The person's reason for the model; empty where none was given.
        why: String,
    },
    /// Nobody is there to answer.
    Nobody,
}

/// Whoever watches a session.
pub trait Frontend: Send + Sync {
    /// Something happened. Must not block for long: the work waits for it.
    fn notify(&self, event: &Event);
    /// May this call run? The future is dropped when the person interrupts.
    fn approve<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Decision>;
}
