//! The values of a judgement, below everything else: candidate, gate reports, verdict, and the border types between a
//! cycle and what weighs its candidates. No git, no disk.

pub mod candidate;
pub mod defence;
pub mod gate;
pub mod notices;
pub mod progress;
pub mod verdict;
pub mod weigh;
