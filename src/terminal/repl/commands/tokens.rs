//! `/tokens`: tokens of this run so far.

use super::{Bench, Command, Flow};
use crate::activity::{thousands, tokens};
use selfsmith_agent::texts::fill;

/// The command.
pub const COMMAND: Command = Command { name: "tokens", about: |texts| texts.about.tokens, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    let total = bench.session.total();
    (bench.say)(&tokens(bench.texts, &total.usage));
    if total.usage.cached > 0 {
        (bench.say)(&fill(bench.texts.tokens_cached, &[("cached", &thousands(total.usage.cached))]));
    }
    Flow::Stay
}
