//! Opens the REPL: on a new session, or on one that goes on; before the first one, asks where the model is.

use crate::cli::Flags;
use crate::markdown::Ground;
use crate::open::{self, Opened};
use crate::repl::{
    self, Answers, Bell, Desk, Editor, Files, History, Home, Interrupt, Keyboard, Lines, Look, Repl, Rules, Screen,
    Setup, Source, Taste, Thinking, Whereabouts,
};
use crate::signals;
use crate::surroundings::Surroundings;
use crate::trust::{self, Visit};
use selfsmith_agent::config::{self, Loaded, Theme};
use selfsmith_agent::ending::Ending;
use selfsmith_agent::wire::{self, Around, Which};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Run it.
pub fn run(flags: &Flags, which: Which, surroundings: &Surroundings, runtime: &Runtime) -> Ending {
    match visit(flags, surroundings, runtime) {
        Ok(Visit::On) => {}
        Ok(Visit::Leave) => return Ending::Done,
        Err(refusal) => return open::refused(&refusal, surroundings),
    }
    let ended = match set_up(flags, surroundings, runtime) {
        Ok(None) => opened(flags, which, surroundings, runtime),
        // What was written down is found by looking anew.
        Ok(Some(true)) => match Surroundings::look(crate::surroundings::environment(), flags.directory.as_deref()) {
            Ok(surroundings) => opened(flags, which, &surroundings, runtime),
            Err(_) => return Ending::Failed,
        },
        Ok(Some(false)) => return Ending::Config,
        Err(refusal) => Err(refusal),
    };
    ended.unwrap_or_else(|refusal| open::refused(&refusal, surroundings))
}

/// Where a project has files of its own that nobody decided about yet, and somebody is there who can: ask.
fn visit(flags: &Flags, surroundings: &Surroundings, runtime: &Runtime) -> Result<Visit, open::Refusal> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Ok(Visit::On);
    }
    let Opened { around, loaded, trust, .. } = open::open(flags, surroundings)?;
    if !trust::is_due(&trust, &around.root) {
        return Ok(Visit::On);
    }
    let desk = desk(&loaded, surroundings, &around, runtime);
    desk.screen.open();
    let visit = trust::ask(&desk, &trust, flags, surroundings);
    desk.screen.close();
    Ok(visit)
}

fn opened(
    flags: &Flags,
    which: Which,
    surroundings: &Surroundings,
    runtime: &Runtime,
) -> Result<Ending, open::Refusal> {
    let texts = surroundings.texts;
    let opened = open::open(flags, surroundings)?;
    let notices = opened.notices(texts);
    let Opened { choices, around, cassette, loaded, .. } = opened;
    let desk = desk(&loaded, surroundings, &around, runtime);
    // What there is to tell while a session begins is told on the screen.
    desk.screen.open();
    let session = wire::session(&choices, &around, &cassette, which, desk.screen.clone()).map_err(|error| {
        desk.screen.close();
        open::wire_refusal(&error, surroundings)
    })?;
    for notice in notices {
        session.notice(notice);
    }
    let choices = RefCell::new(choices);
    let (loaded, waiting) = (RefCell::new(loaded), RefCell::new(None));
    let notes = RefCell::new(around.told.notes.clone());
    let home = Home { flags, surroundings, choices, around, notes, loaded, waiting, screen: desk.screen.clone() };
    Ok(Repl::new(session, desk, home, texts).run())
}

/// Where settings do not say yet which model to ask, and somebody is there who can: ask. Whether there is something to go
/// on with; nothing where there was nothing to ask.
fn set_up(flags: &Flags, surroundings: &Surroundings, runtime: &Runtime) -> Result<Option<bool>, open::Refusal> {
    let look = surroundings.look_of_terminal();
    if look == Look::Bare || !std::io::stdin().is_terminal() || !flags.cassette.is_empty() {
        return Ok(None);
    }
    let opened = open::open(flags, surroundings)?;
    let choices = &opened.choices;
    let missing =
        wire::reach(&choices.model, choices.growth, &opened.around).is_err_and(|error| open::is_unset(&error));
    // Who set up something already is told what is missing in it; who did not is asked.
    let user = config::user_file(&surroundings.environment).is_some_and(|path| path.exists());
    let nothing = choices.model.base_url.is_none() && choices.model.provider.is_none();
    if !missing || choices.model.name.is_some() || (user && !nothing) {
        return Ok(None);
    }
    let welcome = surroundings.texts.setup.welcome;
    Ok(Some(questions(welcome, opened, surroundings, runtime)))
}

