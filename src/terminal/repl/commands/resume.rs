//! `/resume`: go on with an earlier session of this workspace, picked from a list.

use super::{Bench, Command, Flow};
use crate::clean::one_line;
use crate::repl::dialog::{Choice, Question, Reply};
use selfsmith_agent::texts::fill;
use selfsmith_agent::wire::Which;

/// The command.
pub const COMMAND: Command = Command { name: "resume", about: |texts| texts.about.resume, run };

fn run(bench: &mut Bench<'_>, rest: &str) -> Flow {
    let id = if rest.is_empty() { picked(bench) } else { Some(rest.to_owned()) };
    let Some(id) = id else { return Flow::Stay };
    match bench.home.session(Which::Resumed(Some(id))) {
        Ok(session) => Flow::Session(Box::new(session)),
        Err(why) => {
            (bench.say)(&why);
            Flow::Stay
        }
    }
}

fn picked(bench: &mut Bench<'_>) -> Option<String> {
    let now = bench.session.id().to_owned();
    let others: Vec<_> = bench.home.sessions().into_iter().filter(|listed| listed.id != now).collect();
    // A session without a prompt has nothing to go on with.
    let others: Vec<_> = others.into_iter().filter(|listed| !listed.prompt.is_empty()).collect();
    if others.is_empty() {
        (bench.say)(bench.texts.no_sessions_here);
        return None;
    }
    let choice = |listed: &selfsmith_agent::session::Listed| {
        Choice::new(crate::when::when(listed.at), format!("{}  ({})", one_line(&listed.prompt, 60), listed.model))
    };
    let choices = others.iter().map(choice).collect();
    match bench.desk.ask(Question::pick(fill(bench.texts.which_session, &[]), choices)) {
        Reply::Chosen(n) => others.into_iter().nth(n).map(|listed| listed.id),
        Reply::Said(_) | Reply::Cancelled => None,
    }
}
