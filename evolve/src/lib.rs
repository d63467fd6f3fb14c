//! The judge: proposes, weighs, lands or reverts, and records changes to a repository.
//!
//! It knows the agent as a program only (docs/contract.md) and links none of its code. Modules stand in layers, and each
//! imports only what stands below it here; ARCHITECTURE.md draws the picture, `tests/rules.rs` in the root holds it.

// Values.
pub mod candidate;
pub mod gate;
pub mod verdict;
// What a person does with what was proposed.
pub mod review;
pub mod undo;
// One cycle, and the operation log.
pub mod cycle;
pub mod ops;
// The cycle's own parts: the trial tree, what was going on, what is remembered.
pub mod compose;
pub mod evidence;
pub mod journal;
pub mod lineage;
pub mod own;
pub mod record;
// Who said so.
pub mod authority;
// Durable things below the cycle: logs, locks, folders, and the points at which tests let a run die.
pub mod faults;
pub mod lock;
pub mod log;
pub mod state;
// Pure parts: the base's rules, defences by name, the bounds gate, untrusted text.
pub mod bounds;
pub mod defence;
pub mod plan;
pub mod rules;
pub mod sanitize;
// What is told while a cycle goes on.
pub mod progress;
// Border of the cycle: who proposes, who weighs.
pub mod proposer;
pub mod weigh;
// Pure readings: what cargo and a test harness said, cargo's settings, inline tests of two trees.
pub mod cargo_config;
pub mod compiled;
pub mod harness;
pub mod inline;
// What weighs candidates: the ladder of gates, and what it knows of the base.
pub mod baseline;
pub mod ladder;
// The gates, and what they run on.
pub mod gates;
pub mod members;
// What a build needs: the toolchain, the dependencies, kept folders, the room.
pub mod deps;
pub mod folder;
pub mod slot;
pub mod toolchain;
pub mod workshop;
// What a person's machine says: surroundings, settings, goals, exit codes, texts.
pub mod exit;
pub mod inbox;
pub mod settings;
pub mod surroundings;
pub mod texts;
// The sample of the demo.
pub mod demo;
// What works on this machine.
pub mod doctor;
// What a model is reached through, and which agent runs.
pub mod generations;
pub mod launcher;
pub mod relay;
