//! Opens the REPL: on a new session, or on one that goes on.

use crate::cli::Flags;
use crate::open::{self, Opened};
use crate::repl::{self, Asker, Input, Interrupt, Lines, Look, Repl, Screen, Thinking};
use crate::signals;
use crate::streams;
use crate::surroundings::Surroundings;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::texts::fill;
use selfsmith_agent::wire::{self, Which, WithPrompt};
use std::io::IsTerminal;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Run it.
pub fn run(flags: &Flags, which: Which, surroundings: &Surroundings, runtime: &Runtime) -> Ending {
    match opened(flags, which, surroundings, runtime) {
        Ok(ending) => ending,
        Err(refusal) => {
            streams::tell(&fill(surroundings.texts.problem, &[("text", &refusal.text)]));
            refusal.ending
        }
    }
}

fn opened(
    flags: &Flags,
    which: Which,
    surroundings: &Surroundings,
    runtime: &Runtime,
) -> Result<Ending, open::Refusal> {
    let Opened { choices, around, cassette, loaded } = open::open(flags, surroundings)?;
    let texts = surroundings.texts;
    let look = surroundings.look_of_terminal();
    let interrupt = Interrupt::default();
    let (input, asker) = keyboard(look, surroundings, &interrupt);
    let thinking = if loaded.config.screen.show_thinking { Thinking::Shown } else { Thinking::Hidden };
    let screen = Arc::new(Screen::new(texts, look, thinking, asker));
    let session = wire::session(&choices, &around, &cassette, which, screen.clone())
        .map_err(|error| open::wire_refusal(&error, surroundings))?;
    for notice in loaded.notices(texts) {
        session.notice(notice);
    }
    let specs = session.parts().specs.clone();
    let models = move |name: &str| -> Result<WithPrompt, String> {
        let mut choices = choices.clone();
        choices.model.name = Some(name.to_owned());
        let could_not =
            |error: wire::WireError| fill(texts.could_not, &[("what", &error.to_string()), ("hint", &error.hint())]);
        wire::another_model(&choices, &around, &specs).map_err(could_not)
    };
    runtime.spawn(signals::watch_each(interrupt.clone()));
    let repl = Repl { session, screen, input, interrupt, texts, models: Box::new(models) };
    Ok(repl.run(runtime))
}

/// The line editor where the terminal can move its cursor, plain lines elsewhere; nobody is asked through a pipe.
fn keyboard(look: Look, surroundings: &Surroundings, interrupt: &Interrupt) -> (Input, Asker) {
    let terminal = std::io::stdin().is_terminal();
    if terminal && look != Look::Bare {
        let history = surroundings.history();
        return (repl::editor(surroundings.texts, history.as_deref(), look), Asker::Editor(interrupt.clone()));
    }
    let lines = Lines::stdin();
    (Input::Lines(lines.clone()), if terminal { Asker::Lines(lines) } else { Asker::Nobody })
}
