//! `/approval`: what may be done without a question, and what was allowed once and for all; with a word, in another way
//! from now on; `forget RULE` asks again.

use super::{Bench, Command, Flow, Wish};
use selfsmith_agent::approve::Mode;
use selfsmith_agent::texts::fill;

/// The command.
pub const COMMAND: Command = Command { name: "approval", about: |texts| texts.about.approval, run };

fn run(bench: &mut Bench<'_>, rest: &str) -> Flow {
    let all = [Mode::Ask, Mode::AutoEdit, Mode::Auto, Mode::ReadOnly];
    if let Some(mode) = all.into_iter().find(|mode| mode.word() == rest) {
        return Flow::Mode(Wish::Mode(mode));
    }
    if let Some(rule) = rest.strip_prefix("forget ") {
        let said = match bench.desk.screen.rules().remove(rule.trim()) {
            Ok(true) => fill(bench.texts.rule_forgotten, &[("rule", rule.trim())]),
            Ok(false) => fill(bench.texts.no_such_rule, &[("rule", rule.trim())]),
            Err(error) => fill(bench.texts.rule_not_kept, &[("error", &error.to_string())]),
        };
        (bench.say)(&said);
        return Flow::Stay;
    }
    let words = all.map(Mode::word).join(", ");
    if !rest.is_empty() {
        (bench.say)(&fill(bench.texts.no_such_mode, &[("word", rest), ("all", &words)]));
        return Flow::Stay;
    }
    let values = [("mode", bench.session.mode().word()), ("modes", &words)];
    (bench.say)(&fill(bench.texts.approval_is, &values));
    for rule in bench.desk.screen.rules().all() {
        (bench.say)(&fill(bench.texts.rule_is, &[("rule", &rule)]));
    }
    Flow::Stay
}
