//! The agent of Selfsmith: a coding loop without a terminal.
//!
//! The library emits [`event::Event`]s and returns values; it prints nothing, reads no environment and knows no
//! terminal (that is `src/terminal/`, the program). Modules stand in layers, and each imports only what stands lower
//! in this list read upwards; `tests/rules.rs` holds them to it. ARCHITECTURE.md draws the picture.

// Composition: the only place that picks implementations.
pub mod wire;
// Settings merged from their layers, typed once.
pub mod config;
// Turns until an ending; the record on disk.
pub mod session;
// One query, its calls, their results.
pub mod turn;
// Parts of a turn, unknown to each other.
pub mod approve;
pub mod frontend;
pub mod hook;
pub mod prompt;
pub mod query;
pub mod tool;
// Reached only through tools.
pub mod edit;
pub mod snapshot;
pub mod syntax;
// What can be observed, and what is said.
pub mod attributes;
pub mod ending;
pub mod event;
pub mod message;
pub mod redact;
pub mod texts;
