//! `/quit` and `/exit`: leave.

use super::{Bench, Command, Flow};

/// `/quit`.
pub const QUIT: Command = Command { name: "quit", about: |texts| texts.about.quit, run };
/// `/exit`.
pub const EXIT: Command = Command { name: "exit", about: |texts| texts.about.quit, run };

fn run(_bench: &mut Bench<'_>, _rest: &str) -> Flow {
    Flow::Leave
}
