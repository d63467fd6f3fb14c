//! The REPL: prompts, slash commands, and the screen. It works in a pipe and in a dumb terminal too, just plainer.

mod ask;
mod commands;
mod input;
mod palette;
mod screen;

pub use ask::{Asker, Interrupt};
pub use input::{Input, Lines};
pub use screen::{Look, Screen, Taste, Thinking};

use crate::streams;
use commands::{Bench, Flow, Models};
use input::{Colouring, Typed};
use selfsmith_agent::ending::Ending;
use selfsmith_agent::redact::Redactor;
use selfsmith_agent::session::Session;
use selfsmith_agent::texts::{Texts, fill};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How often the counting line is looked at.
const TICK: Duration = Duration::from_millis(250);

/// What the REPL works with.
pub struct Repl {
    /// The session.
    pub session: Session,
    /// The frontend that the session was given.
    pub screen: Arc<Screen>,
    /// Where prompts come from.
    pub input: Input,
    /// What a Ctrl-C stops.
    pub interrupt: Interrupt,
    /// The language.
    pub texts: &'static Texts,
    /// Makes another model and its system prompt.
    pub models: Box<Models>,
    /// For the lines that are no events.
    pub redactor: Redactor,
}

/// The line editor with its history and the menu of commands.
pub fn editor(texts: &Texts, history: Option<&Path>, look: Look, interrupt: &Interrupt) -> Input {
    let choices = commands::TABLE.iter().map(|c| (format!("/{}", c.name), (c.about)(texts).to_owned())).collect();
    let colours = if matches!(look, Look::Rich(_)) { Colouring::On } else { Colouring::Off };
    Input::editor(history, choices, colours, interrupt)
}

impl Repl {
    /// Until the person leaves.
    pub fn run(mut self, runtime: &Runtime) -> Ending {
        let parts = self.session.parts();
        let (model, root) = (parts.model.name().to_owned(), parts.root.clone());
        let values = [("version", env!("CARGO_PKG_VERSION")), ("model", &model), ("root", &root)];
        self.say(&fill(self.texts.welcome, &values));
        let mut asked_to_leave = false;
        loop {
            match self.input.next(&self.interrupt) {
                Typed::End if self.interrupt.is_leaving() => return Ending::Interrupted,
                Typed::End => return Ending::Done,
                Typed::Interrupt if asked_to_leave => return Ending::Done,
                Typed::Interrupt => {
                    asked_to_leave = true;
                    self.say(self.texts.again_to_leave);
                    continue;
                }
                Typed::Line(line) => {
                    if self.take(line.trim(), runtime) == Flow::Leave {
                        return Ending::Done;
                    }
                }
            }
            asked_to_leave = false;
        }
    }

    fn take(&mut self, line: &str, runtime: &Runtime) -> Flow {
        if line.is_empty() {
            return Flow::Stay;
        }
        if line.starts_with('/') {
            let say = |text: &str| say(&self.redactor, text);
            let mut bench =
                Bench { session: &mut self.session, texts: self.texts, models: self.models.as_ref(), say: &say };
            return commands::run(line, &mut bench);
        }
        let cancel = self.interrupt.renew();
        let screen = self.screen.clone();
        runtime.block_on(async {
            let work = self.session.prompt(line, &cancel);
            let mut tick = tokio::time::interval(TICK);
            tokio::pin!(work);
            loop {
                tokio::select! {
                    report = &mut work => {
                        if report.ending == Ending::Interrupted {
                            say(&self.redactor, self.texts.stopped);
                        }
                        break;
                    }
                    _ = tick.tick() => screen.tick(),
                }
            }
        });
        Flow::Stay
    }

    fn say(&self, text: &str) {
        say(&self.redactor, text);
    }
}

fn say(redactor: &Redactor, text: &str) {
    streams::data(&format!("{}\n", crate::clean::clean(&redactor.text(text))));
}
