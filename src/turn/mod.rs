//! One turn: a query, its calls in order, their results; and the pure decision what comes next.
//!
//! A turn owns no history and writes no file: `session` keeps both. It promises exactly one result for every call and
//! every refusal of a reply, whatever happens in between.

mod budget;
mod course;
mod kept;
mod progress;
mod run;

pub use budget::{Budget, Limits};
pub use course::{Course, Next, Seen};
pub use progress::{Progress, Step};
pub use run::{Delegate, Hands, Ran, run};

use serde::{Deserialize, Serialize};

/// Limits of the loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Queries that one prompt may take.
    pub max_turns: u32,
    /// What else it may take.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_turns: 300, limits: Limits::default() }
    }
}
