//! `/tools`: what the model can do.

use super::{Bench, Command, Flow};

/// The command.
pub const COMMAND: Command = Command { name: "tools", about: |texts| texts.about.tools, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    for spec in &bench.session.parts().specs {
        (bench.say)(&format!("  {:<14} {}", spec.name, crate::clean::one_line(&spec.description, 90)));
    }
    Flow::Stay
}
