//! `/reload`: settings, prompts and the project's notes as they are on disk now, the request's beginning too.

use super::{Bench, Command, Flow};

/// The command.
pub const COMMAND: Command = Command { name: "reload", about: |texts| texts.about.reload, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    match bench.home.take_notes() {
        Ok(said) => said.iter().for_each(|line| (bench.say)(line)),
        Err(why) => {
            (bench.say)(&why);
            return Flow::Stay;
        }
    }
    let taken = bench.home.reload(bench.session).and_then(|_| bench.home.begin_anew(bench.session));
    match taken {
        Ok(()) => (bench.say)(bench.texts.all_taken),
        Err(why) => (bench.say)(&why),
    }
    Flow::Stay
}
