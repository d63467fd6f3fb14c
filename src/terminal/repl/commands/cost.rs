//! `/cost`: what this run has cost so far.

use super::{Bench, Command, Flow};
use crate::activity::dollars;

/// The command.
pub const COMMAND: Command = Command { name: "cost", about: |texts| texts.about.cost, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    match bench.session.total().cost_usd {
        Some(cost) => (bench.say)(&dollars(cost)),
        None => (bench.say)(bench.texts.no_price),
    }
    Flow::Stay
}
