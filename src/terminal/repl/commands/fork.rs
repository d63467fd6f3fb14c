//! `/fork`: go on in a copy of this session; the original stays as it is.

use super::{Bench, Command, Flow};
use selfsmith_agent::wire::Which;

/// The command.
pub const COMMAND: Command = Command { name: "fork", about: |texts| texts.about.fork, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    match bench.home.session(Which::Forked(Some(bench.session.id().to_owned()))) {
        Ok(session) => Flow::Session(Box::new(session)),
        Err(why) => {
            (bench.say)(&why);
            Flow::Stay
        }
    }
}
