//! The built program from outside: `exec` and the REPL, against a model that speaks real HTTP.

mod commanding;
mod editing;
mod exec;
mod limits;
mod network;
mod newcomer;
mod real_server;
mod repl;
mod scrollback;
mod support;
mod terminal;
mod trusting;
mod undo;
mod window;
mod working;