/// `setup`: ask where the model is, whatever is set so far.
pub fn setup(flags: &Flags, surroundings: &Surroundings, runtime: &Runtime) -> Ending {
    let texts = surroundings.texts;
    if surroundings.look_of_terminal() == Look::Bare || !std::io::stdin().is_terminal() {
        let text = texts.setup.no_terminal.to_owned();
        return open::refused(&open::Refusal { ending: Ending::Usage, text }, surroundings);
    }
    let asked =
        open::open(flags, surroundings).map(|opened| questions(texts.setup.anew, opened, surroundings, runtime));
    match asked {
        Ok(true) => Ending::Done,
        Ok(false) => Ending::Config,
        Err(refusal) => open::refused(&refusal, surroundings),
    }
}

/// Whether they were answered, and written down.
fn questions(welcome: &'static str, opened: Opened, surroundings: &Surroundings, runtime: &Runtime) -> bool {
    let Opened { choices, around, loaded, .. } = opened;
    let desk = desk(&loaded, surroundings, &around, runtime);
    desk.screen.open();
    let texts = surroundings.texts;
    let ready = repl::first_run(&desk, &mut Setup { texts, welcome, surroundings, choices, around });
    desk.screen.close();
    ready
}

/// The line editor where the terminal can move its cursor, plain lines elsewhere; nobody is asked through a pipe.
fn desk<'a>(loaded: &Loaded, surroundings: &Surroundings, around: &Around, runtime: &'a Runtime) -> Desk<'a> {
    let wished = &loaded.config.screen;
    let look = match surroundings.look_of_terminal() {
        Look::Rich(_) if wished.theme == Theme::None => Look::Plain,
        look => look,
    };
    let taste = Taste {
        thinking: if wished.show_thinking { Thinking::Shown } else { Thinking::Hidden },
        delay: Duration::try_from_secs_f64(wished.typewriter_delay).unwrap_or_default(),
        ground: if wished.theme == Theme::Light { Ground::Light } else { Ground::Dark },
        bell: if wished.bell { Bell::Rings } else { Bell::Silent },
    };
    let redactor = wire::redactor(&around.environment);
    let rules = Rules::open(surroundings.rules(&around.root));
    let whereabouts = Whereabouts {
        root: around.root.clone(),
        home: around.environment.get("HOME").map(PathBuf::from),
        rules,
        redactor: redactor.clone(),
        environment: around.variables.clone(),
    };
    let terminal = std::io::stdin().is_terminal();
    let (source, answers) = match (terminal && look != Look::Bare).then(Keyboard::take) {
        Some(Ok(keyboard)) => {
            let history = History::open(surroundings.history().as_deref(), redactor);
            let editor = Editor::new(surroundings.texts, history, Vec::new(), Files::new(&around.root));
            (Source::Keys(keyboard), Answers::Dialogs(Box::new(editor)))
        }
        Some(Err(_)) | None => {
            let lines = Lines::stdin();
            (Source::Lines(lines.clone()), if terminal { Answers::Lines(lines) } else { Answers::Nobody })
        }
    };
    let interrupt = Interrupt::default();
    let reflow = surroundings.reflow();
    let screen = Screen::new(surroundings.texts, look, taste, answers, reflow, whereabouts, interrupt.clone());
    signals::watch_each(interrupt.clone());
    #[cfg(target_os = "linux")]
    if terminal {
        signals::watch_terminal(interrupt.clone());
    }
    Desk { runtime, screen: Arc::new(screen), interrupt, source, folder: around.root.clone() }
}
