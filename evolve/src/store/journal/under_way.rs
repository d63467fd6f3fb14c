//! What was being done when the last entry was written, and what entries are called.

use super::{Arrow, Effect, Entry, Known, Phase};

/// Something that moves refs, begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnderWay<'a> {
    /// The cycle's branch is being made.
    Branch,
    /// An effect of the plan.
    Effect(&'a Effect),
}

impl Known {
    /// What moves refs and was begun and not ended.
    pub fn under_way(&self) -> Option<UnderWay<'_>> {
        match self.phase {
            Phase::Started(Arrow::Branch) => Some(UnderWay::Branch),
            Phase::Doing(at) => self.plan.as_ref()?.effects.get(at).map(UnderWay::Effect),
            _ => None,
        }
    }
}

impl Entry {
    /// Its kind, for messages and for the names of fault points.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Opened(_) => "opened",
            Self::Started { .. } => "started",
            Self::Baselined { .. } => "baselined",
            Self::Branched => "branched",
            Self::Proposed { .. } => "proposed",
            Self::Composed { .. } => "composed",
            Self::Weighed { .. } => "weighed",
            Self::Planned(_) => "planned",
            Self::Doing { .. } => "doing",
            Self::Done { .. } => "done",
            Self::Ended => "ended",
        }
    }
}
