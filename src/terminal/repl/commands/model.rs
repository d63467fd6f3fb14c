//! `/model`: which model answers; with a name, another one from the next prompt on.

use super::{Bench, Command, Flow};
use selfsmith_agent::texts::fill;

/// The command.
pub const COMMAND: Command = Command { name: "model", about: |texts| texts.about.model, run };

fn run(bench: &mut Bench<'_>, name: &str) -> Flow {
    if !name.is_empty() {
        match bench.home.model(name, bench.session) {
            Ok((model, system)) => {
                if let Err(error) = bench.session.set_model(model, system) {
                    (bench.say)(&super::could_not(bench.texts, &error.to_string(), error.hint()));
                }
            }
            Err(why) => {
                (bench.say)(&why);
                return Flow::Stay;
            }
        }
    }
    let name = bench.session.parts().model.name().to_owned();
    (bench.say)(&fill(bench.texts.model_is, &[("name", &name)]));
    Flow::Stay
}
