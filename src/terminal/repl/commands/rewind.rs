//! `/rewind`: back to before an earlier prompt, which can be edited and sent again.

use super::{Bench, Command, Flow};
use crate::clean::one_line;
use crate::repl::dialog::{Choice, Question, Reply};
use selfsmith_agent::snapshot::{Doubtful, What};

/// The command.
pub const COMMAND: Command = Command { name: "rewind", about: |texts| texts.about.rewind, run };

fn run(bench: &mut Bench<'_>, _rest: &str) -> Flow {
    let earlier = bench.session.earlier();
    if earlier.is_empty() {
        (bench.say)(bench.texts.no_prompts);
        return Flow::Stay;
    }
    // The newest first: that is where one mostly wants to go.
    let choices = earlier.iter().rev().map(|prompt| Choice::new(one_line(&prompt.text, 70), "")).collect();
    let Reply::Chosen(n) = bench.desk.ask(Question::pick(bench.texts.which_prompt, choices)) else { return Flow::Stay };
    let Some(prompt) = earlier.iter().rev().nth(n) else { return Flow::Stay };
    match bench.session.go_back(prompt) {
        Ok(()) => {
            (bench.say)(bench.texts.went_back);
            if bench.session.parts().snapshots.is_some() {
                // What those prompts changed in the workspace goes back with them.
                let since = What::Since { session: bench.session.id(), message: prompt.place };
                super::undo::take_back(bench, since, Doubtful::Leave);
            }
            Flow::Fill(prompt.text.clone())
        }
        Err(error) => {
            (bench.say)(&super::could_not(bench.texts, &error.to_string(), error.hint()));
            Flow::Stay
        }
    }
}
