//! What a prompt, or a whole run, came to.

use crate::ending::Ending;
use crate::event::{EventKind, Usage};
use crate::query::Reply;

/// How a prompt ended, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Why it ended.
    pub ending: Ending,
    /// The model's summary or final answer.
    pub summary: String,
    /// Files changed by tools, and by commands where snapshots are kept; sorted.
    pub files: Vec<String>,
    /// Commands run.
    pub commands: u32,
    /// Turns used.
    pub turns: u32,
    /// Tokens.
    pub usage: Usage,
    /// US dollars, where prices are known.
    pub cost_usd: Option<f64>,
}

impl Report {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self {
            ending: Ending::Done,
            summary: String::new(),
            files: Vec::new(),
            commands: 0,
            turns: 0,
            usage: Usage { measured: true, ..Usage::default() },
            cost_usd: None,
        }
    }

    /// Count a reply in.
    pub(super) fn count(&mut self, reply: &Reply) {
        self.count_usage(&reply.usage, reply.cost_usd);
    }

    /// Count tokens in, and what they cost.
    pub(super) fn count_usage(&mut self, usage: &Usage, cost_usd: Option<f64>) {
        self.usage.add(usage);
        self.cost_usd = added(self.cost_usd, cost_usd);
    }

    /// Count what helpers did in; turns are their own.
    pub(super) fn add_work(&mut self, other: &Self) {
        self.files.extend(other.files.iter().cloned());
        self.commands += other.commands;
        self.usage.add(&other.usage);
        self.cost_usd = added(self.cost_usd, other.cost_usd);
    }

    /// Count another prompt in.
    pub(super) fn add(&mut self, other: &Self) {
        self.ending = other.ending;
        self.summary.clone_from(&other.summary);
        self.files.extend(other.files.iter().cloned());
        self.files.sort();
        self.files.dedup();
        self.commands += other.commands;
        self.turns += other.turns;
        self.usage.add(&other.usage);
        self.cost_usd = added(self.cost_usd, other.cost_usd);
    }

    /// The event that says it.
    pub(super) fn event(&self) -> EventKind {
        EventKind::Ended {
            ending: self.ending,
            exit_code: self.ending.exit_code(),
            summary: self.summary.clone(),
            files: self.files.clone(),
            commands: self.commands,
            turns: self.turns,
            usage: self.usage,
            cost_usd: self.cost_usd,
        }
    }
}

fn added(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (known, None) | (None, known) => known,
    }
}
