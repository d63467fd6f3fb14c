//! `/init`: the model looks at the project and writes its `AGENTS.md`.

use super::{Bench, Command, Flow};

/// The built-in words; a generation's own file wins.
const INIT: &str = include_str!("../../../../prompts/commands/init.md");

/// The command.
pub const COMMAND: Command = Command { name: "init", about: |texts| texts.about.init, run };

fn run(bench: &mut Bench<'_>, rest: &str) -> Flow {
    match bench.session.parts().prompts.command("init", INIT, &[]) {
        Ok(prompt) if rest.is_empty() => Flow::Prompt(prompt),
        Ok(prompt) => Flow::Prompt(format!("{prompt}\n\n{rest}")),
        Err(error) => {
            (bench.say)(&super::could_not(bench.texts, &error.to_string(), error.hint()));
            Flow::Stay
        }
    }
}
