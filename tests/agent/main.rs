//! The built program from outside: `exec` and the REPL, against a model that speaks real HTTP.

mod exec;
mod repl;
mod support;
