//! Pure readings of what others print or write: cargo's messages and settings, a test harness's lines, the inline tests of
//! two trees, the members of a workspace.

pub mod cargo_config;
pub mod compiled;
pub mod harness;
pub mod inline;
pub mod measure;
pub mod members;
