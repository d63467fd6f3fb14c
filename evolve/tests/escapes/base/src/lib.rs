//! What is attempted from where.

pub mod attempts;

/// From the build script.
pub const FROM_BUILD: &str = env!("FROM_BUILD");
/// From a procedural macro.
pub const FROM_MACRO: usize = macros::attempted!();
