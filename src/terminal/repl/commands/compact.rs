//! `/compact`: the older part of the conversation gives way to a summary. The record on disk keeps it.

use super::{Bench, Command, Flow};
use selfsmith_agent::session::Compacted;

/// The command.
pub const COMMAND: Command = Command { name: "compact", about: |texts| texts.about.compact, run };

fn run(bench: &mut Bench<'_>, rest: &str) -> Flow {
    let cancel = bench.desk.interrupt.renew();
    let ((compacted, _), _) = bench.desk.work(bench.session.compact(rest, &cancel));
    if compacted == Compacted::Interrupted {
        (bench.say)(bench.texts.stopped);
    }
    Flow::Stay
}
