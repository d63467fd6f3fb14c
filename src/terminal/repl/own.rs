//! `!command`: a person's own command, run as they are, shown, and told to the model with the next prompt.
//!
//! No walls and no question: whoever types a command in a shell is not asked either. It has no terminal of its own, and
//! ends with Ctrl-C.

use super::Desk;
use super::home::Home;
use crate::clean::clean;
use selfsmith_agent::message::Outcome;
use selfsmith_agent::session::Session;
use selfsmith_agent::texts::Texts;
use selfsmith_agent::tool::bash::{Bash, Settings};
use selfsmith_agent::tool::{Surroundings, Tool};
use serde_json::json;

/// The built-in words; a generation's own file wins.
const RAN: &str = include_str!("../../../prompts/commands/ran.md");
/// How long one may take, in seconds: it is stopped by hand.
const LONGEST: u64 = 24 * 3600;
/// Lines of its output that are shown.
const SHOWN: usize = 400;

/// Run it; what the model is to be told of it, or nothing where it was stopped.
pub fn run(command: &str, desk: &Desk<'_>, home: &Home<'_>, session: &Session, texts: &Texts) -> Option<String> {
    let settings = Settings {
        sandbox: false,
        network: true,
        timeout_s: LONGEST,
        max_timeout_s: LONGEST,
        ..home.choices.borrow().bash.clone()
    };
    let surroundings = Surroundings {
        root: home.root().to_owned(),
        environment: home.around.variables.clone(),
        bash: settings,
        ..Surroundings::default()
    };
    let bash = Bash::new(&surroundings);
    let arguments = json!({ "command": command }).as_object().cloned().unwrap_or_default();
    let cancel = desk.interrupt.renew();
    let (answer, _) = desk.work(async {
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            answer = bash.call(&arguments) => Some(answer),
        }
    });
    let Some(answer) = answer else {
        desk.screen.say(texts.stopped);
        return None;
    };
    let text = home.redactor().text(&answer.text).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(SHOWN);
    if from > 0 {
        desk.screen.say(&selfsmith_agent::texts::fill(texts.more_lines, &[("count", &from.to_string())]));
    }
    if !text.trim().is_empty() {
        desk.screen.say(&clean(&lines.get(from..).unwrap_or_default().join("\n")));
    } else if answer.outcome == Outcome::Done {
        desk.screen.say(texts.no_output);
    }
    let values = [("command", command), ("text", text.as_str())];
    match session.parts().prompts.command("ran", RAN, &values) {
        Ok(told) => Some(told),
        Err(error) => {
            desk.screen.say(&format!("{error}: {}", error.hint()));
            None
        }
    }
}
