//! `/plan`: a plan before anything is changed. Until it is agreed nothing is written and nothing is run.

use super::{Bench, Command, Flow};

/// The command.
pub const COMMAND: Command = Command { name: "plan", about: |texts| texts.about.plan, run };

fn run(_bench: &mut Bench<'_>, rest: &str) -> Flow {
    if rest.is_empty() { Flow::Mode(super::Wish::Plan) } else { Flow::Plan(rest.to_owned()) }
}
