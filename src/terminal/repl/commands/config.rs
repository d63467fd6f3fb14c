//! `/config`: the settings in force and where those come from that somebody set; with a key and a value, one is written to the user's file.

use super::{Bench, Command, Flow};
use selfsmith_agent::config::Layer;
use selfsmith_agent::texts::fill;

/// The command.
pub const COMMAND: Command = Command { name: "config", about: |texts| texts.about.config, run };

fn run(bench: &mut Bench<'_>, rest: &str) -> Flow {
    let said = match rest.split_once(char::is_whitespace) {
        Some((key, value)) => bench.home.set(key, value.trim()),
        None => bench.home.shown_settings().map(|all| {
            // Where something comes from is told of what somebody set: the rest is shipped.
            let shipped = format!("  # {}", Layer::Shipped);
            let fits = |line: &&str| line.starts_with(rest);
            let lines: Vec<&str> =
                all.lines().filter(fits).map(|line| line.strip_suffix(&shipped).unwrap_or(line)).collect();
            if lines.is_empty() { fill(bench.texts.no_such_setting, &[("key", rest)]) } else { lines.join("\n") }
        }),
    };
    (bench.say)(&said.unwrap_or_else(|why| why));
    Flow::Stay
}
