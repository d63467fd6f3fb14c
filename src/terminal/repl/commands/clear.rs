//! `/clear`: forgets the conversation. The record on disk keeps it.

use super::{Bench, Command, Flow};

/// The command.
pub const COMMAND: Command = Command { name: "clear", about: |texts| texts.about.clear, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    let said = match bench.session.clear() {
        Ok(()) => bench.texts.cleared.to_owned(),
        Err(error) => super::could_not(bench.texts, &error.to_string(), error.hint()),
    };
    (bench.say)(&said);
    Flow::Stay
}
