//! `/help`: every command, and the keys.

use super::{Bench, Command, Flow, TABLE};

/// The command.
pub const COMMAND: Command = Command { name: "help", about: |texts| texts.about_help, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    for command in TABLE {
        (bench.say)(&format!("  /{:<10} {}", command.name, (command.about)(bench.texts)));
    }
    (bench.say)(bench.texts.keys);
    Flow::Stay
}
