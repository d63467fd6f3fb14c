//! Opens the REPL: on a new session, or on one that goes on.

use crate::cli::Flags;
use crate::markdown::Ground;
use crate::open::{self, Opened};
use crate::repl::{self, Asker, Input, Interrupt, Lines, Look, Repl, Screen, Taste, Thinking};
use crate::signals;
use crate::streams;
use crate::surroundings::Surroundings;
use selfsmith_agent::config::Theme;
use selfsmith_agent::ending::Ending;
use selfsmith_agent::texts::fill;
use selfsmith_agent::wire::{self, Which, WithPrompt};
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Run it.
pub fn run(flags: &Flags, which: Which, surroundings: &Surroundings, runtime: &Runtime) -> Ending {
    match opened(flags, which, surroundings, runtime) {
        Ok(ending) => ending,
        Err(refusal) => {
            let told = fill(surroundings.texts.problem, &[("text", &refusal.text)]);
            streams::tell(&wire::redactor(&surroundings.environment).text(&told));
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
    let wished = &loaded.config.screen;
    let look = match surroundings.look_of_terminal() {
        Look::Rich(_) if wished.theme == Theme::None => Look::Plain,
        look => look,
    };
    let interrupt = Interrupt::default();
    let (input, asker) = keyboard(look, surroundings, &interrupt);
    let taste = Taste {
        thinking: if wished.show_thinking { Thinking::Shown } else { Thinking::Hidden },
        delay: Duration::try_from_secs_f64(wished.typewriter_delay).unwrap_or_default(),
        ground: if wished.theme == Theme::Light { Ground::Light } else { Ground::Dark },
    };
    let screen = Arc::new(Screen::new(texts, look, taste, asker, interrupt.clone()));
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
    {
        // Signals are listened to from here on, which needs the runtime around the call.
        let _within = runtime.enter();
        runtime.spawn(signals::watch_each(interrupt.clone()));
    }
    #[cfg(target_os = "linux")]
    if std::io::stdin().is_terminal() {
        signals::watch_terminal(interrupt.clone());
    }
    let repl = Repl {
        session,
        screen,
        input,
        interrupt,
        texts,
        models: Box::new(models),
        redactor: wire::redactor(&surroundings.environment),
    };
    Ok(repl.run(runtime))
}

/// The line editor where the terminal can move its cursor, plain lines elsewhere; nobody is asked through a pipe.
fn keyboard(look: Look, surroundings: &Surroundings, interrupt: &Interrupt) -> (Input, Asker) {
    let terminal = std::io::stdin().is_terminal();
    if terminal && look != Look::Bare {
        let history = surroundings.history();
        return (
            repl::editor(surroundings.texts, history.as_deref(), look, interrupt),
            Asker::Editor(interrupt.clone()),
        );
    }
    let lines = Lines::stdin();
    (Input::Lines(lines.clone()), if terminal { Asker::Lines(lines) } else { Asker::Nobody })
}
