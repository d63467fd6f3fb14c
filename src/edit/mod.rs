//! The edit engine: find the place that an edit means, change only its bytes, write the file in one step.
//!
//! Promises: a text that stands there literally is edited literally; looser reading is used only to *find* whole lines,
//! which must be unique; every byte outside the span stays, whatever the file's encoding and line ends; several edits
//! happen all or none. Knows nothing of workspaces, tools and models.

pub mod encoding;
pub mod pin;
pub mod set;
pub mod span;
pub mod write;

mod apply;
mod error;
mod fold;
mod indent;
mod journal;
mod lines;
mod locate;
mod nearest;
mod numbers;
mod placeholder;

pub use apply::{Applied, Edit, Failed, How, Occurrences, apply};
pub use error::EditError;
pub use placeholder::placeholder;

#[cfg(test)]
mod tests;
