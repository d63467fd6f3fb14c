//! `/help`: every command, and the keys.

use super::{Bench, Command, Flow, TABLE};

/// The command.
pub const COMMAND: Command = Command { name: "help", about: |texts| texts.about.help, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    for command in TABLE {
        (bench.say)(&format!("  /{:<10} {}", command.name, (command.about)(bench.texts)));
    }
    for custom in bench.customs {
        (bench.say)(&format!("  /{:<10} {}", custom.name, crate::clean::one_line(&custom.about, 90)));
    }
    (bench.say)(bench.texts.keys);
    Flow::Stay
}
