//! The native tool channel: streamed `tool_calls` deltas into whole calls, and which of them are admitted.
//!
//! [`Assembly`] joins deltas whatever a server does with indices and ids; [`admit`] reads the joined arguments against
//! the tool's schema. A call that is cut off or unreadable never runs and is never mended: it becomes a refusal that
//! tells the model what was wrong.

mod admit;
mod arguments;
mod assembly;

pub use admit::{Ending, admit};
pub use assembly::{Assembly, RawCall};
