//! The judge: proposes, weighs, lands or reverts, and records changes to a repository.
//!
//! It knows the agent as a program only (docs/contract.md) and links none of its code. Rooms stand in layers: each imports
//! only what stands below it here; ARCHITECTURE.md draws the picture, `tests/rules/` in the root holds it.

// What works on this machine, which agent runs, the bundled sample.
pub mod demo;
pub mod doctor;
pub mod launcher;
// What a person does with what was proposed.
pub mod review;
// One cycle: preflight, propose, compose, weigh, land or keep, record, recover.
pub mod cycle;
// Who proposes, and what a model is reached through.
pub mod proposer;
pub mod relay;
// What weighs candidates: the ladder of gates, and what it knows of the base; the gates; what they run on.
pub mod gates;
pub mod ladder;
pub mod workshop;
// What lasts.
pub mod store;
// Pure: the base's rules, the bounds gate, what others print.
pub mod bounds;
pub mod reading;
pub mod rules;
// What the owner says.
pub mod owner;
// Values, and every text that a person reads.
pub mod judgement;
pub mod texts;
