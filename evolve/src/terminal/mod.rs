//! The terminal side of the judge: command line, streams, display, one file per command. The library cannot import it.

pub mod cli;
pub mod commands;
pub mod diff;
pub mod display;
pub mod streams;
