//! `/effort`: how hard the model thinks; with a word, from the next prompt on.

use super::{Bench, Command, Flow};
use selfsmith_agent::query::settings::Effort;
use selfsmith_agent::texts::fill;

/// The command.
pub const COMMAND: Command = Command { name: "effort", about: |texts| texts.about.effort, run };

fn run(bench: &mut Bench<'_>, word: &str) -> Flow {
    if let Some(effort) = Effort::ALL.into_iter().find(|effort| effort.word() == word) {
        let made = bench.home.think(effort, bench.session);
        let done = made.and_then(|(model, system)| {
            let could_not = |error: selfsmith_agent::session::LogError| {
                super::could_not(bench.texts, &error.to_string(), error.hint())
            };
            bench.session.set_model(model, system).map_err(could_not)
        });
        if let Err(why) = done {
            (bench.say)(&why);
            return Flow::Stay;
        }
    } else if !word.is_empty() {
        (bench.say)(&fill(bench.texts.no_such_effort, &[("word", word), ("all", &words())]));
        return Flow::Stay;
    }
    let now = bench.home.effort().map_or(bench.texts.effort_own, Effort::word);
    (bench.say)(&fill(bench.texts.effort_is, &[("effort", now), ("all", &words())]));
    Flow::Stay
}

fn words() -> String {
    Effort::ALL.map(Effort::word).join(", ")
}
